"""Many games for one learner: the Gymnasium vector environment, opponents folded in."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.support import (
    MAX_OPENING_TURNS,
    MAX_REDRAWS,
    SIDES,
    Opponent,
    as_game,
    as_opponent,
    board_text,
    check_choice,
    check_integer,
    illegal_action_error,
    observation_space,
    opponent_name,
)
from deskovky.envs.vector import as_autoreset_mode, check_memory, make_engine
from deskovky.errors import ConfigurationError, IllegalActionError

_NO_GAME = "there is no game yet: call reset() first"
_INTERRUPTED = "the opponent was interrupted before it had played everywhere: call reset() first"


class SinglePlayerVectorEnv(VectorEnv[NDArray[np.float32], NDArray[Any], NDArray[Any]]):
    """N games, each as in `SinglePlayerEnv`, stepped together.

    game, illegal, opening_turns, game_options: as in `SinglePlayerEnv`.
    opponent: as there, one for all games: it is asked for many actions at once (`act_batch`).
        ``"random"`` is the engine itself and the fastest. Can be changed at any time by assigning
        `opponent`.
    side: as there; with ``"alternate"`` every second game begins with the learner as player 1.
    num_threads: how many native threads share the games; the results do not depend on it.
    autoreset_mode: ``"next_step"``, ``"same_step"`` or ``"disabled"``, or a Gymnasium
        `AutoresetMode`; declared in ``metadata["autoreset_mode"]``.
    render_mode: ``"ansi"`` (`render()` returns the boards as a tuple of texts) or None.

    Observations `[N, planes, ranks, files]` float32 are seen by the learner, the last one of a game
    too; rewards `[N]` float64 are the learner's. Infos hold ``"action_mask"`` `[N, num_actions]`
    int8 (all zeros for a game that is over) and ``"side"`` `[N]`, and where a game has ended
    ``"termination"``. All returned arrays are the caller's own.
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
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **game_options: Any,
    ) -> None:
        check_choice("side", side, SIDES)
        check_choice("illegal", illegal, ["raise", "lose"])
        check_choice("render_mode", render_mode, [None, "ansi"])
        check_integer("opening_turns", opening_turns, 0, MAX_OPENING_TURNS)
        self.game = as_game(game, game_options)
        check_memory(self.game, num_envs)
        self.num_envs = num_envs
        self.opponent = opponent
        self.side = side
        self.illegal = illegal
        self.render_mode = render_mode
        self.autoreset_mode = as_autoreset_mode(autoreset_mode)
        self.metadata = {"render_modes": ["ansi"], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        # The engine never restarts a game by itself: a new game may need the opponent's first turn,
        # and a final observation must be the learner's.
        self._engine = make_engine(
            self.game, num_envs, num_threads, None, AutoresetMode.DISABLED, opening_turns
        )
        self._refusal: str | None = _NO_GAME  # why no step can be made now; None if one can
        self._rows = np.arange(num_envs)
        self._num_games = np.zeros(num_envs, np.int64)  # since the last seeded reset
        self._learner = np.zeros(num_envs, np.int64)
        self._over = np.ones(num_envs, np.bool_)  # now, and not yet restarted
        self._forfeited = np.zeros(num_envs, np.bool_)  # over by an illegal action
        # What the current step brought the learner.
        self._rewards = np.zeros(num_envs, np.float64)
        self._terminated = np.zeros(num_envs, np.bool_)
        self._truncated = np.zeros(num_envs, np.bool_)

    @property
    def opponent(self) -> Opponent | str:
        """The agent that plays the other side; ``"random"`` for the engine's own random actions."""
        return "random" if self._opponent is None else self._opponent

    @opponent.setter
    def opponent(self, opponent: Opponent | str) -> None:
        self._opponent = None if opponent == "random" else as_opponent(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return ``[N, num_actions]`` bool, true where legal, all false for a game that is over."""
        self._check_ready()
        return self._engine.legal_action_mask & ~self._over[:, None]

    def state(self, index: int) -> State:
        """Return a copy of the state of one game."""
        return self._engine.state(index)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start all games anew, or those of ``options["reset_mask"]`` (`[N]` bool).

        With a mask the other games go on, and observations and infos show them too. Raises
        ConfigurationError for any other option.
        """
        for option in options or {}:
            if option != "reset_mask":
                raise ConfigurationError(
                    f"reset takes the option 'reset_mask' only, not {option!r}"
                )
        mask = self._reset_mask((options or {}).get("reset_mask"))
        if not mask.all():
            self._check_ready()  # the other games must be able to go on
        super().reset(seed=seed)
        engine_seed = None
        if seed is not None:
            self._num_games[:] = 0
            engine_seed = int(self.np_random.integers(2**31))
        if self._opponent is not None and mask.all():
            self._opponent.reset(int(self.np_random.integers(2**31)))
        self._refusal = _INTERRUPTED
        self._start_games(mask, engine_seed)
        self._refusal = None
        return self._observations(), self._info()

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Make the learner's step, `[N]` integers, and the opponent's until the learner is to move.

        Raises IllegalActionError, with no game changed, if the actions are not N integers, if one
        is illegal with ``illegal="raise"``, or if a game is over in disabled mode. An illegal
        action of the opponent raises IllegalActionError too, and names it. After that, and whenever
        the opponent is interrupted, all games must be reset before the next step.
        """
        self._check_ready()
        restarting = self._over.copy()  # ended by the step before (next-step mode)
        if self.autoreset_mode is AutoresetMode.DISABLED and restarting.any():
            index = int(np.flatnonzero(restarting)[0])
            raise IllegalActionError(f"game {index}: the game is over; reset it")
        actions = self._checked(actions)
        legal = self._legal(actions) & ~restarting
        forfeited = ~legal & ~restarting
        if forfeited.any() and self.illegal == "raise":
            index = int(np.flatnonzero(forfeited)[0])
            who = f"the learner of game {index}"
            raise illegal_action_error(self.state(index), int(actions[index]), who)

        self._refusal = _INTERRUPTED
        self._rewards = np.where(forfeited, -1.0, 0.0)
        self._terminated = forfeited.copy()
        self._truncated = np.zeros(self.num_envs, np.bool_)
        self._forfeited |= forfeited
        self._over |= forfeited
        self._advance(np.where(legal, actions, 0), legal)
        self._play_opponents()
        rewards, terminated, truncated = self._rewards, self._terminated, self._truncated

        infos: dict[str, Any] = {}
        if restarting.any():
            self._start_games(restarting)
        elif self.autoreset_mode is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._final_infos()
            self._start_games(self._over.copy())
        self._refusal = None
        return self._observations(), rewards, terminated, truncated, {**infos, **self._info()}

    def render(self) -> tuple[str, ...] | None:
        """Return the boards of all games as text."""
        if self.render_mode is None:
            return None
        return tuple(board_text(self.state(i), self._outcome(i)) for i in range(self.num_envs))

    def _check_ready(self) -> None:
        """Raise IllegalActionError unless every game is the learner's to play, or over."""
        if self._refusal is not None:
            raise IllegalActionError(self._refusal)

    def _reset_mask(self, mask: object) -> NDArray[np.bool_]:
        """Return `mask` if it is one, all true if it is None."""
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_:
            if mask.shape == (self.num_envs,) and mask.any():
                return mask
        raise ConfigurationError(
            f"options['reset_mask'] must be a bool array of shape ({self.num_envs},), somewhere "
            f"true, not {mask!r}"
        )

    def _checked(self, actions: object) -> NDArray[np.int64]:
        """Return `actions` as int64; out-of-range ones, even of uint64, stay so."""
        array = np.asarray(actions)
        if array.shape != (self.num_envs,) or array.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions must be integers of shape ({self.num_envs},), not {array.dtype} of shape "
                f"{array.shape}"
            )
        checked: NDArray[np.int64] = np.minimum(array, self.game.num_actions).astype(np.int64)
        return checked

    def _legal(self, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
        in_range: NDArray[np.bool_] = (actions >= 0) & (actions < self.game.num_actions)
        indices = np.where(in_range, actions, 0)
        return in_range & self._engine.legal_action_mask[self._rows, indices]

    def _start_games(self, mask: NDArray[np.bool_], engine_seed: int | None = None) -> None:
        """Start the games of `mask` anew, up to the learner's first action."""
        self._learner[mask] = self._draw_sides()[mask]
        self._num_games[mask] += 1
        for _ in range(MAX_REDRAWS):
            self._engine.reset(engine_seed, mask)
            engine_seed = None
            self._over &= ~mask
            self._forfeited &= ~mask
            self._play_opponents()
            mask = mask & self._over  # over before the learner has acted: drawn anew
            if not mask.any():
                return
        index = int(np.flatnonzero(mask)[0])
        raise ConfigurationError(
            f"game {index}: player_{self._learner[index]} never gets to act: {MAX_REDRAWS} games "
            "in a row were over before that"
        )

    def _draw_sides(self) -> NDArray[np.int64]:
        sides: NDArray[np.int64]
        if self.side == "random":
            sides = self.np_random.integers(2, size=self.num_envs)
        elif self.side == "alternate":
            sides = (self._rows + self._num_games) % 2
        else:
            sides = np.full(self.num_envs, self.side, np.int64)
        return sides

    def _play_opponents(self) -> None:
        """Let the opponent play wherever it is to move, until it is nowhere."""
        while True:
            waiting = (self._engine.to_move != self._learner) & ~self._over
            if not waiting.any():
                return
            actions: NDArray[Any]
            if self._opponent is None:
                actions = self._engine.sample_actions()
            else:
                indices = np.flatnonzero(waiting)
                actions = self._ask_opponent(self._opponent, indices)
            self._advance(actions, waiting)

    def _ask_opponent(self, opponent: Opponent, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `[N]` actions: the opponent's in the games of `indices`, 0 elsewhere."""
        states = [self.state(int(i)) for i in indices]
        chosen = np.asarray(opponent.act_batch(states))
        if chosen.shape != indices.shape or chosen.dtype.kind not in "iu":
            raise IllegalActionError(
                f"{opponent_name(opponent)} played {chosen.dtype} of shape {chosen.shape}, not "
                f"integers of shape {indices.shape}"
            )
        for i, state, action in zip(indices, states, chosen.tolist(), strict=True):
            is_legal = 0 <= action < self.game.num_actions
            if not (is_legal and self._engine.legal_action_mask[i, action]):
                raise illegal_action_error(state, action, f"{opponent_name(opponent)} in game {i}")
        actions = np.zeros(self.num_envs, np.int64)
        actions[indices] = chosen
        return actions

    def _advance(self, actions: NDArray[Any], active: NDArray[np.bool_]) -> None:
        """Step the active games, whoever is to move, and add up what it brings the learner."""
        engine = self._engine
        engine.step(actions, active)
        self._rewards = self._rewards + engine.rewards[self._rows, self._learner]
        self._terminated = self._terminated | engine.terminated
        self._truncated = self._truncated | engine.truncated
        self._over |= engine.terminated | engine.truncated

    def _observations(self) -> NDArray[np.float32]:
        """Return what the learners see."""
        observations = self._engine.observations.copy()
        for i, final in self._final_observations():
            observations[i] = final
        return observations

    def _final_observations(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield what the learner of each game that is over sees.

        The engine shows such a game as seen by whoever would be next.
        """
        for i in np.flatnonzero(self._over).tolist():
            yield i, self.state(i).observation(int(self._learner[i]))

    def _outcome(self, i: int) -> Outcome | None:
        if self._forfeited[i]:
            return Outcome(1 - int(self._learner[i]), Termination.ILLEGAL_ACTION)
        return self.state(i).outcome

    def _info(self) -> dict[str, Any]:
        """Return the infos of all games, keys and shapes as Gymnasium stacks them."""
        everywhere = np.ones(self.num_envs, np.bool_)
        info: dict[str, Any] = {
            "action_mask": self.action_masks().view(np.int8),
            "_action_mask": everywhere,
            "side": self._learner.copy(),
            "_side": everywhere.copy(),
        }
        if self._over.any():
            info.update(termination=self._terminations(), _termination=self._over.copy())
        return info

    def _final_infos(self) -> dict[str, Any]:
        """Return ``final_obs`` and ``final_info`` of the games that are over."""
        observations = np.full(self.num_envs, None, object)
        for i, final in self._final_observations():
            observations[i] = final
        info = {
            "action_mask": np.zeros((self.num_envs, self.game.num_actions), np.int8),
            "side": np.where(self._over, self._learner, 0),
            "termination": self._terminations(),
        }
        masks = {f"_{key}": self._over.copy() for key in info}
        return {
            "final_obs": observations,
            "_final_obs": self._over.copy(),
            "final_info": {**info, **masks},
            "_final_info": self._over.copy(),
        }

    def _terminations(self) -> NDArray[np.object_]:
        """Return the reason of each game that is over, None for the others."""
        terminations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(self._over).tolist():
            outcome = self._outcome(i)
            assert outcome is not None
            terminations[i] = outcome.termination
        return terminations
