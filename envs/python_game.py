"""The base of games written in plain Python.

A game derives from `PythonGame`, states what it is made of and writes at least four functions, all
of them on immutable `Position` objects: `legal_actions`, `step`, `end_by_rule` and `step_text`.
History, turns of several steps, repetition, FEN, perft and the end of a game come with the base;
`PythonState` is the `State` of such a game. Register it with `deskovky.envs.register_game`, and
environments, agents and training know it.

It is slow, some thousand steps a second: a way to try rules out before they are ported to C++, and
what the second, plain implementation of every game in tests/reference/ is built on. Section numbers
below are those of the rules text that all games share ("section 0" is its common ground).
"""

import hashlib
import operator
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.drawing import Drawable, Style
from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.support import check_integer
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError

EMPTY = "."
FILES = string.ascii_lowercase
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")  # decimal, no leading zero; no game lasts 10^9 turns
OWED_PLACEMENT = "@"
MAX_MAX_TURNS = 1_000_000


@dataclass(frozen=True)
class Position:
    """All that a FEN tells, plus `extra`."""

    board: tuple[str, ...]
    """FEN letters by square, ``rank * files + file`` with a1 first; capitals are player 0's."""

    to_move: int = 0

    hands: tuple[str, str] = ("", "")
    """Captured pieces of player 0 and of player 1, capital letters, in the game's order."""

    pending: str = "-"
    """What the player must do to finish the turn, as in the FEN: ``-`` nothing, a square name:
    go on jumping with the piece there, ``@``: place a piece."""

    quiet: int = 0
    move: int = 1

    extra: tuple[Any, ...] = ()
    """What else the rules of one game must know (Xiangqi: checking chains); not in `key`."""

    @property
    def is_turn_open(self) -> bool:
        return self.pending != "-"

    @property
    def turns_played(self) -> int:
        """The number of turns that `move` and the side to move count."""
        return 2 * (self.move - 1) + self.to_move

    def is_same_placement(self, other: "Position") -> bool:
        """True if the rules of repetition call the two equal: counters and `extra` are ignored."""
        return (self.to_move, self.board, self.hands, self.pending) == (
            other.to_move,
            other.board,
            other.hands,
            other.pending,
        )

    def finish_turn(self, *, resets_quiet: bool, **changes: Any) -> "Position":
        """Return the position with `changes` in which the other player begins a turn."""
        return replace(
            self,
            to_move=1 - self.to_move,
            pending="-",
            quiet=0 if resets_quiet else self.quiet + 1,
            move=self.move + self.to_move,
            **changes,
        )


class Moment(NamedTuple):
    """A position as it came up in a game."""

    position: Position
    action: int | None
    """The step that led here; None at the start."""

    turn: str
    """The text, so far, of the turn that led here."""

    occurrences: int
    """How often the position has begun a turn, this time included; 1 inside a turn and in games
    without repetition."""


class PythonGame:
    """A game under fixed options. See `deskovky.envs.protocol.Game` for its public members."""

    # --- What a game states -----------------------------------------------------------------------

    id: str
    rulesets: tuple[str, ...] = ("standard",)
    start_fens: ClassVar[dict[str, str]]  # by setup; the first is the default
    default_max_turns: ClassVar[int]
    action_shape: tuple[int, int, int]
    num_planes: ClassVar[int]  # of the relative observation; by default those of `planes`
    pieces: ClassVar[str]  # the FEN letters, capital
    piece_aliases: ClassVar[dict[str, str]] = {}  # read, never written; "+C" and the like
    fields: ClassVar[tuple[str, ...]] = ("side", "pending", "quiet", "move")  # after the board
    has_pass: ClassVar[bool] = False
    has_repetition: ClassVar[bool] = False  # the third occurrence counts
    quiet_limit: ClassVar[int | None] = None
    mirror_planes: ClassVar[tuple[int, ...] | None] = None  # action planes, left-right mirrored
    style: ClassVar[Style | None] = None  # how it is drawn; None: as its id says, or plainly

    # --- What a game implements -------------------------------------------------------------------

    def legal_actions(self, position: Position) -> list[int]:
        """Return the legal steps in any order; `pass`, the last action, where nothing else is."""
        raise NotImplementedError

    def step(self, position: Position, action: int) -> Position:
        """Return the position after a legal step."""
        raise NotImplementedError

    def end_by_rule(self, position: Position) -> Outcome | None:
        """Return how the game is over at the start of this turn, looking at the position only."""
        raise NotImplementedError

    def end_by_repetition(self, moments: Sequence[Moment]) -> Outcome | None:
        """Return how the history ends the game; the last moment is now, at the start of a turn."""
        if self.has_repetition and moments[-1].occurrences >= 3:
            return Outcome(None, Termination.REPETITION)
        return None

    def end_by_quiet(self, position: Position) -> Outcome:
        """Return the outcome once `quiet_limit` is reached."""
        return Outcome(None, Termination.QUIET_LIMIT)

    def end_by_length(self, position: Position) -> Outcome:
        """Return the outcome once `max_turns` is reached."""
        return Outcome(None, Termination.MAX_TURNS)

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        """Return the `num_planes` planes ``[ranks, files]`` of the observation seen by `player`.

        By default: own pieces by kind, enemy pieces by kind, the piece that must go on. Override
        it, and `num_planes`, where the rules look at more; all values must lie in [0, 1].
        """
        position = moment.position
        seen = self.seen_board(position.board, player)
        pending = self.plane()
        if position.pending not in ("-", OWED_PLACEMENT):
            square = self.seen_square(self.square_of(position.pending), player)
            pending.flat[square] = 1.0
        return [self.piece_plane(seen, x) for x in self.pieces + self.pieces.lower()] + [pending]

    def step_text(self, position: Position, action: int) -> str:
        """Return the text of a step (not `pass`), legal or not."""
        raise NotImplementedError

    def check(self, position: Position) -> None:
        """Raise FenError, naming the field, if the rules exclude a position that was read."""

    def turned_square(self, square: int) -> int:
        """Return where player 1 sees `square`, and back: the board turned by 180 degrees."""
        return len(self.no_pieces) - 1 - square

    # --- Options ----------------------------------------------------------------------------------

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "pieces") and not hasattr(cls, "num_planes"):
            cls.num_planes = 2 * len(cls.pieces) + 1

    def __init__(
        self,
        *,
        ruleset: str | None = None,
        setup: str | None = None,
        max_turns: int | None = None,
        view: str = "relative",
    ) -> None:
        self._check_statements()
        ruleset = self.rulesets[0] if ruleset is None else ruleset
        setup = self.setups[0] if setup is None else setup
        if ruleset not in self.rulesets:
            raise UnknownGameError(f"{self.id} has no ruleset {ruleset!r}, only {self.rulesets}")
        if setup not in self.start_fens:
            raise UnknownGameError(f"{self.id} has no setup {setup!r}, only {self.setups}")
        if max_turns is not None:
            check_integer("max_turns", max_turns, 1, MAX_MAX_TURNS)
        if view not in ("relative", "absolute"):
            raise ConfigurationError(f"view must be 'relative' or 'absolute', not {view!r}")
        self.ruleset = ruleset
        self.setup = setup
        self.max_turns = self.default_max_turns if max_turns is None else max_turns
        self.view = view

    def _check_statements(self) -> None:
        """Raise ConfigurationError if the class lacks something or states what cannot be."""
        for name in ("id", "start_fens", "default_max_turns", "action_shape", "pieces"):
            if not hasattr(self, name):
                raise ConfigurationError(f"{type(self).__name__} must state its {name}")
        if len(self.action_shape) != 3 or not self.start_fens:
            raise ConfigurationError(
                f"{self.id}: action_shape = {self.action_shape} and start_fens = {self.start_fens}:"
                " expected planes, ranks and files, and at least one FEN"
            )
        planes, ranks, files = self.action_shape
        check_integer("action planes", planes, 1, 10_000)
        check_integer("ranks", ranks, 1, 99)
        check_integer("files", files, 1, len(FILES))
        check_integer("default_max_turns", self.default_max_turns, 1, MAX_MAX_TURNS)

    @property
    def _options(self) -> tuple[object, ...]:
        return (self.id, self.ruleset, self.setup, self.max_turns, self.view)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._options == other._options

    def __hash__(self) -> int:
        return hash(self._options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._options}"

    @property
    def setups(self) -> tuple[str, ...]:
        return tuple(self.start_fens)

    # --- Squares and actions ----------------------------------------------------------------------

    @property
    def num_ranks(self) -> int:
        return self.action_shape[1]

    @property
    def num_files(self) -> int:
        return self.action_shape[2]

    @property
    def no_pieces(self) -> tuple[str, ...]:
        """The empty board."""
        return (EMPTY,) * (self.num_ranks * self.num_files)

    @property
    def _runs(self) -> tuple[str, ...]:
        """What the FEN writes for empty squares: 1 up to the whole rank, without leading zeros."""
        return tuple(str(length) for length in range(1, self.num_files + 1))

    @property
    def num_actions(self) -> int:
        planes, ranks, files = self.action_shape
        return planes * ranks * files + self.has_pass

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return (self.num_planes + (self.view == "absolute"), self.num_ranks, self.num_files)

    @property
    def mirror_actions(self) -> NDArray[np.int32] | None:
        if self.mirror_planes is None:
            return None
        actions = np.arange(np.prod(self.action_shape), dtype=np.int32).reshape(self.action_shape)
        mirrored = actions[list(self.mirror_planes), :, ::-1].reshape(-1)
        return np.append(mirrored, self.num_actions - 1).astype(np.int32)[: self.num_actions]

    def square_name(self, square: int) -> str:
        return f"{FILES[square % self.num_files]}{square // self.num_files + 1}"

    def square_of(self, name: str) -> int:
        """Return the square of a name such as ``b10``. Raises ValueError if there is none."""
        match = re.fullmatch(r"([a-z])([1-9][0-9]?)", name)
        if match is not None:
            file, rank = FILES.index(match[1]), int(match[2]) - 1
            if file < self.num_files and rank < self.num_ranks:
                return rank * self.num_files + file
        raise ValueError(f"no square {name!r}")

    def seen_square(self, square: int, player: int) -> int:
        """Return where `player` sees `square`; the same function leads back."""
        return self.turned_square(square) if player else square

    def seen_board(self, board: Sequence[str], player: int) -> tuple[str, ...]:
        """Return the board as `player` sees it: own pieces are capitals and move up.

        The same function leads back.
        """
        if player == 0:
            return tuple(board)
        return tuple(board[self.turned_square(square)].swapcase() for square in range(len(board)))

    def plane(self, value: float = 0.0) -> NDArray[np.float32]:
        return np.full((self.num_ranks, self.num_files), value, np.float32)

    def piece_plane(self, seen: Sequence[str], piece: str) -> NDArray[np.float32]:
        """Return ones where `piece` stands on a board that was turned by `seen_board`."""
        return np.array([square == piece for square in seen], np.float32).reshape(
            self.num_ranks, self.num_files
        )

    # --- Reading and writing FEN ------------------------------------------------------------------

    def read_fen(self, fen: str) -> Position:
        """Return the position of a FEN. Raises FenError, naming the field."""
        board, *values = fen.split(" ")
        names = self.field_names(len(values))
        position = self.read_board(board)
        for name, value in zip(names, values, strict=True):
            position = self.read_field(position, name, value)
        if all(piece == EMPTY for piece in position.board):
            raise FenError("board: no pieces")
        self.check(position)
        return position

    def field_names(self, num_values: int) -> tuple[str, ...]:
        """Return what the fields after the board are when there are `num_values` of them."""
        if num_values == 1:
            return ("side",)
        if num_values == len(self.fields):
            return self.fields
        raise FenError(f"fields: expected 2 or {1 + len(self.fields)}, found {1 + num_values}")

    def read_board(self, text: str) -> Position:
        """Return a position with the board read; Dobutsu reads its hands here too."""
        ranks = text.split("/")
        if len(ranks) != self.num_ranks:
            raise FenError(f"board: expected {self.num_ranks} ranks, found {len(ranks)}")
        squares: list[str] = []
        for rank in reversed(ranks):
            row = list(self._read_rank(rank))
            if len(row) != self.num_files:
                raise FenError(f"board: rank {rank!r} has {len(row)} squares, not {self.num_files}")
            squares += row
        return Position(tuple(squares))

    def _read_rank(self, rank: str) -> Iterator[str]:
        tokens: list[str] = re.findall(r"[0-9]+|\+?.", rank, re.DOTALL)
        for token in tokens:
            capital = token.upper()
            piece = self.piece_aliases.get(capital, capital)
            if token in self._runs:
                yield from EMPTY * int(token)
            elif token.isascii() and piece in self.pieces:
                yield piece if token == capital else piece.lower()
            else:
                raise FenError(f"board: {token!r} is neither a piece nor a number of squares")

    def read_field(self, position: Position, name: str, value: str) -> Position:
        """Return `position` with one more field read."""
        if name == "side":
            if value not in ("w", "b"):
                raise FenError(f"side: expected 'w' or 'b', not {value!r}")
            return replace(position, to_move="wb".index(value))
        if name == "pending":
            self._check_pending(position, value)
            return replace(position, pending=value)
        if name == "dash":
            if value != "-":
                raise FenError(f"dash: expected '-', not {value!r}")
            return position
        if not NUMBER.fullmatch(value):
            raise FenError(f"{name}: {value!r} is not a number of at most 9 digits")
        if name == "move" and value == "0":
            raise FenError("move: must be at least 1")
        number = int(value)
        return (
            replace(position, quiet=number) if name == "quiet" else replace(position, move=number)
        )

    def _check_pending(self, position: Position, value: str) -> None:
        if value in ("-", OWED_PLACEMENT):  # whether one can be owed is for `check`
            return
        try:
            piece = position.board[self.square_of(value)]
        except ValueError:
            raise FenError(f"pending: {value!r} is not '-', '@' or a square") from None
        if piece == EMPTY or piece.islower() != bool(position.to_move):
            raise FenError(f"pending: no piece of the mover on {value}")

    def write_fen(self, position: Position) -> str:
        """Return the FEN of a position, all fields."""
        values = {
            "side": "wb"[position.to_move],
            "pending": position.pending,
            "dash": "-",
            "quiet": str(position.quiet),
            "move": str(position.move),
        }
        return " ".join([self.write_board(position)] + [values[name] for name in self.fields])

    def write_board(self, position: Position) -> str:
        """Return the first field; Dobutsu adds its hands."""
        ranks = []
        for start in range(0, len(position.board), self.num_files):
            rank = "".join(position.board[start : start + self.num_files])
            ranks.append(re.sub(re.escape(EMPTY) + "+", lambda run: str(len(run[0])), rank))
        return "/".join(reversed(ranks))

    # --- What a game implements, checked ----------------------------------------------------------

    def legal_actions_of(self, position: Position) -> list[int]:
        """Return the legal steps of a game that goes on, ascending.

        Raises ConfigurationError if `legal_actions` returns none, or what is no action.
        """
        actions = sorted(self.legal_actions(position))
        if not actions or actions[0] < 0 or actions[-1] >= self.num_actions:
            raise ConfigurationError(
                f"{self.id}: legal_actions returned {actions} for {self.write_fen(position)!r}: "
                f"expected some in [0, {self.num_actions})"
            )
        return actions

    def position_after(self, position: Position, action: int) -> Position:
        """Return the position after a legal step.

        Raises ConfigurationError unless `step` returns a position in which the same player must
        finish the turn (`pending`) or the other one begins the next, so that every game ends.
        """
        after = self.step(position, action)
        if isinstance(after, Position) and len(after.board) == len(position.board):
            length = after.turns_played - position.turns_played
            if length == (0 if after.is_turn_open else 1):
                return after
        raise ConfigurationError(
            f"{self.id}: step({action}) from {self.write_fen(position)!r} returned {after!r}: "
            "expected a position with a pending square, or with the turn finished"
        )

    # --- The end of a game ------------------------------------------------------------------------

    def outcome(self, moments: Sequence[Moment]) -> Outcome | None:
        """Return how the game is over now; None while it goes on, and always in mid-turn."""
        position = moments[-1].position
        if position.is_turn_open:
            return None
        outcome = self.end_by_rule(position) or self.end_by_repetition(moments)
        if outcome is not None and not isinstance(outcome, Outcome):
            raise ConfigurationError(f"{self.id}: {outcome!r} is no Outcome")
        if outcome is None and self.quiet_limit is not None and position.quiet >= self.quiet_limit:
            outcome = self.end_by_quiet(position)
        if outcome is None and position.turns_played >= self.max_turns:
            outcome = self.end_by_length(position)
        return outcome

    # --- Text -------------------------------------------------------------------------------------

    def action_to_text(self, position: Position, action: int) -> str:
        if self.has_pass and action == self.num_actions - 1:
            return "pass"
        return self.step_text(position, action)

    def turns_from(self, position: Position, turn: str = "") -> Iterator[tuple[str, list[int]]]:
        """Yield text and steps of every turn, or rest of a turn, sorted by action.

        `turn` is the text of the turn so far, which the texts then begin with.
        """
        for action in self.legal_actions_of(position):
            after = self.position_after(position, action)
            text = join_steps(turn, self.action_to_text(position, action))
            if after.is_turn_open:
                for whole, actions in self.turns_from(after, text):
                    yield whole, [action, *actions]
            else:
                yield text, [action]

    # --- States -----------------------------------------------------------------------------------

    def _start(self, fen: str | None) -> Position:
        return self.read_fen(self.start_fens[self.setup] if fen is None else fen)

    def state(self, fen: str | None = None) -> "PythonState":
        return PythonState(self, self._start(fen))

    def perft(self, depth: int, fen: str | None = None) -> int:
        if depth < 0:
            raise ConfigurationError(f"depth must be at least 0, not {depth}")
        return self._perft(self._start(fen), depth)

    def _perft(self, position: Position, depth: int) -> int:
        if depth == 0:
            return 1
        if not position.is_turn_open and self.end_by_rule(position) is not None:
            return 0
        count = 0
        for action in self.legal_actions_of(position):
            after = self.position_after(position, action)
            count += self._perft(after, depth if after.is_turn_open else depth - 1)
        return count


class PythonState(Drawable):
    """A game in progress. See `deskovky.envs.protocol.State` for its public members."""

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __init__(self, game: PythonGame, start: Position) -> None:
        self._game = game
        self._moments = [Moment(start, None, "", 1)]
        self._outcome = game.outcome(self._moments)

    @property
    def moments(self) -> Sequence[Moment]:
        """Every position so far, inside turns too; the last one is now."""
        return self._moments

    @property
    def _position(self) -> Position:
        return self._moments[-1].position

    @property
    def game(self) -> PythonGame:
        return self._game

    @property
    def history(self) -> list[str]:
        turns: list[str] = []
        for before, moment in zip(self._moments, self._moments[1:], strict=False):
            if before.position.is_turn_open and turns:
                turns.pop()  # the same turn, now with one step more
            turns.append(moment.turn)
        return turns

    @property
    def to_move(self) -> int:
        return self._position.to_move

    @property
    def is_turn_open(self) -> bool:
        return self._position.is_turn_open

    @property
    def occurrences(self) -> int:
        return self._moments[-1].occurrences

    @property
    def is_over(self) -> bool:
        return self._outcome is not None

    @property
    def outcome(self) -> Outcome | None:
        return self._outcome

    def returns(self) -> tuple[float, float]:
        if self._outcome is None or self._outcome.winner is None:
            return (0.0, 0.0)
        return (1.0, -1.0) if self._outcome.winner == 0 else (-1.0, 1.0)

    def legal_actions(self) -> NDArray[np.int32]:
        actions = [] if self.is_over else self._game.legal_actions_of(self._position)
        return np.array(actions, np.int32)

    def legal_action_mask(self) -> NDArray[np.bool_]:
        mask = np.zeros(self._game.num_actions, np.bool_)
        mask[self.legal_actions()] = True
        return mask

    def apply(self, action: int) -> None:
        action = self._checked(action)
        if self.is_over:
            raise IllegalActionError(f"action {action}: the game is over")
        if action not in self._game.legal_actions_of(self._position):
            raise IllegalActionError(f"action {action} ({self.action_to_text(action)}) is illegal")
        before = self._moments[-1]
        after = self._game.position_after(before.position, action)
        turn = before.turn if before.position.is_turn_open else ""
        turn = join_steps(turn, self._game.action_to_text(before.position, action))
        occurrences = 1
        if self._game.has_repetition and not after.is_turn_open:
            occurrences += sum(after.is_same_placement(past.position) for past in self._moments)
        self._moments.append(Moment(after, action, turn, occurrences))
        self._outcome = self._game.outcome(self._moments)

    def _checked(self, action: int) -> int:
        try:
            action = operator.index(action)
        except TypeError:
            raise IllegalActionError(f"an action is an integer, not {action!r}") from None
        if not 0 <= action < self._game.num_actions:
            raise IllegalActionError(f"action {action} is not in [0, {self._game.num_actions})")
        return action

    def undo(self) -> None:
        if len(self._moments) == 1:
            raise IllegalActionError("undo: there is no step to take back")
        self._moments.pop()
        self._outcome = None  # a step was made here, so the game went on

    def copy(self) -> Self:
        twin = object.__new__(type(self))
        twin._game, twin._outcome = self._game, self._outcome
        twin._moments = self._moments.copy()
        return twin

    def observation(self, player: int | None = None) -> NDArray[np.float32]:
        is_absolute = self._game.view == "absolute"
        viewer = 0 if is_absolute else self.to_move if player is None else player
        planes = self._game.planes(self._moments[-1], viewer)
        if is_absolute:
            planes.append(self._game.plane(self.to_move))
        shapes = [np.shape(plane) for plane in planes]
        num_planes, *board = self._game.observation_shape
        if shapes != [tuple(board)] * num_planes:
            raise ConfigurationError(
                f"{self._game.id}: planes returned arrays of shapes {shapes}: expected "
                f"{num_planes} of {tuple(board)}"
            )
        return np.stack(planes)

    def fen(self) -> str:
        return self._game.write_fen(self._position)

    def action_to_text(self, action: int) -> str:
        return self._game.action_to_text(self._position, self._checked(action))

    def action_from_text(self, text: str) -> int:
        for action in self.legal_actions().tolist():
            if self.action_to_text(action) == text:
                return int(action)
        raise IllegalActionError(f"{text!r} is not a legal step")

    def _turns(self) -> Iterator[tuple[str, list[int]]]:
        return iter(()) if self.is_over else self._game.turns_from(self._position)

    def turns(self, limit: int | None = None) -> list[str]:
        texts: list[str] = []
        for text, _ in self._turns():
            if limit is not None and len(texts) >= limit:
                break
            texts.append(text)
        return texts

    def push(self, turn: str) -> None:
        for text, actions in self._turns():
            if text == turn:
                for action in actions:
                    self.apply(action)
                return
        raise IllegalActionError(f"{turn!r} is not a legal turn")

    def key(self) -> int:
        position = self._position
        text = repr((position.board, position.hands, position.pending, position.to_move))
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def num_pieces(self, player: int) -> int:
        return sum(piece.islower() if player else piece.isupper() for piece in self._position.board)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PythonState):
            return NotImplemented
        return self._game == other._game and self._moments == other._moments

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._game.id}, {self.fen()!r})"


def join_steps(turn: str, step: str) -> str:
    """Return the text of a turn with one more step (section 0).

    >>> join_steps("", "a3c5"), join_steps("a3c5", "c5e7"), join_steps("a1a7", "P@c2")
    ('a3c5', 'a3c5e7', 'a1a7,P@c2')
    """
    if not turn:
        return step
    if "@" in step:
        return f"{turn},{step}"
    origin = re.match(r"[a-z][0-9]+", step)
    assert origin is not None and turn.endswith(origin[0])
    return turn + step[origin.end() :]
