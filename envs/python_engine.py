"""The vector engine for games written in plain Python: slow, and otherwise as the native one."""

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, State, Termination
from deskovky.envs.support import (
    MAX_OPENING_TURNS,
    MAX_REDRAWS,
    MAX_SEED,
    check_choice,
    check_integer,
    play_random_turns,
)
from deskovky.errors import ConfigurationError, IllegalActionError

MAX_NUM_ENVS = 2**24
MAX_NUM_THREADS = 1024
TERMINATIONS = list(Termination)


class PythonVectorEngine:
    """N games of any `Game`; the attributes and methods are those of `deskovky._core.VectorEngine`.

    The random streams are other ones: the same seed gives other openings and samples than natively.
    The arrays are read-only between the steps. Raises ConfigurationError for options, actions and
    masks that the native engine refuses too.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        num_threads: int = 1,  # no use here: plain Python has one
        seed: int = 0,
        autoreset: str = "next_step",
        opening_turns: int = 0,
    ) -> None:
        check_integer("num_envs", num_envs, 1, MAX_NUM_ENVS)
        check_integer("num_threads", num_threads, 1, MAX_NUM_THREADS)
        check_integer("seed", seed, 0, MAX_SEED)
        check_choice("autoreset", autoreset, ["next_step", "same_step", "disabled"])
        check_integer("opening_turns", opening_turns, 0, MAX_OPENING_TURNS)
        self.game = game
        self.num_envs = num_envs
        self._autoreset = autoreset
        self._opening_turns = opening_turns
        self._states: list[State] = [game.state() for _ in range(num_envs)]
        self.observations = np.zeros((num_envs, *game.observation_shape), np.float32)
        self.final_observations = np.zeros_like(self.observations)
        self.legal_action_mask = np.zeros((num_envs, game.num_actions), np.bool_)
        self.to_move = np.zeros(num_envs, np.int8)
        self.rewards = np.zeros((num_envs, 2), np.float32)
        self.terminated = np.zeros(num_envs, np.bool_)
        self.truncated = np.zeros(num_envs, np.bool_)
        self.termination = np.zeros(num_envs, np.int8)
        self.reset(seed)

    def reset(self, seed: int | None = None, mask: NDArray[np.bool_] | None = None) -> None:
        """Start the games of `mask` anew, or all; with `seed`, all random streams too."""
        if seed is not None:
            check_integer("seed", seed, 0, MAX_SEED)
        if mask is not None:
            self._check_array("mask", mask, [np.bool_])
        if seed is not None:
            streams = np.random.SeedSequence(seed).spawn(self.num_envs)
            self._randoms = [np.random.default_rng(stream) for stream in streams]
        self._set_writeable(True)
        try:
            for i in range(self.num_envs):
                if mask is None or mask[i]:
                    self._clear_step(i)
                    self._restart(i)
                    self._publish(i)
        finally:
            self._set_writeable(False)

    def step(self, actions: NDArray[np.integer], active: NDArray[np.bool_] | None = None) -> None:
        """Step every active game. Raises IllegalActionError, with no game changed."""
        self._check_array("actions", actions, [np.int32, np.int64])
        if active is not None:
            self._check_array("active", active, [np.bool_])
        for i in range(self.num_envs):
            if active is None or active[i]:
                self._check(i, int(actions[i]))
        self._set_writeable(True)
        try:
            for i in range(self.num_envs):
                self._clear_step(i)
                if active is None or active[i]:
                    self._step(i, int(actions[i]))
        finally:
            self._set_writeable(False)

    def sample_actions(self) -> NDArray[np.int32]:
        """Return a random legal action of each game, 0 where it has ended."""
        actions = np.zeros(self.num_envs, np.int32)
        for i, state in enumerate(self._states):
            if not state.is_over:
                actions[i] = self._randoms[i].choice(state.legal_actions())
        return actions

    def state(self, index: int) -> State:
        """Return a copy of one game. Raises IndexError."""
        if not 0 <= operator.index(index) < self.num_envs:
            raise IndexError("no game of that index")
        return self._states[index].copy()

    def _check_array(self, name: str, array: object, dtypes: list[Any]) -> None:
        """Raise ConfigurationError unless `array` is `[N]` of one of `dtypes`."""
        if isinstance(array, np.ndarray) and array.shape == (self.num_envs,):
            if array.dtype in dtypes:
                return
        names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        raise ConfigurationError(f"{name}: expected an array [{self.num_envs}] of {names}")

    def _set_writeable(self, is_writeable: bool) -> None:
        """Open the arrays that callers see, or close them."""
        for array in (
            self.observations,
            self.final_observations,
            self.legal_action_mask,
            self.to_move,
            self.rewards,
            self.terminated,
            self.truncated,
            self.termination,
        ):
            array.flags.writeable = is_writeable

    def _check(self, i: int, action: int) -> None:
        state = self._states[i]
        if state.is_over:
            if self._autoreset != "next_step":
                raise IllegalActionError(f"game {i}: the game is over; reset it")
        elif not 0 <= action < self.game.num_actions:
            raise IllegalActionError(
                f"game {i}: action {action} is out of range [0, {self.game.num_actions})"
            )
        elif not self.legal_action_mask[i, action]:
            text = state.action_to_text(action)
            raise IllegalActionError(f"game {i}: action {action} ({text}) is illegal")

    def _clear_step(self, i: int) -> None:
        self.rewards[i] = 0
        self.terminated[i] = self.truncated[i] = False
        self.termination[i] = 0

    def _step(self, i: int, action: int) -> None:
        state = self._states[i]
        if state.is_over:  # next-step autoreset: this step only starts the new game
            self._restart(i)
        else:
            state.apply(action)
            if state.outcome is not None:
                self.rewards[i] = state.returns()
                self.truncated[i] = state.outcome.is_truncation
                self.terminated[i] = not state.outcome.is_truncation
                self.termination[i] = 1 + TERMINATIONS.index(state.outcome.termination)
                if self._autoreset == "same_step":
                    self.final_observations[i] = state.observation()
                    self._restart(i)
        self._publish(i)

    def _restart(self, i: int) -> None:
        """Start game `i` anew, with another opening if its random opening ends it."""
        for _ in range(MAX_REDRAWS):
            self._states[i] = state = self.game.state()
            play_random_turns(state, self._opening_turns, self._randoms[i])
            if not state.is_over:
                return
        raise ConfigurationError(
            f"opening_turns = {self._opening_turns}: {MAX_REDRAWS} random openings ended the game"
        )

    def _publish(self, i: int) -> None:
        state = self._states[i]
        self.observations[i] = state.observation()
        self.legal_action_mask[i] = state.legal_action_mask()
        self.to_move[i] = state.to_move
