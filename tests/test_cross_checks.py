"""The games that other programs play too, against those programs.

They run when the optional packages are installed: pyffish (Fairy-Stockfish; recorded with 0.0.90)
for Xiangqi and Dobutsu, OpenSpiel for Xiangqi. Where a program plays by other rules, the difference
is listed here, and everything else must agree:

- Xiangqi against Fairy-Stockfish: moves, FENs, mates and bare material agree. Where XQ-7
  draws after 120 turns, it draws after 100, and two later for each check beyond the tenth of the
  player who checked more. It tests the quiet count before repetition, XQ-5 comes before XQ-7 here.
  Loops are judged with the differences of `cross_checks.xiangqi_loops.Difference`, each with an
  example below.
- Xiangqi against OpenSpiel: moves and mates agree. It has no other end than mate and a length.
- Dobutsu against Fairy-Stockfish: in ruleset `fairy` everything agrees (the FENs but for the text
  of a hen and of empty hands), except that a position draws when it occurs the fourth time, not the
  third (DS-7). Ruleset `standard` ends earlier, too: see `compare_standard_end`.
"""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from cross_checks.xiangqi_loops import (
    ALL,
    NONE,
    Class,
    Difference,
    attackers,
    general_of,
    judge,
)
from cross_checks.xiangqi_positions import (
    Loop,
    random_loop,
    random_position,
    read_board,
    squares_of_move,
    turn_of,
)

import deskovky as dk
from deskovky.envs.protocol import Outcome, State, Termination
from deskovky.errors import FenError

AXF = dk.game("xiangqi_v0", ruleset="axf")

FAIRY_QUIET_LIMIT = 100  # XQ-7 says 120

# Positions and loops compared. A call of pyffish takes a thousand times as long as a turn.
SHORT_WALKS, LONG_WALKS = 200, 20_000
SHORT_LOOPS, LONG_LOOPS = 50, 10_000
SHORT_SPIEL_WALKS, LONG_SPIEL_WALKS = 1_000, 100_000


@pytest.fixture
def fairy() -> Any:
    return pytest.importorskip("pyffish")


@pytest.fixture
def spiel() -> Any:
    spiel = pytest.importorskip("pyspiel")
    if "xiangqi" not in spiel.registered_names():
        pytest.skip("this OpenSpiel has no Xiangqi")
    return spiel


def fairy_winner(value: int, to_move: int) -> int | None:
    """Return the winner that a result of pyffish, from the view of the player to move, names."""
    return None if value == 0 else to_move if value > 0 else 1 - to_move


# --- Xiangqi: walks -------------------------------------------------------------------------------


def xiangqi_features(state: State) -> set[object]:
    """Return what makes the moves of this position hard to get right."""
    board, player = read_board(state.fen()), state.to_move
    general, other = general_of(board, player), general_of(board, 1 - player)
    checkers = attackers(board, general, 1 - player, board.keys())
    features: set[object] = {f"check by {board[x].upper()}" for x in checkers}
    features |= {"double check"} if len(checkers) > 1 else set()
    between = [x for x in board if x % 9 == general % 9 and min(general, other) < x]
    between = [x for x in between if x < max(general, other)]
    if general % 9 == other % 9 and len(between) == 1:
        features.add("one piece between the generals")
    return features


XIANGQI_FEATURES: set[object] = {
    "check by R",
    "check by N",
    "check by C",
    "check by P",
    "double check",
    "one piece between the generals",
    Termination.CHECKMATE,
    Termination.STALEMATE,
    Termination.QUIET_LIMIT,
    Termination.INSUFFICIENT_MATERIAL,
}


def compare_xiangqi(fairy: Any, state: State, start: str, moves: list[str]) -> None:
    """Fail if the position, reached from `start` by `moves`, differs in anything but a loop."""
    fen, outcome = state.fen(), state.outcome
    note = f"{fen}\nfrom {start}\nafter {' '.join(moves) or 'nothing'}"
    legal = fairy.legal_moves("xiangqi", start, moves)
    assert fairy.get_fen("xiangqi", start, moves) == fen, note
    is_bare = fairy.has_insufficient_material("xiangqi", start, moves) == (True, True)
    termination = None if outcome is None else outcome.termination
    if legal:  # a mate comes first
        assert is_bare == (termination is Termination.INSUFFICIENT_MATERIAL), note
        if not is_bare:
            is_end, value = fairy.is_optional_game_end("xiangqi", start, moves)
            is_late = int(fen.split(" ")[4]) >= FAIRY_QUIET_LIMIT
            if not is_end:
                assert outcome is None or termination is Termination.QUIET_LIMIT, note
                assert not is_late or most_checks(fairy, start, moves) > 10, note
            else:
                assert is_late or outcome is not None, note
                assert not is_late or value == fairy.VALUE_DRAW, note
    else:
        result = fairy.game_result("xiangqi", start, moves)
        is_check = fairy.gives_check("xiangqi", start, moves)
        expected = Termination.CHECKMATE if is_check else Termination.STALEMATE
        assert outcome == Outcome(fairy_winner(result, state.to_move), expected), note
    if outcome is None:
        assert sorted(state.turns()) == sorted(legal), note


def most_checks(fairy: Any, start: str, moves: Sequence[str]) -> int:
    """Return how many checks the player who checked most gave."""
    checks = [
        fairy.gives_check("xiangqi", start, list(moves[: i + 1])) * (1, -1)[i % 2]
        for i in range(len(moves))
    ]
    return max(checks.count(1), checks.count(-1))


def walk_xiangqi(fairy: Any, seed: int, size: int) -> Counter[object]:
    """Compare in `size` positions at least; return how often each feature was met."""
    generator = random.Random(seed)
    met: Counter[object] = Counter()
    while met["positions"] < size:
        kind = generator.choice(["start", "few", "few", "some"])
        counters = generator.choice(["", "", f" - - {generator.choice([95, 115])} 60"])
        max_pieces = 6 if kind == "few" else 28
        state = random_position(AXF, generator, max_pieces, counters)
        state = AXF.state() if kind == "start" else state
        start, moves = state.fen(), list[str]()
        compare_xiangqi(fairy, state, start, moves)
        for _ in range(generator.choice([10, 30, 80])):
            met["positions"] += 1
            met.update(xiangqi_features(state))
            if state.outcome is not None:
                met[state.outcome.termination] += 1
                break
            options = state.turns()
            if generator.random() < 0.3:  # prefer captures
                board = read_board(state.fen())
                captures = [x for x in options if len(turn_of(board, x).after) < len(board)]
                options = captures or options
            moves.append(generator.choice(options))
            state.push(moves[-1])
            compare_xiangqi(fairy, state, start, moves)
    return met


def test_xiangqi_walks_agree_with_fairy_stockfish(fairy: Any) -> None:
    met = walk_xiangqi(fairy, 1, SHORT_WALKS)
    assert {"check by R", "check by C", "one piece between the generals"} <= met.keys()


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_xiangqi_long_walks_agree_with_fairy_stockfish(fairy: Any, part: int) -> None:
    met = walk_xiangqi(fairy, 100 + part, LONG_WALKS // 2)
    assert met.keys() >= XIANGQI_FEATURES


def test_xiangqi_quiet_limit_grows_with_checks_in_fairy_stockfish(fairy: Any) -> None:
    """Twelve checks by one player: two more than ten, so four turns more than 100."""
    board = "3k5/9/9/R8/9/9/9/9/9/5K3 w - -"
    moves = (
        "a7a10 d10d9 a10a9 d9d10 a9d9 d10e10 d9d10 e10e9 d10e10 e9d9 e10e9 d9d10 "
        "e9d9 d10e10 d9d10 e10e9 d10d9 e9e8 d9e9 e8d8 e9e8 d8d9 e8e9 d9d8"
    ).split()
    assert most_checks(fairy, f"{board} 0 1", moves) == len(moves) / 2 == 12
    for quiet, is_end in ((76, False), (79, False), (80, True)):
        found, _ = fairy.is_optional_game_end("xiangqi", f"{board} {quiet} 49", moves)
        assert found == is_end
    for quiet, outcome in ((95, None), (96, Outcome(None, Termination.QUIET_LIMIT))):
        state = AXF.state(f"{board} {quiet} 49")
        for move in moves:
            state.push(move)
        assert state.outcome == outcome


# --- Xiangqi: loops -------------------------------------------------------------------------------


def outcome_of(winner: int | None, decided_by: Class) -> Outcome:
    if winner is None:
        return Outcome(None, Termination.REPETITION)
    by_check = decided_by is Class.CHECK
    return Outcome(winner, Termination.PERPETUAL_CHECK if by_check else Termination.PERPETUAL_CHASE)


def compare_loop(fairy: Any, loop: Loop) -> tuple[Difference, ...]:
    """Fail if a loop is not judged as explained; return the fewest differences that explain it."""
    note = f"{loop.state.fen()}\nfrom {loop.start}\nafter {' '.join(loop.moves)}"
    assert loop.state.outcome == outcome_of(*judge(loop.turns, NONE, loop.turn_before)), note
    is_end, value = fairy.is_optional_game_end("xiangqi", loop.start, loop.moves)
    assert is_end, note
    winner = fairy_winner(value, loop.state.to_move)
    assert winner == judge(loop.turns, ALL, loop.turn_before)[0], note
    for size in range(len(ALL) + 1):
        for differences in combinations(Difference, size):
            if judge(loop.turns, frozenset(differences), loop.turn_before)[0] == winner:
                return differences
    raise AssertionError("unreachable: all of them together explain it")


def judge_loops(fairy: Any, seed: int, size: int) -> Counter[object]:
    """Compare `size` loops; return how often each end and each explanation was met."""
    generator = random.Random(seed)
    met: Counter[object] = Counter()
    while met["loops"] < size:
        loop = random_loop(AXF, generator)
        if loop is not None and loop.state.outcome is not None:
            met["loops"] += 1
            met[loop.state.outcome.termination] += 1
            met.update([compare_loop(fairy, loop)])
    return met


def test_xiangqi_loops_are_judged_as_explained(fairy: Any) -> None:
    met = judge_loops(fairy, 1, SHORT_LOOPS)
    assert met[Termination.REPETITION] and met[Termination.PERPETUAL_CHECK]
    assert met[Termination.PERPETUAL_CHASE]


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_xiangqi_many_loops_are_judged_as_explained(fairy: Any, part: int) -> None:
    met = judge_loops(fairy, 100 + part, LONG_LOOPS // 4)
    assert met[Termination.PERPETUAL_CHASE] > 10 and met[Difference.DRAWS_BACK,] > 1


# Per example: the difference, the position, the turn before the loop, the loop, who wins by
# XQ-5 and who by Fairy-Stockfish (None: nobody).
DIFFERENT_LOOPS = [
    # The chariot moves back and forth on its line: its attack on the horse behind it never ended.
    (
        Difference.DRAWS_BACK,
        "3k5/9/9/9/9/9/9/2Nr5/9/4K4 b",
        "",
        "d3i3 c3d5 i3d3 d5c3",
        (None, 0),
    ),
    # The chariot's attacks would leave the one on f3, and with it the general, to the chariot.
    (
        Difference.EXPOSED_CHASER,
        "5k1n1/9/9/9/5c3/9/5R3/4KR2r/9/9 w",
        "",
        "f4i4 i3i2 i4f4 i2i3",
        (None, 1),
    ),
    # The cannon that is pinned by the other one could capture along the pin.
    (
        Difference.PINNED_PAIR,
        "4k4/9/9/9/4c4/4R4/9/3K5/4c4/4C2C1 w",
        "",
        "e5h5 e2e4 h5e5 e4e2",
        (None, 1),
    ),
    # The general cannot protect the horse: the other chariot would attack it there.
    (
        Difference.PINNED_PROTECTOR,
        "3rk4/9/9/3r5/9/9/9/3N5/9/3K5 b",
        "",
        "d7e7 d1d2 e7d7 d2d1",
        (0, None),
    ),
    # The chariot pins the horse that protects the cannon on c7; by capturing there it unpins it.
    (
        Difference.PINNED_PROTECTOR,
        "4k4/9/4n4/2c6/4R4/9/9/9/9/5K3 w",
        "",
        "e6e7 c7c6 e7e6 c6c7",
        (None, 1),
    ),
    # The chariot that protects the cannon is not pinned: a soldier stands between the generals too.
    (
        Difference.PINNED_PROTECTOR,
        "3k5/9/9/1c1r5/9/9/2R6/3P5/9/3K5 w",
        "",
        "c4b4 b7c7 b4c4 c7b7",
        (None, 1),
    ),
    # The elephants could capture the horse only across the river.
    (
        Difference.ELEPHANT_ABROAD,
        "4k4/9/9/4n4/3R5/2B3B2/9/9/9/5K3 w",
        "",
        "d6f6 e10e9 f6d6 e9e10",
        (None, 1),
    ),
    # The chariots always attack the cannon; what changes is which of its protectors is pinned.
    (
        Difference.NEW_PIN,
        "4k4/9/4n4/9/3r1c2R/9/9/9/9/3R1K3 w",
        "",
        "d1e1 e10d10 e1d1 d10e10",
        (None, 1),
    ),
    # The chariot on d4 and d3 steps where it could uncover a check, and where it could not.
    (
        Difference.NEW_BATTERY,
        "3k5/9/3n3C1/9/9/9/3R5/9/3C3r1/3K5 b",
        "",
        "h2e2 d4d3 e2h2 d3d4",
        (None, 1),
    ),
    # Every turn attacks the cannon, but one of them gives check.
    (
        Difference.CHECK_AND_CHASE,
        "3k5/9/9/9/9/9/9/2c1RR3/9/5K3 w",
        "",
        "e3e10 d10d9 e10e3 d9d10",
        (None, 1),
    ),
    # The general's step before the loop attacked nothing.
    (
        Difference.TURN_BEFORE,
        "5k3/9/9/9/9/9/9/9/4K4/n5nC1 w",
        "e2d2",
        "a1c2 h1h2 c2a1 h2h1",
        (1, None),
    ),
]


@pytest.mark.parametrize(("difference", "start", "before", "loop", "winners"), DIFFERENT_LOOPS)
def test_xiangqi_loops_that_differ(
    fairy: Any,
    difference: Difference,
    start: str,
    before: str,
    loop: str,
    winners: tuple[int | None, int | None],
) -> None:
    state, turns = AXF.state(start), []
    moves = before.split() + loop.split() * 2
    for move in moves:
        turns.append(turn_of(read_board(state.fen()), move))
        state.push(move)
    turn_before = turns.pop(0) if before else None
    assert compare_loop(fairy, Loop(state, start, moves, turns, turn_before)) == (difference,)
    assert state.outcome is not None
    _, value = fairy.is_optional_game_end("xiangqi", start, moves)
    assert (state.outcome.winner, fairy_winner(value, state.to_move)) == winners


def test_every_difference_has_an_example() -> None:
    assert {difference for difference, *_ in DIFFERENT_LOOPS} == ALL


# --- Xiangqi against OpenSpiel --------------------------------------------------------------------


def spiel_action(move: str) -> int:
    """Return OpenSpiel's number of a move: origin * 90 + target, squares counted from a10."""
    origin, target = squares_of_move(move)
    return spiel_square(origin) * 90 + spiel_square(target)


def spiel_square(square: int) -> int:
    return 9 * (9 - square // 9) + square % 9


def spiel_board(fen: str) -> str:
    board = read_board(fen)
    letters = {"K": "G", "A": "A", "B": "E", "N": "H", "R": "R", "C": "C", "P": "S"}
    letters |= {kind.lower(): letter.lower() for kind, letter in letters.items()}
    shown = ["." if x not in board else letters[board[x]] for x in range(90)]
    return "\n".join("".join(shown[9 * rank : 9 * rank + 9]) for rank in reversed(range(10)))


def walk_spiel(spiel: Any, seed: int, size: int) -> Counter[object]:
    generator = random.Random(seed)
    game = spiel.load_game("xiangqi")
    met: Counter[object] = Counter()
    while met["positions"] < size:
        state, other = AXF.state(), game.new_initial_state()
        is_greedy = generator.random() < 0.5  # captures open the board
        while True:
            met["positions"] += 1
            met.update(xiangqi_features(state))
            assert str(other) == spiel_board(state.fen())
            if state.outcome is not None:
                met[state.outcome.termination] += 1
                if state.outcome.termination in (Termination.CHECKMATE, Termination.STALEMATE):
                    assert other.is_terminal() and other.returns() == list(state.returns())
                break
            if other.is_terminal():  # by its length
                assert other.returns() == [0.0, 0.0] and not other.legal_actions()
                break
            options = state.turns()
            legal = {spiel_action(move): move for move in options}
            assert sorted(legal) == other.legal_actions(), f"{state.fen()} {state.history}"
            if is_greedy:
                board = read_board(state.fen())
                captures = [x for x in options if len(turn_of(board, x).after) < len(board)]
                options = captures or options
            move = generator.choice(options)
            state.push(move)
            other.apply_action(spiel_action(move))
    return met


def test_xiangqi_walks_agree_with_open_spiel(spiel: Any) -> None:
    met = walk_spiel(spiel, 1, SHORT_SPIEL_WALKS)
    assert {"check by R", "check by C", "one piece between the generals"} <= met.keys()


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_xiangqi_long_walks_agree_with_open_spiel(spiel: Any, part: int) -> None:
    met = walk_spiel(spiel, 100 + part, LONG_SPIEL_WALKS // 4)
    assert met.keys() >= {"check by R", "check by N", "check by C", "check by P", "double check"}
    assert met[Termination.CHECKMATE]


# --- Dobutsu --------------------------------------------------------------------------------------


def random_dobutsu(ruleset: str, generator: random.Random) -> State:
    """Return a state at the start, or with the pieces strewn over board and hands."""
    game = dk.game("dobutsu_v0", ruleset=ruleset)
    while generator.random() < 0.7:
        squares = [""] * 12
        for lion in "Ll":
            squares[generator.choice([x for x in range(12) if not squares[x]])] = lion
        hand = ""
        for piece in "GGEECC":
            is_in_hand = generator.random() < 0.5
            kind = generator.choice("CH") if piece == "C" and not is_in_hand else piece
            kind = kind if generator.random() < 0.5 else kind.lower()
            if is_in_hand:
                hand += kind
            else:
                squares[generator.choice([x for x in range(12) if not squares[x]])] = kind
        hand = "".join(sorted(hand, key="LGCElgce".index)) or "-"
        rows = ["".join(x or "." for x in squares[3 * rank : 3 * rank + 3]) for rank in range(4)]
        board = "/".join(rows)
        for width in (3, 2, 1):
            board = board.replace("." * width, str(width))
        try:
            return game.state(f"{board}[{hand}] {generator.choice('wb')} - - 0 1")
        except FenError:
            continue
    return game.state()


def to_fairy_dobutsu(fen: str) -> str:
    """Return our FEN in Fairy-Stockfish's spelling."""
    board, rest = fen.split("[")
    return board.replace("H", "+C").replace("h", "+c") + "[" + rest.removeprefix("-")


def fairy_end(fairy: Any, state: State, start: str, moves: list[str]) -> tuple[bool, int | None]:
    """Return whether Fairy-Stockfish takes the game to be over, and who won."""
    is_end, value = fairy.is_immediate_game_end("dobutsu", start, moves)
    if not is_end:
        is_end, value = fairy.is_optional_game_end("dobutsu", start, moves)
    return is_end, fairy_winner(value, state.to_move) if is_end else None


def compare_standard_end(fairy: Any, state: State, start: str, moves: list[str]) -> str:
    """Fail if a `standard` game ended for no known reason where Fairy-Stockfish goes on.

    Return the difference: "mate" (DS-6) ends the game before the lion is taken; a lion that
    "survived" wins (DS-5) though it may still be attacked; one that arrived safely while the other
    stood on its farthest rank wins "alone", where Fairy-Stockfish looks at both.
    """
    assert state.outcome is not None
    winner, termination = state.outcome
    is_end, fairy_won = fairy_end(fairy, state, start, moves)
    note = f"{state.fen()}\nfrom {start}\nafter {' '.join(moves)}"
    if termination is Termination.CHECKMATE:
        assert not is_end, note
        for move in fairy.legal_moves("dobutsu", start, moves):
            replies = fairy.legal_moves("dobutsu", start, [*moves, move])
            assert is_won_by_capture(fairy, start, [*moves, move], replies), note
        return "mate"
    assert termination is Termination.TRY, note
    assert winner is not None
    board = state.fen().split("[")[0].split("/")
    assert "Ll"[winner] in board[3 * winner], note
    if not is_end:
        assert "Ll"[winner] in board[3 * winner] and winner == state.to_move, note
        assert can_capture_lion(fairy, state, winner), note
        return "survived"
    assert fairy_won is None and "Ll"[1 - winner] in board[3 * (1 - winner)], note
    return "alone"


def is_won_by_capture(fairy: Any, start: str, moves: list[str], replies: list[str]) -> bool:
    """Whether the player to move takes the lion, or has already won."""
    if fairy.is_immediate_game_end("dobutsu", start, moves)[0]:
        return fairy.is_immediate_game_end("dobutsu", start, moves)[1] > 0
    for reply in replies:
        fen = fairy.get_fen("dobutsu", start, [*moves, reply])
        if not {"L", "l"} <= set(fen.split("[")[0]):
            return True
    return False


def can_capture_lion(fairy: Any, state: State, owner: int) -> bool:
    """Whether the other player could take the lion of `owner`, who is to move, if it were not."""
    fields = to_fairy_dobutsu(state.fen()).split(" ")
    fen = " ".join([fields[0], "wb"[1 - owner], *fields[2:]])
    return is_won_by_capture(fairy, fen, [], fairy.legal_moves("dobutsu", fen, []))


def walk_dobutsu(fairy: Any, ruleset: str, seed: int, size: int) -> Counter[object]:
    """Compare in `size` positions at least; return how often each end and difference was met."""
    generator = random.Random(seed)
    met: Counter[object] = Counter()
    while met["positions"] < size:
        state = random_dobutsu(ruleset, generator)
        start, moves = to_fairy_dobutsu(state.fen()), list[str]()
        keys = [state.key()]
        returns = generator.random() < 0.3  # go back and forth, to repeat positions
        for _ in range(60):
            met["positions"] += 1
            fen = fairy.get_fen("dobutsu", start, moves)
            note = f"{fen}\nfrom {start}\nafter {' '.join(moves) or 'nothing'}"
            assert to_fairy_dobutsu(state.fen()) == fen, note
            is_end, winner = fairy_end(fairy, state, start, moves)
            legal = sorted(fairy.legal_moves("dobutsu", start, moves))
            if state.outcome is None:
                assert not is_end and sorted(state.turns()) == legal, note
                assert state.game.state(fen).fen() == state.fen()
            else:
                met[state.outcome.termination] += 1
                if state.outcome.termination is Termination.REPETITION:
                    assert not is_end, note
                    again = moves[-1 - keys[-2::-1].index(keys[-1]) :]
                    fourth = fairy.is_optional_game_end("dobutsu", start, moves + again)
                    assert fourth == (True, fairy.VALUE_DRAW), note
                elif (is_end, winner) != (True, state.outcome.winner):
                    assert ruleset == "standard", note
                    met[compare_standard_end(fairy, state, start, moves)] += 1
                break
            steps = state.turns()
            if returns and len(moves) > 1:
                back = moves[-2][2:4] + moves[-2][:2]
                steps = [back] if back in steps and generator.random() < 0.9 else steps
            moves.append(generator.choice(steps))
            state.push(moves[-1])
            keys.append(state.key())
    return met


DOBUTSU_ENDS: dict[str, set[object]] = {
    "fairy": {Termination.LION_CAPTURED, Termination.TRY, Termination.REPETITION},
    "standard": {
        Termination.LION_CAPTURED,
        Termination.TRY,
        Termination.REPETITION,
        Termination.CHECKMATE,
        "mate",
    },
}


@pytest.mark.parametrize("ruleset", ["fairy", "standard"])
def test_dobutsu_walks_agree_with_fairy_stockfish(fairy: Any, ruleset: str) -> None:
    assert walk_dobutsu(fairy, ruleset, 1, SHORT_WALKS).keys() >= DOBUTSU_ENDS[ruleset]


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("ruleset", ["fairy", "standard"])
def test_dobutsu_long_walks_agree_with_fairy_stockfish(fairy: Any, ruleset: str, part: int) -> None:
    met = walk_dobutsu(fairy, ruleset, 100 + part, LONG_WALKS // 2)
    more = {"fairy": {Termination.MUTUAL_TRY}, "standard": {"survived", "alone"}}
    assert met.keys() >= DOBUTSU_ENDS[ruleset] | more[ruleset]
