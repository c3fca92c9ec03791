"""Each clause of the rules of Gothic draughts as a named test, for every implementation of them.

Positions are written for the player to move as player 0 and tested for both players. What the
draughts games share is tested in test_reference_draughts.py.
"""

import pytest
from implementations import DraughtsSeat, Make, implementations
from reference.gothic_draughts import GothicDraughts

from deskovky.envs.protocol import Outcome, Termination


@pytest.fixture(params=implementations(GothicDraughts))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> DraughtsSeat:
    return DraughtsSeat(make, request.param, size=8)


def test_start_position(make: Make, seat: DraughtsSeat) -> None:
    state = seat.state("mmmmmmmm/mmmmmmmm/8/8/8/8/MMMMMMMM/MMMMMMMM")
    files = "abcdefgh"
    assert seat.turns(state) == {
        f"{a}2{b}3" for i, a in enumerate(files) for b in files[max(0, i - 1) : i + 2]
    }
    assert make().state().legal_actions()[:3].tolist() == [8, 9, 10]  # N from a2, b2, c2
    assert make().num_actions == 3585 and make().action_shape == (56, 8, 8)


# --- GD-1, GD-2: steps and jumps ----------------------------------------------------------------


def test_gd1_man_steps_forward_and_sideways(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 mh8")) == {"d4c4", "d4c5", "d4d5", "d4e5", "d4e4"}
    assert seat.turns(seat.state("Md4 Mc4 Md5 mh8")) >= {"d4c5", "d4e5", "d4e4"}
    assert not seat.turns(seat.state("Md4 Mc4 Md5 mh8")) & {"d4d5", "d4c4"}


@pytest.mark.parametrize(
    ("enemy", "turn"),
    [("c4", "d4b4"), ("c5", "d4b6"), ("d5", "d4d6"), ("e5", "d4f6"), ("e4", "d4f4")],
)
def test_gd1_man_captures_the_way_it_steps(seat: DraughtsSeat, enemy: str, turn: str) -> None:
    state = seat.state(f"Md4 m{enemy} mh8")
    assert seat.turns(state) == {turn}
    seat.play(state, turn)
    assert seat.pieces(state) == {f"M{turn[2:]}", "mh8"}


@pytest.mark.parametrize("enemy", ["c3", "d3", "e3"])
def test_gd1_man_does_not_capture_backward(seat: DraughtsSeat, enemy: str) -> None:
    turns = seat.turns(seat.state(f"Md4 m{enemy}"))
    assert turns == {"d4c4", "d4c5", "d4d5", "d4e5", "d4e4"}


@pytest.mark.parametrize("blocker", ["m", "M", "k", "K"])
def test_gd1_the_square_behind_must_be_empty(seat: DraughtsSeat, blocker: str) -> None:
    assert "d4d6" not in seat.turns(seat.state(f"Md4 md5 {blocker}d6"))
    assert "d4d6" in seat.turns(seat.state("Md4 md5"))
    assert seat.turns(seat.state("Md7 md8")) == {"d7c7", "d7c8", "d7e8", "d7e7"}


def test_gd1_man_jumps_adjacent_pieces_only(seat: DraughtsSeat) -> None:
    assert "d4d5" in seat.turns(seat.state("Md4 md6"))


def test_gd2_king_steps_along_all_lines(seat: DraughtsSeat) -> None:
    targets = (
        "a4 b4 c4 e4 f4 g4 h4 d1 d2 d3 d5 d6 d7 d8 a1 b2 c3 e5 f6 g7 a7 b6 c5 e3 f2 g1"  # not h8
    )
    assert seat.turns(seat.state("Kd4 mh8")) == {f"d4{square}" for square in targets.split()}


@pytest.mark.parametrize(
    ("enemy", "targets"),
    [
        ("d5", "d6 d7 d8"),
        ("d6", "d7 d8"),
        ("d7", "d8"),
        ("f6", "g7 h8"),
        ("g4", "h4"),
        ("f2", "g1"),
        ("d2", "d1"),
        ("b2", "a1"),
        ("b4", "a4"),
        ("c5", "b6 a7"),
    ],
)
def test_gd2_king_captures_at_a_distance(seat: DraughtsSeat, enemy: str, targets: str) -> None:
    state = seat.state(f"Kd4 m{enemy} mh1")
    assert seat.turns(state) == {f"d4{square}" for square in targets.split()}
    seat.play(state, f"d4{targets.split()[-1]}")
    assert seat.pieces(state) == {f"K{targets.split()[-1]}", "mh1"}


def test_gd2_king_lands_before_the_next_piece(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Ka1 md4 Mg7")) == {"a1e5", "a1f6"}
    assert seat.turns(seat.state("Ka1 md4 mg7")) == {"a1e5h8", "a1f6h8"}


def test_gd2_king_jumps_one_piece_and_no_own(seat: DraughtsSeat) -> None:
    turns = seat.turns(seat.state("Ka1 md4 me5"))
    assert {"a1b2", "a1c3"} <= turns and "a1f6" not in turns and "a1d4" not in turns
    turns = seat.turns(seat.state("Ka1 Md4 mf6"))
    assert {"a1b2", "a1c3"} <= turns and not turns & {"a1g7", "a1h8", "a1e5"}


# --- GD-3: the maximum rule -----------------------------------------------------------------------


def test_gd3_capturing_is_compulsory(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 Ka1 Mh2 md5 mh8")) == {"d4d6"}


def test_gd3_maximum_over_the_pieces(seat: DraughtsSeat) -> None:
    state = seat.state("Ma1 ma2 Me1 me2 me4")
    assert seat.turns(state) == {"e1e3e5"}
    assert state.legal_actions().size == 1


def test_gd3_maximum_over_the_paths(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 mc5 me5 mg7")) == {"d4f6h8"}


def test_gd3_men_and_kings_count_alike(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Ma1 ka2 Ke1 me2 Mh8")) == {
        "a1a3",
        *(f"e1e{rank}" for rank in range(3, 9)),
    }
    assert seat.turns(seat.state("Ma1 ka2 Me1 me2 me4")) == {"e1e3e5"}  # two men, not one king


def test_gd3_free_choice_among_maximal_paths(seat: DraughtsSeat) -> None:
    turns = seat.turns(seat.state("Ka1 md4 mf7"))  # only from f6 and g7 a second capture follows
    assert turns == {"a1f6f8", *(f"a1g7{file}7" for file in "abcde")}


def test_gd3_every_step_follows_a_maximal_path(seat: DraughtsSeat) -> None:
    state = seat.state("Md1 md2 mc3 me4 mf6")  # from d3 over c3, or over e4 and f6
    assert seat.turns(state) == {"d1d3f5f7"}
    state.apply(int(state.legal_actions()[0]))
    assert state.is_turn_open and seat.turns(state) == {"d3f5f7"}
    seat.play(state, "d3f5f7")
    assert seat.pieces(state) == {"Mf7", "mc3"}
    assert seat.turns(seat.state("Md1 md2 mc3 mb4 me4 mf6")) == {"d1d3f5f7", "d1d3b3b5"}


def test_gd3_in_mid_turn_the_maximum_is_over_the_pending_piece(seat: DraughtsSeat) -> None:
    state = seat.state("Ma1 ma2 ma4 Me3 me4", side="w e3 0 9")
    assert state.to_move == seat.us and state.is_turn_open
    assert seat.turns(state) == {"e3e5"}
    assert seat.turns(seat.state("Md4 mc5 me5 mg7", side="w d4 0 9")) == {"d4f6h8"}


# --- GD-4: removal at once ------------------------------------------------------------------------


def test_gd4_start_and_jumped_squares_are_empty_and_a_king_turns_straight_back(
    seat: DraughtsSeat,
) -> None:
    state = seat.state("Kd3 md5 md2 mh8")
    assert seat.turns(state) == {
        *(f"d3d{rank}d1" for rank in (6, 7, 8)),
        *(f"d3d1d{rank}" for rank in (6, 7, 8)),
    }
    seat.play(state, "d3d8d1")
    assert seat.pieces(state) == {"Kd1", "mh8"}


def test_gd4_a_jumped_square_may_be_landed_on(seat: DraughtsSeat) -> None:
    state = seat.state("Ka1 mb2 mf4 md2 mh8")
    assert "a1f6f2b2" in seat.turns(state)
    seat.play(state, "a1f6f2b2")
    assert seat.pieces(state) == {"Kb2", "mh8"}


def test_gd4_nothing_is_jumped_twice(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Kd4 md6 mh1")) == {"d4d7", "d4d8"}


def test_gd4_the_turn_may_end_where_it_began(seat: DraughtsSeat) -> None:
    state = seat.state("Ka1 ma3 mc5 me3 mc1 mh8")  # the square a1 a5 e5 e1
    assert {"a1a5e5e1a1", "a1e1e5a5a1"} <= seat.turns(state)
    seat.play(state, "a1a5e5e1a1")
    assert seat.pieces(state) == {"Ka1", "mh8"}


# --- GD-5: promotion ------------------------------------------------------------------------------


def test_gd5_a_turn_ending_on_the_farthest_rank_promotes(seat: DraughtsSeat) -> None:
    state = seat.state("Md7 mh2")
    seat.play(state, "d7d8")
    assert seat.pieces(state) == {"Kd8", "mh2"}
    state = seat.state("Md6 md7 mh2")
    seat.play(state, "d6d8")
    assert seat.pieces(state) == {"Kd8", "mh2"}


def test_gd5_in_mid_capture_a_man_goes_on_sideways(seat: DraughtsSeat) -> None:
    state = seat.state("Md6 md7 me8 mh2")
    assert seat.turns(state) == {"d6d8f8"}
    state.apply(int(state.legal_actions()[0]))
    assert seat.pieces(state) == {"Md8", "me8", "mh2"} and state.is_turn_open
    state.apply(int(state.legal_actions()[0]))
    assert seat.pieces(state) == {"Kf8", "mh2"} and not state.is_turn_open


def test_gd5_in_mid_capture_a_man_is_no_king_yet(seat: DraughtsSeat) -> None:
    state = seat.state("Md6 md7 mf6 mg8 mh2")  # a king on d8 could capture f6 and g8
    assert seat.turns(state) == {"d6d8"}
    seat.play(state, "d6d8")
    assert seat.pieces(state) == {"Kd8", "mf6", "mg8", "mh2"}


def test_gd5_a_man_read_on_the_farthest_rank(seat: DraughtsSeat) -> None:
    state = seat.state("Ma8 Ma1 mh2")
    assert {turn for turn in seat.turns(state) if turn.startswith("a8")} == {"a8b8"}
    seat.play(state, "a1a2")
    assert "Ma8" in seat.pieces(state)
    seat.play(state, "h2g2", "a8b8")
    assert "Kb8" in seat.pieces(state)


def test_gd5_the_own_home_rank_does_not_promote(seat: DraughtsSeat) -> None:
    state = seat.state("Ma1 mh8")
    seat.play(state, "a1b1", "h8g8")
    assert seat.pieces(state) == {"Mb1", "mg8"}


# --- GD-6, GD-7: passing, the end -----------------------------------------------------------------


def test_gd6_a_player_without_a_step_passes(seat: DraughtsSeat) -> None:
    state = seat.state("Ma8 mb8 mc8")
    assert not state.is_over
    assert seat.turns(state) == {"pass"} and state.legal_actions().tolist() == [3584]
    seat.play(state, "pass")
    assert state.to_move == seat.them and state.history == ["pass"]
    assert seat.pieces(state) == {"Ma8", "mb8", "mc8"}
    seat.play(state, "c8c7")
    assert seat.turns(state) == {"a8c8"}


LAST_RANK = "MMMMMMMM/8/8/8/8/8/8/mmmmmmmm"


def test_gd6_neither_can_step(seat: DraughtsSeat) -> None:
    assert seat.draws(seat.state(LAST_RANK), "blocked")
    assert seat.wins(seat.state("MMMMMMMM/MMMMMMMM/8/8/8/8/8/mmmmmmmm"), "blocked")
    assert seat.loses(seat.state("MMMMMMMM/8/8/8/8/8/mmmmmmmm/mmmmmmmm"), "blocked")
    state = seat.state("MMMMMMMM/MMMMMMM1/7M/8/8/8/8/mmmmmmmm")
    assert not state.is_over
    seat.play(state, "h6h7")
    assert seat.wins(state, "blocked")
    assert state.legal_actions().size == 0 and state.turns() == []


def test_gd6_blocked_comes_before_quiet(seat: DraughtsSeat) -> None:
    assert seat.draws(seat.state(LAST_RANK, side="w - 30 60"), "blocked")


def test_gd7_a_player_without_pieces_has_lost(seat: DraughtsSeat) -> None:
    state = seat.state("Md4 md5", side="w - 29 50")
    seat.play(state, "d4d6")
    assert seat.wins(state, "no_pieces")
    assert state.returns() == ((1.0, -1.0) if seat.us == 0 else (-1.0, 1.0))
    assert seat.wins(seat.state("Md4"), "no_pieces")
    assert seat.loses(seat.state("md4"), "no_pieces")
    assert seat.wins(seat.state("Ma8", side="w - 30 60"), "no_pieces")  # though it cannot step


# --- GD-8 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "result"),
    [
        ("Ka1 Mb1 mh8", "wins"),
        ("Ka1 mg8 mh8", "loses"),
        ("Ka1 mh8", "draws"),  # men and kings alike
        ("Ka1 kh7", "draws"),
    ],
)
def test_gd8_after_30_quiet_turns_pieces_decide(
    seat: DraughtsSeat, pieces: str, result: str
) -> None:
    state = seat.state(pieces, side="w - 28 50")
    seat.play(state, "a1a2")
    assert not state.is_over
    state = seat.state(pieces, side="w - 29 50")
    assert not state.is_over
    seat.play(state, "a1a2")
    assert getattr(seat, result)(state, "quiet_limit")
    assert state.outcome is not None and not state.outcome.is_truncation
    assert getattr(seat, result)(seat.state(pieces, side="w - 31 50"), "quiet_limit")


def test_gd8_passes_count(seat: DraughtsSeat) -> None:
    state = seat.state("Ma8 mb8 mc8", side="w - 29 50")
    seat.play(state, "pass")
    assert seat.loses(state, "quiet_limit")


def test_gd8_a_capture_begins_anew_and_nothing_else_does(seat: DraughtsSeat) -> None:
    state = seat.state("Md4 md5 Mg7 mh4", side="w - 29 50")
    seat.play(state, "d4d6")
    assert not state.is_over and " - 0 5" in state.fen()
    state = seat.state("Mg7 mh4", side="w - 29 50")
    seat.play(state, "g7g8")  # a promotion
    assert seat.draws(state, "quiet_limit")


def test_gd8_thirty_turns_from_the_last_capture(seat: DraughtsSeat) -> None:
    state = seat.state("Kd4 md5 kh2 Mh8")
    seat.play(state, "d4d8")
    for _ in range(7):
        seat.play(state, "h2h3", "d8a8", "h3h2", "a8d8")
    seat.play(state, "h2h3")
    assert not state.is_over
    seat.play(state, "d8a8")
    assert seat.wins(state, "quiet_limit")


def test_max_turns(make: Make) -> None:
    assert make().max_turns == 1000
    for pieces in ("7m/8/8/8/8/8/8/K6K", "7m/8/8/8/8/8/8/K7"):
        state = make().state(f"{pieces} b - 5 500")
        state.push("h8h7")
        assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    state = make().state("7m/8/8/8/8/8/8/K6K b - 29 500")
    state.push("h8h7")
    assert state.outcome == Outcome(0, Termination.QUIET_LIMIT)


# --- Perft ----------------------------------------------------------------------------------------
