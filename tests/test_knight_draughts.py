"""Knight draughts: each clause of its rules as a named test, for both players."""

import numpy as np
import pytest
from draughts_seat import Seat, draws, must_pass

import deskovky as dk

ID = "knight_draughts_v0"


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(request: pytest.FixtureRequest) -> Seat:
    return Seat(ID, 10, request.param)


def test_start_position() -> None:
    state = dk.game(ID).state()
    assert state.fen() == ("10/10/mmmmmmmmmm/mmmmmmmmmm/10/10/MMMMMMMMMM/MMMMMMMMMM/10/10 w - 0 1")
    assert len(state.turns()) == 52


# --- KD-1, KD-2 -------------------------------------------------------------------------------


def test_kd1_a_man_leaps_forward_only(seat: Seat) -> None:
    state = seat.state("10/10/10/10/10/4M5/10/10/10/m9")
    assert seat.turns(state) == {"e5d7", "e5f7", "e5c6", "e5g6"}


def test_kd1_squares_between_do_not_matter(seat: Seat) -> None:
    state = seat.state("10/10/10/10/3MMM4/3MMM4/10/10/10/m9")
    assert {"e5d7", "e5f7", "e5c6", "e5g6"} <= seat.turns(state)


def test_kd2_a_queen_leaps_in_all_eight_directions(seat: Seat) -> None:
    state = seat.state("10/10/10/10/10/4Q5/10/10/10/m9")
    ways = {"d7", "f7", "g6", "g4", "f3", "d3", "c4", "c6"}
    assert seat.turns(state) == {f"e5{square}" for square in ways}


# --- KD-3 -------------------------------------------------------------------------------------


def test_kd3_a_capture_is_two_equal_leaps(seat: Seat) -> None:
    state = seat.state("10/10/10/5m4/10/4M5/10/10/10/m9")
    assert seat.turns(state) == {"e5g9"}
    seat.play(state, "e5g9")
    assert seat.fields(state) == ["10/6M3/10/10/10/10/10/10/10/m9", "-", "0"]


def test_kd3_the_second_leap_needs_an_empty_square(seat: Seat) -> None:
    state = seat.state("10/6m3/10/5m4/10/4M5/10/10/10/10")
    assert seat.turns(state) == {"e5d7", "e5c6", "e5g6"}
    state = seat.state("10/10/10/8m1/7M2/10/10/10/10/10")  # off the board
    assert seat.turns(state) == {"h6g8", "h6i8", "h6f7", "h6j7"}


def test_kd3_men_capture_forward_only(seat: Seat) -> None:
    board = "10/10/10/10/10/4M5/6m3/5m4/10/10"  # g4 and f3, both behind
    assert seat.turns(seat.state(board)) == {"e5d7", "e5f7", "e5c6", "e5g6"}
    assert seat.turns(seat.state(board, ruleset="allround")) == {"e5i3", "e5g1"}
    assert seat.turns(seat.state(board.replace("M", "Q"))) == {"e5i3", "e5g1"}


@pytest.mark.parametrize("enemy", range(8))
def test_kd3_allround_men_capture_in_all_eight_directions(seat: Seat, enemy: int) -> None:
    files, ranks = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))[enemy]
    rows = [["1"] * 10 for _ in range(10)]
    rows[9 - 4][4], rows[9 - 4 - ranks][4 + files] = "M", "m"
    board = "/".join("".join(row) for row in rows).replace("1" * 10, "10")
    for run in range(9, 1, -1):
        board = "/".join(
            row if row == "10" else row.replace("1" * run, str(run)) for row in board.split("/")
        )
    landing = f"{'abcdefghij'[4 + 2 * files]}{5 + 2 * ranks}"
    assert seat.turns(seat.state(board, ruleset="allround")) == {f"e5{landing}"}
    assert (f"e5{landing}" in seat.turns(seat.state(board))) == (ranks > 0)


# --- KD-4 -------------------------------------------------------------------------------------


def test_kd4_capturing_is_compulsory_with_free_choice(seat: Seat) -> None:
    state = seat.state("10/10/10/10/10/3m4m1/10/2M4M2/10/m9")
    assert seat.turns(state) == {"c3e7", "h3j7"}


def test_kd4_the_capturer_goes_on_while_it_can(seat: Seat) -> None:
    state = seat.state("10/10/10/2m7/10/4m5/10/2m7/10/1M8")
    assert seat.turns(state) == {"b1d5b9"}
    seat.step(state, "b1d5")
    assert seat.fields(state) == ["10/10/10/2m7/10/3Mm5/10/10/10/10", "d5", "0"]
    assert seat.steps(state) == {"d5b9"} and state.to_move == seat.us


# --- KD-5 -------------------------------------------------------------------------------------


def test_kd5_a_man_on_the_last_rank_becomes_a_queen(seat: Seat) -> None:
    state = seat.state("10/10/4M5/10/10/10/10/10/10/m9")
    seat.play(state, "e8d10")
    assert seat.fields(state)[0] == "3Q6/10/10/10/10/10/10/10/10/m9"


@pytest.mark.parametrize("ruleset", ["standard", "allround"])
def test_kd5_the_turn_ends_there_in_mid_capture_too(seat: Seat, ruleset: str) -> None:
    state = seat.state("10/10/4mm4/10/3M6/10/10/10/10/10", ruleset=ruleset)
    assert seat.turns(state) == {"d6f10"}
    seat.step(state, "d6f10")
    assert not state.is_turn_open and state.to_move == seat.them
    assert seat.fields(state)[0] == "5Q4/10/5m4/10/10/10/10/10/10/10"


def test_kd5_a_queen_may_go_on_from_the_last_rank(seat: Seat) -> None:
    state = seat.state("10/10/4m1m3/10/3Q6/10/10/10/10/10")
    assert seat.turns(state) == {"d6f10h6"}


# --- KD-6 -------------------------------------------------------------------------------------


def test_kd6_passing_for_many_turns_while_the_other_plays_on(seat: Seat) -> None:
    state = seat.state("M9/10/10/10/10/10/10/10/7q2/10")
    for there, back in [("h2f1", "f1h2")] * 5:
        assert must_pass(state)
        seat.play(state, "pass", there)
        assert must_pass(state)
        seat.play(state, "pass", back)
    assert not state.is_over and seat.fields(state)[2] == "20"


def test_kd6_both_blocked_ends_the_game_before_any_pass(seat: Seat) -> None:
    assert draws(seat.state("M9/10/10/10/10/10/10/10/10/m9"), "blocked")
    assert seat.wins(seat.state("MM8/10/10/10/10/10/10/10/10/m9"), "blocked")
    assert seat.loses(seat.state("M9/10/10/10/10/10/10/10/10/mmm7"), "blocked")


# --- KD-7 -------------------------------------------------------------------------------------


def test_kd7_a_player_without_pieces_has_lost(seat: Seat) -> None:
    state = seat.state("10/10/10/5m4/10/4M5/10/10/10/10")
    seat.play(state, "e5g9")
    assert seat.wins(state, "no_pieces")


# --- KD-8 -------------------------------------------------------------------------------------


def test_kd8_more_pieces_win_at_the_agreed_length(seat: Seat) -> None:
    board = "q8q/10/10/10/10/10/10/10/10/M8M"
    state = seat.state(board, max_turns=4 + seat.us)
    seat.play(state, "a1b3", "a10b8", "b3c5")
    assert not state.is_over
    seat.play(state, "b8a10")
    assert draws(state, "length_limit") and state.outcome and not state.outcome.is_truncation
    state = seat.state(board.replace("M8M", "MM7M"), max_turns=1 + seat.us)
    seat.play(state, "a1b3")
    assert seat.wins(state, "length_limit")


def test_kd8_a_queen_counts_as_much_as_a_man(seat: Seat) -> None:
    state = seat.state("q9/10/10/10/10/10/10/10/10/M8M", max_turns=1 + seat.us)
    seat.play(state, "a1b3")
    assert seat.wins(state, "length_limit")


def test_kd8_capturing_the_last_piece_on_the_last_turn_is_no_pieces(seat: Seat) -> None:
    state = seat.state("10/10/10/5m4/10/4M5/10/10/10/10", max_turns=1 + seat.us)
    seat.play(state, "e5g9")
    assert seat.wins(state, "no_pieces")


def test_kd8_the_turns_are_those_that_the_fen_counts(seat: Seat) -> None:
    state = seat.state("q9/10/10/10/10/10/10/10/10/M8M", move=101)
    assert state.outcome == dk.Outcome(seat.us, dk.Termination.LENGTH_LIMIT)
    state = seat.state("q9/10/10/10/10/10/10/10/10/M8M", move=100)
    assert not state.is_over


def test_kd8_the_turns_left_are_seen(seat: Seat) -> None:
    state = seat.state("q9/10/10/10/10/10/10/10/10/M8M", move=51)
    assert (state.observation()[5] == np.float32((100 - seat.us) / 200)).all()
    state = seat.state("q9/10/10/10/10/10/10/10/10/M8M", max_turns=50)
    assert (state.observation()[5] == np.float32((50 - seat.us) / 50)).all()
    seat.play(state, "a1b3")
    for player in (0, 1):
        assert (state.observation(player)[5] == np.float32((49 - seat.us) / 50)).all()


def test_quiet_counts_since_the_last_capture(seat: Seat) -> None:
    state = seat.state("10/10/10/5m4/10/4M5/10/10/10/m9", quiet=77)
    seat.play(state, "e5g9")
    assert seat.fields(state)[2] == "0"
    seat.play(state, "pass")
    assert seat.fields(state)[2] == "1"


# --- Encodings --------------------------------------------------------------------------------


def test_actions_and_squares_are_the_movers(seat: Seat) -> None:
    state = seat.state("10/10/10/10/10/4Q5/10/10/10/9m")  # e5 is square 44
    assert state.legal_actions().tolist() == [leap * 100 + 44 for leap in range(8)]
    leaps = ["e5f7", "e5g6", "e5g4", "e5f3", "e5d3", "e5c4", "e5c6", "e5d7"]
    texts = [state.action_to_text(action) for action in state.legal_actions().tolist()]
    assert texts == [seat.turned(leap) for leap in leaps]
    state = seat.state("10/10/10/5m4/10/4Q5/10/10/10/9m")
    assert state.legal_actions().tolist() == [8 * 100 + 44]


def test_observation_planes(seat: Seat) -> None:
    state = seat.state("q9/10/10/2m7/10/4m5/10/2m7/10/1M7Q")
    seen = state.observation()
    assert seen.shape == (6, 10, 10)
    squares = [np.flatnonzero(plane).tolist() for plane in seen[:5]]
    assert squares == [[1], [9], [22, 44, 62], [90], []]
    seat.step(state, "b1d5")
    mover, waiting = state.observation(seat.us), state.observation(seat.them)
    assert np.flatnonzero(mover[4]).tolist() == [43]
    assert np.flatnonzero(waiting[4]).tolist() == [99 - 43]


# --- FEN --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("10/10/10/10/10/10/10/10/10/10 w", "board"),
        ("10/10/10/10/10/10/10/10/M9 w", "board"),
        ("10/10/10/10/10/10/10/10/10/55 w", "board"),
        ("10/10/10/10/10/10/10/10/10/M10 w", "board"),
        ("10/10/10/10/10/10/10/10/10/M8 w", "board"),
        ("10/10/10/10/10/10/10/10/10/11 w", "board"),
        ("10/10/10/10/10/10/10/10/10/K9 w", "board"),
        ("10/10/10/10/10/10/10/Q9/MMMMMMMMMM/MMMMMMMMMM w", "board"),
        ("10/10/10/5m4/10/4M5/10/10/10/10 w e11 0 1", "pending"),
        ("10/10/10/5m4/10/4M5/10/10/10/10 w k5 0 1", "pending"),
        ("10/10/10/5m4/10/4M5/10/10/10/10 w e5e5 0 1", "pending"),
        ("10/10/10/5m4/10/4M5/10/10/10/10 w e6 0 1", "pending"),
        ("10/10/10/5m4/10/4M5/10/10/10/10 w f7 0 1", "pending"),
        ("10/10/10/5m4/10/4M5/10/10/10/M9 w a1 0 1", "pending"),
        ("10/10/10/10/10/4M5/10/5m4/10/10 w e5 0 1", "pending"),  # not backward
        ("10/10/10/10/10/10/10/10/10/M9 w - 0 0", "move"),
    ],
)
def test_bad_fens_name_the_field(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        dk.game(ID).state(fen)


def test_allround_reads_a_man_pending_backward() -> None:
    fen = "10/10/10/10/10/4M5/10/5m4/10/10 w e5 0 1"
    assert dk.game(ID, ruleset="allround").state(fen).turns() == ["e5g1"]
