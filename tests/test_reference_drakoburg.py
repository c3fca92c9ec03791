"""Each clause of the rules of Drakoburg as a named test, for every implementation of them.

Positions are written for the player to move as player 0, often as lists of pieces, and tested for
both players. Pikemen's rows are 2 and 6, castles a7, d7, g7 and a1, d1, g1.
"""

import copy
import pickle
import random

import numpy as np
import pytest
from implementations import BoardSeat, Make, implementations
from reference.drakoburg import Drakoburg

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError

SETUPS = {
    "default": "z1sta1u/ppppppp/7/7/7/PPPPPPP/Z1STA1U w - 0 1",
    "wide": "zs1t1au/ppppppp/7/7/7/PPPPPPP/ZS1T1AU w - 0 1",
    "paired": "zsstaau/p1ppp1p/7/7/7/P1PPP1P/ZSSTAAU w - 0 1",
}
START = SETUPS["default"]


@pytest.fixture(params=implementations(Drakoburg))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> BoardSeat:
    return BoardSeat(make, request.param, size=7, keeps_files=True)


def step(seat: BoardSeat, state: State, text: str) -> None:
    """Make one step, which need not be a whole turn."""
    state.apply(state.action_from_text(seat.turned_text(text) if seat.us else text))


# --- DB-1 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("setup", "num_turns"), [("default", 31), ("wide", 29), ("paired", 36)])
def test_db1_setups(make: Make, seat: BoardSeat, setup: str, num_turns: int) -> None:
    assert make(setup=setup).state().fen() == SETUPS[setup]
    state = seat.state(SETUPS[setup].split(" ")[0])
    assert state.to_move == seat.us and len(seat.turns(state)) == num_turns
    assert state.num_pieces(0) == state.num_pieces(1) == 12


# --- DB-2 -----------------------------------------------------------------------------------------

KING_STEPS_D4 = "c3 d3 e3 c4 e4 c5 d5 e5"
KNIGHT_LEAPS_D4 = "c6 e6 f5 f3 e2 c2 b3 b5"
DIAGONALS_D4 = "a1 b2 c3 e5 f6 g7 a7 b6 c5 e3 f2 g1"
LINES_D4 = "d1 d2 d3 d5 d6 d7 a4 b4 c4 e4 f4 g4"

MOVEMENTS = {
    "pikeman": ("Pd4", "d4", "c5 d5 e5"),
    "pikeman captures as it moves": ("Pd4 sc5 sd5 Ae5", "d4", "c5 d5"),
    "pikeman at the edge": ("Pa3", "a3", "a4 b4"),
    "pikeman on the last rank": ("Pc7", "c7", ""),
    "archer": ("Sd4", "d4", f"{DIAGONALS_D4} {KING_STEPS_D4}"),
    "archer is blocked": ("Sd4 Pe5 pc5", "d4", "a1 b2 c3 c5 e3 f2 g1 d3 c4 e4 d5"),
    "man-at-arms": ("Zd4", "d4", f"{LINES_D4} {KING_STEPS_D4}"),
    "man-at-arms is blocked": (
        "Zd4 Pd6 pf4",
        "d4",
        "d1 d2 d3 d5 a4 b4 c4 e4 f4 c3 e3 c5 e5",
    ),
    "squire": ("Ad4", "d4", f"{KING_STEPS_D4} {KNIGHT_LEAPS_D4} b7 f7 b1 f1 a2 a6 g2 g6"),
    "squire from the corner": ("Aa1", "a1", "a2 b1 b2 b3 c2 c4 d3 d5 e4 e6 f5 f7 g6"),
    "squire leaps over anything near": (
        "Ad4 Pc3 Pd3 Pe3 Pc4 Pe4 Pc5 Pd5 Pe5",
        "d4",
        KNIGHT_LEAPS_D4,
    ),
    "squire needs the first square": (
        "Ad4 Pd5",
        "d4",
        f"c3 d3 e3 c4 e4 c5 e5 {KNIGHT_LEAPS_D4} b1 f1 a2 a6 g2 g6",
    ),
    "squire is blocked by what it captures": ("Aa1 pc4", "a1", "a2 b1 b2 b3 c2 c4 d3 e4 f5 g6"),
    "squire is blocked on its diagonal": ("Aa1 pb3", "a1", "a2 b1 b2 b3 c2 d3 e4 f5 g6"),
    "turcopole": ("Ud4", "d4", f"{KING_STEPS_D4} {KNIGHT_LEAPS_D4} c7 e7 g5 g3 e1 c1 a3 a5"),
    "turcopole from the corner": ("Ua1", "a1", "a2 b1 b2 b3 b4 b5 b6 b7 c2 d2 e2 f2 g2"),
    "turcopole leaps over anything near": (
        "Ud4 Pc3 Pd3 Pe3 Pc4 Pe4 Pc5 Pd5 Pe5",
        "d4",
        KNIGHT_LEAPS_D4,
    ),
    "turcopole needs the first square": ("Ua1 Pb2", "a1", "a2 b1 b3 c2"),
    "turcopole is blocked on its line": ("Ua1 pb4", "a1", "a2 b1 b2 b3 b4 c2 d2 e2 f2 g2"),
    "turcopole is blocked by the leap square": ("Ua1 Pb3", "a1", "a2 b1 b2 c2 d2 e2 f2 g2"),
    "banneret": ("Tb2", "b2", "a1 b1 c1 a2 c2 a3 b3 c3 d2 b4 d4"),
    "banneret leaps over anything": (
        "Tb2 Pa1 Pb1 Pc1 Pa2 Pc2 Pa3 Pb3 Pc3 pd4",
        "b2",
        "d2 b4 d4",
    ),
}


@pytest.mark.parametrize(("pieces", "origin", "targets"), MOVEMENTS.values(), ids=MOVEMENTS)
def test_db2_movement(seat: BoardSeat, pieces: str, origin: str, targets: str) -> None:
    """Two more bannerets of ours stand out of the way, so that neither has to be safe."""
    taken = {piece[1:] for piece in pieces.split()} | set(targets.split())
    free = [f"{file}{rank}" for rank in range(1, 8) for file in "abcdefg"]
    free = [square for square in free if square not in taken]
    bannerets = "tg7" if "T" in pieces else f"T{free[0]} T{free[1]} t{free[-1]}"
    assert seat.targets(seat.state(f"{pieces} {bannerets}"), origin) == set(targets.split())


def test_db2_capture(seat: BoardSeat) -> None:
    state = seat.state("Td1 Sb2 ze5 td7")
    seat.play(state, "b2e5")
    assert seat.pieces(state) == {"Td1", "Se5", "td7"} and state.to_move == seat.them


# --- DB-3 -----------------------------------------------------------------------------------------


def test_db3_bannerets_never_capture_each_other(seat: BoardSeat) -> None:
    for pieces in ("Tb2 tc3", "Tb2 tb4", "Tb2 td4"):
        state = seat.state(pieces)
        assert not seat.targets(state, "b2") & {"c3", "b4", "d4"}
        assert not state.is_over


def test_db3_a_banneret_gives_no_check_to_another(seat: BoardSeat) -> None:
    assert "f3f4" in seat.turns(seat.state("Tb2 Pf3 tc3"))
    assert "g5g6" in seat.turns(seat.state("Ta1 Pg5 ta2"))


def test_db3_the_range_of_a_banneret_is_attacked(seat: BoardSeat) -> None:
    expected = set("a1 b1 c1 a2 c2 a3 b3 d2 b4".split())  # not c3, which it leaps to, nor d4
    assert seat.targets(seat.state("Tb2 te5"), "b2") == expected


def test_db3_pinned_pieces_attack(seat: BoardSeat) -> None:
    """The man-at-arms d5 must not leave its file, but attacks b5 and c4."""
    state = seat.state("Tb4 Zd1 zd5 td7")
    assert seat.targets(state, "b4") == set("a3 b3 c3 a4 b2 b6".split())


# --- DB-4 -----------------------------------------------------------------------------------------


def test_db4_judged_after_the_step(seat: BoardSeat) -> None:
    """Stepping back along the line of attack does not help."""
    expected = set("c2 e2 c3 c4 e4 b1 b3 f3 b5 f5".split())
    assert seat.targets(seat.state("Td3 zd7 tg1"), "d3") == expected


def test_db4_capturing_an_attacker(seat: BoardSeat) -> None:
    assert "d4e5" in seat.turns(seat.state("Td4 se5 ta1"))
    assert "d4e5" not in seat.turns(seat.state("Td4 se5 ze7 ta1"))
    assert "d4e5" not in seat.turns(seat.state("Td4 se5 tg7"))  # guarded by the banneret


def test_db4_binds_every_banneret(seat: BoardSeat) -> None:
    state = seat.state("Tb2 Tf2 za4 tg7")
    assert not seat.targets(state, "b2") & {"a3", "b3", "b4", "d4"}
    assert not seat.targets(state, "f2") & {"f4", "d4"}


def test_db4_promotion_on_an_attacked_square(seat: BoardSeat) -> None:
    state = seat.state("Ta1 Pd5 zd7 tg3")
    seat.play(state, "d5d6")
    assert "Td6" in seat.pieces(state)
    seat.play(state, "d7d6")
    assert seat.pieces(state) == {"Ta1", "zd6", "tg3"} and not state.is_over


# --- DB-5 -----------------------------------------------------------------------------------------


def test_db5_one_banneret_must_not_be_left_in_check(seat: BoardSeat) -> None:
    assert seat.targets(seat.state("Ta1 Za3 za6 tg7"), "a3") == {"a2", "a4", "a5", "a6"}
    assert "a3b4" in seat.turns(seat.state("Ta1 Tf1 Za3 za6 tg7"))


def test_db5_check_must_be_answered(seat: BoardSeat) -> None:
    turns = seat.turns(seat.state("Tb1 Sd5 Pg3 zb7 tg7"))
    assert turns == {"d5b7", "d5b3", "b1a1", "b1c1", "b1a2", "b1c2", "b1d1", "b1d3"}


def test_db5_two_bannerets_may_be_left_attacked(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Tf1 Pa4 zb6 td5")
    assert "a4a5" in seat.turns(state)
    seat.play(state, "a4a5", "b6b1")
    assert seat.pieces(state) == {"Tf1", "Pa5", "zb1", "td5"}
    assert not state.is_over and "a5b6" not in seat.turns(state)  # now the last is in check


def test_db5_counted_after_the_move_step(seat: BoardSeat) -> None:
    """The promotion to a second banneret answers any check."""
    turns = seat.turns(seat.state("Ta1 Pd5 za5 tg3"))
    assert "d5d6" in turns and not turns & {"d5c6", "d5e6"}


# --- DB-6 -----------------------------------------------------------------------------------------


def test_db6_mate(seat: BoardSeat) -> None:
    state = seat.state("Te1 Zg6 Zg5 Zf4 ta7")
    seat.play(state, "f4f7")
    assert seat.wins(state, "checkmate")
    assert state.returns() == ((1.0, -1.0) if seat.us == 0 else (-1.0, 1.0))
    assert state.legal_actions().size == 0 and not state.legal_action_mask().any()
    assert seat.loses(seat.state("Ta1 zg1 zg2 zg3 te6"), "checkmate")


def test_db6_stalemate_draws(seat: BoardSeat) -> None:
    assert seat.draws(seat.state("Ta1 zb7 zc7 zg2 zg3 te6"), "stalemate")
    state = seat.state("Te2 Zb1 Zc1 Zg5 Ze6 ta7")
    seat.play(state, "e6g6")
    assert seat.draws(state, "stalemate") and state.returns() == (0.0, 0.0)


def test_db6_two_bannerets_without_a_turn(seat: BoardSeat) -> None:
    assert seat.loses(seat.state("Ta1 Tg1 zd1 zg2 zg3 te6"), "checkmate")
    assert seat.draws(seat.state("Ta1 Tg1 zb7 zd2 zd3 zf7 td5"), "stalemate")


def test_db6_no_banneret(seat: BoardSeat) -> None:
    for side in "wb":
        assert seat.wins(seat.state("Td1 pa5", side=side), "no_banneret")
        assert seat.loses(seat.state("Pa3 td5", side=side), "no_banneret")
    state = seat.state("Td1 Zb4 tb7")
    seat.play(state, "b4b7")
    assert seat.wins(state, "no_banneret")


def test_db6_the_last_banneret_taken_on_a_castle(seat: BoardSeat) -> None:
    state = seat.state("Td1 Za4 ta7")
    step(seat, state, "a4a7")
    assert state.is_turn_open and not state.is_over
    seat.play(state, "P@c2")
    assert seat.wins(state, "no_banneret")


# --- DB-7 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "piece"), ["aZ", "bS", "cS", "dT", "eA", "fA", "gU"])
def test_db7_promotion_by_file(seat: BoardSeat, file: str, piece: str) -> None:
    state = seat.state(f"Tb1 P{file}5 tf1")
    seat.play(state, f"{file}5{file}6")
    assert seat.pieces(state) == {"Tb1", f"{piece}{file}6", "tf1"}


def test_db7_by_the_square_of_arrival(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Pc5 sd6 tf1")
    assert {"c5b6", "c5c6", "c5d6"} <= seat.turns(state)
    seat.play(state, "c5d6")
    assert seat.pieces(state) == {"Tb1", "Td6", "tf1"}


def test_db7_only_on_arriving(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Pb6 Pe4 tf1")
    assert seat.targets(state, "b6") == {"a7", "b7", "c7"}
    seat.play(state, "b6b7", "f1f2", "e4e5")
    assert {"Pb7", "Pe5"} <= seat.pieces(state)


def test_db7_it_stands_there_at_once(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Pa5 tg6 pg4")
    seat.play(state, "a5a6")  # a man-at-arms, which gives check along the rank
    assert all(turn.startswith("g6") for turn in seat.turns(state))


# --- DB-8 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("castle", ["a7", "d7", "g7"])
def test_db8_a_castle_earns_a_pikeman(seat: BoardSeat, castle: str) -> None:
    origin = f"{castle[0]}4"
    state = seat.state(f"Tb1 Z{origin} Pc2 te3 pd2", side="w - 7 30")
    step(seat, state, origin + castle)
    assert state.is_turn_open and state.to_move == seat.us and not state.is_over
    assert seat.turns(state) == {f"P@{file}2" for file in "abefg"}
    assert state.fen().split(" ")[1:] == ["wb"[seat.us], "@", "7", "30"]
    assert state.occurrences == 1 and len(state.history) == 1
    seat.play(state, "P@f2")
    assert {"Pf2", f"Z{castle}"} <= seat.pieces(state)
    assert state.to_move == seat.them and not state.is_turn_open
    assert state.fen().split(" ")[1:] == ["bw"[seat.us], "-", "0", str(30 + seat.us)]
    turn = f"{origin}{castle},P@f2"
    assert state.history == [seat.turned_text(turn) if seat.us else turn]
    state.undo()
    assert state.is_turn_open and state.fen().split(" ")[2] == "@"


def test_db8_whole_turns(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zd4 te3")
    with pytest.raises(IllegalActionError):
        seat.play(state, "d4d7")  # adding is compulsory
    turns = {turn for turn in seat.turns(state) if turn.startswith("d4d7")}
    assert turns == {f"d4d7,P@{file}2" for file in "abcdefg"}
    seat.play(state, "d4d7,P@c2")
    assert {"Zd7", "Pc2"} <= seat.pieces(state)


def test_db8_other_squares_earn_nothing(seat: BoardSeat) -> None:
    state = seat.state("Tf2 Zb4 Zd3 Sa3 te5")
    assert {"b4b7", "d3d1", "a3c1"} <= seat.turns(state)
    assert {turn[:4] for turn in seat.turns(state) if "," in turn} == {"d3d7"}


def test_db8_no_place(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zd4 Pa2 Pb2 Pc2 sd2 Pe2 Pf2 Pg2 te5")
    assert "d4d7" in seat.turns(state)
    seat.play(state, "d4d7")
    assert state.to_move == seat.them and not state.is_turn_open


def test_db8_the_square_just_left_is_empty(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zd2 Pa2 Pb2 Pc2 Pe2 Pf2 Pg2 te5")
    assert {turn for turn in seat.turns(state) if turn.startswith("d2d7")} == {"d2d7,P@d2"}


def test_db8_every_arrival_counts(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Ud6 tg3 pg5")
    seat.play(state, "d6d7,P@a2", "g5g4", "d7d6", "g3f3", "d6d7,P@b2")
    assert {"Pa2", "Pb2", "Ud7"} <= seat.pieces(state)


def test_db8_any_piece(seat: BoardSeat) -> None:
    for piece, origin in zip("PSZAUT", ("b6", "b6", "a5", "b5", "b5", "b6"), strict=True):
        other = "" if piece == "T" else "Tb1"
        state = seat.state(f"{piece}{origin} {other} te3 pg6")
        assert f"{origin}a7,P@d2" in seat.turns(state)


def test_db8_legality_is_judged_before_the_placement(seat: BoardSeat) -> None:
    """The new pikeman could stand between, but the banneret is in check before it comes."""
    state = seat.state("Ta2 Zd4 zg2 te6")
    assert not any(turn.startswith("d4d7") for turn in seat.turns(state))
    assert "d4d2" in seat.turns(state)


# --- DB-9 -----------------------------------------------------------------------------------------

SHUFFLE = ("b1b2", "f7f6", "b2b1", "f6f7")


def test_db9_repetition(seat: BoardSeat) -> None:
    state = seat.state("Tb1 tf7")  # bare bannerets go on
    for turn in SHUFFLE * 2:
        assert not state.is_over
        seat.play(state, turn)
    assert seat.draws(state, "repetition") and state.occurrences == 3
    assert (state.observation()[14] == 1).all()


def test_db9_a_fen_has_occurred_once(seat: BoardSeat) -> None:
    state = seat.state("Tb1 tf7")
    seat.play(state, *SHUFFLE)
    assert state.occurrences == 2
    again = state.game.state(state.fen())
    assert again.occurrences == 1 and (again.observation()[14] == 0).all()


def test_db9_quiet_limit(seat: BoardSeat) -> None:
    state = seat.state("Tb1 tf7 Za3", side="w - 98 60")
    seat.play(state, "a3a4")
    assert not state.is_over
    seat.play(state, "f7f6")
    assert seat.draws(state, "quiet_limit") and state.fen().split(" ")[3] == "100"


def test_db9_what_resets_the_quiet_count(seat: BoardSeat) -> None:
    for turn, quiet in (("b1c1", 100), ("c4c5", 0), ("a4a3", 0), ("g4g7,P@a2", 0), ("e5e6", 0)):
        state = seat.state("Tb1 Pc4 Pe5 Za4 Zg4 pa3 tc7", side="w - 99 60")
        seat.play(state, turn)
        assert state.fen().split(" ")[3] == str(quiet), turn
        assert state.is_over == (quiet == 100)


def test_db9_mate_on_the_last_turn_counts(seat: BoardSeat) -> None:
    state = seat.state("Te1 Zg6 Zg5 Zf4 ta7", side="w - 99 60")
    seat.play(state, "f4f7")
    assert seat.wins(state, "checkmate")


def test_db9_a_capture_inside_a_turn_shows_quiet_0(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zg4 sg7 td5", side="w - 9 60")
    step(seat, state, "g4g7")
    assert state.is_turn_open and state.fen().split(" ")[2:] == ["@", "0", "60"]
    state = seat.state("Tb1 Pf6 td5", side="w - 9 60")
    step(seat, state, "f6g7")
    assert state.is_turn_open and state.fen().split(" ")[2:] == ["@", "0", "60"]


def test_db9_max_turns(make: Make) -> None:
    game = make()
    assert game.max_turns == 400
    board = START.split(" ")[0]
    state = game.state(f"{board} b - 0 200")
    assert not state.is_over
    state.push("a6a5")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    assert state.outcome is not None and state.outcome.is_truncation
    assert game.state(f"{board} w - 0 201").is_over


def test_no_end_inside_a_turn(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zg7 td5", side="w @ 100 500", max_turns=9)
    assert not state.is_over and state.legal_actions().size == 7
    seat.play(state, "P@a2")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)


# --- FEN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "written"),
    [
        ("z1sta1u/ppppppp/7/7/7/PPPPPPP/Z1STA1U w", START),
        ("t6/7/7/7/7/7/6T b - 99 399", "t6/7/7/7/7/7/6T b - 99 399"),
        ("P1T1t1p/PpPpPpP/7/7/7/PpPpPpP/7 w", "P1T1t1p/PpPpPpP/7/7/7/PpPpPpP/7 w - 0 1"),
        ("UUUUUUU/AA3T1/7/7/7/zzzzzzz/ssssstt w", "UUUUUUU/AA3T1/7/7/7/zzzzzzz/ssssstt w - 0 1"),
        ("7/7/7/7/7/7/T6 w", "7/7/7/7/7/7/T6 w - 0 1"),  # over
        ("Z5t/7/7/7/7/7/T6 w @ 3 4", "Z5t/7/7/7/7/7/T6 w @ 3 4"),
        ("7/pppp1pp/7/7/t6/7/TT4z b @ 0 4", "7/pppp1pp/7/7/t6/7/TT4z b @ 0 4"),
    ],
)
def test_fen_is_read(make: Make, fen: str, written: str) -> None:
    state = make().state(fen)
    assert state.fen() == written
    assert state.history == [] and state.occurrences == 1
    assert state.is_turn_open == ("@" in fen)


def test_fen_with_an_owed_pikeman(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zg7 Pa2 pb2 td5", side="w @ 7 30")
    assert state.is_turn_open and state.to_move == seat.us and state.history == []
    assert seat.turns(state) == {f"P@{file}2" for file in "cdefg"}
    begun = seat.state("Tb1 Zg7 Pa2 pb2 td5", side="w - 7 30")
    assert begun.key() != state.key()
    seat.play(state, "P@g2")
    assert state.fen().split(" ")[1:] == ["bw"[seat.us], "-", "0", str(30 + seat.us)]
    assert state.history == ["P@g2" if seat.us == 0 else "P@g6"]


BOARD = START.split(" ")[0]
FIRST, REST = BOARD.split("/", 1)

WRONG_FENS = [
    ("", ""),
    (BOARD, ""),
    (f"{BOARD} w -", ""),
    (f"{BOARD} w 0 1", ""),
    (f"{BOARD} w - - 0 1", ""),
    (f"{BOARD} w - 0 1 ", ""),
    (f" {BOARD} w - 0 1", ""),
    (f"{BOARD}  w - 0 1", ""),
    (f"{BOARD}\tw - 0 1", ""),
    (f"{BOARD} w - 0 1\n", ""),
    (f"{REST} w", "board"),
    (f"{BOARD}/7 w", "board"),
    (f"{BOARD}/ w", "board"),
    (f"{FIRST}1/{REST} w", "board"),
    (f"z1sta3/{REST} w", "board"),
    (f"z1sta/{REST} w", "board"),
    (f"8/{REST} w", "board"),
    (f"07/{REST} w", "board"),
    (f"34/{REST} w", "board"),
    (f"k1sta1u/{REST} w", "board"),
    (f"+p1sta1u/{REST} w", "board"),
    (f"z\u0661sta1u/{REST} w", "board"),
    ("7/7/7/7/7/7/7 w", ""),  # no pieces at all
    ("z1s1a1u/ppppppp/7/7/7/PPPPPPP/Z1S1A1U w", ""),  # no banneret
    (f"{BOARD} W - 0 1", "side"),
    (f"{BOARD} x - 0 1", "side"),
    (f"{BOARD} w @ 0 1", "pending"),
    (f"{BOARD} w a1 0 1", "pending"),
    (f"{BOARD} w d7 0 1", "pending"),
    (f"{BOARD} w a8 0 1", "pending"),
    (f"{BOARD} w @a1 0 1", "pending"),
    (f"{BOARD} w -@ 0 1", "pending"),
    ("Z5t/7/7/7/7/7/T6 b @ 0 1", "pending"),  # the other player's castle
    ("1Z4t/7/7/7/7/7/T6 w @ 0 1", "pending"),
    ("6t/7/7/7/7/7/T6 w @ 0 1", "pending"),
    ("Z5t/7/7/7/7/PPPPPPP/T6 w @ 0 1", "pending"),  # no place
    ("Z5t/7/7/7/7/PPPpPPP/T6 w @ 0 1", "pending"),
    ("Z5t/7/7/7/7/7/T6 w a7 0 1", "pending"),
    (f"{BOARD} w - -1 1", "quiet"),
    (f"{BOARD} w - x 1", "quiet"),
    (f"{BOARD} w - 00 1", "quiet"),
    (f"{BOARD} w - {'9' * 5000} 1", "quiet"),
    (f"{BOARD} w - 0 0", "move"),
    (f"{BOARD} w - 0 -1", "move"),
    (f"{BOARD} w - 0 01", "move"),
    (f"{BOARD} w - 0 ", ""),
    (f"{BOARD} w - 0 {2**64 + 1}", "move"),
]


@pytest.mark.parametrize(("fen", "field"), WRONG_FENS)
def test_fen_is_rejected(make: Make, fen: str, field: str) -> None:
    with pytest.raises(FenError, match=field or None):
        make().state(fen)
    with pytest.raises(FenError):
        make().perft(1, fen)


# --- Observation and actions ----------------------------------------------------------------------


def test_observation(make: Make) -> None:
    state = make().state("P1a4/1s5/2z4/3A3/4u2/5T1/t6 b - 25 9")
    own = state.observation()
    assert own.shape == (15, 7, 7) and own.dtype == np.float32
    expected = np.zeros((15, 7, 7), np.float32)
    for plane, rank, file in (
        (6, 0, 0),  # the enemy pikeman a7, which player 1 sees on a1
        (3, 0, 2),
        (1, 1, 1),
        (2, 2, 2),
        (9, 3, 3),
        (4, 4, 4),
        (11, 5, 5),
        (5, 6, 0),
    ):
        expected[plane, rank, file] = 1
    expected[13] = 0.25
    assert (own == expected).all() and (state.observation(1) == own).all()
    seen = state.observation(0)
    assert seen[0, 6, 0] == seen[9, 6, 2] == seen[11, 0, 0] == seen[5, 1, 5] == 1
    assert (make().state(f"{BOARD} w - 300 1").observation()[13] == 1).all()


def test_observation_inside_a_turn(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zg4 td5", side="w - 50 9")
    assert not state.observation()[12].any()
    step(seat, state, "g4g7")
    for player in (0, 1):
        seen = state.observation(player)
        assert (seen[12] == 1).all() and (seen[13] == 0.5).all() and not seen[14].any()
    seat.play(state, "P@a2")
    assert not state.observation()[12:].any()


def test_absolute_view(make: Make) -> None:
    game = make(view="absolute")
    assert game.observation_shape == (16, 7, 7) and make().observation_shape == (15, 7, 7)
    for side in "wb":
        fen = f"{BOARD} {side} - 3 4"
        state, relative = game.state(fen), make().state(fen)
        for player in (None, 0, 1):
            assert (state.observation(player)[:15] == relative.observation(0)).all()
            assert (state.observation(player)[15] == (side == "b")).all()
        assert (state.legal_actions() == relative.legal_actions()).all()


ACTIONS = {
    "north": ("Tb1 Zd1 tg3", "d1d6", 4, "d1"),
    "north-east": ("Tb1 Sa2 tg3", "a2c4", 6 + 1, "a2"),
    "east": ("Tb3 Za1 tg5", "a1f1", 12 + 4, "a1"),
    "south-east": ("Tb1 Sa5 tg3", "a5b4", 18, "a5"),
    "south": ("Tb1 Zd6 tg3", "d6d1", 24 + 4, "d6"),
    "south-west": ("Tb1 Sf6 tg3", "f6b2", 30 + 3, "f6"),
    "west": ("Tb1 Zf5 tg3", "f5b5", 36 + 3, "f5"),
    "north-west": ("Tb1 Sg1 tg4", "g1b6", 42 + 4, "g1"),
    "banneret": ("Tb1 tg3", "b1d3", 6 + 1, "b1"),
    **{
        f"knight's leap to {target}": ("Tb1 Ad4 tg1", f"d4{target}", 48 + 9 * octant, "d4")
        for octant, target in enumerate("e6 f5 f3 e2 c2 b3 b5 c6".split())
    },
    "squire, two diagonally": ("Tb1 Ad4 tg1", "d4f7", 48 + 1, "d4"),
    "squire, four diagonally": ("Tb7 Aa1 tg4", "a1f5", 48 + 9 + 3, "a1"),
    "squire, five diagonally": ("Ta7 Ag1 ta4", "g1b7", 48 + 63 + 4, "g1"),
    "turcopole, two straight": ("Tb1 Ud4 tg1", "d4a3", 48 + 45 + 5, "d4"),
    "turcopole, five forward": ("Tg5 Ua1 td3", "a1b7", 48 + 8, "a1"),
    "turcopole, five to the right": ("Tg5 Ua1 td4", "a1g2", 48 + 9 + 8, "a1"),
}


@pytest.mark.parametrize(("pieces", "text", "plane", "origin"), ACTIONS.values(), ids=ACTIONS)
def test_actions(seat: BoardSeat, pieces: str, text: str, plane: int, origin: str) -> None:
    state = seat.state(pieces)
    if seat.us:
        text = seat.turned_text(text)
    action = plane * 49 + (int(origin[1]) - 1) * 7 + "abcdefg".index(origin[0])
    assert state.action_from_text(text) == action
    assert state.action_to_text(action) == text


def test_placement_actions(seat: BoardSeat) -> None:
    state = seat.state("Tb1 Zg7 Pa2 td5", side="w @ 7 30")
    assert state.legal_actions().tolist() == [120 * 49 + 7 + file for file in range(1, 7)]


def test_no_mirror_actions(make: Make) -> None:
    assert make().mirror_actions is None  # promotion goes by file


# --- The interface --------------------------------------------------------------------------------


def random_game(game: Game, generator: random.Random, max_steps: int = 200) -> list[State]:
    """Return the states of a random game from the start, at most `max_steps` of them."""
    states = [game.state()]
    while not states[-1].is_over and len(states) <= max_steps:
        state = states[-1].copy()
        state.apply(generator.choice(state.legal_actions().tolist()))
        states.append(state)
    return states


@pytest.mark.parametrize("setup", SETUPS)
def test_random_games(make: Make, setup: str) -> None:
    """At many steps: FEN round trip, copy, undo, pickle, text, mask and players exchanged."""
    generator = random.Random(setup)
    game = make(setup=setup)
    seat = BoardSeat(make, 1, size=7, keeps_files=True)
    states = random_game(game, generator)
    for before, state in zip(states, states[1:], strict=False):
        if generator.random() < 0.7 and not state.is_turn_open:
            continue
        again = game.state(state.fen())
        assert again.fen() == state.fen() and again.key() == state.key()
        actions = state.legal_actions()
        assert actions.dtype == np.int32 and (np.diff(actions) > 0).all()
        assert np.flatnonzero(state.legal_action_mask()).tolist() == actions.tolist()
        texts = [state.action_to_text(action) for action in actions.tolist()]
        assert [state.action_from_text(text) for text in texts] == actions.tolist()
        turns = state.turns()
        assert len(set(turns)) == len(turns) and state.turns(limit=2) == turns[:2]
        assert all(turn.startswith(tuple(texts)) for turn in turns)
        assert pickle.loads(pickle.dumps(state)) == state == copy.deepcopy(state)
        taken_back = state.copy()
        taken_back.undo()
        assert taken_back == before != state and taken_back.fen() == before.fen()

        other = game.state(seat.turned_fen(state.fen()))
        if not state.is_over:
            assert other.legal_actions().tolist() == actions.tolist()
            assert other.turns() == [seat.turned_text(turn) for turn in turns]
        assert (other.observation()[:14] == state.observation()[:14]).all()


def test_options(make: Make) -> None:
    game = make()
    assert isinstance(game, Game) and isinstance(game.state(), State)
    assert (game.id, game.ruleset, game.setup) == ("drakoburg_v0", "standard", "default")
    assert tuple(game.rulesets) == ("standard",) and tuple(game.setups) == tuple(SETUPS)
    assert (game.num_actions, game.action_shape) == (5929, (121, 7, 7))
    assert game == make() == pickle.loads(pickle.dumps(game)) and hash(game) == hash(make())
    for other in (make(setup="wide"), make(max_turns=10), make(view="absolute")):
        assert game != other and game.state() != other.state()
    with pytest.raises(UnknownGameError):
        make(ruleset="chess")
    with pytest.raises(UnknownGameError):
        make(setup="random")
    with pytest.raises(ConfigurationError):
        make(max_turns=0)


def test_illegal_actions_change_nothing(seat: BoardSeat) -> None:
    opened = seat.state("Tb1 Zg7 Pa2 td5", side="w @ 7 30")
    for state in (seat.state(BOARD), opened):
        before = state.copy()
        legal = set(state.legal_actions().tolist())
        actions = set(range(0, 5929, 11)) - legal
        for action in (*actions, -1, 5929, 2**31, -(2**63)):
            with pytest.raises(IllegalActionError, match=str(action)):
                state.apply(action)
        for turn in ("", "a2", "gibberish", "a2a2", "P@d4", "P@a2", "pass", "A2A3"):
            with pytest.raises(IllegalActionError):
                state.push(seat.turned_text(turn) if seat.us else turn)
            with pytest.raises(IllegalActionError):
                state.action_from_text(seat.turned_text(turn) if seat.us else turn)
        assert state == before
        with pytest.raises(IllegalActionError):
            state.undo()


# --- Perft ----------------------------------------------------------------------------------------


def test_perft_counts_placements(make: Make) -> None:
    """Each placement square is its own turn; a turn that ends the game counts at its depth."""
    game = make()
    fen = "t5Z/7/7/7/7/PPPPP2/T6 w @ 0 1"
    assert game.perft(0, fen) == 1 and game.perft(1, fen) == 2
    assert game.perft(1, "7/t6/7/Z6/7/7/3T3 w - 900 900") > 0  # the limits are ignored
    assert game.perft(1, "7/7/7/Z6/7/7/3T3 w") == 0  # over
