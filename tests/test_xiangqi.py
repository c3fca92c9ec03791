"""The hard parts of the rules of Xiangqi, each as a named test on a hand-made position."""

import importlib
import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from seats import Seat, is_draw, seats

import deskovky as dk
from deskovky.envs.protocol import Game
from deskovky.envs.xiangqi import notation

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"


def make_native(**options: str) -> Game:
    return dk.game("xiangqi_v0", **options)  # type: ignore[arg-type]


def implementations() -> list[Callable[..., Game]]:
    try:
        return [make_native, importlib.import_module("reference.xiangqi").Xiangqi]
    except ModuleNotFoundError:
        return [make_native]


def turned_board(board: str) -> str:
    return board[::-1].swapcase()


def turned_text(text: str) -> str:
    def turned(square: re.Match[str]) -> str:
        return "ihgfedcba"["abcdefghi".index(square[0][0])] + str(11 - int(square[0][1:]))

    return re.sub("[a-i](10|[1-9])", turned, text)


SEATS = seats(implementations(), turned_board, turned_text)


def seat_id(seat: Seat) -> str:
    kind = "native" if seat.make is make_native else "reference"
    return f"{kind}-player_{seat.us}"


@pytest.fixture(params=SEATS, ids=seat_id)
def seat(request: pytest.FixtureRequest) -> Seat:
    chosen: Seat = request.param
    return chosen


# --- XQ-1 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "origin", "targets"),
    [
        ("3k5/9/9/9/9/4N4/9/9/9/5K3", "e5", "c4 c6 d3 d7 f3 f7 g4 g6"),
        ("3k5/9/9/9/4P4/3pN4/9/9/9/5K3", "e5", "d3 f3 g4 g6"),  # legs at e6 and d5, of either side
        ("3k5/9/9/9/3p1p3/4N4/9/9/9/5K3", "e5", "c4 c6 d3 d7 f3 f7 g4 g6"),  # no legs
        ("3k5/9/9/8p/9/9/9/4B4/9/5K3", "e3", "c1 c5 g1 g5"),
        ("5k3/9/9/9/9/9/3p1P3/4B4/5p3/3K5", "e3", "c1"),  # eyes at d4, f4 and f2
        ("3k5/9/9/8p/9/2B6/9/9/9/5K3", "c5", "a3 e3"),  # never across the river
        ("3k5/9/9/8p/9/9/9/9/4A4/5K3", "e2", "d1 d3 f3"),
        ("4k4/9/9/9/4p4/9/9/3A5/9/4K4", "d3", "e2"),
        ("3k5/9/9/8p/9/9/9/5K3/9/9", "f3", "e3 f2"),  # the palace
        ("3k5/9/9/9/9/9/P8/9/9/5K3", "a4", "a5"),
        ("3k5/9/9/9/9/P8/9/9/9/5K3", "a5", "a6"),
        ("3k5/9/9/9/P8/9/9/9/9/5K3", "a6", "a7 b6"),
        ("P4k3/9/9/9/9/9/9/9/9/3K5", "a10", "b10"),  # the last rank: no promotion
        ("3k5/9/9/4p4/9/9/2P1R1p2/9/9/5K3", "e4", "d4 e1 e2 e3 e5 e6 e7 f4 g4"),
        ("3k5/9/4r4/4p4/9/9/2P1C1p2/9/4P4/5K3", "e4", "d4 e3 e5 e6 e8 f4"),
        ("3k5/4n4/4r4/4p4/9/4p4/2p1C1pp1/9/9/5K3", "e4", "d4 e1 e2 e3 e7 f4 h4"),
    ],
)
def test_xq1_how_the_pieces_move(seat: Seat, board: str, origin: str, targets: str) -> None:
    assert seat.targets(seat.state(board), origin) == targets


# --- XQ-2 -------------------------------------------------------------------------------------


def test_xq2_a_piece_between_the_generals_stays_on_their_file(seat: Seat) -> None:
    state = seat.state("4k4/9/9/4p4/9/4N4/9/9/9/4K4")
    assert "e5c6" in seat.turns(state)  # two between
    state = seat.state("4k4/9/9/9/9/4N4/9/9/9/4K4")
    assert seat.targets(state, "e5") == ""
    state = seat.state("4k4/4a4/9/9/9/9/9/4R4/9/4K4")
    assert seat.targets(state, "e3") == "a3 b3 c3 d3 e2 e4 e5 e6 e7 e8 e9 f3 g3 h3 i3"


def test_xq2_the_general_does_not_step_onto_a_file_the_other_sees(seat: Seat) -> None:
    assert seat.targets(seat.state("4k4/9/9/8p/9/9/9/9/9/3K5"), "d1") == "d2"


def test_xq2_both_screens_of_a_cannon_are_pinned(seat: Seat) -> None:
    state = seat.state("3k5/9/4c4/9/9/4R4/9/4N4/9/4K4")
    assert seat.targets(state, "e3") == ""
    # The chariot may move in between, and capture the cannon, which leaves nothing to jump.
    assert seat.targets(state, "e5") == "e4 e6 e7 e8"


def test_xq2_capturing_a_screen_with_the_other_leaves_one(seat: Seat) -> None:
    assert "e5e6" not in seat.turns(seat.state("3k5/9/4c4/9/4n4/4R4/9/9/9/4K4"))
    assert "e5e6" in seat.turns(seat.state("3k5/4c4/9/4p4/4n4/4R4/9/9/9/4K4"))  # two are left


def test_xq2_nothing_steps_before_a_bare_cannon(seat: Seat) -> None:
    state = seat.state("3k5/9/4c4/9/9/2N6/R8/9/9/4K4")
    assert seat.targets(state, "c5") == "a6 b3 b7 d3 d7"  # not e4, e6
    assert "a4d4" in seat.turns(state) and "a4e4" not in seat.turns(state)


def test_xq2_capturing_the_bare_cannon_is_legal(seat: Seat) -> None:
    state = seat.state("3k5/9/4c4/2N6/9/9/9/9/9/4K4")
    assert "c7e8" in seat.turns(state) and "c7e6" not in seat.turns(state)


def test_xq2_the_leg_of_an_attacking_horse_is_pinned(seat: Seat) -> None:
    assert seat.targets(seat.state("5k3/9/9/9/9/9/9/3n5/3R5/4K4"), "d2") == "d3"


def test_xq2_a_check_must_be_answered(seat: Seat) -> None:
    state = seat.state("5k3/9/9/9/9/9/3R5/3n5/P8/4K4")
    assert set(seat.turns(state)) == {"d4d3", "e1d1", "e1e2"}  # f1 faces the general


def test_xq2_the_general_does_not_capture_a_guarded_piece(seat: Seat) -> None:
    assert "e1e2" not in seat.turns(seat.state("3k5/9/9/9/9/4r4/9/9/4p4/4K4"))
    assert "e1e2" in seat.turns(seat.state("3k5/9/9/9/9/9/9/9/4p4/4K4"))


def test_xq2_the_line_of_a_check_goes_on_behind_the_general(seat: Seat) -> None:
    assert seat.targets(seat.state("3k5/9/9/9/9/4r4/9/9/4K4/9"), "e2") == "f2"


# --- XQ-3 -------------------------------------------------------------------------------------


def test_xq3_stalemate_loses(seat: Seat) -> None:
    state = seat.state("3k5/2P6/9/9/9/9/9/9/9/3A1K3")
    seat.play(state, "f1e1")  # the general sees the file e, the soldier d9 and d10's side
    assert seat.wins(state, "stalemate")


def test_xq3_checkmate(seat: Seat) -> None:
    state = seat.state("3k5/R8/9/9/9/9/9/1R7/9/4K4")
    seat.play(state, "b3b10")
    assert seat.wins(state, "checkmate")
    state = seat.state("3k5/9/R8/9/9/9/9/1R7/9/4K4")
    seat.play(state, "b3b10")
    assert not state.is_over  # d9


# --- XQ-4 -------------------------------------------------------------------------------------

CHARIOT = "3k5/9/9/9/9/R8/9/9/9/5K3"  # it checks from the side, the general walks between d10, d9
TWO_CHECKS = "a5a10 d10d9 a10a9 d9d10"
THREE_CHECKS = TWO_CHECKS + " a9a10 d10d9"


def chain_length(state: dk.State, player: int) -> int:
    return round(3 * float(state.observation(player)[14].max()))


def test_xq4_the_fourth_check_is_illegal(seat: Seat) -> None:
    state = seat.state(CHARIOT)
    seat.play(state, TWO_CHECKS)
    assert "a9a10" in seat.turns(state)  # the third
    seat.play(state, "a9a10 d10d9")
    assert not {"a10a9", "a10d10"} & set(seat.turns(state))
    assert {"a10b10", "a10a8", "a10a1"} <= set(seat.turns(state))
    with pytest.raises(dk.IllegalActionError):
        seat.play(state, "a10a9")


def test_xq4_does_not_hold_in_axf(seat: Seat) -> None:
    state = seat.state(CHARIOT, ruleset="axf")
    seat.play(state, THREE_CHECKS)
    assert "a10a9" in seat.turns(state)
    assert not state.observation()[14:20].any()


def test_xq4_a_turn_without_check_ends_the_chain(seat: Seat) -> None:
    state = seat.state(CHARIOT)
    seat.play(state, THREE_CHECKS + " a10b10")
    assert chain_length(state, seat.us) == 0
    seat.play(state, "d9d8 b10b8")
    assert chain_length(state, seat.us) == 1


def test_xq4_another_piece_may_check(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/R8/1R7/9/9/5K3")
    seat.play(state, THREE_CHECKS)
    assert "b4b9" in seat.turns(state) and "a10a9" not in seat.turns(state)
    seat.play(state, "b4b9 d9d8")
    assert chain_length(state, seat.us) == 1
    assert "a10a8" in seat.turns(state)


def test_xq4_another_answering_piece_starts_a_new_chain(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/R8/9/1r7/9/5K3")
    seat.play(state, TWO_CHECKS + " a9a10 b3b10")  # the chariot answers the third check
    assert chain_length(state, seat.us) == 1
    assert "a10b10" in seat.turns(state)
    seat.play(state, "a10b10")
    assert chain_length(state, seat.us) == 2
    assert not state.observation(seat.us)[16].any()  # the answering piece has been captured
    seat.play(state, "d10d9")  # again another piece
    assert chain_length(state, seat.us) == 1
    seat.play(state, "b10b9 d9d10 b9b10 d10d9")
    assert "b10b9" not in seat.turns(state)


def test_xq4_capturing_the_checking_piece_ends_the_chain(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/R8/9/9/r8/5K3")
    seat.play(state, "a5a10")
    assert chain_length(state, seat.us) == 1
    seat.play(state, "a2a10")
    assert not state.observation(seat.us)[14:17].any()


WINDMILL = "4k4/9/9/9/4r4/9/9/9/3KA4/4C4"  # an advisor and a chariot open and close the file


@pytest.mark.parametrize(("ruleset", "is_legal"), [("standard", False), ("axf", True)])
def test_xq4_discovered_checks_count_for_the_piece_that_moved(
    seat: Seat, ruleset: str, is_legal: bool
) -> None:
    state = seat.state(WINDMILL, ruleset=ruleset)
    seat.play(state, "e2f3 e6a6 f3e2 a6e6 e2f3 e6a6")
    assert ("f3e2" in seat.turns(state)) == is_legal


FOURTH_CHECKS = [
    ("2bak4/4a4/9/9/4n4/2N6/9/9/4A4/3AKC3", "c5b7 e9f10 b7c9 e10e9 c9d7 e9d9 d7b8 d9d8", "b8c10"),
    ("2ba1a3/3k1n3/9/9/3C5/4N4/9/5A3/9/3AK4", "e5d7 f9d8 d7f6 d8c6 f6d7 c6d8", "d7b8"),
]


@pytest.mark.parametrize(("board", "turns", "fourth"), FOURTH_CHECKS, ids=["capture", "mate"])
def test_xq4_holds_for_captures_and_mates(seat: Seat, board: str, turns: str, fourth: str) -> None:
    states = {ruleset: seat.state(board, ruleset=ruleset) for ruleset in ("standard", "axf")}
    for state in states.values():
        seat.play(state, turns)
    assert fourth not in seat.turns(states["standard"])
    num_pieces = states["axf"].num_pieces(seat.them)
    seat.play(states["axf"], fourth)
    is_capture = states["axf"].num_pieces(seat.them) < num_pieces
    assert is_capture or seat.wins(states["axf"], "checkmate")


def test_xq4_counts_in_xq3(seat: Seat) -> None:
    """The only move left would be the fourth check: the general is hemmed in by a soldier, the
    cannon pinned by a chariot beside it."""
    board = "4k4/9/9/9/4r4/9/9/3p5/4A4/3KCr3"
    for ruleset in ("standard", "axf"):
        state = seat.state(board, ruleset=ruleset)
        seat.play(state, "e2f3 e6a6 f3e2 a6e6 e2f3 e6a6")
        if ruleset == "standard":
            assert seat.loses(state, "stalemate")
        else:
            assert seat.turns(state) == ["f3e2"]


def test_xq4_a_fen_has_no_chain(seat: Seat) -> None:
    state = seat.state(CHARIOT)
    seat.play(state, THREE_CHECKS)
    read = state.game.state(state.fen())
    assert read.key() == state.key()
    assert "a10a9" in seat.turns(read) and "a10a9" not in seat.turns(state)


def test_xq4_both_players_see_the_chain(seat: Seat) -> None:
    state = seat.state(CHARIOT)
    seat.play(state, THREE_CHECKS)
    ours, theirs = state.observation(seat.us), state.observation(seat.them)
    assert (ours[14] == 1).all() and (theirs[17] == 1).all()
    assert not ours[17:20].any() and not theirs[14:17].any()
    assert (ours[15] == ours[4]).all() and (ours[16] == ours[7]).all()  # chariot, general
    assert (theirs[18] == ours[15][::-1, ::-1]).all()
    assert (theirs[19] == ours[16][::-1, ::-1]).all()


# --- XQ-5 and XQ-6 ----------------------------------------------------------------------------


def repeat(seat: Seat, board: str, turns: str, ruleset: str = "standard") -> dk.State:
    """Play turns that lead back twice and return the state after them, the third occurrence."""
    state = seat.state(board, ruleset=ruleset)
    seat.play(state, turns)
    assert not state.is_over and state.occurrences == 2
    seat.play(state, turns)
    assert state.is_over
    return state


def test_xq5_idle_repetition_is_a_draw(seat: Seat) -> None:
    state = repeat(seat, START.split(" ")[0], "b1c3 b10c8 c3b1 c8b10")
    assert is_draw(state, "repetition")


def test_xq5_the_third_occurrence_may_come_by_another_way(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/9/R8/9/9/5K3")
    seat.play(state, "a4a5 d10d9 a5a4 d9d10 a4c4 d10d9 c4b4 d9d10")
    assert not state.is_over
    seat.play(state, "b4a4 d10d9")  # seen after a5a4, the other player to move
    assert not state.is_over
    seat.play(state, "a4a5 d9d10 a5a6 d10d9 a6a4 d9d10")
    assert is_draw(state, "repetition")


def test_xq5_a_capture_cuts_the_past(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/9/R7p/9/9/5K3")
    seat.play(state, "a4a5 d10d9 a5a4 d9d10 a4i4 d10d9 i4a4 d9d10")
    assert state.occurrences == 1


def test_xq5_perpetual_check_loses(seat: Seat) -> None:
    state = repeat(seat, "3k5/R8/9/9/9/9/9/9/9/5K3", "a9a10 d10d9 a10a9 d9d10", ruleset="axf")
    assert seat.loses(state, "perpetual_check")


def test_xq5_perpetual_check_through_the_three_check_rule(seat: Seat) -> None:
    """Two pieces take turns in answering, so no chain grows beyond three."""
    state = seat.state("4k4/9/9/7r1/4r4/9/9/9/3KA4/4C4")
    seat.play(state, "e2f3 e6a6 f3e2 h7e7 e2f3 e7h7 f3e2 a6e6 e2f3 e6a6")
    assert seat.loses(state, "perpetual_check")


def test_xq5_the_chain_does_not_make_positions_different(seat: Seat) -> None:
    state = seat.state("3k5/R8/9/9/9/9/9/9/9/5K3")
    seat.play(state, "a9a10 d10d9 a10a9 d9d10")
    assert state.occurrences == 2
    seat.play(state, "a9a10 d10d9")
    assert "a10a9" not in seat.turns(state)
    seat.play(state, "a10a2 d9d10 a2a3 d10e10 a3a9 e10d10")
    assert is_draw(state, "repetition")  # not every turn gave check


def test_xq5_check_is_more_serious_than_chase(seat: Seat) -> None:
    """The checks of the chariot, and the general's steps, screen the cannon's attack on the horse
    by turns."""
    board, turns = "3k5/2N4Rc/9/9/9/9/9/9/9/5K3", "h9h10 d10d9 h10h9 d9d10"
    assert seat.loses(repeat(seat, board, turns, ruleset="axf"), "perpetual_check")


CHASES = [
    # The chariot follows an unprotected cannon.
    ("3k5/9/9/1c7/9/9/2R6/9/9/5K3", "c4b4 b7c7 b4c4 c7b7", True),
    # A chariot protects it ...
    ("3k5/9/9/1c2r4/9/9/2R6/9/9/5K3", "c4b4 b7c7 b4c4 c7b7", False),
    # ... but is pinned by another chariot.
    ("4k4/9/9/1c2r4/9/9/2R6/9/4R4/5K3", "c4b4 b7c7 b4c4 c7b7", True),
    # Chariots that could capture each other ...
    ("3k5/9/9/1r7/9/9/2R6/9/9/5K3", "c4b4 b7c7 b4c4 c7b7", False),
    ("4k4/9/R8/4r4/9/9/9/9/9/5K3", "a8a7 e7e8 a7a8 e8e7", False),
    # ... unless the chased one is pinned.
    ("4k4/9/R8/4r4/9/9/9/9/4R4/5K3", "a8a7 e7e8 a7a8 e8e7", True),
    # The chaser is pinned: capturing would expose its own general.
    ("3k5/4r4/9/9/9/4R4/c8/9/9/4K4", "e5e4 a4a5 e4e5 a5a4", False),
    ("3k5/4r4/9/9/9/4R4/c8/9/9/5K3", "e5e4 a4a5 e4e5 a5a4", True),
    # (i) A horse chases a chariot, protected or not; but not a protected cannon.
    ("3k5/4r4/9/4r4/5N3/9/9/9/9/5K3", "f6d5 e7e8 d5f6 e8e7", True),
    ("3k5/4r4/9/4c4/5N3/9/9/9/9/5K3", "f6d5 e7e8 d5f6 e8e7", False),
    ("3k5/9/9/4c4/5N3/9/9/9/9/5K3", "f6d5 e7e8 d5f6 e8e7", True),
    # (ii) An advisor chases a protected cannon, then opens the file of a chariot.
    ("3k5/9/9/3r5/9/9/9/3c5/9/3ARK3", "d1e2 d3e3 e2d1 e3d3", True),
    # Soldiers may chase.
    ("3k5/2c6/1P7/9/9/9/9/9/9/5K3", "b8c8 c9b9 c8b8 b9c9", False),
    ("3k5/2c6/1R7/9/9/9/9/9/9/5K3", "b8c8 c9b9 c8b8 b9c9", True),
    # Two chariots attack a standing horse by turns: by moving, and by opening the file.
    ("3k5/9/9/n8/9/R8/9/9/R8/5K3", "a5b5 d10d9 b5a5 d9d10", True),
    # A soldier on its own half may be chased, across the river not.
    ("3k5/9/9/p8/9/R8/9/9/R8/5K3", "a5b5 d10d9 b5a5 d9d10", False),
    ("3k5/9/9/9/p8/9/R8/9/R8/5K3", "a4b4 d10d9 b4a4 d9d10", False),
    ("3k5/9/9/9/9/p8/R8/9/R8/5K3", "a4b4 d10d9 b4a4 d9d10", True),
    # An attack that goes on is not a new one.
    ("3k5/9/9/n8/9/R8/9/9/9/5K3", "f1f2 d10d9 f2f1 d9d10", False),
    # Two horses attacked by turns: no single one is chased all the time.
    ("3k5/9/9/n1n6/9/2R6/9/9/9/5K3", "c5a5 d10d9 a5c5 d9d10", False),
    # Both chase.
    ("3k5/8r/9/n8/8r/R8/8N/9/R8/5K3", "a5b5 i6h6 b5a5 h6i6", False),
]


@pytest.mark.parametrize(("board", "turns", "is_chase"), CHASES)
def test_xq6_chases(seat: Seat, board: str, turns: str, is_chase: bool) -> None:
    state = repeat(seat, board, turns)
    if is_chase:
        assert seat.loses(state, "perpetual_chase")
    else:
        assert is_draw(state, "repetition")


# --- XQ-7, XQ-8 -------------------------------------------------------------------------------


def test_xq7_quiet_limit(seat: Seat) -> None:
    state = seat.state("3k5/9/9/9/9/9/R8/9/9/5K3 w - - 118 80")
    seat.play(state, "a4a5")
    assert not state.is_over
    seat.play(state, "d10d9")
    assert is_draw(state, "quiet_limit")


def test_xq7_mate_on_the_last_quiet_turn_counts(seat: Seat) -> None:
    state = seat.state("3k5/R8/9/9/9/9/9/1R7/9/4K4 w - - 119 80")
    seat.play(state, "b3b10")
    assert seat.wins(state, "checkmate")


def test_xq7_a_capture_resets_the_count(seat: Seat) -> None:
    state = seat.state("3k5/9/p8/9/9/9/R8/9/9/5K3 w - - 119 80")
    seat.play(state, "a4a8")
    assert not state.is_over and state.fen().split(" ")[4] == "0"


def test_xq7_nothing_left_to_mate_with(seat: Seat) -> None:
    state = seat.state("3k1a3/9/9/9/9/9/9/5p3/5K3/9")
    seat.play(state, "f2f3")
    assert is_draw(state, "insufficient_material")
    assert not seat.state("4k4/9/9/9/9/9/9/9/p8/3K5").is_over


def test_xq8_max_turns(seat: Seat) -> None:
    assert seat.make().max_turns == 500
    state = seat.state("3k5/9/9/9/9/9/R8/9/9/5K3 w - - 3 250")
    seat.play(state, "a4a5")
    if seat.us == 0:
        seat.play(state, "d10d9")
    assert is_draw(state, "max_turns")


# --- FEN --------------------------------------------------------------------------------------


def test_readers_accept_the_letters_e_and_h(seat: Seat) -> None:
    state = seat.make().state(START.replace("n", "h").replace("N", "H").replace("b", "e", 2))
    assert state.fen() == START


def test_readers_accept_two_fields(seat: Seat) -> None:
    assert seat.make().state(" ".join(START.split(" ")[:2])).fen() == START


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("4k4/9/9/9/9/9/9/9/9 w", "board"),  # nine ranks
        ("4k4/9/9/9/9/9/9/9/9/9/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/10/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/55/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/8/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/x8/3K5 w", "board"),
        ("9/9/9/9/9/9/9/9/9/3K5 w", "board"),  # generals
        ("4k4/9/9/9/9/9/9/9/9/9 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/3KK4 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/2K6 w", "board"),
        ("4k4/9/9/9/9/9/3K5/9/9/9 w", "board"),
        ("9/9/9/4k4/9/9/9/9/9/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/3KA4 w", "board"),  # an advisor on e1
        ("4k4/9/9/9/9/9/9/9/9/1A1K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/B2K5 w", "board"),  # an elephant on a1
        ("4k4/9/9/2B6/9/9/9/9/9/3K5 w", "board"),  # across the river
        ("4k4/9/9/9/9/9/9/9/9/RRRK5 w", "board"),  # more than the set
        ("4k4/9/9/9/9/9/9/9/9/NNNK5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/NNHK5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/CCCK5 w", "board"),
        ("4k4/9/9/9/9/PPPPPP3/9/9/9/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/4A4/3A1AK2 w", "board"),
        ("4k4/9/9/9/9/2B3B2/9/4B4/9/3K5 w", "board"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w", "board"),  # facing generals
        ("4k4/9/9/9/9/9/9/9/9/4K4 b", "board"),
        ("4k4/9/4R4/9/9/9/9/9/9/3K5 w", "board"),  # the general could be captured
        ("4k4/9/9/9/9/9/9/9/4r4/4K4 b", "board"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 x", "side"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 w - -", "board"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 w - x 0 1", "dashes"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 w - - -1 1", "quiet"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 w - - 01 1", "quiet"),
        ("4k4/9/9/9/9/9/9/9/9/3K5 w - - 0 0", "move"),
        ("4k4/9/9/9/9/9/9/9/9/3K5  w", "board"),
        ("", "board"),
    ],
)
def test_fen_rejections(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        make_native().state(fen)


def test_a_checked_player_to_move_is_read(seat: Seat) -> None:
    state = seat.state("4k4/9/9/9/9/4r4/9/9/9/4K4")
    assert set(seat.turns(state)) == {"e1d1", "e1f1"}


@pytest.mark.parametrize("seed", range(10))
def test_fens_of_random_games_are_read_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = make_native().state()
    while not state.is_over:
        read = state.game.state(state.fen())
        assert read.fen() == state.fen() and read.key() == state.key()
        state.apply(int(rng.choice(state.legal_actions())))


# --- Observation ------------------------------------------------------------------------------


def decoded(observation: NDArray[np.float32], player: int) -> str:
    """Return the letters on the board, a1 first, that the observation of `player` shows."""
    squares = ["."] * 90
    for plane in range(14):
        letter = "KABNRCP"[plane % 7]
        is_player_0s = (plane < 7) == (player == 0)
        for square in np.flatnonzero(observation[plane]).tolist():
            squares[89 - square if player else square] = letter if is_player_0s else letter.lower()
    return "".join(squares)


@pytest.mark.parametrize("seed", range(5))
def test_observations_of_both_players_decode_to_the_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = make_native().state()
    while not state.is_over:
        ranks = state.fen().split(" ")[0].split("/")
        board = "".join(re.sub(r"\d", lambda n: "." * int(n[0]), r) for r in reversed(ranks))
        quiet = int(state.fen().split(" ")[4])
        for player in (0, 1):
            observation = state.observation(player)
            assert decoded(observation, player) == board
            assert observation[20].min() == observation[20].max() == np.float32(quiet / 120)
            assert round(2 * float(observation[21, 0, 0])) + 1 == state.occurrences
        state.apply(int(rng.choice(state.legal_actions())))


# --- WXF move text ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "turn", "text"),
    [
        (START, "h3e3", "C2=5"),
        (START, "h1g3", "H2+3"),
        (START, "c1e3", "E7+5"),
        (START, "h3h10", "C2+7"),
        (START, "e1e2", "K5+1"),
        (START, "d1e2", "A6+5"),
        (START.replace(" w ", " b "), "h10g8", "H8+7"),
        (START.replace(" w ", " b "), "b8e8", "C2=5"),
        (START.replace(" w ", " b "), "e7e6", "P5+1"),
        ("4k4/9/9/9/9/9/9/R8/9/3K5 w", "a3a1", "R9-2"),
        ("4k4/9/9/9/9/9/R8/9/R8/3K5 w", "a4a5", "R++1"),
        ("4k4/9/9/9/9/9/R8/9/R8/3K5 w", "a2b2", "R-=8"),
        ("4k4/9/9/9/9/2B5P/9/9/9/2BK5 w", "c5e3", "E7-5"),  # elephants need no front and rear
        ("4k4/9/9/9/P8/9/P8/9/9/3K5 w", "a6b6", "P+=8"),
        ("4k4/9/9/9/P8/9/P8/9/9/3K5 w", "a4a5", "P-+1"),
        ("4k4/9/P8/9/P8/9/P8/9/9/3K5 w", "a8b8", "19=8"),  # three on a file
        ("4k4/9/P8/9/P8/9/P8/9/9/3K5 w", "a4a5", "39+1"),
        ("4k4/9/P8/9/P8/9/P7P/9/9/3K5 w", "i4i5", "P1+1"),
        ("4k4/9/9/2P1P4/2P1P4/9/9/9/9/3K5 w", "c6b6", "27=8"),  # two on each of two files
        ("4k4/9/9/2P1P4/2P1P4/9/9/9/9/3K5 w", "e7f7", "15=4"),
    ],
)
def test_wxf(fen: str, turn: str, text: str) -> None:
    state = make_native().state(fen)
    action = state.action_from_text(turn)
    assert notation.action_to_wxf(state, action) == text
    assert notation.action_from_wxf(state, text) == action


@pytest.mark.parametrize("spelling", ["c2=5", "C2.5", " C2=5 "])
def test_wxf_other_spellings(spelling: str) -> None:
    state = make_native().state()
    assert state.action_to_text(notation.action_from_wxf(state, spelling)) == "h3e3"
    assert state.action_to_text(notation.action_from_wxf(state, "N2+3")) == "h1g3"


@pytest.mark.parametrize("text", ["", "C2=2", "C2+9", "X2=5", "h3e3", "P++1"])
def test_wxf_errors(text: str) -> None:
    with pytest.raises(dk.IllegalActionError):
        notation.action_from_wxf(make_native().state(), text)
    with pytest.raises(dk.IllegalActionError):
        notation.action_to_wxf(make_native().state(), 4499)


@pytest.mark.parametrize("seed", range(5))
def test_wxf_names_every_legal_move_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = make_native().state()
    while not state.is_over:
        actions = state.legal_actions()
        texts = [notation.action_to_wxf(state, a) for a in actions[:: max(1, len(actions) // 5)]]
        assert len(set(texts)) == len(texts)
        action = int(rng.choice(actions))
        assert notation.action_from_wxf(state, notation.action_to_wxf(state, action)) == action
        state.apply(action)
