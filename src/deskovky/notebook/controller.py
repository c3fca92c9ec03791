"""A game that people and agents play on a board: all of it but the widget.

The widget calls `click`, `choose`, `undo` and so on, does what `next_job` asks for, and shows what
`view` returns. Everything here runs in the calling thread and waits for nobody.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deskovky.agents import Agent, Analysis, agent, analyse
from deskovky.agents.protocol import check_plays
from deskovky.envs import game as registered_game
from deskovky.envs.drawing import draw, layout
from deskovky.envs.protocol import Game, Outcome, State
from deskovky.envs.support import check_choice
from deskovky.errors import AgentSpecError, ConfigurationError
from deskovky.notebook.selection import Selection, hand_spot, square_spot

HUMAN = "human"
MAX_ORIGINS_NAMED = 8


@dataclass(frozen=True)
class Job:
    """Something that takes time."""

    work: Callable[[], Any]
    """To be called first, in any thread: it shares no state with the controller."""

    done: Callable[[Any], None]
    """To be called with the result, unless the controller's `version` has changed."""


class Controller:
    """A game on a board, the players and what was clicked. The parameters are those of `board`."""

    def __init__(
        self,
        game: str | Game | State | Any,
        white: str | Agent,
        black: str | Agent,
        *,
        advisor: str | Agent | None = None,
        perspective: int | None = None,
        seed: int | None = None,
        **game_options: Any,
    ) -> None:
        check_choice("perspective", perspective, [None, 0, 1])
        self._start = start_state(game, game_options)
        self._seed = seed
        self._players = (as_player(white, seed), as_player(black, seed))
        self._advisor = as_player(advisor, seed) if advisor else None
        for player in (*self._players, self._advisor):
            check_plays(player, self._start.game)
        if self._advisor is None:
            self._advisor = self._players[1] or self._players[0]
        if perspective is None:
            perspective = int(self._players[0] is not None and self._players[1] is None)
        self.perspective = perspective
        self.is_analysis_on = False
        self.version = 0
        """Grows whenever the position changes: jobs begun before are then out of date."""
        self._num_games = 0
        self._has_acted: set[int] = set()  # the players who have, in this game
        self._analysis: Analysis | None = None
        self._show(self._start.copy())

    # --- What the player does ---------------------------------------------------------------------

    def click(self, spot: str) -> None:
        """Take a click on a square (``b2``) or on pieces in hand (``C@``, ``c@``)."""
        if not self._can_play():
            return
        before = self._selection.clicked
        action = self._selection.click(spot)
        if action is not None:
            self.apply(action)
        elif spot not in self._selection.clicked and spot not in before:
            self.notice = self._why_not(spot, before)

    def choose(self, move: str) -> None:
        """Take the button of a step that clicks do not tell apart from others, such as ``pass``."""
        if not self._can_play():
            return
        for action in self._selection.choices:
            if self._state.action_to_text(action) == move:
                self.apply(action)
                return
        self.notice = f"{move} cannot be played now."

    def undo(self) -> None:
        """Take back the turn that is open, or the human's last turn and the reply to it."""
        if not self.can_undo:
            self.notice = "There is no turn to take back."
            return
        state = self._state
        undo_turn(state)
        while state.history and self._has_one_human and self._players[state.to_move] is not None:
            undo_turn(state)
        self._show(state)
        self.is_paused = self._agent_to_move is not None

    def new_game(self) -> None:
        """Begin again where the board began."""
        self._num_games += 1
        self._show(self._start.copy())

    def flip(self) -> None:
        """Turn the board round."""
        self.perspective = 1 - self.perspective

    def go_on(self) -> None:
        """Let the agents play on, after an undo or an error stopped them."""
        self.is_paused = False
        self.notice = ""

    def toggle_analysis(self) -> None:
        """Show or hide what the advisor thinks."""
        self.notice = ""
        if self._advisor is None:
            self.notice = "Nobody to ask: give the board an advisor, such as 'minimax:depth=4'."
        else:
            self.is_analysis_on = not self.is_analysis_on

    # --- What programs do -------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """A copy of the game. Assign a state of the same game to go on from there."""
        return self._state.copy()

    @state.setter
    def state(self, state: State) -> None:
        if getattr(state, "game", None) != self._start.game:
            raise ConfigurationError(f"not a state of this {self._start.game.id}: {state!r}")
        self._show(state.copy())

    @property
    def player_names(self) -> list[str]:
        """Who plays player 0 and player 1: ``"human"`` or the name of an agent."""
        return [player.name if player else HUMAN for player in self._players]

    def apply(self, action: int) -> None:
        """Make a step, whoever is to move. Raises IllegalActionError."""
        self._state.apply(action)
        self._show(self._state)

    def push(self, turn: str) -> None:
        """Make a turn given as text, whoever is to move. Raises IllegalActionError."""
        self._state.push(turn)
        self._show(self._state)

    # --- What takes time --------------------------------------------------------------------------

    def next_job(self) -> Job | None:
        """Return what must be worked out next: an agent's action or the analysis; else None."""
        state = self._state.copy()
        player = self._agent_to_move
        if player is not None and not self.is_paused:
            is_first = state.to_move not in self._has_acted
            seed = None if self._seed is None else self._seed + self._num_games

            def act() -> int:
                if is_first and self._num_games:
                    player.reset(seed)
                return player.act(state)

            def apply(action: int) -> None:
                self._has_acted.add(state.to_move)
                self.apply(action)

            return Job(act, apply)
        advisor = self._advisor
        if advisor is None or not self.is_analysis_on or self._analysis or state.is_over:
            return None
        return Job(lambda: analyse(advisor, state), self._set_analysis)

    def fail(self, error: Exception) -> None:
        """Take note that a job failed, and stop the agents."""
        self.is_paused = self._agent_to_move is not None
        if not self.is_paused:
            self.is_analysis_on = False
        self.notice = f"An agent failed: {type(error).__name__}: {error}"

    def _set_analysis(self, analysis: Analysis) -> None:
        self._analysis = analysis

    # --- What is shown ----------------------------------------------------------------------------

    def view(self, size: int, is_busy: bool = False) -> dict[str, Any]:
        """Return what the front end shows, as JSON values."""
        state, selection = self._state, self._selection
        policy, value = self._analysis or (None, None)
        is_asked = self._agent_to_move is None or self.is_paused
        svg = draw(
            state,
            size=size,
            perspective=self.perspective,
            legal=selection.targets if selection.clicked else (),
            policy=policy if self.is_analysis_on and is_asked else None,
            value=value if self.is_analysis_on and is_asked else None,
        )
        is_open = not state.is_over and self._agent_to_move is None
        choices = selection.choices if is_open else []
        return {
            "svg": svg,
            "status": self.status(is_busy),
            "notice": self.notice,
            "players": self.player_names,
            "to_move": None if state.is_over else state.to_move,
            "perspective": self.perspective,
            "clicked": list(selection.clicked),
            "next": sorted(selection.next_spots) if is_open else [],
            "choices": [state.action_to_text(action) for action in choices],
            "turns": self.numbered_turns(),
            "is_busy": is_busy,
            "is_over": state.is_over,
            "is_paused": self.is_paused,
            "can_undo": self.can_undo,
            "has_advisor": self._advisor is not None,
            "analysis": self.analysis_text() if self.is_analysis_on else None,
        }

    def spots(self) -> dict[str, Any]:
        """Return where the spots are: the shape of the picture, and each ``[x, y, width, height]``
        in parts of its width and height."""
        game = self._state.game
        where = layout(game, self.perspective)
        rects = {
            square_spot(game, square): where.square_rect(square)
            for square in range(where.ranks * where.files)
        }
        for player in (0, 1):
            for piece in where.hand:
                rects[hand_spot(player, piece)] = where.hand_slot(player, piece)
        return {
            "aspect": where.width / where.height,
            "spots": {
                spot: [
                    x / where.width, y / where.height, width / where.width, height / where.height
                ]
                for spot, (x, y, width, height) in rects.items()
            },
        }  # fmt: skip

    def numbered_turns(self) -> list[list[str]]:
        """Return the turns so far, ``[number, turn of player 0, turn of player 1]`` in a row."""
        turns = list(self._state.history)
        if turns and (self._last_mover - (len(turns) - 1)) % 2 == 1:
            turns.insert(0, "…")
        turns += [""] * (len(turns) % 2)
        return [[f"{i // 2 + 1}.", turns[i], turns[i + 1]] for i in range(0, len(turns), 2)]

    def status(self, is_busy: bool = False) -> str:
        """Return whose turn it is, or how the game ended, in words."""
        state = self._state
        if state.outcome is not None:
            return self.outcome_text(state.outcome)
        player = self._agent_to_move
        if player is not None:
            return f"{player.name} is thinking …" if is_busy else f"{player.name} is to move"
        who = "Your" if self._has_one_human else f"player_{state.to_move}: your"
        return f"{who} turn goes on" if state.is_turn_open else f"{who} turn"

    def outcome_text(self, outcome: Outcome) -> str:
        """Return how the game ended, in words."""
        reason = str(outcome.termination).replace("_", " ")
        if outcome.winner is None:
            return f"{'Stopped' if outcome.is_truncation else 'Draw'}: {reason}"
        if self._has_one_human:
            winner = "You lost" if self._players[outcome.winner] else "You won"
            return f"{winner}: {reason}"
        return f"player_{outcome.winner} won: {reason}"

    def analysis_text(self) -> str:
        """Return the advisor's opinion in words."""
        assert self._advisor is not None
        if self._analysis is None:
            return f"{self._advisor.name}: …" if not self._state.is_over else ""
        policy, value = self._analysis
        best = policy.argsort()[::-1][:3]
        moves = [
            f"{self._state.action_to_text(int(action))} {policy[action]:.0%}"
            for action in best
            if policy[action] >= 0.01
        ]
        worth = "" if value is None else f"value {value:+.2f} for player_{self._state.to_move}; "
        return f"{self._advisor.name}: {worth}{', '.join(moves)}"

    # --- Inside -----------------------------------------------------------------------------------

    @property
    def can_undo(self) -> bool:
        """True if a turn, or a human's if just one plays, can be taken back."""
        state = self._state
        if not self._has_one_human or len(state.history) != 1:
            return bool(state.history)
        return self._players[self._last_mover] is None

    @property
    def _last_mover(self) -> int:
        """The player who made the last turn, or is in the middle of it."""
        state = self._state
        return state.to_move if state.is_turn_open else 1 - state.to_move

    @property
    def _has_one_human(self) -> bool:
        return (self._players[0] is None) != (self._players[1] is None)

    @property
    def _agent_to_move(self) -> Agent | None:
        return None if self._state.is_over else self._players[self._state.to_move]

    def _show(self, state: State) -> None:
        """Make `state` the game; nothing is clicked or known of it."""
        if not state.history:
            self._has_acted = set()
        self._state = state
        self._selection = Selection(state)
        self._analysis = None
        self.notice = ""
        self.is_paused = False
        self.version += 1

    def _can_play(self) -> bool:
        """True if a human is to move; otherwise a notice says why not."""
        self.notice = ""
        player = self._agent_to_move
        if self._state.is_over:
            self.notice = "The game is over: begin a new one or take back a turn."
        elif player is not None:
            self.notice = f"It is the turn of {player.name}: " + (
                "press “Go on”." if self.is_paused else "a moment, please."
            )
        return not self.notice

    def _why_not(self, spot: str, clicked: tuple[str, ...]) -> str:
        """Return why a click on `spot` did nothing."""
        if self._state.is_turn_open and clicked:
            return f"The piece on {clicked[0]} must go on."
        if clicked:
            return f"{clicked[-1]} cannot go to {spot}."
        if not self._selection.next_spots:
            return "Nothing can be moved: use the button."
        names = sorted(self._selection.next_spots)[: MAX_ORIGINS_NAMED + 1]
        if len(names) > MAX_ORIGINS_NAMED:
            return f"Nothing can be done with {spot} now."
        return f"Nothing can be done with {spot} now, only with {', '.join(names)}."


def start_state(game: str | Game | State | Any, options: dict[str, Any]) -> State:
    """Return a new state: of a game's start, or a copy of a state or of an environment's game.

    Raises ConfigurationError for anything else, and for options beside what has them already.
    """
    if isinstance(game, str):
        return registered_game(game, **options).state()
    if options:
        raise ConfigurationError(f"options {sorted(options)} go with the id of a game only")
    if isinstance(game, Game):
        return game.state()
    if isinstance(game, State):
        return game.copy()
    inner = getattr(game, "unwrapped", game)
    if hasattr(type(inner), "state_object"):
        state: State = inner.state_object
        return state.copy()
    raise ConfigurationError(
        f"a board shows a game id, a Game, a State or an environment of this package, not {game!r}"
    )


def as_player(player: str | Agent | None, seed: int | None) -> Agent | None:
    """Return the agent of a spec, an agent itself, or None for ``"human"``.

    Raises AgentSpecError for anything else.
    """
    if isinstance(player, str):
        return None if player == HUMAN else agent(player, seed)
    if isinstance(player, Agent) and not isinstance(player, type):
        return player
    raise AgentSpecError(f"a player is 'human', an agent or its spec text, not {player!r}")


def undo_turn(state: State) -> None:
    """Take back the steps of the last turn, finished or not."""
    state.undo()
    while state.is_turn_open and state.history:
        state.undo()
