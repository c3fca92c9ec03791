"""Medieval battle: each clause of its rules as a named test, for both players."""

import time

import numpy as np
import pytest
from draughts_seat import Seat, draws, must_pass

import deskovky as dk

ID = "medieval_battle_v0"


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(request: pytest.FixtureRequest) -> Seat:
    return Seat(ID, 10, request.param)


# --- MB-1 -------------------------------------------------------------------------------------


def test_mb1_setups() -> None:
    state = dk.game(ID).state()
    assert state.fen() == (
        "1n1n1n1n1n/f1f1f1f1f1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1F1F1F1F1F/N1N1N1N1N1 w - 0 1"
    )
    assert len(state.turns()) == 23
    state = dk.game(ID, setup="vanguard").state()
    assert state.fen() == (
        "1f1f1f1f1f/n1n1n1n1n1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1N1N1N1N1N/F1F1F1F1F1 w - 0 1"
    )
    assert len(state.turns()) == 23


# --- MB-2, MB-3 -------------------------------------------------------------------------------


def test_mb2_how_footmen_and_knights_step(seat: Seat) -> None:
    state = seat.state("f9/10/10/10/10/10/4F5/10/10/10")
    assert seat.turns(state) == {"e4d5", "e4f5"}
    state = seat.state("f9/10/10/10/10/10/4N5/10/10/10")
    assert seat.turns(state) == {"e4e5", "e4d4", "e4f4"}


def test_mb3_how_commanders_and_kings_move(seat: Seat) -> None:
    state = seat.state("f9/10/10/10/10/10/4C5/10/10/10")
    turns = seat.turns(state)
    assert len(turns) == 5 + 3 + 3 + 4
    assert {"e4j9", "e4h1", "e4b1", "e4a8"} <= turns
    state = seat.state("1f8/10/10/10/10/10/4K5/10/10/10")
    turns = seat.turns(state)
    assert len(turns) == 5 + 3 + 3 + 4 + 6 + 3 + 4 + 5
    assert {"e4e10", "e4e1", "e4a4", "e4j4"} <= turns


def test_mb3_footmen_and_knights_capture_where_they_step(seat: Seat) -> None:
    around = "10/10/10/10/3fff4/3f{}f4/3fff4/10/10/10"
    assert seat.turns(seat.state(around.format("F"))) == {"e5c7", "e5g7"}
    assert seat.turns(seat.state(around.format("N"))) == {"e5e7", "e5c5", "e5g5"}


def test_mb3_any_piece_may_be_captured_by_any(seat: Seat) -> None:
    for enemy in "fnck":
        state = seat.state(f"10/10/10/10/5{enemy}4/4F5/10/10/10/10")
        seat.play(state, "e5g7")
        assert seat.wins(state, "no_pieces")


def test_mb3_long_range_captures(seat: Seat) -> None:
    state = seat.state("10/10/10/10/10/10/3f6/10/10/C9")
    assert seat.turns(state) == {f"a1{square}" for square in "e5 f6 g7 h8 i9 j10".split()}
    state = seat.state("10/10/10/6N3/10/10/3f6/10/10/C9")
    assert {turn for turn in seat.turns(state)} == {"a1e5", "a1f6"}
    state = seat.state("10/10/10/10/10/4f5/3f6/10/10/C9")  # two in a row are not jumped
    assert {"a1b2", "a1c3"} == seat.turns(state)
    state = seat.state("10/10/10/10/10/10/f9/10/10/K9")  # orthogonally only the king
    assert seat.turns(state) == {f"a1a{rank}" for rank in range(5, 11)}


# --- MB-4 -------------------------------------------------------------------------------------


def test_mb4_free_choice_without_a_maximum_rule(seat: Seat) -> None:
    state = seat.state("10/10/5f4/10/5f4/4F5/f9/N9/10/10")
    assert seat.turns(state) == {"e5g7e9", "a3a5"}


def test_mb4_the_landing_is_free_and_decides_whether_it_goes_on(seat: Seat) -> None:
    state = seat.state("10/6f3/10/10/10/10/10/2f7/10/C9")  # g9 is in line only from h8
    assert seat.turns(state) == {"a1d4", "a1e5", "a1f6", "a1g7", "a1h8f10", "a1i9", "a1j10"}
    seat.step(state, "a1h8")
    assert state.is_turn_open and seat.steps(state) == {"h8f10"}
    seat.step(state, "h8f10")
    assert seat.wins(state, "no_pieces")
    state = seat.state("10/6f3/10/10/10/10/10/2f7/10/C9")
    seat.step(state, "a1g7")
    assert not state.is_turn_open and state.to_move == seat.them


def test_mb4_reversal_over_squares_freed_in_the_same_turn(seat: Seat) -> None:
    state = seat.state("f9/10/10/10/10/10/1f1K1f4/10/10/10")
    turns = seat.turns(state)
    assert {"d4j4a4", "d4a4j4"} <= turns
    seat.step(state, "d4j4")
    assert seat.fields(state) == ["f9/10/10/10/10/10/1f7K/10/10/10", "j4", "0"]
    assert seat.steps(state) == {"j4a4"}


# --- MB-5 -------------------------------------------------------------------------------------


def test_mb5_who_becomes_what_where_the_turn_ends(seat: Seat) -> None:
    state = seat.state("10/4F1N3/10/10/10/10/10/10/10/f9", quiet=3)
    seat.play(state, "e9d10")
    assert seat.fields(state)[0] == "3C6/6N3/10/10/10/10/10/10/10/f9"
    seat.play(state, "pass", "g9g10")
    assert seat.fields(state) == ["3C2K3/10/10/10/10/10/10/10/10/f9", "-", "6"]


def test_mb5_a_knight_goes_on_along_the_last_rank_as_a_knight(seat: Seat) -> None:
    state = seat.state("1f8/f9/N1f7/10/10/10/10/10/10/10")  # a king could take c8 from c10
    assert seat.turns(state) == {"a8a10c10"}
    seat.step(state, "a8a10")
    assert seat.fields(state) == ["Nf8/10/2f7/10/10/10/10/10/10/10", "a10", "0"]
    seat.step(state, "a10c10")
    assert seat.fields(state) == ["2K7/10/2f7/10/10/10/10/10/10/10", "-", "0"]


def test_mb5_a_footman_stops_on_the_last_rank(seat: Seat) -> None:
    state = seat.state("10/3f1f4/2F7/10/10/10/10/10/10/10")  # a commander would take f9 as well
    seat.play(state, "c8e10")
    assert seat.fields(state) == ["4C5/5f4/10/10/10/10/10/10/10/10", "-", "0"]
    assert state.to_move == seat.them


def test_mb5_sideways_jumps_along_the_last_rank(seat: Seat) -> None:
    state = seat.state("Nf1f6/10/10/10/10/10/10/10/10/f9")
    assert seat.turns(state) == {"a10c10e10"}
    seat.play(state, "a10c10e10")
    assert seat.fields(state)[0] == "4K5/10/10/10/10/10/10/10/10/f9"


# --- MB-6 -------------------------------------------------------------------------------------


def test_mb6_passing_for_many_turns_while_the_other_plays_on(seat: Seat) -> None:
    state = seat.state("F9/10/10/10/10/10/10/10/10/7k2")
    for turn in range(15):
        assert must_pass(state) and not state.is_over
        seat.play(state, "pass", "h1i1" if turn % 2 == 0 else "i1h1")
    assert seat.loses(state, "quiet_limit")


def test_mb6_both_blocked_ends_the_game_before_any_pass(seat: Seat) -> None:
    assert draws(seat.state("F9/10/10/10/10/10/10/10/10/f9"), "blocked")
    assert seat.wins(seat.state("F8F/10/10/10/10/10/10/10/10/f9"), "blocked")
    assert seat.loses(seat.state("F9/10/10/10/10/10/10/10/10/f1f7", quiet=30), "blocked")


# --- MB-7 -------------------------------------------------------------------------------------


def test_mb7_a_player_without_pieces_has_lost(seat: Seat) -> None:
    state = seat.state("10/10/10/10/5k4/4F5/10/10/10/10")
    seat.play(state, "e5g7")
    assert seat.wins(state, "no_pieces")


# --- MB-8 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs", "balance"),
    [
        ("N9", "ff8", 0),
        ("C9", "fn8", 0),
        ("K9", "ffff6", 0),
        ("K9", "nf8", 1),
        ("F1F1F5", "k9", -1),
        ("CN8", "kf8", 0),
    ],
)
def test_mb8_the_stronger_army_wins(seat: Seat, ours: str, theirs: str, balance: int) -> None:
    state = seat.state(f"{theirs}/10/10/10/10/10/10/10/10/{ours}", quiet=30)
    if balance == 0:
        assert draws(state, "quiet_limit")
    else:
        assert (seat.wins if balance > 0 else seat.loses)(state, "quiet_limit")


def test_mb8_ends_exactly_on_the_thirtieth_quiet_turn(seat: Seat) -> None:
    state = seat.state("n9/10/10/10/10/10/10/10/10/9N", quiet=28)
    seat.play(state, "j1j2")
    assert not state.is_over
    seat.play(state, "a10a9")
    assert draws(state, "quiet_limit")


def test_mb8_a_pass_as_the_thirtieth_turn(seat: Seat) -> None:
    state = seat.state("F9/10/10/10/10/10/10/10/10/7n2", quiet=29)
    assert must_pass(state)
    seat.play(state, "pass")
    assert seat.loses(state, "quiet_limit")


def test_mb8_a_capture_resets_the_count_at_the_last_moment(seat: Seat) -> None:
    state = seat.state("f9/10/10/10/5f4/4F5/10/10/10/10", quiet=29)
    seat.play(state, "e5g7")
    assert not state.is_over and seat.fields(state)[2] == "0"


def test_mb8_a_promotion_on_the_last_turn_counts(seat: Seat) -> None:
    state = seat.state("10/4F5/10/10/10/10/10/10/10/f1f7", quiet=29)
    seat.play(state, "e9d10")  # now 3 against 2
    assert seat.wins(state, "quiet_limit")


# --- Encodings --------------------------------------------------------------------------------


def test_actions_and_squares_are_the_movers(seat: Seat) -> None:
    state = seat.state("10/f9/10/10/10/10/10/10/10/9C")  # j1 is square 9; NW is direction 7
    assert state.legal_actions().tolist() == [
        (7 * 9 + distance - 1) * 100 + 9 for distance in range(1, 10)
    ]


def test_observation_planes(seat: Seat) -> None:
    state = seat.state("fnck6/6f3/10/10/10/10/10/2f7/10/CFNK6", quiet=15)
    seen = state.observation()
    assert seen.shape == (10, 10, 10)
    squares = [np.flatnonzero(plane).tolist() for plane in seen[:9]]
    assert squares == [[1], [2], [0], [3], [22, 86, 90], [91], [92], [93], []]
    assert (seen[9] == np.float32(0.5)).all()
    seat.step(state, "a1h8")
    mover, waiting = state.observation(seat.us), state.observation(seat.them)
    assert np.flatnonzero(mover[8]).tolist() == [77]
    assert np.flatnonzero(waiting[8]).tolist() == [99 - 77]
    assert not mover[9].any() and not waiting[9].any()


# --- FEN --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("10/10/10/10/10/10/10/10/10/10 w", "board"),
        ("10/10/10/10/10/10/10/10/F9 w", "board"),
        ("10/10/10/10/10/10/10/10/10/F55 w", "board"),
        ("10/10/10/10/10/10/10/10/55/F9 w", "board"),
        ("10/10/10/10/10/10/10/10/10/Q9 w", "board"),
        ("10/10/10/10/10/10/10/10/C9/FFFFFFFFFF w", "board"),
        ("10/10/10/10/10/10/10/10/10/NNNNNK4 w", "board"),
        ("10/10/10/10/10/10/10/10/10/F9 white", "side"),
        ("10/10/10/10/5f4/4F5/10/10/10/10 w e15 0 1", "pending"),
        ("10/10/10/10/5f4/4F5/10/10/10/10 w e4 0 1", "pending"),
        ("10/10/10/10/5f4/4F5/10/10/10/10 w f6 0 1", "pending"),
        ("10/10/10/10/4f5/4F5/10/10/10/10 w e5 0 1", "pending"),
        ("10/10/10/10/10/10/10/10/10/F9 w - -3 1", "quiet"),
        ("10/10/10/10/10/10/10/10/10/F9 w - 0 +1", "move"),
    ],
)
def test_bad_fens_name_the_field(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        dk.game(ID).state(fen)


def test_full_armies_are_read() -> None:
    board = "10/10/10/10/10/10/10/CCCCC5/NKNKN5/FFFFF5"
    assert dk.game(ID).state(f"{board} w").fen() == f"{board} w - 0 1"


# --- Worst cases ------------------------------------------------------------------------------

HARD = "5c4/6F3/4FN3F/7F1N/7kF1/6N3/2F2FN3/10/4F5/N7F1 b - 2 29"


def test_a_hundred_thousand_turns_do_not_slow_a_step() -> None:
    state = dk.game(ID).state(HARD)
    start = time.perf_counter()
    assert len(state.turns(limit=1000)) == 1000
    for _ in range(100):
        walk = state.copy()
        while walk.to_move == 1 and not walk.is_over:
            actions = walk.legal_actions()
            walk.apply(int(actions[len(actions) // 2]))
        assert walk.num_pieces(0) < state.num_pieces(0)
    assert time.perf_counter() - start < 3  # some milliseconds, on a busy machine
    assert dk.game(ID).perft(1, HARD) > 100_000
