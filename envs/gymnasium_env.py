"""The Gymnasium environment: one player learns, the other is part of the environment."""

import operator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.render import RENDER_FPS, RENDER_MODES, Frame, Window, render_state
from deskovky.envs.support import (
    MAX_OPENING_TURNS,
    MAX_REDRAWS,
    SIDES,
    Opponent,
    as_game,
    as_opponent,
    check_choice,
    check_integer,
    illegal_action_error,
    observation_space,
    opponent_name,
    play_random_turns,
    start_state,
)
from deskovky.errors import ConfigurationError, IllegalActionError


class SinglePlayerEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """A two-player board game seen by one player, the learner.

    game: a `Game`, native or plain Python, or a registered name.
    opponent: an agent, or the spec text of one, such as ``"random"`` or ``"minimax:depth=2"``.
    side: which player the learner is: 0 (who starts), 1, ``"alternate"`` (0 in the first game after
        a seeded reset, then 1, 0, ...) or ``"random"``.
    illegal: what an illegal action does: ``"lose"`` ends the game with reward -1, terminated for
        the reason `illegal_action`; ``"raise"`` raises IllegalActionError and changes nothing. The
        default is for the official checkers, which sample actions without looking at the mask.
    opening_turns: how many random turns open every game.
    render_mode: what `render()` returns: ``"ansi"`` the board as text, ``"svg"`` as SVG text,
        ``"rgb_array"`` as pixels, `[height, width, 3]` uint8 (extra `render`); ``"human"`` shows it
        in a window after every step (extra `window`); or None.
    game_options: `ruleset`, `setup`, `max_turns` and so on, if `game` is a name.

    One step is the learner's action and all that the opponent does until the learner is to move
    again. The reward is the learner's: +1 for a win, -1 for a loss, whoever made the last step.
    A game that the opening or the opponent's first turn ends before the learner has acted is drawn
    anew. Observations are `[planes, ranks, files]` float32 as seen by the learner. The info, on
    reset too, holds ``"action_mask"``, `[num_actions]` int8 (all zeros at the end) and ``"side"``,
    and at the end of the game ``"termination"``, the rule that ended it.

    All chance, that of the opponent too, comes from `np_random`.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": RENDER_FPS}

    def __init__(
        self,
        game: Game | str,
        opponent: Opponent | str = "random",
        side: int | str = "alternate",
        illegal: str = "lose",
        opening_turns: int = 0,
        render_mode: str | None = None,
        **game_options: Any,
    ) -> None:
        check_choice("side", side, SIDES)
        check_choice("illegal", illegal, ["raise", "lose"])
        check_choice("render_mode", render_mode, [None, *RENDER_MODES])
        check_integer("opening_turns", opening_turns, 0, MAX_OPENING_TURNS)
        self.game = as_game(game, game_options)
        self.opponent = opponent
        self.side = side
        self.illegal = illegal
        self.opening_turns = opening_turns
        self.render_mode = render_mode
        self._window = Window()
        self.observation_space = observation_space(self.game)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._num_games = 0  # since the last seeded reset; says whose turn to start it is
        self._learner = 0
        self._state: State | None = None
        self._outcome: Outcome | None = None

    @property
    def opponent(self) -> Opponent:
        """The agent that plays the other side; assign another one, or its spec, at any time."""
        return self._opponent

    @opponent.setter
    def opponent(self, opponent: Opponent | str) -> None:
        self._opponent = as_opponent(opponent)

    @property
    def state_object(self) -> State:
        """The game itself. Copy it before you change it."""
        if self._state is None:
            raise IllegalActionError("there is no game yet: call reset() first")
        return self._state

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, an illegal action included; None while it goes on."""
        return self._outcome

    def action_masks(self) -> NDArray[np.bool_]:
        """Return ``[num_actions]`` bool, true where legal, as sb3-contrib's MaskablePPO asks."""
        if self._outcome is not None:
            return np.zeros(self.game.num_actions, np.bool_)
        return self.state_object.legal_action_mask()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new game, at ``options["fen"]`` if given, up to the learner's first action.

        Raises FenError for a bad FEN and ConfigurationError if the learner never gets to act.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._num_games = 0
        start = start_state(self.game, options)
        learner = self._draw_side()
        self.opponent.reset(int(self.np_random.integers(2**31)))
        for _ in range(MAX_REDRAWS):
            state = start.copy()
            play_random_turns(state, self.opening_turns, self.np_random)
            self._play_opponent(state, learner)
            if not state.is_over:
                break
        else:
            raise ConfigurationError(
                f"player_{learner} never gets to act: {MAX_REDRAWS} games in a row were over "
                "before that"
            )
        self._num_games += 1
        self._learner, self._state, self._outcome = learner, state, None
        if self.render_mode == "human":
            self.render()
        return state.observation(learner), self._info()

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Make one step of the learner, then the opponent's, until the learner is to move again.

        NumPy integers are welcome. Raises IllegalActionError, with nothing changed, if the action
        is not an integer, comes before `reset` or after the end, or is illegal (the last only with
        ``illegal="raise"``). An illegal action of the opponent raises IllegalActionError too, and
        names it. Whatever ends the opponent's thinking early takes the learner's step back.
        """
        state = self.state_object.copy()  # becomes the game once the opponent has played
        if self._outcome is not None:
            raise IllegalActionError(f"the game is over ({self._outcome.termination}): reset it")
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalActionError(f"an action is an integer, not {action!r}") from None
        try:
            state.apply(number)
        except IllegalActionError:
            who = f"the learner, player_{self._learner}"
            if self.illegal == "raise":
                raise illegal_action_error(state, number, who) from None
            self._outcome = Outcome(1 - self._learner, Termination.ILLEGAL_ACTION)
        else:
            self._play_opponent(state, self._learner)
            self._state, self._outcome = state, state.outcome
        if self.render_mode == "human":
            self.render()

        outcome = self._outcome
        reward = 0.0
        if outcome is not None and outcome.winner is not None:
            reward = 1.0 if outcome.winner == self._learner else -1.0
        is_truncated = outcome is not None and outcome.is_truncation
        is_terminated = outcome is not None and not is_truncated
        return state.observation(self._learner), reward, is_terminated, is_truncated, self._info()

    def render(self) -> str | Frame | None:
        """Return the board as `render_mode` asks, or show it in the window (``"human"``).

        Raises RenderError where the package or the display for it is missing.
        """
        if self.render_mode is None:
            logger.warn("render() was called on an environment made without a render_mode")
            return None
        state, outcome = self.state_object, self._outcome
        return render_state(self.render_mode, state, outcome, self._window, self._learner)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``, if there is one."""
        self._window.close()

    def _draw_side(self) -> int:
        if self.side == "random":
            return int(self.np_random.integers(2))
        if self.side == "alternate":
            return self._num_games % 2
        return int(self.side)

    def _play_opponent(self, state: State, learner: int) -> None:
        while not state.is_over and state.to_move != learner:
            action = self._opponent.act(state)
            try:
                state.apply(operator.index(action))
            except TypeError:
                who = opponent_name(self._opponent)
                raise IllegalActionError(f"{who} played {action!r}, not an integer") from None
            except IllegalActionError:
                who = opponent_name(self._opponent)
                raise illegal_action_error(state, int(action), who) from None

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "action_mask": self.action_masks().view(np.int8),
            "side": self._learner,
        }
        if self._outcome is not None:
            info["termination"] = self._outcome.termination
        return info
