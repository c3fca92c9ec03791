"""Every game in the registries of PettingZoo and Gymnasium, done by `import deskovky`.

PettingZoo: ``pettingzoo.make("aec", "deskovky/dobutsu_v0")``. Gymnasium, one player:
``gymnasium.make("deskovky/Dobutsu-v0")`` and ``gymnasium.make_vec("deskovky/Dobutsu-v0", 16)``.
"""

from collections.abc import Iterable

import gymnasium
import pettingzoo


def gymnasium_id(game_id: str) -> str:
    """Return the Gymnasium id of a game.

    >>> gymnasium_id("gothic_draughts_v0")
    'deskovky/GothicDraughts-v0'
    """
    *words, version = game_id.split("_")
    return f"deskovky/{''.join(word.capitalize() for word in words)}-{version}"


def register(game_ids: Iterable[str]) -> None:
    """Register the games under the namespace ``deskovky``; those already there are left alone.

    Entry points are text, so that nothing is imported before an environment is made.
    """
    for game_id in game_ids:
        if f"deskovky/{game_id.replace('_v', '-v')}" not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec",
                f"deskovky/{game_id}",
                entry_point="deskovky.envs.aec:BoardGameEnv",
                kwargs={"game": game_id},
            )
        if gymnasium_id(game_id) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(game_id),
                entry_point="deskovky.envs.gymnasium_env:SinglePlayerEnv",
                vector_entry_point="deskovky.envs.vector_gymnasium:SinglePlayerVectorEnv",
                kwargs={"game": game_id},
            )
