"""Who loses a loop of Xiangqi: rules XQ-5 and XQ-6, and how Fairy-Stockfish differs from them.

`judge` adjudicates a loop by the rules alone, or with a set of `Difference` switched on. With none
it must say what deskovky says, with all of them what pyffish 0.0.90 says: then the list of
differences is complete. Written from the rules, and from reading and running the program.

A board maps the occupied squares to their pieces, ``square = rank * 9 + file`` from a1; capitals
are player 0's.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum, auto

Board = dict[int, str]
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # (files, ranks)
DIAGONALS = ((1, 1), (1, -1), (-1, -1), (-1, 1))


class Difference(Enum):
    """How Fairy-Stockfish's variant `xiangqi` departs from XQ-5 and XQ-6."""

    DRAWS_BACK = auto()
    """A chariot or cannon that moves away from v along its line of attack attacks v anew."""

    EXPOSED_CHASER = auto()
    """A piece chases also if its capture would expose its own general."""

    PINNED_PAIR = auto()
    """Of the pairs of one type in (iii), what counts is whether v is pinned, not whether v could
    legally capture u: a pinned v that can capture along the pin is chased. For two horses, with any
    piece diagonally beside u, it is whether v attacks u, pinned or not."""

    PINNED_PROTECTOR = auto()
    """In (iii) pins and checks are those before the capture: a pinned piece does not protect, even
    if the piece that pins it captures, and a piece that the capture itself pins does. If both
    generals are on a file and the enemy has one other piece there, it counts as pinned, whatever
    else stands between. The general protects also where another piece of the chaser attacks, but
    not where the other general does."""

    ELEPHANT_ABROAD = auto()
    """An elephant whose eye is freed attacks across the river."""

    NEW_PIN = auto()
    """Everything that the chaser attacks and that a piece just pinned protected is chased."""

    NEW_BATTERY = auto()
    """Everything that a piece attacks which can now uncover a check is chased, but for what only
    the general beside it protects."""

    CHECK_AND_CHASE = auto()
    """Turns that give check may be among those that chase; a player who checks with some turns and
    chases the same piece with all is not idle."""

    TURN_BEFORE = auto()
    """Of the player whose turn leads to the third occurrence, the turn that led to the first one
    must have chased the piece, too."""


NONE: frozenset[Difference] = frozenset()
ALL = frozenset(Difference)


@dataclass(frozen=True)
class Turn:
    """One turn of a loop. No turn of a loop captures."""

    before: Board
    after: Board
    origin: int
    target: int

    @property
    def player(self) -> int:
        return int(self.after[self.target].islower())


# --- XQ-1, XQ-2 -----------------------------------------------------------------------------------


def shifted(square: int, files: int, ranks: int) -> int | None:
    """Return the square so far away; None off the board."""
    file, rank = square % 9 + files, square // 9 + ranks
    return 9 * rank + file if 0 <= file < 9 and 0 <= rank < 10 else None


def is_across(square: int, player: int) -> bool:
    return (square >= 45) == (player == 0)


def is_in_palace(square: int, player: int) -> bool:
    return square % 9 in (3, 4, 5) and square // 9 in ((7, 8, 9) if player else (0, 1, 2))


def line_from(square: int, files: int, ranks: int) -> list[int]:
    """Return the squares in one direction, nearest first."""
    line: list[int] = []
    next_square = shifted(square, files, ranks)
    while next_square is not None:
        line.append(next_square)
        next_square = shifted(next_square, files, ranks)
    return line


LINES = [[line_from(square, *step) for step in STEPS] for square in range(90)]


def attacked(
    piece: str, square: int, occupied: AbstractSet[int], is_bounded: bool = True
) -> set[int]:
    """Return where `piece` on `square` could capture by XQ-1; with `is_bounded` false the palace
    and the river stop no advisor, elephant or soldier."""
    kind, player = piece.upper(), int(piece.islower())
    targets: set[int] = set()
    if kind in "RC":
        for line in LINES[square]:
            found = [x for x in line if x in occupied]
            targets.update(found[0:1] if kind == "R" else found[1:2])
        return targets
    if kind == "N":
        for leg_step in STEPS:
            leg = shifted(square, *leg_step)
            if leg is None or leg in occupied:
                continue
            for step in DIAGONALS:
                target = shifted(leg, *step)
                if target is not None and leg_step in ((step[0], 0), (0, step[1])):
                    targets.add(target)
        return targets
    for files, ranks in DIAGONALS if kind in "AB" else STEPS:
        target = shifted(square, files, ranks)
        if target is None:
            continue
        if kind == "B":
            if target in occupied:  # the eye
                continue
            target = shifted(target, files, ranks)
            if target is None or (is_bounded and is_across(target, player)):
                continue
        if kind in "KA" and is_bounded and not is_in_palace(target, player):
            continue
        if kind == "P":
            is_forward = ranks == (-1 if player else 1)
            may_step_aside = ranks == 0 and (not is_bounded or is_across(square, player))
            if not is_forward and not may_step_aside:
                continue
        targets.add(target)
    return targets


def squares_of(board: Board, player: int) -> set[int]:
    return {square for square, piece in board.items() if piece.islower() == bool(player)}


def general_of(board: Board, player: int) -> int:
    return next(x for x, piece in board.items() if piece == ("k" if player else "K"))


def attackers(board: Board, target: int, player: int, occupied: AbstractSet[int]) -> set[int]:
    """Return the squares of the pieces of `player` that could capture on `target` by XQ-1."""
    return {x for x in squares_of(board, player) if target in attacked(board[x], x, occupied)}


def is_exposed(board: Board, player: int) -> bool:
    """XQ-2: whether the general of `player` could be captured or faces the other one."""
    general = general_of(board, player)
    if attackers(board, general, 1 - player, board.keys()):
        return True
    return general_of(board, 1 - player) in attacked("R", general, board.keys())


def after_move(board: Board, origin: int, target: int) -> Board:
    moved = {square: piece for square, piece in board.items() if square != origin}
    moved[target] = board[origin]
    return moved


def can_capture(board: Board, origin: int, target: int) -> bool:
    """Whether a piece could capture on `target` by XQ-1 and XQ-2."""
    piece = board[origin]
    return target in attacked(piece, origin, board.keys()) and not is_exposed(
        after_move(board, origin, target), int(piece.islower())
    )


# --- XQ-6 -----------------------------------------------------------------------------------------


def can_be_chased(board: Board, square: int) -> bool:
    kind, player = board[square].upper(), int(board[square].islower())
    return kind != "K" and (kind != "P" or is_across(square, player))


def chased(turn: Turn, differences: AbstractSet[Difference]) -> set[int]:
    """Return the squares of the enemy pieces that the turn chases."""
    board = turn.after
    victims: set[int] = set()
    for u in squares_of(board, turn.player):
        if board[u].upper() not in "KP":
            for v in newly_attacked(turn, u, differences) - victims:
                if can_be_chased(board, v) and is_chase(board, u, v, differences):
                    victims.add(v)
    if Difference.NEW_PIN in differences:
        victims |= unprotected_by_new_pins(turn)
    if Difference.NEW_BATTERY in differences:
        victims |= attacked_by_new_batteries(turn)
    return victims


def newly_attacked(turn: Turn, u: int, differences: AbstractSet[Difference]) -> set[int]:
    """Return the enemy pieces that the piece on u, of the player who moved, attacks now and did
    not before."""
    piece = turn.after[u]
    u_before = turn.origin if u == turn.target else u
    is_bounded = Difference.ELEPHANT_ABROAD not in differences or u == turn.target
    targets = attacked(piece, u, turn.after.keys(), is_bounded)
    new = targets - attacked(piece, u_before, turn.before.keys(), is_bounded)
    if Difference.DRAWS_BACK in differences and u == turn.target and piece.upper() in "RC":
        for line in LINES[u]:
            if turn.origin in line:
                new |= targets & set(line[line.index(turn.origin) :])
    return new & squares_of(turn.after, 1 - turn.player)


def is_chase(board: Board, u: int, v: int, differences: AbstractSet[Difference]) -> bool:
    """Whether the new attack of u on v is a chase."""
    chaser, enemy = int(board[u].islower()), int(board[v].islower())
    kind, victim_kind = board[u].upper(), board[v].upper()
    captured = after_move(board, u, v)
    if Difference.EXPOSED_CHASER not in differences and is_exposed(captured, chaser):
        return False
    if victim_kind == "R" and kind in "NC":
        return True
    if victim_kind in "RNC" and kind in "AB":
        return True
    if kind == victim_kind:
        if Difference.PINNED_PAIR in differences:
            if kind == "N" and any(shifted(u, *step) in board for step in DIAGONALS):
                is_pair = u in attacked(board[v], v, board.keys())
            else:
                is_pair = v not in seemingly_pinned(board, enemy)
        else:
            is_pair = can_capture(board, v, u)
        if is_pair:
            return False
    if Difference.PINNED_PROTECTOR in differences:
        occupied = board.keys() - {u}
        protectors = attackers(board, v, enemy, occupied) - seemingly_pinned(board, enemy)
        faced = attacked("R", general_of(board, chaser), occupied)
        return not protectors or (protectors == {general_of(board, enemy)} and v in faced)
    return not any(can_capture(captured, x, v) for x in squares_of(captured, enemy))


def blockers(board: Board, player: int) -> set[int]:
    """Return the squares of the pieces, of both players, each of which alone keeps some piece from
    attacking the general of `player`."""
    general = general_of(board, player)
    attackers_now = attackers(board, general, 1 - player, board.keys())
    return {
        x
        for x in board.keys() - {general}
        if attackers(board, general, 1 - player, board.keys() - {x}) - attackers_now - {x}
    }


def seemingly_pinned(board: Board, player: int) -> set[int]:
    """Return the pieces that Fairy-Stockfish takes to be pinned to the general of `player`."""
    general, file = general_of(board, player), general_of(board, 1 - player) % 9
    pinned = blockers(board, player)
    on_file = {x for x in squares_of(board, player) if x % 9 == file and x != general}
    if general % 9 == file and len(on_file) <= 1:
        pinned |= on_file
    return pinned


def unprotected_by_new_pins(turn: Turn) -> set[int]:
    board, player = turn.after, turn.player
    enemies = squares_of(board, 1 - player)
    free = squares_of(board, player) - blockers(board, player)
    victims: set[int] = set()
    for x in enemies & (blockers(board, 1 - player) - blockers(turn.before, 1 - player)):
        for v in enemies & attacked(board[x], x, board.keys(), is_bounded=False):
            if can_be_chased(board, v) and attackers(board, v, player, board.keys()) & free:
                victims.add(v)
    return victims


def attacked_by_new_batteries(turn: Turn) -> set[int]:
    board, player = turn.after, turn.player
    enemies, own = squares_of(board, 1 - player), squares_of(board, player)
    general = general_of(board, 1 - player)
    beside_general = attacked(board[general], general, board.keys())
    victims: set[int] = set()
    for x in own & (blockers(board, 1 - player) - blockers(turn.before, 1 - player)):
        for v in enemies & attacked(board[x], x, board.keys()):
            without = board.keys() - {x, general}
            if v not in beside_general or attackers(board, v, player, without) - {x}:
                victims.add(v)
    return victims


# --- XQ-5 -----------------------------------------------------------------------------------------


class Class(Enum):
    IDLE = 0
    CHASE = 1
    CHECK = 2


def classify(
    turns: Sequence[Turn],
    player: int,
    differences: AbstractSet[Difference] = NONE,
    turn_before: Turn | None = None,
) -> Class:
    """Return the class of a player in the turns between the first and the third occurrence."""
    checks = [is_exposed(turn.after, 1 - player) for turn in turns if turn.player == player]
    if all(checks):
        return Class.CHECK
    if any(checks) and Difference.CHECK_AND_CHASE not in differences:
        return Class.IDLE
    # Pieces are followed by the squares on which they stood at the first occurrence.
    first_squares = {x: x for x in turns[0].before}
    victims = set(first_squares)
    is_last = turns[-1].player == player
    if Difference.TURN_BEFORE in differences and turn_before is not None and is_last:
        victims &= chased(turn_before, differences)
    for turn in turns:
        first_squares[turn.target] = first_squares.pop(turn.origin)
        if turn.player == player and victims:
            victims &= {first_squares[x] for x in chased(turn, differences)}
    return Class.CHASE if victims else Class.IDLE


def judge(
    turns: Sequence[Turn],
    differences: AbstractSet[Difference] = NONE,
    turn_before: Turn | None = None,
) -> tuple[int | None, Class]:
    """Return the winner (None: draw) of a loop and the class that decided."""
    classes = [classify(turns, player, differences, turn_before) for player in (0, 1)]
    if classes[0] is classes[1]:
        return None, classes[0]
    winner = 0 if classes[0].value < classes[1].value else 1
    return winner, classes[1 - winner]
