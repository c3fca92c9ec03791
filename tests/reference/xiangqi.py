"""Xiangqi, rules XQ-1 to XQ-8: the slow reference.

Squares are ``rank * 9 + file`` with a1 first, for both players; only actions and observations are
as the mover sees the board. A move is the pair (origin, target) of squares.

Actions, ``plane * 90 + origin``: planes 0-33 straight by a distance, north, south, east, west;
34-41 the horse, 42-45 the elephant, 46-49 the advisor, each clockwise from the north.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, Moment, Position, PythonGame
from deskovky.errors import FenError

NUM_FILES, NUM_RANKS, NUM_SQUARES = 9, 10, 90
LAST = NUM_SQUARES - 1  # square s of player 0 is LAST - s of player 1
PIECES = "KABNRCP"
MAX_COUNTS = {"A": 2, "B": 2, "N": 2, "R": 2, "C": 2, "P": 5}  # of the set, a side
PALACE = frozenset(rank * NUM_FILES + file for rank in (0, 1, 2) for file in (3, 4, 5))
OWN_HALF = range(5 * NUM_FILES)  # player 0's side of the river

# (files to the right, ranks forward) by action plane.
PLANES = (
    *((0, distance) for distance in range(1, NUM_RANKS)),
    *((0, -distance) for distance in range(1, NUM_RANKS)),
    *((distance, 0) for distance in range(1, NUM_FILES)),
    *((-distance, 0) for distance in range(1, NUM_FILES)),
    *((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)),
    *((2, 2), (2, -2), (-2, -2), (-2, 2)),
    *((1, 1), (1, -1), (-1, -1), (-1, 1)),
)

Board = Sequence[str]
Move = tuple[int, int]


# --- XQ-1: how the pieces move --------------------------------------------------------------------


class Way(NamedTuple):
    """How a piece gets from one square to another."""

    plane: int
    between: tuple[int, ...]
    """The squares that it passes; for a horse and an elephant the one that can block them."""


def is_way(piece: str, origin: int, target: int, files: int, ranks: int) -> bool:
    """True if player 0's piece moves by so many files and ranks, whatever stands between."""
    distances = sorted((abs(files), abs(ranks)))
    if piece == "K":
        return distances == [0, 1] and target in PALACE
    if piece == "A":
        return distances == [1, 1] and target in PALACE
    if piece == "B":
        return distances == [2, 2] and target in OWN_HALF
    if piece == "N":
        return distances == [1, 2]
    if piece == "P":
        is_sideways = distances == [0, 1] and ranks == 0
        return (files, ranks) == (0, 1) or (is_sideways and origin not in OWN_HALF)
    return distances[0] == 0  # R, C


def seen_target(square: int, plane: int) -> int | None:
    """Return the square that lies a plane's displacement away; None off the board."""
    files, ranks = PLANES[plane]
    rank, file = square // NUM_FILES + ranks, square % NUM_FILES + files
    is_on_board = 0 <= rank < NUM_RANKS and 0 <= file < NUM_FILES
    return rank * NUM_FILES + file if is_on_board else None


def squares_between(origin: int, plane: int) -> tuple[int, ...]:
    files, ranks = PLANES[plane]
    distance = max(abs(files), abs(ranks))
    if files == 0 or ranks == 0:
        unit = (ranks * NUM_FILES + files) // distance
        return tuple(origin + unit * x for x in range(1, distance))
    if distance == 2:  # half the way, which leads a horse one orthogonal step from its origin
        return (origin + int(ranks / 2) * NUM_FILES + int(files / 2),)
    return ()


def ways(piece: str, origin: int) -> dict[int, Way]:
    """Return the ways of a piece of either player, by target."""
    if piece.islower():  # player 1 sees the board turned
        return {
            LAST - target: Way(way.plane, tuple(LAST - square for square in way.between))
            for target, way in ways(piece.upper(), LAST - origin).items()
        }
    found = {}
    for plane, displacement in enumerate(PLANES):
        target = seen_target(origin, plane)
        if target is not None and is_way(piece, origin, target, *displacement):
            found[target] = Way(plane, squares_between(origin, plane))
    return found


WAYS = {
    piece: [ways(piece, origin) for origin in range(NUM_SQUARES)]
    for piece in PIECES + PIECES.lower()
}


def squares_of(board: Board, player: int) -> list[int]:
    """Return where the pieces of `player` stand."""
    letters = PIECES.lower() if player else PIECES
    return [square for square, piece in enumerate(board) if piece in letters]


def num_between(board: Board, way: Way) -> int:
    return sum(board[square] != EMPTY for square in way.between)


def can_move(board: Board, origin: int, target: int) -> bool:
    """True if by XQ-1 the piece on `origin` can move to `target`, capturing what stands there."""
    piece, victim = board[origin], board[target]
    way = WAYS[piece][origin].get(target)
    if way is None or (victim != EMPTY and victim.islower() == piece.islower()):
        return False
    jumps = 1 if piece in "Cc" and victim != EMPTY else 0
    return num_between(board, way) == jumps


def after(board: Board, move: Move) -> tuple[str, ...]:
    """Return the board after a move."""
    origin, target = move
    changed = list(board)
    changed[target], changed[origin] = changed[origin], EMPTY
    return tuple(changed)


# --- XQ-2: the general ----------------------------------------------------------------------------


def is_general_exposed(board: Board, player: int) -> bool:
    """True if the general of `player` could be captured or faces the other one."""
    own, enemy = (board.index(general) for general in ("Kk" if player == 0 else "kK"))
    if own % NUM_FILES == enemy % NUM_FILES and not num_between(board, WAYS["R"][own][enemy]):
        return True
    return any(can_move(board, square, own) for square in squares_of(board, 1 - player))


def is_legal(board: Board, move: Move) -> bool:
    """True if the move is legal by XQ-1 and XQ-2."""
    origin, target = move
    player = int(board[origin].islower())
    return can_move(board, origin, target) and not is_general_exposed(after(board, move), player)


@lru_cache(maxsize=1024)  # a state is asked again and again
def legal_moves(board: tuple[str, ...], player: int) -> tuple[Move, ...]:
    """Return the moves of a player that are legal by XQ-1 and XQ-2."""
    return tuple(
        (origin, target)
        for origin in squares_of(board, player)
        for target in WAYS[board[origin]][origin]
        if is_legal(board, (origin, target))
    )


def gives_check(board: Board, move: Move) -> bool:
    """True if the enemy's general could be captured after the move."""
    return is_general_exposed(after(board, move), 1 - int(board[move[0]].islower()))


# --- XQ-4: checks in a row ------------------------------------------------------------------------


class Chain(NamedTuple):
    """The checks in a row of one player."""

    length: int = 0
    checker: int | None = None
    """Where the piece stands that made them all."""

    answerer: int | None = None
    """Where the enemy piece stands that made all turns between; None before the first answer."""


NO_CHAINS = (Chain(), Chain())
MAX_CHECKS = 3


def continued(chain: Chain, move: Move, is_check: bool) -> Chain:
    """Return the chain of a player who has just moved."""
    origin, target = move
    if not is_check:
        return Chain()
    if chain.checker != origin:
        return Chain(1, target)
    return Chain(
        chain.length + 1, target, None if chain.answerer == target else chain.answerer
    )  # a captured answerer can answer no more


def answered(chain: Chain, move: Move) -> Chain:
    """Return the chain of the player whose enemy has just moved."""
    origin, target = move
    if not chain.length or chain.checker == target:
        return Chain()
    # A different piece starts a new chain, of which the check just answered is the first.
    return Chain(chain.length if chain.answerer == origin else 1, chain.checker, target)


# --- XQ-5, XQ-6: chasing --------------------------------------------------------------------------


def can_be_recaptured(board: Board, square: int) -> bool:
    """True if the piece on `square` could legally be captured."""
    enemies = squares_of(board, int(not board[square].islower()))
    return any(is_legal(board, (origin, square)) for origin in enemies)


def is_chase(board: Board, hunter: int, victim: int) -> bool:
    """True if the attack of one piece on another, which is new, is a chase by XQ-6."""
    u, v = board[hunter].upper(), board[victim].upper()
    if not is_legal(board, (hunter, victim)):  # it would expose the hunter's own general
        return False
    if (v == "R" and u in "NC") or (u in "AB" and v in "RNC"):  # (i), (ii)
        return True
    if u == v and is_legal(board, (victim, hunter)):
        return False
    return not can_be_recaptured(after(board, (hunter, victim)), victim)  # (iii)


def can_be_chased(board: Board, square: int) -> bool:
    """True unless a general or a soldier on its own half stands there."""
    piece = board[square]
    half = OWN_HALF if piece.isupper() else range(len(OWN_HALF), NUM_SQUARES)
    return not (piece in "Kk" or (piece in "Pp" and square in half))


def chased(before: Board, move: Move) -> set[int]:
    """Return the squares of the pieces that are chased after a move (XQ-6)."""
    origin, target = move
    board = after(before, move)
    player = int(board[target].islower())
    hunters = [square for square in squares_of(board, player) if board[square] not in "KkPp"]
    victims = [square for square in squares_of(board, 1 - player) if can_be_chased(board, square)]
    return {
        victim
        for victim in victims
        for hunter in hunters
        if can_move(board, hunter, victim)
        and not can_move(before, origin if hunter == target else hunter, victim)
        and is_chase(board, hunter, victim)
    }


class Turn(NamedTuple):
    """A turn that was played."""

    board: Board
    """The board before it."""

    player: int
    move: Move


IDLE, CHASE, CHECK = range(3)  # the more serious the greater


def conduct(turns: Sequence[Turn], player: int) -> int:
    """Return the class of `player` in turns that lead from a position back to it (XQ-5)."""
    checks = [gives_check(turn.board, turn.move) for turn in turns if turn.player == player]
    if all(checks):
        return CHECK
    if any(checks):
        return IDLE
    # Nothing is captured on the way, so that a square is enough to follow a piece.
    always_chased = set(squares_of(turns[0].board, 1 - player))
    for turn in turns:
        if turn.player == player:
            always_chased &= chased(turn.board, turn.move)
        else:
            origin, target = turn.move
            always_chased = {target if x == origin else x for x in always_chased}
    return CHASE if always_chased else IDLE


# --- The game -------------------------------------------------------------------------------------


class Xiangqi(PythonGame):
    id = "xiangqi_v0"
    rulesets = ("standard", "axf")
    start_fens = {
        "default": "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
    }
    default_max_turns = 500  # XQ-8
    action_shape = (50, 10, 9)
    num_planes = 22
    pieces = PIECES
    piece_aliases = {"E": "B", "H": "N"}
    fields = ("side", "dash", "dash", "quiet", "move")
    has_repetition = True  # XQ-5
    quiet_limit = 120  # XQ-7
    mirror_planes = tuple(PLANES.index((-files, ranks)) for files, ranks in PLANES)

    def legal_actions(self, position: Position) -> list[int]:
        board, player = position.board, position.to_move
        return [
            WAYS[board[origin]][origin][target].plane * NUM_SQUARES
            + self.seen_square(origin, player)
            for origin, target in self._moves(position)
        ]

    def _moves(self, position: Position) -> Iterator[Move]:
        chain = position.extra[position.to_move]
        for move in legal_moves(position.board, position.to_move):
            is_fourth = chain.length == MAX_CHECKS and chain.checker == move[0]
            if not (is_fourth and gives_check(position.board, move)):  # XQ-4
                yield move

    def move_of(self, action: int, player: int) -> Move:
        """Return the move of an action that does not lead off the board."""
        plane, square = divmod(action, NUM_SQUARES)
        target = seen_target(square, plane)
        assert target is not None
        return self.seen_square(square, player), self.seen_square(target, player)

    def step(self, position: Position, action: int) -> Position:
        board, player = position.board, position.to_move
        move = self.move_of(action, player)
        chains = list(position.extra)
        if self.ruleset == "standard":  # axf has no chains
            is_check = gives_check(board, move)
            chains[player] = continued(chains[player], move, is_check)
            chains[1 - player] = answered(chains[1 - player], move)
        return position.finish_turn(
            resets_quiet=board[move[1]] != EMPTY, board=after(board, move), extra=tuple(chains)
        )

    def end_by_rule(self, position: Position) -> Outcome | None:
        board, player = position.board, position.to_move
        if not any(True for _ in self._moves(position)):  # XQ-3
            is_mate = is_general_exposed(board, player)
            return Outcome(1 - player, Termination.CHECKMATE if is_mate else Termination.STALEMATE)
        if not any(piece in board for piece in "RrNnCcPp"):  # XQ-7
            return Outcome(None, Termination.INSUFFICIENT_MATERIAL)
        return None

    def end_by_repetition(self, moments: Sequence[Moment]) -> Outcome | None:
        if moments[-1].occurrences < 3:
            return None
        now = moments[-1].position
        first = next(
            number for number, past in enumerate(moments) if now.is_same_placement(past.position)
        )
        turns = []
        for before, moment in pairwise(moments[first:]):
            assert moment.action is not None
            player = before.position.to_move
            turns.append(Turn(before.position.board, player, self.move_of(moment.action, player)))
        conducts = [conduct(turns, player) for player in (0, 1)]
        if conducts[0] == conducts[1]:
            return Outcome(None, Termination.REPETITION)
        is_check = CHECK in conducts
        return Outcome(
            int(conducts[0] > conducts[1]),
            Termination.PERPETUAL_CHECK if is_check else Termination.PERPETUAL_CHASE,
        )

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        position = moment.position
        seen = self.seen_board(position.board, player)
        planes = [self.piece_plane(seen, piece) for piece in self.pieces + self.pieces.lower()]
        for chain in (position.extra[player], position.extra[1 - player]):
            planes.append(self.plane(chain.length / MAX_CHECKS))
            for square in (chain.checker, chain.answerer):
                plane = self.plane()
                if square is not None:
                    plane[divmod(self.seen_square(square, player), NUM_FILES)] = 1
                planes.append(plane)
        planes.append(self.plane(min(1, position.quiet / 120)))
        planes.append(self.plane((moment.occurrences - 1) / 2))
        return planes

    def step_text(self, position: Position, action: int) -> str:
        """A step off the board, which is never legal, has ``--`` for its target."""
        plane, square = divmod(action, NUM_SQUARES)
        if seen_target(square, plane) is None:
            return self.square_name(self.seen_square(square, position.to_move)) + "--"
        return "".join(map(self.square_name, self.move_of(action, position.to_move)))

    # --- FEN --------------------------------------------------------------------------------------

    def read_board(self, text: str) -> Position:
        return replace(super().read_board(text), extra=NO_CHAINS)

    def check(self, position: Position) -> None:
        for player in (0, 1):
            seen = self.seen_board(position.board, player)
            if seen.count("K") != 1:
                raise FenError(f"board: player {player} has {seen.count('K')} generals, not one")
            for piece, limit in MAX_COUNTS.items():
                if seen.count(piece) > limit:
                    raise FenError(f"board: player {player} has more than {limit} {piece}")
            for square, piece in enumerate(seen):
                if piece in POINTS and square not in POINTS[piece]:
                    raise FenError(f"board: a {piece} of player {player} can never be where it is")
        if is_general_exposed(position.board, 1 - position.to_move):
            raise FenError("board: the general of the player not to move could be captured")


def points(piece: str, start: str) -> set[int]:
    """Return the squares that player 0's piece can reach from the first rank."""
    reached = {file for file, other in enumerate(start) if other == piece}
    for _ in range(NUM_RANKS):
        reached |= {target for origin in reached for target in WAYS[piece][origin]}
    return reached


POINTS = {piece: points(piece, "RNBAKABNR") for piece in "KAB"}
