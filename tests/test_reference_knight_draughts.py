"""Each clause of the rules of Knight draughts as a named test, for every implementation of them.

Positions are written for the player to move as player 0 and tested for both players. What the
draughts games share is tested in test_reference_draughts.py.
"""

import pytest
from implementations import DraughtsSeat, Make, implementations
from reference.knight_draughts import KnightDraughts

from deskovky.envs.protocol import Outcome, Termination


@pytest.fixture(params=implementations(KnightDraughts))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> DraughtsSeat:
    return DraughtsSeat(make, request.param, size=10)


START = "10/10/mmmmmmmmmm/mmmmmmmmmm/10/10/MMMMMMMMMM/MMMMMMMMMM/10/10"
LEAPS = {  # from e5: the square of the leap, and the one behind it
    "f7": "g9", "g6": "i7", "g4": "i3", "f3": "g1", "d3": "c1", "c4": "a3", "c6": "a7", "d7": "c9",
}  # fmt: skip
FORWARD = ["f7", "g6", "c6", "d7"]
every_ruleset = pytest.mark.parametrize("ruleset", ["standard", "allround"])


@every_ruleset
def test_start_position(make: Make, seat: DraughtsSeat, ruleset: str) -> None:
    state = seat.state(START, ruleset)
    turns = seat.turns(state)
    assert len(turns) == 52 and {"a3b5", "a4c5", "j4i6", "e4f6", "e3d5"} <= turns
    assert make().num_actions == 1601 and make().action_shape == (16, 10, 10)
    actions = make().state("10/10/10/10/10/4M5/10/10/10/9m w").legal_actions().tolist()
    assert actions == [44, 144, 644, 744]  # from e5: (1, 2), (2, 1), (-2, 1), (-1, 2)


# --- KD-1, KD-2 -----------------------------------------------------------------------------------


@every_ruleset
def test_kd1_man_leaps_forward(seat: DraughtsSeat, ruleset: str) -> None:
    assert seat.turns(seat.state("Me5 mj1", ruleset)) == {f"e5{to}" for to in FORWARD}
    assert seat.turns(seat.state("Ma5 mj1", ruleset)) == {"a5b7", "a5c6"}
    turns = seat.turns(seat.state("Me5 Mf7 mj1", ruleset))
    assert {turn for turn in turns if turn.startswith("e5")} == {"e5g6", "e5c6", "e5d7"}


def test_kd1_squares_between_do_not_matter(seat: DraughtsSeat) -> None:
    wall = " ".join(f"m{square}" for square in "d4 e4 f4 d5 f5 d6 e6 f6".split())
    turns = seat.turns(seat.state(f"Me5 {wall}"))
    assert {f"e5{to}" for to in FORWARD} <= turns


def test_kd2_queen_leaps_in_all_directions(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Qe5 mj1")) == {f"e5{to}" for to in LEAPS}
    assert seat.turns(seat.state("Qa1 mj10")) == {"a1b3", "a1c2"}


# --- KD-3 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", LEAPS)
def test_kd3_capture_by_two_equal_leaps(seat: DraughtsSeat, over: str) -> None:
    for piece, ruleset in (("M", "standard"), ("M", "allround"), ("Q", "standard")):
        state = seat.state(f"{piece}e5 m{over} mj10", ruleset)
        turns = seat.turns(state)
        if piece == "M" and ruleset == "standard" and over not in FORWARD:  # forward only
            assert turns == {f"e5{to}" for to in FORWARD}
            continue
        assert turns == {f"e5{LEAPS[over]}"}
        seat.play(state, f"e5{LEAPS[over]}")
        assert seat.pieces(state) == {f"{piece}{LEAPS[over]}", "mj10"}


@pytest.mark.parametrize("blocker", "mMqQ")
def test_kd3_the_second_square_must_be_empty(seat: DraughtsSeat, blocker: str) -> None:
    turns = seat.turns(seat.state(f"Qe5 mf7 {blocker}g9"))
    assert not any(turn.startswith(("e5f7", "e5g9")) for turn in turns)
    assert "e5f7" not in seat.turns(seat.state("Me5 mf7 mg9"))
    assert "h3i5" in seat.turns(seat.state("Mh3 mj4"))  # no square behind j4: no capture


# --- KD-4 -----------------------------------------------------------------------------------------


def test_kd4_capturing_is_compulsory_with_free_choice(seat: DraughtsSeat) -> None:
    state = seat.state("Ma1 Qj1 mb3 mc2 md7")
    assert seat.turns(state) == {"a1c5e9", "a1e3"}


def test_kd4_the_capturer_must_go_on(seat: DraughtsSeat) -> None:
    state = seat.state("Ma1 mb3 md7 mj10", side="w - 7 30")
    state.apply(int(state.legal_actions()[0]))
    assert state.is_turn_open and state.to_move == seat.us
    assert seat.pieces(state) == {"Mc5", "md7", "mj10"}  # removed at once
    assert state.fen().split(" ")[2:] == ["c5" if seat.us == 0 else "h6", "0", "30"]
    assert seat.turns(state) == {"c5e9"}
    assert seat.turns(seat.state("Mc5 Ma1 mb3 md7", side="w c5 0 9")) == {"c5e9"}


def test_kd4_a_queen_turns_as_it_likes(seat: DraughtsSeat) -> None:
    state = seat.state("Qe5 mf7 mh7 mf3 mj1")  # g9, from there over h7 to i5; or g1
    assert seat.turns(state) == {"e5g9i5", "e5g1"}


# --- KD-5 -----------------------------------------------------------------------------------------


def test_kd5_reaching_the_farthest_rank_promotes(seat: DraughtsSeat) -> None:
    state = seat.state("Me8 mj3")
    seat.play(state, "e8f10")
    assert seat.pieces(state) == {"Qf10", "mj3"}
    state = seat.state("Me9 mj3")
    seat.play(state, "e9c10")
    assert seat.pieces(state) == {"Qc10", "mj3"}


@every_ruleset
def test_kd5_the_turn_ends_at_once_in_mid_capture(seat: DraughtsSeat, ruleset: str) -> None:
    state = seat.state("Me6 mf8 mh8 mj2", ruleset)  # a queen on g10 could go on over h8 to i6
    assert seat.turns(state) == {"e6g10"}
    seat.play(state, "e6g10")
    assert seat.pieces(state) == {"Qg10", "mh8", "mj2"} and state.to_move == seat.them


def test_kd5_a_queen_goes_on_from_the_farthest_rank(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Qe6 mf8 mh8 mj2")) == {"e6g10i6"}


def test_kd5_a_man_read_on_the_farthest_rank(seat: DraughtsSeat) -> None:
    state = seat.state("Ma10 Mb1 mj9")
    seat.play(state, "b1c3")
    assert "Ma10" in seat.pieces(state)
    state = seat.state("Me10 md8 mj9", "allround")
    assert seat.turns(state) == {"e10c6"}
    assert seat.turns(seat.state("Me10 md8 mj9")) == {"pass"}


# --- KD-6, KD-7 -----------------------------------------------------------------------------------


@every_ruleset
def test_kd6_a_player_without_a_step_passes(seat: DraughtsSeat, ruleset: str) -> None:
    state = seat.state("Ma10 mj9", ruleset)
    assert not state.is_over and seat.turns(state) == {"pass"}
    assert state.legal_actions().tolist() == [1600]
    seat.play(state, "pass")
    assert state.to_move == seat.them and seat.pieces(state) == {"Ma10", "mj9"}


@pytest.mark.parametrize(
    ("pieces", "result"),
    [("", "wins"), (" mb1", "draws"), (" mb1 mc1", "loses")],
)
def test_kd6_neither_can_step(seat: DraughtsSeat, pieces: str, result: str) -> None:
    state = seat.state("Ma7 Md10 ma1" + pieces)
    assert not state.is_over
    seat.play(state, "a7b9")  # where only the own man on d10 is in reach
    assert getattr(seat, result)(state, "blocked")
    assert state.legal_actions().size == 0 and state.turns() == []


def test_kd7_a_player_without_pieces_has_lost(seat: DraughtsSeat) -> None:
    state = seat.state("Me5 mf7", max_turns=1 + seat.us)
    seat.play(state, "e5g9")
    assert seat.wins(state, "no_pieces")
    assert seat.wins(seat.state("Ma10"), "no_pieces")
    assert seat.loses(seat.state("ma1"), "no_pieces")


# --- KD-8 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "result"),
    [
        ("Qa1 Mb1 mj10", "wins"),
        ("Qa1 mi10 mj10", "loses"),
        ("Qa1 mj10", "draws"),  # men and queens alike
        ("Qa1 qj10", "draws"),
    ],
)
def test_kd8_at_the_agreed_length_pieces_decide(
    seat: DraughtsSeat, pieces: str, result: str
) -> None:
    length = 2 * 39 + seat.us + 1  # the turns that the FEN counts after our next one
    state = seat.state(pieces, side="w - 70 40", max_turns=length)
    assert not state.is_over
    seat.play(state, "a1b3")
    assert getattr(seat, result)(state, "length_limit")
    assert state.outcome is not None and not state.outcome.is_truncation
    state = seat.state(pieces, side="w - 70 40", max_turns=length + 1)
    seat.play(state, "a1b3")
    assert not state.is_over
    assert getattr(seat, result)(seat.state(pieces, side="w - 0 99", max_turns=9), "length_limit")


def test_kd8_default_length(make: Make) -> None:
    assert make().max_turns == 200
    state = make().state("9m/10/10/10/10/10/10/10/10/Q8Q b - 90 100")
    assert not state.is_over
    state.push("j10i8")
    assert state.outcome == Outcome(0, Termination.LENGTH_LIMIT)
    assert state.returns() == (1.0, -1.0)


def test_kd8_observation_counts_down(make: Make) -> None:
    game = make(max_turns=8)
    state = game.state("9m/10/10/10/10/10/10/10/10/Q9 w")
    seen = [float(state.observation()[5, 3, 3])]
    for turn in ("a1b3", "j10i8", "b3a1"):
        state.push(turn)
        assert (state.observation()[5] == state.observation()[5, 0, 0]).all()
        seen.append(float(state.observation()[5, 3, 3]))
    assert seen == [1, 7 / 8, 6 / 8, 5 / 8]
    assert game.state("9m/10/10/10/10/10/10/10/10/Q9 w - 0 50").observation()[5].max() == 0


# --- Perft ----------------------------------------------------------------------------------------
