"""Random positions and random loops of Xiangqi, rich in checks, screens, pins and attacks."""

import random
import re
from dataclasses import dataclass, field

from deskovky.envs.protocol import Game, State
from deskovky.errors import FenError

from .xiangqi_loops import (
    ALL,
    Board,
    Turn,
    after_move,
    is_exposed,
    is_in_palace,
    newly_attacked,
    squares_of,
)

MAX_NODES = 120  # of one search for a loop


def read_board(fen: str) -> Board:
    board: Board = {}
    for rank, row in enumerate(reversed(fen.split(" ")[0].split("/"))):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                board[9 * rank + file] = letter
                file += 1
    return board


def write_board(board: Board) -> str:
    rows = ["".join(board.get(9 * rank + file, ".") for file in range(9)) for rank in range(10)]
    return re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(reversed(rows)))


def squares_of_move(text: str) -> tuple[int, int]:
    """Return origin and target of a move text such as ``a1a10``."""
    origin, target = re.findall(r"([a-i])(\d+)", text)
    return squares_of_name(*origin), squares_of_name(*target)


def squares_of_name(file: str, rank: str) -> int:
    return 9 * (int(rank) - 1) + "abcdefghi".index(file)


def turn_of(board: Board, text: str) -> Turn:
    origin, target = squares_of_move(text)
    return Turn(board, after_move(board, origin, target), origin, target)


def random_position(
    game: Game, generator: random.Random, max_pieces: int = 14, counters: str = ""
) -> State:
    """Return a state that is not over, with at most `max_pieces`, many of them in line."""
    palaces = [[x for x in range(90) if is_in_palace(x, player)] for player in (0, 1)]
    while True:
        board = {generator.choice(palaces[0]): "K", generator.choice(palaces[1]): "k"}
        generals = list(board)
        files = generator.sample(range(9), generator.randint(2, 6))
        files += [x % 9 for x in generals] if generator.random() < 0.7 else []
        ranks = generator.sample(range(10), generator.randint(2, 6))
        ranks += [x // 9 for x in generals] if generator.random() < 0.5 else []
        for _ in range(generator.randint(2, max_pieces - 2)):
            kind = generator.choice("RRRRNNNNCCCCABPP")
            square = generator.randrange(90)
            if kind not in "ABP":  # those have points of their own
                square = 9 * generator.choice(ranks) + generator.choice(files)
            board.setdefault(square, kind if generator.random() < 0.5 else kind.lower())
        try:
            state = game.state(f"{write_board(board)} {generator.choice('wb')}{counters}")
        except FenError:
            continue
        if not state.is_over:
            return state


@dataclass(frozen=True)
class Loop:
    """Turns that lead back to a position, twice: it occurs three times."""

    state: State
    """At the third occurrence."""

    start: str
    """The FEN before the first move."""

    moves: list[str]
    """All moves: perhaps one before the first occurrence, then the loop twice."""

    turns: list[Turn]
    """The loop twice."""

    turn_before: Turn | None
    """The turn that led to the first occurrence, if it is known."""


def random_loop(game: Game, generator: random.Random) -> Loop | None:
    """Return a loop from a random position; None if the search found none."""
    state = random_position(game, generator)
    start, moves = state.fen(), list[str]()
    turn_before = None
    if generator.random() < 0.3:
        board = read_board(start)
        quiet = [move for move in state.turns() if squares_of_move(move)[1] not in board]
        if not quiet:
            return None
        moves.append(generator.choice(quiet))
        turn_before = turn_of(board, moves[0])
        state.push(moves[0])
    if state.is_over:
        return None
    search = LoopSearch(state, generator)
    found = search.run(length=generator.choice([4, 4, 4, 6, 8]))
    if found is None:
        return None
    for move in search.moves * 2:
        if state.is_over:
            return None
        state.push(move)
    return Loop(state, start, moves + search.moves * 2, found * 2, turn_before)


@dataclass
class LoopSearch:
    """A search for turns that lead back to the position of `state`, with an aim for one player."""

    state: State
    generator: random.Random
    moves: list[str] = field(default_factory=list)
    num_nodes: int = 0

    def run(self, length: int) -> list[Turn] | None:
        """Return the turns of a loop and leave their texts in `moves`; `state` is as before."""
        self.start = read_board(self.state.fen())
        self.player = self.state.to_move
        aims = [["attack", "attack", "attack", "check", "any", "attack or check"], ["any", "any"]]
        aims[1] += ["attack"]
        self.aims = [self.generator.choice(aim) for aim in aims]
        return self.extend(self.start, [], length, None)

    def extend(
        self, board: Board, turns: list[Turn], length: int, victim: int | None
    ) -> list[Turn] | None:
        """Search on, `length` turns from the end; `victim` is where the piece stands that the
        player of the loop attacks."""
        mover = self.state.to_move
        changed = {x for x in {**board, **self.start} if board.get(x) != self.start.get(x)}
        if length == 0:
            return None if changed else turns
        away = {x for x in changed if x in self.start and self.start[x].islower() == bool(mover)}
        num_left = (length + 1) // 2  # turns of the mover
        if len(away) > num_left:
            return None
        candidates = []
        for text in self.state.turns():
            turn = turn_of(board, text)
            piece = board[turn.origin]
            if turn.target in board:
                continue
            if piece in "Pp" and turn.origin // 9 != turn.target // 9:
                continue
            if len(away) == num_left and self.start.get(turn.target) != piece:
                continue
            is_wanted, next_victim = self.look_at(turn, victim)
            if is_wanted or self.generator.random() < 0.03:
                is_late = mover != self.player and turn.origin != victim
                rank = (is_late and self.generator.random() < 0.7, self.generator.random())
                candidates.append((rank, text, turn, next_victim))
        for _, text, turn, next_victim in sorted(candidates, key=lambda x: x[0])[:6]:
            self.num_nodes += 1
            if self.num_nodes > MAX_NODES:
                return None
            self.state.push(text)
            self.moves.append(text)
            found = None
            if not self.state.is_over:
                found = self.extend(turn.after, [*turns, turn], length - 1, next_victim)
            self.state.undo()
            if found:
                return found
            self.moves.pop()
        return None

    def look_at(self, turn: Turn, victim: int | None) -> tuple[bool, int | None]:
        """Return whether the turn serves its player's aim, and where the victim stands then."""
        is_players = turn.player == self.player
        aim = self.aims[0 if is_players else 1]
        if not is_players and turn.origin == victim:
            victim = turn.target
        if aim == "any":
            return True, victim
        if "check" in aim and is_exposed(turn.after, 1 - turn.player):
            return True, victim
        if "attack" not in aim:
            return False, victim
        attacked: set[int] = set()
        for u in squares_of(turn.after, turn.player):
            if turn.after[u].upper() not in "KP":
                attacked |= newly_attacked(turn, u, ALL)
        if not is_players:
            return bool(attacked), victim
        if victim is None and attacked:
            victim = self.generator.choice(sorted(attacked))
        return victim in attacked, victim
