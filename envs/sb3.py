"""The Stable-Baselines3 vector environment, for MaskablePPO. Needs the extra `train`.

>>> from sb3_contrib import MaskablePPO
>>> games = SB3VecEnv("dobutsu_v0", num_envs=64, opponent="random")
>>> model = MaskablePPO("MlpPolicy", games, n_steps=32).learn(4096)
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from deskovky.envs.protocol import Game
from deskovky.envs.support import Opponent
from deskovky.envs.vector_gymnasium import SinglePlayerVectorEnv

Indices = None | int | Iterable[int]


class SB3VecEnv(VecEnv):
    """N games of one learner against an opponent, for Stable-Baselines3 and sb3-contrib.

    The arguments are those of `SinglePlayerVectorEnv`. Observations are a Box of
    `[planes, ranks, files]`, the mask of legal actions comes from `action_masks()` alone, where
    sb3-contrib looks for it. Games restart at once; the info of an ended one holds
    ``"terminal_observation"`` as seen by the learner, ``"TimeLimit.truncated"`` and
    ``"termination"``. The learner is never asked to act without a legal action.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        opponent: Opponent | str = "random",
        side: int | str = "alternate",
        illegal: str = "lose",
        opening_turns: int = 0,
        num_threads: int = 1,
        seed: int | None = None,
        **game_options: Any,
    ) -> None:
        self.games = SinglePlayerVectorEnv(
            game,
            num_envs,
            opponent=opponent,
            side=side,
            illegal=illegal,
            opening_turns=opening_turns,
            num_threads=num_threads,
            autoreset_mode=AutoresetMode.SAME_STEP,
            **game_options,
        )
        super().__init__(
            num_envs, self.games.single_observation_space, self.games.single_action_space
        )
        self._actions: NDArray[Any] = np.zeros(num_envs, np.int64)
        if seed is not None:
            self.seed(seed)

    @property
    def opponent(self) -> Opponent | str:
        """The agent that plays the other side; assign another one at any time."""
        return self.games.opponent

    @opponent.setter
    def opponent(self, opponent: Opponent | str) -> None:
        self.games.opponent = opponent

    def action_masks(self) -> NDArray[np.bool_]:
        """Return ``[N, num_actions]`` bool, true where legal."""
        return self.games.action_masks()

    def reset(self) -> NDArray[np.float32]:
        """Start all games anew, with the seed given to `seed()` since the last reset, if any."""
        observations, info = self.games.reset(seed=self._seeds[0])
        self.reset_infos = [{"side": int(side)} for side in info["side"]]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions, `[N]` integers, for `step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the step; return observations, rewards, dones and infos. Errors: as there."""
        observations, rewards, terminated, truncated, info = self.games.step(self._actions)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(dones):
            infos[i] = {
                "terminal_observation": info["final_obs"][i],
                "TimeLimit.truncated": bool(truncated[i]),
                "termination": info["final_info"]["termination"][i],
            }
            self.reset_infos[i] = {"side": int(info["side"][i])}
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Release nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute, once for each game."""
        return [getattr(self.games, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute, such as the opponent, of all games; they have it in common."""
        setattr(self.games, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method for some games: `action_masks` or `state`, the two that each game has."""
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            masks = self.action_masks()
            return [masks[i] for i in chosen]
        if method_name == "state":
            return [self.games.state(i) for i in chosen]
        raise AttributeError(f"a single game of {type(self).__name__} has no method {method_name}")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Return False for each game: they are not wrapped."""
        return [False for _ in self._get_indices(indices)]
