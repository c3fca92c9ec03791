"""What a game must offer: the `Game` and `State` protocols.

The native games of `deskovky._core` satisfy them, and so may a game written in plain Python
(`tests/reference/` holds such games): environments, agents and training ask for nothing else.
"""

from enum import StrEnum
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Termination(StrEnum):
    """Why a game ended. The words are those of the rules, shared by all games.

    Vectors of games count them from 1, so new ones come last.
    """

    LION_CAPTURED = "lion_captured"
    TRY = "try"
    MUTUAL_TRY = "mutual_try"
    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    NO_LEGAL_TURN = "no_legal_turn"
    NO_BANNERET = "no_banneret"
    NO_PIECES = "no_pieces"
    BLOCKED = "blocked"
    REPETITION = "repetition"
    PERPETUAL_CHECK = "perpetual_check"
    PERPETUAL_CHASE = "perpetual_chase"
    QUIET_LIMIT = "quiet_limit"
    LENGTH_LIMIT = "length_limit"
    INSUFFICIENT_MATERIAL = "insufficient_material"
    ILLEGAL_ACTION = "illegal_action"
    MAX_TURNS = "max_turns"
    RESIGNATION = "resignation"


class Outcome(NamedTuple):
    """How a game ended: who won, and by which rule."""

    winner: int | None
    """0 or 1, the player who won; None for a draw or a truncated game."""

    termination: Termination
    """The rule that ended the game."""

    @property
    def is_truncation(self) -> bool:
        """True if only the safety cap `max_turns` stopped the game; no rule ended it."""
        return self.termination is Termination.MAX_TURNS


@runtime_checkable
class Game(Protocol):
    """One game under fixed options: its shapes, names and start, and the maker of its states.

    Games are immutable. Two games are equal if all their options are.
    """

    @property
    def id(self) -> str:
        """The registered name, such as ``"dobutsu_v0"``."""
        ...

    @property
    def ruleset(self) -> str:
        """The ruleset in force, one of `rulesets`."""
        ...

    @property
    def setup(self) -> str:
        """The start position in force, one of `setups`."""
        ...

    @property
    def max_turns(self) -> int:
        """The number of turns after which a game is cut off (see the game's README)."""
        ...

    @property
    def view(self) -> str:
        """Who sees observations: ``"relative"`` the player asked for, ``"absolute"`` player 0."""
        ...

    @property
    def num_actions(self) -> int:
        """The number of actions; an action is an integer in ``[0, num_actions)``."""
        ...

    @property
    def action_shape(self) -> tuple[int, int, int]:
        """``(planes, ranks, files)``: action = (plane * ranks + rank) * files + file.

        The board part only: in games with a `pass`, that action is the last, beyond the planes.
        """
        ...

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """``(planes, ranks, files)`` of `State.observation`."""
        ...

    @property
    def rulesets(self) -> tuple[str, ...]:
        """Every ruleset of the game; the first is the default."""
        ...

    @property
    def setups(self) -> tuple[str, ...]:
        """Every named start position of the game; the first is the default."""
        ...

    @property
    def mirror_actions(self) -> NDArray[np.int32] | None:
        """The action on the left-right mirrored board, ``[num_actions]`` int32.

        None if the rules are not mirror symmetric. The observation mirrors by flipping its files.
        """
        ...

    def state(self, fen: str | None = None) -> "State":
        """Return a new state at the start, or at `fen`.

        Raises FenError, naming the field, for a FEN that is malformed or impossible.
        """
        ...

    def perft(self, depth: int, fen: str | None = None) -> int:
        """Count the sequences of exactly `depth` complete turns from the start or from `fen`.

        A turn that ends the game is counted at its own depth and not extended; repetition, quiet
        and length limits are ignored.
        """
        ...


@runtime_checkable
class State(Protocol):
    """One game in progress: the position, its counters and the history that the rules look at."""

    @property
    def game(self) -> Game:
        """The game and options this state belongs to."""
        ...

    @property
    def history(self) -> list[str]:
        """The texts of the turns so far; the last one may be unfinished."""
        ...

    @property
    def to_move(self) -> int:
        """The player who acts next, 0 or 1; player 0 starts. After the end: who would act."""
        ...

    @property
    def is_turn_open(self) -> bool:
        """True between two steps of one turn: the same player goes on."""
        ...

    @property
    def occurrences(self) -> int:
        """How often the position has occurred at the start of a turn, this time included.

        1 inside a turn, and in games without a repetition rule.
        """
        ...

    @property
    def is_over(self) -> bool:
        """True once the game has ended, by rule or by `Game.max_turns`."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        ...

    def returns(self) -> tuple[float, float]:
        """Return the sum of rewards of player 0 and of player 1: +1.0, 0.0 or -1.0; 0.0 so far."""
        ...

    def legal_actions(self) -> NDArray[np.int32]:
        """Return the legal actions of `to_move`, ascending; ``[k]`` int32, empty after the end."""
        ...

    def legal_action_mask(self) -> NDArray[np.bool_]:
        """Return ``[num_actions]`` bool, true where legal; all false after the end."""
        ...

    def apply(self, action: int) -> None:
        """Make one step.

        Raises IllegalActionError, leaving the state unchanged, if the action is out of range,
        illegal, or the game is over.
        """
        ...

    def undo(self) -> None:
        """Take back one step. Raises IllegalActionError at the start."""
        ...

    def copy(self) -> Self:
        """Return an independent copy with the whole history."""
        ...

    def observation(self, player: int | None = None) -> NDArray[np.float32]:
        """Return ``[planes, ranks, files]`` float32.

        Under the relative view it is seen by `player` (default: `to_move`), own pieces first and
        moving up; under the absolute view always by player 0, with one more plane, the last: ones
        where player 1 is to move.
        """
        ...

    def fen(self) -> str:
        """Return the position as FEN. The history is not part of it."""
        ...

    def action_to_text(self, action: int) -> str:
        """Return the move text of one step. Raises IllegalActionError if out of range."""
        ...

    def action_from_text(self, text: str) -> int:
        """Return the action of one step's move text. Raises IllegalActionError if not legal."""
        ...

    def turns(self, limit: int | None = None) -> list[str]:
        """Return the legal turns as text, complete with jumps and placements, sorted by action.

        At most `limit` of them; positions with several flying pieces can have many thousands.
        """
        ...

    def push(self, turn: str) -> None:
        """Make a whole turn given as text.

        Raises IllegalActionError, leaving the state unchanged, if it is not a legal turn.
        """
        ...

    def key(self) -> int:
        """Return the repetition key of the position: 64 bits, equal if placement, hands, pending
        piece and side to move are; counters and history do not enter."""
        ...

    def num_pieces(self, player: int) -> int:
        """Return how many pieces `player` has on the board."""
        ...

    def svg(self, **options: Any) -> str:
        """Return the picture as SVG text; the options are those of `deskovky.envs.drawing.draw`.

        A state written in Python gets it, and `_repr_svg_`, from `deskovky.envs.drawing.Drawable`.
        """
        ...

    def __eq__(self, other: object, /) -> bool:
        """True if game, position, counters and history are all equal."""
        ...
