"""Games and their environments.

`game()` gives the rules as an object, `make()` a PettingZoo AEC environment, `make_vec()` many
games stepped at once by the native engine. All three take the name of a registered game, with or
without its version (``"dobutsu_v0"``, ``"dobutsu-v0"``, ``"dobutsu"``).
"""

import re
from collections.abc import Callable
from typing import Any

from deskovky.envs import native, registration
from deskovky.envs.aec import BoardGameEnv
from deskovky.envs.protocol import Game
from deskovky.envs.support import what_there_is
from deskovky.envs.vector import VectorEnv
from deskovky.errors import UnknownGameError

GAMES: dict[str, Callable[..., Game]] = {}
"""The registered games: id -> function(ruleset=, setup=, max_turns=, view=) -> Game."""


def register_game(id: str, factory: Callable[..., Game]) -> None:
    """Register a game, so that `game`, `make`, agents and training know it by its id.

    PettingZoo and Gymnasium know it too, as ``deskovky/<id>``.

    `factory` takes the keywords ruleset, setup, max_turns and view. Raises UnknownGameError if
    the id does not end in a version such as ``_v0`` or is taken.
    """
    if not isinstance(id, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*_v[0-9]{1,9}", id):
        raise UnknownGameError(f"game id {id!r} does not end in a version such as _v0")
    if id in GAMES:
        raise UnknownGameError(f"game id {id!r} is registered already")
    GAMES[id] = factory
    registration.register([id])


def _native_factory(id: str) -> Callable[..., Game]:
    def factory(**options: Any) -> Game:
        return native.make_game(id, **options)

    return factory


for _id in native.game_ids():
    register_game(_id, _native_factory(_id))


def games() -> tuple[str, ...]:
    """Return the ids of all registered games.

    >>> "dobutsu_v0" in games()
    True
    """
    return tuple(GAMES)


def canonical_id(id: str) -> str:
    """Return the registered id that `id` means: ``dobutsu`` and ``dobutsu-v0`` are dobutsu_v0.

    A name without version means the highest version. Raises UnknownGameError.
    """
    wanted = id.replace("-", "_") if isinstance(id, str) else ""
    if wanted in GAMES:
        return wanted
    versions = [known for known in GAMES if known.rpartition("_v")[0] == wanted]
    if versions:
        return max(versions, key=lambda known: int(known.rpartition("_v")[2]))
    raise UnknownGameError(f"no game {id!r}; {what_there_is(wanted, GAMES)}")


def game(
    id: str,
    *,
    ruleset: str | None = None,
    setup: str | None = None,
    max_turns: int | None = None,
    view: str = "relative",
) -> Game:
    """Return a game under fixed options.

    ruleset: one of the game's rulesets; None is the default, ``"standard"``.
    setup: one of its named start positions; None is ``"default"``.
    max_turns: the cap, in turns, after which a game is cut off; None is the game's own.
    view: who sees observations: ``"relative"`` the player to move, ``"absolute"`` player 0.

    Raises UnknownGameError for an unknown game, ruleset or setup, ConfigurationError otherwise.

    >>> state = game("dobutsu_v0").state()
    >>> state.push("b2b3")
    >>> state.turns()
    ['b4b3', 'a4a3', 'c4b3', 'b4a3', 'b4c3']
    """
    factory = GAMES[canonical_id(id)]
    return factory(ruleset=ruleset, setup=setup, max_turns=max_turns, view=view)


def make(id: str, *, render_mode: str | None = None, **options: Any) -> BoardGameEnv:
    """Return the PettingZoo AEC environment of a game.

    options: those of `BoardGameEnv` (illegal, legal_moves) and of `game`.

    >>> env = make("dobutsu_v0", render_mode="ansi")
    >>> env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.last()
    >>> observation["observation"].shape, observation["action_mask"].shape
    ((17, 4, 3), (132,))
    """
    return BoardGameEnv(canonical_id(id), render_mode, **options)


def make_vec(id: str, num_envs: int, **options: Any) -> VectorEnv:
    """Return `num_envs` games stepped together, both sides played by the caller.

    options: those of `VectorEnv` (num_threads, seed, autoreset_mode, opening_turns, copy) and of
    `game`.

    >>> games = make_vec("dobutsu_v0", num_envs=64, num_threads=2, seed=0)
    >>> observations, info = games.reset()
    >>> observations, rewards, terminated, truncated, info = games.step(games.sample_actions())
    >>> observations.shape, rewards.shape, info["legal_action_mask"].shape
    ((64, 17, 4, 3), (64, 2), (64, 132))
    """
    return VectorEnv(canonical_id(id), num_envs, **options)
