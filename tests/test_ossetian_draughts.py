"""Ossetian draughts: each clause of its rules as a named test, for both players."""

import numpy as np
import pytest
from draughts_seat import Seat, draws, must_pass

import deskovky as dk

ID = "ossetian_draughts_v0"


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(request: pytest.FixtureRequest) -> Seat:
    return Seat(ID, 7, request.param)


def test_start_position() -> None:
    state = dk.game(ID).state()
    assert state.fen() == "mmmmmmm/mmmmmmm/mmmmmmm/7/MMMMMMM/MMMMMMM/MMMMMMM w - 0 1"
    assert len(state.turns()) == 19


# --- OD-1 -------------------------------------------------------------------------------------


def test_od1_a_man_steps_straight_and_diagonally_forward(seat: Seat) -> None:
    assert seat.turns(seat.state("7/7/7/3M3/7/7/m6")) == {"d4c5", "d4d5", "d4e5"}


@pytest.mark.parametrize(
    ("enemy", "landing"),
    [
        ("d5", "d6"),
        ("e5", "f6"),
        ("e4", "f4"),
        ("e3", "f2"),
        ("d3", "d2"),
        ("c3", "b2"),
        ("c4", "b4"),
        ("c5", "b6"),
    ],
)
def test_od1_a_man_captures_in_all_eight_directions(seat: Seat, enemy: str, landing: str) -> None:
    rows = [["."] * 7 for _ in range(7)]
    for square, letter in (("d4", "M"), (enemy, "m"), ("g1", "m")):
        rows[7 - int(square[1])]["abcdefg".index(square[0])] = letter
    board = "/".join("".join(row) for row in rows).replace(".", "1")
    for run in range(7, 1, -1):
        board = board.replace("1" * run, str(run))
    assert seat.turns(seat.state(board)) == {f"d4{landing}"}


def test_od1_a_man_on_the_last_rank_stays_a_man(seat: Seat) -> None:
    state = seat.state("7/3M3/7/7/7/3M3/6m")
    seat.play(state, "d6d7", "pass")
    assert seat.fields(state)[0] == "3M3/7/7/7/7/3M3/6m"
    assert seat.turns(state) == {"d2c3", "d2d3", "d2e3"}


def test_od1_a_man_blocked_on_the_last_rank_still_captures_backward(seat: Seat) -> None:
    assert seat.turns(seat.state("3M3/3m3/7/7/7/7/7")) == {"d7d5"}
    assert seat.turns(seat.state("3Mm2/7/7/7/7/7/7")) == {"d7f7"}  # and sideways
    state = seat.state("3M3/3m3/7/7/7/1M5/7", side="b")
    seat.play(state, "d6d5")
    assert seat.turns(state) == {"b2a3", "b2b3", "b2c3"}  # too far away by now


# --- OD-2 -------------------------------------------------------------------------------------


def test_od2_capturing_is_compulsory_with_free_choice(seat: Seat) -> None:
    state = seat.state("7/3m3/7/3m3/3M2m/6M/7")  # two, or one
    assert seat.turns(state) == {"d3d5d7", "g2g4"}


def test_od2_a_jumping_man_must_go_on_in_any_direction(seat: Seat) -> None:
    state = seat.state("7/7/3m3/7/2mM3/7/7")
    assert seat.turns(state) == {"d3b3"}
    state = seat.state("7/7/3mm2/3M3/7/7/7")  # forward, then backward
    assert seat.turns(state) == {"d4d6f4", "d4f6"}
    state = seat.state("7/2m1m2/3m3/3M3/7/7/7")
    assert seat.turns(state) == {"d4d6b6", "d4d6f6"}
    state = seat.state("7/4m2/3m1m1/3M3/7/7/7")
    assert seat.turns(state) == {"d4d6f6f4"}


def test_od2_the_jumping_man_is_shown_and_moves_alone(seat: Seat) -> None:
    state = seat.state("7/2m1m2/3m3/3M3/m6/M6/7")
    assert seat.turns(state) == {"d4d6b6", "d4d6f6", "a2a4"}
    seat.step(state, "d4d6")
    assert state.is_turn_open and state.to_move == seat.us
    assert seat.fields(state) == ["7/2mMm2/7/7/m6/M6/7", "d6", "0"]
    assert seat.steps(state) == {"d6b6", "d6f6"}


def test_od2_removal_at_once_opens_the_way(seat: Seat) -> None:
    state = seat.state("7/7/2mm3/3M3/7/7/7")
    seat.step(state, "d4b6")
    assert not state.is_turn_open
    state = seat.state("7/7/2mmm2/3M3/7/7/7")
    assert "d4f6" in seat.turns(state)


# --- OD-3 -------------------------------------------------------------------------------------


def test_od3_passing_for_many_turns_while_the_other_plays_on(seat: Seat) -> None:
    state = seat.state("M5m/7/7/7/7/7/7")
    for rank in range(7, 1, -1):
        assert must_pass(state) and not state.is_over
        seat.play(state, "pass", f"g{rank}g{rank - 1}")
    assert draws(state, "blocked")  # before any further pass
    assert seat.fields(state)[2] == "12"


def test_od3_more_pieces_left_win_when_both_are_blocked(seat: Seat) -> None:
    assert draws(seat.state("M6/7/7/7/7/7/6m"), "blocked")
    assert seat.wins(seat.state("MM5/7/7/7/7/7/6m"), "blocked")
    assert seat.loses(seat.state("M6/7/7/7/7/7/m4mm"), "blocked")


def test_od3_a_jump_left_to_either_player_is_a_step(seat: Seat) -> None:
    state = seat.state("M6/7/7/7/7/3M3/3m3")  # only they can step: d1 takes d2
    assert not state.is_over
    assert seat.turns(state) == {"d2c3", "d2d3", "d2e3"}
    state = seat.state("M6/7/7/7/7/2M4/3m3", side="b")
    assert not state.is_over and seat.turns(state) == {"d1b3"}


def test_od3_no_pieces_left(seat: Seat) -> None:
    state = seat.state("7/7/3m3/3M3/7/7/7")
    seat.play(state, "d4d6")
    assert seat.wins(state, "no_pieces")


def test_od3_there_is_no_quiet_limit(seat: Seat) -> None:
    state = seat.state("M5m/7/7/7/7/7/7", quiet=99)
    seat.play(state, "pass", "g7g6")
    assert not state.is_over and seat.fields(state)[2] == "101"


# --- Encodings --------------------------------------------------------------------------------


def test_actions_and_squares_are_the_movers(seat: Seat) -> None:
    state = seat.state("m6/7/7/7/7/7/1M5")  # b1 is square 1
    assert state.legal_actions().tolist() == [0 * 49 + 1, 1 * 49 + 1, 7 * 49 + 1]  # N NE NW
    state = seat.state("7/7/7/7/7/2m4/1M5")
    assert state.legal_actions().tolist() == [(8 + 1) * 49 + 1]  # jump NE


def test_observation_planes(seat: Seat) -> None:
    state = seat.state("7/2m1m2/3m3/3M3/7/7/7", quiet=5)
    seen = state.observation()
    assert seen.shape == (3, 7, 7)
    squares = [np.flatnonzero(plane).tolist() for plane in seen]
    assert squares == [[24], [31, 37, 39], []]
    seat.step(state, "d4d6")
    mover, waiting = state.observation(seat.us), state.observation(seat.them)
    assert np.flatnonzero(mover[2]).tolist() == [38]
    assert np.flatnonzero(waiting[2]).tolist() == [48 - 38]


# --- FEN --------------------------------------------------------------------------------------


def test_two_fields_are_enough() -> None:
    assert dk.game(ID).state("7/7/7/3M3/7/7/m6 b").fen() == "7/7/7/3M3/7/7/m6 b - 0 1"


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("7/7/7/7/7/7/7 w", "board"),
        ("7/7/7/7/7/M6 w", "board"),
        ("7/7/7/7/7/7/7/M6 w", "board"),
        ("7/7/7/7/7/7/M5 w", "board"),
        ("7/7/7/7/7/7/M7 w", "board"),
        ("7/7/7/7/7/34/M6 w", "board"),
        ("7/7/7/7/7/7/K6 w", "board"),
        ("7/7/7/M6/MMMMMMM/MMMMMMM/MMMMMMM w", "board"),
        ("mmmmmmm/mmmmmmm/mmmmmmm/m6/7/7/7 w", "board"),
        ("7/7/7/7/7/7/M6 w - 0", "board"),
        ("7/7/7/7/7/7/M6 W - 0 1", "side"),
        ("7/7/3m3/3M3/7/7/7 w h4 0 1", "pending"),
        ("7/7/3m3/3M3/7/7/7 w @ 0 1", "pending"),
        ("7/7/3m3/3M3/7/7/7 w d3 0 1", "pending"),
        ("7/7/3m3/3M3/7/7/7 w d5 0 1", "pending"),
        ("7/7/3m3/3M3/7/7/M6 w a1 0 1", "pending"),
        ("7/7/7/7/7/7/M6 w - x 1", "quiet"),
        ("7/7/7/7/7/7/M6 w - 0 -1", "move"),
    ],
)
def test_bad_fens_name_the_field(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        dk.game(ID).state(fen)
