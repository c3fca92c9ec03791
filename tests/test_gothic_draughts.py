"""Gothic draughts: each clause of its rules as a named test, for both players."""

import time

import numpy as np
import pytest
from draughts_seat import Seat, draws, must_pass

import deskovky as dk

ID = "gothic_draughts_v0"


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(request: pytest.FixtureRequest) -> Seat:
    return Seat(ID, 8, request.param)


def test_start_position() -> None:
    state = dk.game(ID).state()
    assert state.fen() == "mmmmmmmm/mmmmmmmm/8/8/8/8/MMMMMMMM/MMMMMMMM w - 0 1"
    assert len(state.turns()) == 22


# --- GD-1 -------------------------------------------------------------------------------------


def test_gd1_a_man_steps_forward_and_sideways(seat: Seat) -> None:
    state = seat.state("m7/8/8/8/3M4/8/8/8")
    assert seat.turns(state) == {"d4d5", "d4c5", "d4e5", "d4c4", "d4e4"}


@pytest.mark.parametrize(
    ("board", "turns"),
    [
        ("8/8/8/3m4/3M4/8/8/7m", {"d4d6"}),
        ("8/8/8/4m3/3M4/8/8/7m", {"d4f6"}),
        ("8/8/8/8/3Mm3/8/8/7m", {"d4f4"}),
        ("8/8/8/8/2mM4/8/8/7m", {"d4b4"}),
        ("8/8/8/2m5/3M4/8/8/7m", {"d4b6"}),
    ],
)
def test_gd1_a_man_captures_in_the_same_directions(seat: Seat, board: str, turns: set[str]) -> None:
    assert seat.turns(seat.state(board)) == turns


def test_gd1_a_man_never_captures_backward(seat: Seat) -> None:
    state = seat.state("8/8/8/8/3M4/2mmm3/8/8")
    assert seat.turns(state) == {"d4d5", "d4c5", "d4e5", "d4c4", "d4e4"}


def test_gd1_a_jump_needs_an_empty_square_right_behind(seat: Seat) -> None:
    for board in ("8/8/3m4/3m4/3M4/8/8/8", "8/3m4/8/8/3M4/8/8/8", "8/8/3M4/3m4/3M4/8/8/8"):
        turns = seat.turns(seat.state(board))
        assert not {turn for turn in turns if turn.startswith("d4d")} - {"d4d5"}


# --- GD-2 -------------------------------------------------------------------------------------


def test_gd2_a_king_moves_any_distance_in_all_directions(seat: Seat) -> None:
    state = seat.state("1m6/8/8/8/3K4/8/8/8")
    turns = seat.turns(state)
    assert len(turns) == 7 + 7 + 7 + 6
    assert {"d4d8", "d4d1", "d4a4", "d4h4", "d4h8", "d4a1", "d4a7", "d4g1"} <= turns


def test_gd2_a_king_lands_anywhere_behind_up_to_the_next_piece(seat: Seat) -> None:
    assert seat.turns(seat.state("8/8/8/8/3m4/8/8/K7")) == {"a1e5", "a1f6", "a1g7", "a1h8"}
    state = seat.state("7M/8/8/8/3m4/8/8/K7")
    assert seat.turns(state) == {"a1e5", "a1f6", "a1g7"}


def test_gd2_two_pieces_in_a_row_are_not_jumped(seat: Seat) -> None:
    state = seat.state("8/8/8/4m3/3m4/8/8/K7")
    assert {"a1b2", "a1c3", "a1h1", "a1a8"} <= seat.turns(state)


# --- GD-3 -------------------------------------------------------------------------------------


def test_gd3_capturing_is_compulsory(seat: Seat) -> None:
    assert seat.turns(seat.state("8/8/8/4m3/3M4/8/8/K7")) == {"d4f6"}


def test_gd3_the_most_over_all_pieces(seat: Seat) -> None:
    state = seat.state("8/3m4/8/3m4/3M4/8/7m/7M")
    assert seat.turns(state) == {"d4d6d8"}
    assert seat.steps(state) == {"d4d6"}  # h1h3 takes only one


def test_gd3_men_and_kings_count_alike(seat: Seat) -> None:
    state = seat.state("8/3m4/8/3m4/3M4/8/7k/7M")
    assert seat.turns(state) == {"d4d6d8"}


def test_gd3_free_choice_among_equal_ways(seat: Seat) -> None:
    state = seat.state("8/8/8/3m4/3M4/8/7m/7M")
    assert seat.turns(state) == {"d4d6", "h1h3"}


def test_gd3_each_jump_goes_on_with_a_longest_way(seat: Seat) -> None:
    state = seat.state("8/3m4/8/1mm5/8/1m6/1M6/8")
    assert seat.turns(state) == {"b2b4d6d8"}
    seat.step(state, "b2b4")
    assert state.is_turn_open and state.to_move == seat.us
    assert seat.steps(state) == {"b4d6"}  # b4b6 would stop after two
    assert state.turns() == [seat.turned("b4d6d8")]


def test_gd3_in_mid_turn_only_the_pending_piece_counts(seat: Seat) -> None:
    board = "8/3m4/8/3m4/3M4/8/7m/7M"
    assert seat.steps(seat.state(board, pending="h1")) == {"h1h3"}


def test_gd3_a_king_chooses_its_landing_for_the_way_on(seat: Seat) -> None:
    state = seat.state("8/8/5m2/8/8/2m5/8/K7")
    assert seat.turns(state) == {"a1d4g7", "a1d4h8", "a1e5g7", "a1e5h8"}
    state = seat.state("8/8/8/8/5m2/2m5/8/K7")  # from g7 and h8 the other man is not in line
    from_d4, from_e5, from_f6 = {"a1d4g4", "a1d4h4"}, {"a1e5g3", "a1e5h2"}, {"f3", "f2", "f1"}
    assert seat.turns(state) == from_d4 | from_e5 | {f"a1f6{square}" for square in from_f6}


# --- GD-4 -------------------------------------------------------------------------------------


def test_gd4_freed_squares_are_crossed_and_the_start_is_empty(seat: Seat) -> None:
    state = seat.state("m7/8/8/8/1mK1m3/8/8/8")
    assert seat.turns(state) == {"c4f4a4", "c4g4a4", "c4h4a4", "c4a4f4", "c4a4g4", "c4a4h4"}
    seat.step(state, "c4h4")
    assert seat.fields(state) == ["m7/8/8/8/1m5K/8/8/8", "h4", "0"]  # removed at once
    seat.step(state, "h4a4")  # straight back, over e4 and c4
    assert seat.fields(state) == ["m7/8/8/8/K7/8/8/8", "-", "0"]


def test_gd4_nothing_is_jumped_twice(seat: Seat) -> None:
    state = seat.state("m7/8/8/8/K2m4/8/8/8")
    assert {turn for turn in seat.turns(state) if len(turn) > 4} == set()


# --- GD-5 -------------------------------------------------------------------------------------


def test_gd5_a_man_becomes_a_king_where_its_turn_ends(seat: Seat) -> None:
    state = seat.state("8/3M4/8/8/8/8/8/m7")
    seat.play(state, "d7d8")
    assert seat.fields(state)[0] == "3K4/8/8/8/8/8/8/m7"


def test_gd5_on_the_last_rank_in_mid_capture_it_goes_on_as_a_man(seat: Seat) -> None:
    state = seat.state("1m6/m7/M1m5/8/8/8/8/8")  # as a king it would take c6 as well
    assert seat.turns(state) == {"a6a8c8"}
    seat.step(state, "a6a8")
    assert seat.fields(state) == ["Mm6/8/2m5/8/8/8/8/8", "a8", "0"]
    seat.step(state, "a8c8")  # sideways along the last rank
    assert seat.fields(state) == ["2K5/8/2m5/8/8/8/8/8", "-", "0"]
    assert state.to_move == seat.them


def test_gd5_sideways_jumps_along_the_last_rank(seat: Seat) -> None:
    state = seat.state("Mm1m1m2/8/8/8/8/8/8/m7")
    assert seat.turns(state) == {"a8c8e8g8"}
    seat.play(state, "a8c8e8g8")
    assert seat.fields(state)[0] == "6K1/8/8/8/8/8/8/m7"


def test_gd5_a_man_read_on_the_last_rank_becomes_a_king_by_its_own_turn(seat: Seat) -> None:
    state = seat.state("M7/8/8/8/8/8/M7/7m")
    seat.play(state, "a2a3", "h1g1")
    assert seat.fields(state)[0] == "M7/8/8/8/8/M7/8/6k1"
    seat.play(state, "a8b8")
    assert seat.fields(state)[0] == "1K6/8/8/8/8/M7/8/6k1"


# --- GD-6 -------------------------------------------------------------------------------------

BLOCKED_CORNER = "5mmM/8/8/8/8/8/8/k7"


def test_gd6_a_player_who_cannot_step_passes(seat: Seat) -> None:
    state = seat.state(BLOCKED_CORNER)
    assert must_pass(state)
    seat.play(state, "pass")
    assert seat.fields(state) == [BLOCKED_CORNER, "-", "1"]  # a turn that counts
    assert state.to_move == seat.them and not must_pass(state)
    assert state.history == ["pass"]


def test_gd6_passing_for_many_turns_while_the_other_plays_on(seat: Seat) -> None:
    state = seat.state(BLOCKED_CORNER)
    for turn in range(15):
        assert must_pass(state) and not state.is_over
        seat.play(state, "pass", "a1a2" if turn % 2 == 0 else "a2a1")
    assert seat.loses(state, "quiet_limit")  # 30 turns, passes included


def test_gd6_pass_is_never_legal_beside_a_step(seat: Seat) -> None:
    state = seat.state("8/8/8/8/8/8/8/M6m")
    assert "pass" not in state.turns() and len(state.turns()) > 1


def test_gd6_both_blocked_ends_the_game_before_any_pass(seat: Seat) -> None:
    assert draws(seat.state("MMMMMMMM/8/8/8/8/8/8/mmmmmmmm"), "blocked")
    assert seat.wins(seat.state("MMMMMMMM/MMMMMMMM/8/8/8/8/8/mmmmmmmm"), "blocked")
    assert seat.loses(seat.state("MMMMMMMM/8/8/8/8/8/mmmmmmmm/mmmmmmmm"), "blocked")


def test_gd6_blocked_comes_before_the_quiet_limit(seat: Seat) -> None:
    assert draws(seat.state("MMMMMMMM/8/8/8/8/8/8/mmmmmmmm", quiet=30), "blocked")


# --- GD-7 -------------------------------------------------------------------------------------


def test_gd7_a_player_without_pieces_has_lost(seat: Seat) -> None:
    state = seat.state("8/8/8/3m4/3M4/8/8/8")
    seat.play(state, "d4d6")
    assert seat.wins(state, "no_pieces")
    assert state.legal_actions().size == 0


# --- GD-8 -------------------------------------------------------------------------------------


def test_gd8_ends_exactly_on_the_thirtieth_quiet_turn(seat: Seat) -> None:
    state = seat.state("k6m/8/8/8/8/8/8/6K1", quiet=28)
    seat.play(state, "g1g3")
    assert not state.is_over
    seat.play(state, "a8b8")
    assert seat.loses(state, "quiet_limit")


def test_gd8_equal_numbers_draw(seat: Seat) -> None:
    state = seat.state("k7/8/8/8/8/8/8/6M1", quiet=29)  # a man counts as much as a king
    seat.play(state, "g1g2")
    assert draws(state, "quiet_limit")


def test_gd8_more_pieces_win(seat: Seat) -> None:
    state = seat.state("k7/8/8/8/8/8/8/5MM1", quiet=29)
    seat.play(state, "g1g2")
    assert seat.wins(state, "quiet_limit")


def test_gd8_a_capture_resets_the_count_at_the_last_moment(seat: Seat) -> None:
    state = seat.state("k7/8/8/3m4/3M4/8/8/8", quiet=29)
    seat.play(state, "d4d6")
    assert not state.is_over and seat.fields(state)[2] == "0"


def test_gd8_the_count_is_zero_once_a_turn_has_captured(seat: Seat) -> None:
    state = seat.state("8/3m4/8/3m4/3M4/8/8/8", quiet=12)
    seat.step(state, "d4d6")
    assert seat.fields(state) == ["8/3m4/3M4/8/8/8/8/8", "d6", "0"]
    move = state.fen().split(" ")[4]
    seat.step(state, "d6d8")
    assert seat.wins(state, "no_pieces") and seat.fields(state)[2] == "0"
    assert int(state.fen().split(" ")[4]) == int(move) + seat.us


def test_gd8_a_pass_as_the_thirtieth_turn(seat: Seat) -> None:
    state = seat.state(BLOCKED_CORNER, quiet=29)
    assert must_pass(state)
    seat.play(state, "pass")
    assert seat.loses(state, "quiet_limit")


# --- Encodings --------------------------------------------------------------------------------


def test_actions_and_squares_are_the_movers(seat: Seat) -> None:
    state = seat.state("m7/8/8/8/8/8/8/K7")  # a1, the origin of every action, is square 0
    north, north_east, east = 0, 1, 2
    expected = [north * 7 + distance - 1 for distance in range(1, 7)]
    expected += [north_east * 7 + distance - 1 for distance in range(1, 8)]
    expected += [east * 7 + distance - 1 for distance in range(1, 8)]
    assert state.legal_actions().tolist() == [plane * 64 for plane in expected]


def test_observation_planes(seat: Seat) -> None:
    state = seat.state("7k/3m4/8/3m4/3M4/8/8/K7", quiet=12)
    seen = state.observation()
    assert seen.shape == (6, 8, 8)
    squares = [np.flatnonzero(plane).tolist() for plane in seen[:5]]
    assert squares == [[27], [0], [35, 51], [63], []]
    assert (seen[5] == np.float32(12 / 30)).all()
    seat.step(state, "d4d6")
    mover, waiting = state.observation(seat.us), state.observation(seat.them)
    assert np.flatnonzero(mover[4]).tolist() == [43]
    assert np.flatnonzero(waiting[4]).tolist() == [63 - 43]
    assert not mover[5].any() and not waiting[5].any()


# --- FEN --------------------------------------------------------------------------------------


def test_two_fields_are_enough() -> None:
    assert dk.game(ID).state("8/8/8/8/3M4/8/8/m7 b").fen() == "8/8/8/8/3M4/8/8/m7 b - 0 1"


def test_a_finished_position_is_read() -> None:
    assert dk.game(ID).state("8/8/8/8/3M4/8/8/8 b").is_over


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("8/8/8/8/8/8/8/8 w", "board"),
        ("8/8/8/8/8/8/8 w", "board"),
        ("8/8/8/8/8/8/8/M7/8 w", "board"),
        ("8/8/8/8/8/8/8/M6 w", "board"),
        ("8/8/8/8/8/8/8/M8 w", "board"),
        ("8/8/8/8/8/8/44/M7 w", "board"),
        ("8/8/8/8/8/8/0M7/8 w", "board"),
        ("8/8/8/8/8/8/X7/M7 w", "board"),
        ("8/8/8/8/8/8/Q7/M7 w", "board"),
        ("8/8/8/8/8/M7/MMMMMMMM/MMMMMMMM w", "board"),
        ("8/8/8/8/8/k7/mmmmmmmm/mmmmmmmm b", "board"),
        ("8/8/8/8/8/8/8/M7", "board"),
        ("8/8/8/8/8/8/8/M7  w", "board"),
        ("8/8/8/8/8/8/8/M7 w ", "board"),
        ("8/8/8/8/8/8/8/M7 w -", "board"),
        ("8/8/8/8/8/8/8/M7 w - 0 1 1", "board"),
        ("8/8/8/8/8/8/8/M7 x", "side"),
        ("8/8/8/3m4/3M4/8/8/8 w d9 0 1", "pending"),
        ("8/8/8/3m4/3M4/8/8/8 w d04 0 1", "pending"),
        ("8/8/8/3m4/3M4/8/8/8 w @ 0 1", "pending"),
        ("8/8/8/3m4/3M4/8/8/8 w e4 0 1", "pending"),  # nobody there
        ("8/8/8/3m4/3M4/8/8/8 w d5 0 1", "pending"),  # an enemy
        ("8/8/8/3m4/3M4/8/8/M7 w a1 0 1", "pending"),  # cannot jump
        ("8/8/8/8/8/8/8/M7 w - -1 1", "quiet"),
        ("8/8/8/8/8/8/8/M7 w - 01 1", "quiet"),
        ("8/8/8/8/8/8/8/M7 w - 0 0", "move"),
        ("8/8/8/8/8/8/8/M7 w - 0 1.5", "move"),
    ],
)
def test_bad_fens_name_the_field(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        dk.game(ID).state(fen)


# --- Worst cases ------------------------------------------------------------------------------

HARD = [
    "1k4k1/2k1k3/5k2/1k1k3k/4k3/2k2k2/k2k2k1/K3k2k w",
    "5k2/1k3k2/3k4/k1k1kk1k/1k1K2k1/2k1k3/4k3/3kk3 w",
    "4k3/3k1kk1/K2k4/1kkk4/3kkk1k/8/Kk2k1k1/K3k3 w",
    "KK3k1K/2k1k1K1/K1k2k2/3k1kK1/Kk2k1K1/1K1k1k2/K2k1kK1/KkK1k1KK w",
]


@pytest.mark.parametrize("fen", HARD)
def test_the_longest_way_is_found_soon(fen: str) -> None:
    state = dk.game(ID).state(fen)
    start = time.perf_counter()
    captured = 0
    while state.to_move == 0 and not state.is_over:
        state.apply(int(state.legal_actions()[-1]))
        captured += 1
    assert captured >= 3
    assert time.perf_counter() - start < 3  # a fraction of a second, on a busy machine


def test_a_step_on_the_first_rank_changes_the_key() -> None:
    """Side to move and squares were once added up, and b1 - a1 is 1."""
    board = "mmmmmm1m/mmmmmmmm/8/8/3M3M/8/MMM1MMM1"
    before, after = f"{board}/1MMM1MM1 w", f"{board}/M1MM1MM1 b"
    game = dk.game("gothic_draughts_v0")
    assert game.state(before).key() != game.state(after).key()
