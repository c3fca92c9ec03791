"""What the four draughts games share: jumps, compulsory capture, turns of several jumps, passes.

A game states in `movements` which way each of its pieces goes; everything is worked out on the
board as the mover sees it: own pieces are capitals and move up. The rules common to the games are
cited by their number in Gothic draughts (GD).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, OWED_PLACEMENT, Moment, Position, PythonGame
from deskovky.errors import FenError

# (files to the right, ranks forward) of N, NE, E, SE, S, SW, W, NW.
COMPASS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
N, NE, E, SE, S, SW, W, NW = range(8)
ALL = tuple(range(8))


class Movement(NamedTuple):
    """How one kind of piece goes."""

    steps: tuple[int, ...]
    """The directions in which it steps onto an empty square."""

    jumps: tuple[int, ...]
    """The directions in which it captures."""

    is_flying: bool = False
    """True if it crosses any number of empty squares before and behind the jumped piece."""


class Step(NamedTuple):
    """One step of a piece, which may be a jump."""

    action: int
    origin: int
    over: int | None
    """The square of the piece captured by a jump."""

    to: int


class Draughts(PythonGame):
    has_pass = True

    # --- What a game states -----------------------------------------------------------------------

    movements: dict[str, Movement]  # by piece
    directions: ClassVar[tuple[tuple[int, int], ...]] = COMPASS
    max_counts: ClassVar[dict[str, int]]  # how many of these pieces a side can have
    promotions: ClassVar[dict[str, str]] = {}
    promotion_ends_turn: ClassVar[bool] = False
    strength: ClassVar[dict[str, int]]  # what a piece counts where pieces decide the game
    has_quiet_plane: ClassVar[bool] = False

    def plane_of(self, direction: int, distance: int, is_jump: bool) -> int:
        """Return the action plane; here that of a game in which pieces fly."""
        return direction * (self.num_files - 1) + distance - 1

    def choose(self, seen: tuple[str, ...], jumps: list[Step]) -> list[Step]:
        """Return which of the possible jumps are allowed: all, but for a maximum rule."""
        return jumps

    # --- Steps ------------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> list[list[list[int]]]:
        """``lines[square][direction]``: the squares that lie there, up to the edge."""
        return [
            [self._line(square, *direction) for direction in self.directions]
            for square in range(len(self.no_pieces))
        ]

    @cached_property
    def ways(self) -> dict[int, tuple[int, int]]:
        """Direction and distance by action plane."""
        return {
            self.plane_of(direction, distance, is_jump): (direction, distance)
            for direction in ALL
            for distance in range(1, self.num_files)
            for is_jump in (False, True)
        }

    def _line(self, square: int, files: int, ranks: int) -> list[int]:
        rank, file = divmod(square, self.num_files)
        line: list[int] = []
        while True:
            rank, file = rank + ranks, file + files
            if not (0 <= rank < self.num_ranks and 0 <= file < self.num_files):
                return line
            line.append(rank * self.num_files + file)

    def action_of(self, square: int, direction: int, distance: int, is_jump: bool) -> int:
        plane = self.plane_of(direction, distance, is_jump)
        return plane * len(self.lines) + square

    def steps(self, seen: Sequence[str], square: int) -> Iterator[Step]:
        """Yield the steps without capture of the own piece on `square`."""
        movement = self.movements[seen[square]]
        for direction in movement.steps:
            for distance, to in enumerate(self.lines[square][direction], start=1):
                if seen[to] != EMPTY:
                    break
                yield Step(self.action_of(square, direction, distance, False), square, None, to)
                if not movement.is_flying:
                    break

    def jumps(self, seen: Sequence[str], square: int) -> Iterator[Step]:
        """Yield the possible jumps of the own piece on `square`."""
        movement = self.movements[seen[square]]
        for direction in movement.jumps:
            over: int | None = None
            for distance, to in enumerate(self.lines[square][direction], start=1):
                if over is None:
                    if seen[to].islower():
                        over = to
                    elif seen[to] != EMPTY or not movement.is_flying:
                        break
                else:
                    if seen[to] != EMPTY:
                        break
                    yield Step(self.action_of(square, direction, distance, True), square, over, to)
                    if not movement.is_flying:
                        break

    def seen_board(self, board: Sequence[str], player: int) -> tuple[str, ...]:
        """The same as in every game, only quicker."""
        return tuple(piece.swapcase() for piece in reversed(board)) if player else tuple(board)

    def after(self, seen: Sequence[str], step: Step) -> tuple[str, ...]:
        """Return the board after a step; the jumped piece is removed at once (GD-4)."""
        board = list(seen)
        board[step.to], board[step.origin] = board[step.origin], EMPTY
        if step.over is not None:
            board[step.over] = EMPTY
        return tuple(board)

    def own_squares(self, seen: Sequence[str]) -> list[int]:
        return [square for square, piece in enumerate(seen) if piece.isupper()]

    def can_step(self, seen: Sequence[str]) -> bool:
        """True if the player who sees this board could begin a turn other than a pass."""
        return any(
            True
            for square in self.own_squares(seen)
            for movement in (self.steps, self.jumps)
            for _ in movement(seen, square)
        )

    def legal_steps(self, position: Position) -> list[Step]:
        """Return the legal steps; none if the mover must pass."""
        seen = self.seen_board(position.board, position.to_move)
        squares: Iterable[int] = self.own_squares(seen)
        if position.is_turn_open:  # the jumping piece goes on
            squares = [self.seen_square(self.square_of(position.pending), position.to_move)]
        jumps = [jump for square in squares for jump in self.jumps(seen, square)]
        if jumps:  # capturing is compulsory (GD-3)
            return self.choose(seen, jumps)
        return [step for square in squares for step in self.steps(seen, square)]

    def legal_actions(self, position: Position) -> list[int]:
        return [step.action for step in self.legal_steps(position)] or [self.num_actions - 1]

    def step(self, position: Position, action: int) -> Position:
        if action == self.num_actions - 1:
            return position.finish_turn(resets_quiet=False)  # GD-6
        player = position.to_move
        before = self.seen_board(position.board, player)
        square = action % len(before)
        movements = (*self.jumps(before, square), *self.steps(before, square))
        [step] = [step for step in movements if step.action == action]
        is_jump = step.over is not None
        seen = list(self.after(before, step))

        promoted = seen[step.to]
        if step.to >= len(seen) - self.num_files:  # the farthest rank
            promoted = self.promotions.get(promoted, promoted)
        ends_at_once = self.promotion_ends_turn and promoted != seen[step.to]
        if is_jump and not ends_at_once and any(True for _ in self.jumps(seen, step.to)):
            pending = self.square_name(self.seen_square(step.to, player))
            return replace(position, board=self.seen_board(seen, player), pending=pending, quiet=0)
        seen[step.to] = promoted  # only where the turn ends (GD-5)
        return position.finish_turn(resets_quiet=is_jump, board=self.seen_board(seen, player))

    # --- The end of a game ------------------------------------------------------------------------

    def end_by_rule(self, position: Position) -> Outcome | None:
        boards = [self.seen_board(position.board, player) for player in (0, 1)]
        for player, seen in enumerate(boards):
            if not self.own_squares(seen):
                return Outcome(1 - player, Termination.NO_PIECES)  # GD-7
        if not any(self.can_step(seen) for seen in boards):
            return self.outcome_by_strength(position, Termination.BLOCKED)  # GD-6
        return None

    def outcome_by_strength(self, position: Position, termination: Termination) -> Outcome:
        own, enemy = (
            sum(self.strength.get(piece, 0) for piece in self.seen_board(position.board, player))
            for player in (0, 1)
        )
        return Outcome(None if own == enemy else int(own < enemy), termination)

    # --- Observation, text, FEN -------------------------------------------------------------------

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        position = moment.position
        seen = self.seen_board(position.board, player)
        pending = self.plane()
        if position.is_turn_open:
            square = self.seen_square(self.square_of(position.pending), player)
            pending[divmod(square, self.num_files)] = 1
        planes = [self.piece_plane(seen, piece) for piece in self.pieces + self.pieces.lower()]
        planes.append(pending)
        if self.has_quiet_plane:
            assert self.quiet_limit is not None
            planes.append(self.plane(min(1, position.quiet / self.quiet_limit)))
        return planes

    def step_text(self, position: Position, action: int) -> str:
        """A step off the board, which is never legal, has ``--`` for its target."""
        plane, square = divmod(action, len(self.no_pieces))
        direction, distance = self.ways[plane]
        line = self.lines[square][direction]
        name = self.square_name(self.seen_square(square, position.to_move))
        if distance > len(line):
            return f"{name}--"
        return name + self.square_name(self.seen_square(line[distance - 1], position.to_move))

    def check(self, position: Position) -> None:
        for player in (0, 1):
            seen = self.seen_board(position.board, player)
            for pieces, limit in self.max_counts.items():
                count = sum(seen.count(piece) for piece in pieces)
                if count > limit:
                    raise FenError(f"board: player {player} has {count} of {pieces}, over {limit}")
        if position.pending == OWED_PLACEMENT:
            raise FenError("pending: nothing is placed in draughts")
        if position.is_turn_open:
            seen = self.seen_board(position.board, position.to_move)
            square = self.seen_square(self.square_of(position.pending), position.to_move)
            if not any(True for _ in self.jumps(seen, square)):
                raise FenError(f"pending: the piece on {position.pending} cannot jump")
