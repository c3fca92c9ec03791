"""Many games at once: both sides of N games, stepped together.

`VectorEnv` is for learners that play both sides. For one learner with its opponent folded in there
are `deskovky.envs.vector_gymnasium` and `deskovky.envs.sb3`, on the same engines.
"""

import math
from typing import Any, Protocol, Self

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from deskovky import _core
from deskovky.envs.protocol import Game, State
from deskovky.envs.python_engine import MAX_NUM_ENVS, PythonVectorEngine
from deskovky.envs.support import as_game, check_integer, memory_bytes, observation_space
from deskovky.errors import ConfigurationError

__all__ = [
    "MAX_NUM_ENVS",
    "VectorEngine",
    "VectorEnv",
    "as_autoreset_mode",
    "check_memory",
    "make_engine",
]

_MAX_STATE_BYTES = 8192  # of a game with a history of usual length


class VectorEngine(Protocol):
    """What `deskovky._core.VectorEngine` and `PythonVectorEngine` have in common.

    N = num_envs, A = num_actions. The arrays belong to the engine; each step overwrites them.
    """

    @property
    def observations(self) -> NDArray[np.float32]:
        """`[N, planes, ranks, files]`, each seen by the player to move."""
        ...

    @property
    def final_observations(self) -> NDArray[np.float32]:
        """Likewise, of the games that this step ended and restarted (same-step mode only)."""
        ...

    @property
    def legal_action_mask(self) -> NDArray[np.bool_]:
        """`[N, A]`; all false for a game that is over."""
        ...

    @property
    def to_move(self) -> NDArray[np.int8]:
        """`[N]`, the player to move: 0 or 1."""
        ...

    @property
    def rewards(self) -> NDArray[np.float32]:
        """`[N, 2]`, what this step brought player 0 and player 1."""
        ...

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """`[N]`, true where this step ended the game by rule."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """`[N]`, true where this step reached `max_turns`."""
        ...

    @property
    def termination(self) -> NDArray[np.int8]:
        """`[N]`, why this step ended the game: n for the n-th `Termination`, 0 if it did not."""
        ...

    def reset(self, seed: int | None = None, mask: NDArray[np.bool_] | None = None) -> None:
        """Start the games of `mask` anew, or all; with `seed`, all random streams too."""
        ...

    def step(self, actions: NDArray[Any], active: NDArray[np.bool_] | None = None) -> None:
        """Step every active game. Raises IllegalActionError, with no game changed."""
        ...

    def sample_actions(self) -> NDArray[np.int32]:
        """Return a random legal action of each game, `[N]` int32, 0 where it has ended."""
        ...

    def state(self, index: int) -> State:
        """Return a copy of one game."""
        ...


def make_engine(
    game: Game,
    num_envs: int,
    num_threads: int,
    seed: int | None,
    autoreset_mode: AutoresetMode,
    opening_turns: int,
) -> VectorEngine:
    """Return the native engine for a native game, else the one in plain Python."""
    check_memory(game, num_envs)
    engine: Any = _core.VectorEngine if is_native(game) else PythonVectorEngine
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    made: VectorEngine = engine(
        game,
        num_envs,
        num_threads=num_threads,
        seed=seed,
        autoreset=autoreset_mode.name.lower(),
        opening_turns=opening_turns,
    )
    return made


def check_memory(game: Game, num_envs: int) -> None:
    """Raise ConfigurationError for a number of games that this machine has not the memory for.

    Systems hand out more memory than there is, and later kill who uses it: so half of it must do.
    """
    check_integer("num_envs", num_envs, 1, MAX_NUM_ENVS)
    # Observations, final observations and the two bounds of their space; a mask; the state.
    num_bytes = 4 * 4 * math.prod(game.observation_shape) + game.num_actions + _MAX_STATE_BYTES
    if 2 * num_envs * num_bytes > memory_bytes():
        raise ConfigurationError(
            f"num_envs = {num_envs}: they may need {num_envs * num_bytes / 2**30:.1f} GiB, more "
            f"than half of the memory here, {memory_bytes() / 2**30:.1f} GiB"
        )


def is_native(game: Game) -> bool:
    """True if the rules of `game` are native."""
    return isinstance(game, _core.Game)


def as_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the mode of a name such as ``"next_step"`` or, as Gymnasium has it, ``"NextStep"``."""
    for known in AutoresetMode:
        if mode in (known, known.value, known.name.lower()):
            return known
    names = ", ".join(repr(known.name.lower()) for known in AutoresetMode)
    raise ConfigurationError(f"autoreset_mode must be one of {names}, not {mode!r}")


class VectorEnv:
    """N games stepped together, both sides played by the caller.

    game: a `Game`, native or plain Python, or a registered name.
    num_threads: how many native threads share the games; the results do not depend on it.
    seed: of the random openings and of `sample_actions`; None for a different one at each start.
    autoreset_mode: what becomes of a game that has ended, as in Gymnasium, ``"next_step"`` (its
        next step ignores the action and starts the next game), ``"same_step"`` (the step that ends
        it starts the next game; the last observation is in ``info["final_obs"]``) or
        ``"disabled"`` (stepping it raises until `reset(mask=...)`).
    opening_turns: how many random turns open every game.
    copy: return copies. By default the arrays returned are the engine's own, **which the next step
        overwrites**: copy what you keep.
    game_options: `ruleset`, `setup`, `max_turns` and so on, if `game` is a name.

    `reset` and `step` return what a Gymnasium vector environment returns, but for two players:
    observations `[N, planes, ranks, files]` float32, each seen by the player to move; rewards
    `[N, 2]` float32 of player 0 and player 1; terminated and truncated, `[N]` bool; and an info
    with ``"legal_action_mask"`` `[N, num_actions]` bool (all false for a game that is over),
    ``"to_move"`` `[N]` int8 and ``"termination"`` `[N]` int8, the rule by which this step ended the
    game: n means ``list(Termination)[n - 1]``, 0 that it did not end. The same arrays are
    attributes.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        num_threads: int = 1,
        seed: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        opening_turns: int = 0,
        copy: bool = False,
        **game_options: Any,
    ) -> None:
        self.game = as_game(game, game_options)
        self.num_envs = num_envs
        self.copy = copy
        mode = as_autoreset_mode(autoreset_mode)
        self.metadata: dict[str, Any] = {"name": self.game.id, "autoreset_mode": mode}
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.engine = make_engine(self.game, num_envs, num_threads, seed, mode, opening_turns)
        self._is_same_step = mode is AutoresetMode.SAME_STEP

        self.observations = self.engine.observations
        self.final_observations = self.engine.final_observations
        self.legal_action_mask = self.engine.legal_action_mask
        self.to_move = self.engine.to_move
        self.rewards = self.engine.rewards
        self.terminated = self.engine.terminated
        self.truncated = self.engine.truncated
        self.termination = self.engine.termination

    def reset(
        self, seed: int | None = None, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start the games of `mask` (`[N]` bool) anew, or all; return observations and info.

        With `seed` the random streams of all games start anew as well.
        """
        self.engine.reset(seed, mask)
        return self._own(self.observations), self._info()

    def step(
        self, actions: NDArray[Any], active: NDArray[np.bool_] | None = None
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float32],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Make one step in every game, or in the `active` ones (`[N]` bool).

        actions: `[N]` int32 or int64, each from the view of that game's player to move.

        In same-step mode ``info["final_obs"]`` holds the last observations of the games that ended,
        at the places where ``info["_final_obs"]`` is true. Raises IllegalActionError naming the
        game, with no game changed.
        """
        self.engine.step(np.asarray(actions), active)
        info = self._info()
        if self._is_same_step:
            info["final_obs"] = self._own(self.final_observations)
            info["_final_obs"] = self.terminated | self.truncated
        return (
            self._own(self.observations),
            self._own(self.rewards),
            self._own(self.terminated),
            self._own(self.truncated),
            info,
        )

    def sample_actions(self) -> NDArray[np.int32]:
        """Return a random legal action of each game, `[N]` int32, 0 where it has ended."""
        return self.engine.sample_actions()

    def state(self, index: int) -> State:
        """Return a copy of the state of one game."""
        return self.engine.state(index)

    def close(self) -> None:
        """Release nothing: there is nothing to release."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _info(self) -> dict[str, Any]:
        return {
            "legal_action_mask": self._own(self.legal_action_mask),
            "to_move": self._own(self.to_move),
            "termination": self._own(self.termination),
        }

    def _own(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return what the caller gets: the engine's array or a copy."""
        return array.copy() if self.copy else array

    def __repr__(self) -> str:
        return f"VectorEnv({self.game.id}, num_envs={self.num_envs})"
