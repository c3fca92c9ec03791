"""Drakoburg, rules DB-1 to DB-9: the slow reference.

Squares are ``rank * 7 + file`` with a1 first, for both players; only actions and observations are
as the mover sees the board (player 1's is mirrored top to bottom). A move is the pair (origin,
target) of squares.

Actions, ``plane * 49 + square``: planes 0-47 a move from `square` along a line, 48-119 a leap or a
bent move from `square`, 120 a pikeman placed on `square`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, OWED_PLACEMENT, Moment, Position, PythonGame
from deskovky.errors import FenError

SIZE = 7
NUM_SQUARES = SIZE * SIZE
PIECES = "PSZAUT"

# (files to the right, ranks forward) by action plane.
COMPASS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
SHORT_AND_LONG = ((1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 3), (1, 4), (1, 5), (1, 6))


def octants(short: int, long: int) -> tuple[tuple[int, int], ...]:
    """Return a displacement in every way that it can be turned, clockwise from the north."""
    right = ((short, long), (long, short), (long, -short), (short, -long))
    return (*right, *((-files, -ranks) for files, ranks in right))


PLANES = (
    *((files * x, ranks * x) for files, ranks in COMPASS for x in range(1, SIZE)),
    *(octants(*displacement)[octant] for octant in range(8) for displacement in SHORT_AND_LONG),
)
PLACEMENT_PLANE = len(PLANES)

Board = Sequence[str]
Move = tuple[int, int]


# --- DB-2: how the pieces move --------------------------------------------------------------------


class Way(NamedTuple):
    """How a piece gets from one square to another."""

    plane: int
    between: tuple[int, ...]
    """The squares that it passes and that must be empty."""


def passed(piece: str, files: int, ranks: int) -> list[tuple[int, int]] | None:
    """Return what player 0's piece passes on a move by so many files and ranks.

    As displacements from its origin; None if it does not move so.
    """
    short, long = sorted((abs(files), abs(ranks)))
    if piece == "P":
        return [] if ranks == 1 and short + long <= 2 else None
    if long == 1:  # every other piece has the king step
        return []
    if piece == "T":
        return [] if long == 2 and short != 1 else None
    if piece in "AU" and (short, long) == (1, 2):  # a knight's leap
        return []

    # One step at a time: straight for so long, and diagonally for so long, in this order or that.
    sideways, forward = np.sign(files), np.sign(ranks)
    straight = (0, forward) if abs(ranks) > abs(files) else (sideways, 0)
    diagonal = (sideways, forward)
    if piece == "S" and short == long:
        steps = [diagonal] * long
    elif piece == "Z" and short == 0:
        steps = [straight] * long
    elif piece == "A" and long - short == 1:
        steps = [straight] + [diagonal] * short
    elif piece == "U" and short == 1:
        steps = [diagonal] + [straight] * (long - 1)
    else:
        return None
    return [
        (sum(int(step[0]) for step in steps[:x]), sum(int(step[1]) for step in steps[:x]))
        for x in range(1, len(steps))
    ]


def shifted(square: int, files: int, ranks: int) -> int | None:
    """Return the square that lies so far away; None off the board."""
    rank, file = square // SIZE + ranks, square % SIZE + files
    return rank * SIZE + file if 0 <= rank < SIZE and 0 <= file < SIZE else None


def mirrored(square: int) -> int:
    """Return where player 1 sees a square, and back."""
    return (SIZE - 1 - square // SIZE) * SIZE + square % SIZE


def ways(piece: str, origin: int) -> dict[int, Way]:
    """Return the ways of a piece of either player, by target."""
    if piece.islower():
        return {
            mirrored(target): Way(way.plane, tuple(map(mirrored, way.between)))
            for target, way in ways(piece.upper(), mirrored(origin)).items()
        }
    found = {}
    for plane, (files, ranks) in enumerate(PLANES):
        target = shifted(origin, files, ranks)
        displacements = passed(piece, files, ranks)
        if target is not None and displacements is not None:
            between = (shifted(origin, *displacement) for displacement in displacements)
            found[target] = Way(plane, tuple(x for x in between if x is not None))
    return found


WAYS = {
    piece: [ways(piece, origin) for origin in range(NUM_SQUARES)]
    for piece in PIECES + PIECES.lower()
}


def squares_of(board: Board, player: int) -> list[int]:
    """Return where the pieces of `player` stand."""
    letters = PIECES.lower() if player else PIECES
    return [square for square, piece in enumerate(board) if piece in letters]


def reaches(board: Board, origin: int, target: int) -> bool:
    """True if the piece on `origin` has a free way to `target`, whatever stands there."""
    way = WAYS[board[origin]][origin].get(target)
    return way is not None and all(board[square] == EMPTY for square in way.between)


# --- DB-3 to DB-5: bannerets ----------------------------------------------------------------------


def bannerets(board: Board, player: int) -> list[int]:
    return [square for square, piece in enumerate(board) if piece == "Tt"[player]]


def is_in_check(board: Board, player: int) -> bool:
    """True if an enemy piece other than a banneret attacks a banneret of `player` (DB-3)."""
    return any(
        reaches(board, origin, square)
        for square in bannerets(board, player)
        for origin in squares_of(board, 1 - player)
        if board[origin] not in "Tt"
    )


def is_legal(board: Board, move: Move) -> bool:
    """True if the move step is legal; `board` is the one before it."""
    origin, target = move
    piece, victim = board[origin], board[target]
    player = int(piece.islower())
    if victim != EMPTY and victim.islower() == player:
        return False
    if not reaches(board, origin, target) or {piece, victim} == {"T", "t"}:  # DB-2, DB-3
        return False
    moved = after(board, move)
    if piece in "Tt" and any(reaches(moved, x, target) for x in squares_of(moved, 1 - player)):
        return False  # DB-4
    return len(bannerets(moved, player)) != 1 or not is_in_check(moved, player)  # DB-5


@lru_cache(maxsize=1024)  # a state is asked again and again
def legal_moves(board: tuple[str, ...], player: int) -> tuple[Move, ...]:
    """Return the legal move steps of a player."""
    return tuple(
        (origin, target)
        for origin in squares_of(board, player)
        for target in WAYS[board[origin]][origin]
        if is_legal(board, (origin, target))
    )


# --- DB-7, DB-8: promotion and sequix -------------------------------------------------------------

PROMOTED = "ZSSTAAU"  # by file
CASTLE_FILES = (0, 3, 6)


def pikemen_row(player: int) -> range:
    """Return the squares of the row in which the pikemen of `player` begin."""
    return range(SIZE, 2 * SIZE) if player == 0 else range(5 * SIZE, 6 * SIZE)


def castles(player: int) -> list[int]:
    """Return the squares on which a piece of `player` earns a pikeman."""
    return [file + (6 * SIZE if player == 0 else 0) for file in CASTLE_FILES]


def free_places(board: Board, player: int) -> list[int]:
    """Return where `player` can place a pikeman."""
    return [square for square in pikemen_row(player) if board[square] == EMPTY]


def after(board: Board, move: Move) -> tuple[str, ...]:
    """Return the board after a move step."""
    origin, target = move
    changed = list(board)
    changed[target], changed[origin] = changed[origin], EMPTY
    if changed[target] == "P" and target in pikemen_row(1):
        changed[target] = PROMOTED[target % SIZE]
    if changed[target] == "p" and target in pikemen_row(0):
        changed[target] = PROMOTED[target % SIZE].lower()
    return tuple(changed)


# --- The game -------------------------------------------------------------------------------------


class Drakoburg(PythonGame):
    id = "drakoburg_v0"
    start_fens = {  # DB-1
        "default": "z1sta1u/ppppppp/7/7/7/PPPPPPP/Z1STA1U w - 0 1",
        "wide": "zs1t1au/ppppppp/7/7/7/PPPPPPP/ZS1T1AU w - 0 1",
        "paired": "zsstaau/p1ppp1p/7/7/7/P1PPP1P/ZSSTAAU w - 0 1",
    }
    default_max_turns = 400  # DB-9
    action_shape = (121, 7, 7)
    num_planes = 15
    pieces = PIECES
    has_repetition = True  # DB-9
    quiet_limit = 100  # DB-9

    def turned_square(self, square: int) -> int:
        return mirrored(square)

    def legal_actions(self, position: Position) -> list[int]:
        board, player = position.board, position.to_move
        if position.is_turn_open:
            places = [self.seen_square(square, player) for square in free_places(board, player)]
            return [PLACEMENT_PLANE * NUM_SQUARES + place for place in places]
        return [
            WAYS[board[origin]][origin][target].plane * NUM_SQUARES
            + self.seen_square(origin, player)
            for origin, target in legal_moves(board, player)
        ]

    def step(self, position: Position, action: int) -> Position:
        board, player = position.board, position.to_move
        plane, square = divmod(action, NUM_SQUARES)
        origin = self.seen_square(square, player)
        if plane == PLACEMENT_PLANE:
            placed = list(board)
            placed[origin] = "Pp"[player]
            return position.finish_turn(resets_quiet=True, board=tuple(placed))
        seen_target = shifted(square, *PLANES[plane])
        assert seen_target is not None
        target = self.seen_square(seen_target, player)
        moved = after(board, (origin, target))
        resets_quiet = board[target] != EMPTY or board[origin] in "Pp"  # DB-9
        if target in castles(player) and free_places(moved, player):  # DB-8
            quiet = 0 if resets_quiet else position.quiet
            return replace(position, board=moved, pending=OWED_PLACEMENT, quiet=quiet)
        return position.finish_turn(resets_quiet=resets_quiet, board=moved)

    def end_by_rule(self, position: Position) -> Outcome | None:
        board, player = position.board, position.to_move
        for loser in (0, 1):
            if not bannerets(board, loser):
                return Outcome(1 - loser, Termination.NO_BANNERET)  # DB-6
        if not legal_moves(board, player):  # DB-6
            if is_in_check(board, player):
                return Outcome(1 - player, Termination.CHECKMATE)
            return Outcome(None, Termination.STALEMATE)
        return None

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        position = moment.position
        seen = self.seen_board(position.board, player)
        return [
            *(self.piece_plane(seen, piece) for piece in self.pieces + self.pieces.lower()),
            self.plane(position.is_turn_open),
            self.plane(min(1, position.quiet / 100)),
            self.plane((moment.occurrences - 1) / 2),
        ]

    def step_text(self, position: Position, action: int) -> str:
        """A step off the board, which is never legal, has ``--`` for its target."""
        plane, square = divmod(action, NUM_SQUARES)
        name = self.square_name(self.seen_square(square, position.to_move))
        if plane == PLACEMENT_PLANE:
            return f"P@{name}"
        target = shifted(square, *PLANES[plane])
        if target is None:
            return f"{name}--"
        return name + self.square_name(self.seen_square(target, position.to_move))

    def check(self, position: Position) -> None:
        board, player = position.board, position.to_move
        if not bannerets(board, 0) and not bannerets(board, 1):
            raise FenError("board: no banneret")
        if position.pending == OWED_PLACEMENT:
            if not any(square in castles(player) for square in squares_of(board, player)):
                raise FenError("pending: a pikeman is owed, but no piece stands on a castle")
            if not free_places(board, player):
                raise FenError("pending: a pikeman is owed, but there is no place for it")
        elif position.is_turn_open:
            raise FenError(f"pending: no piece of Drakoburg must go on, not on {position.pending}")
