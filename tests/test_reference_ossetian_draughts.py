"""Each clause of the rules of Ossetian draughts as a named test, for every implementation of them.

Positions are written for the player to move as player 0 and tested for both players. What the
draughts games share is tested in test_reference_draughts.py.
"""

import pytest
from implementations import DraughtsSeat, Make, implementations
from reference.ossetian_draughts import OssetianDraughts

from deskovky.envs.protocol import Outcome, Termination


@pytest.fixture(params=implementations(OssetianDraughts))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> DraughtsSeat:
    return DraughtsSeat(make, request.param, size=7)


def test_start_position(make: Make, seat: DraughtsSeat) -> None:
    state = seat.state("mmmmmmm/mmmmmmm/mmmmmmm/7/MMMMMMM/MMMMMMM/MMMMMMM")
    files = "abcdefg"
    assert seat.turns(state) == {
        f"{a}3{b}4" for i, a in enumerate(files) for b in files[max(0, i - 1) : i + 2]
    }
    assert make().num_actions == 785 and make().action_shape == (16, 7, 7)
    actions = make().state("7/7/4m2/3M3/7/7/7 w").legal_actions().tolist()
    assert actions == [9 * 49 + 24]  # d4 over e5: north-east


# --- OD-1 -----------------------------------------------------------------------------------------


def test_od1_man_steps_forward(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 mg7")) == {"d4c5", "d4d5", "d4e5"}
    assert seat.turns(seat.state("Ma4 mg7")) == {"a4a5", "a4b5"}
    assert "d4d5" not in seat.turns(seat.state("Md4 Md5 mg7"))


@pytest.mark.parametrize("enemy", ["c3", "d3", "e3", "c4", "e4", "c5", "d5", "e5"])
def test_od1_man_captures_in_all_directions(seat: DraughtsSeat, enemy: str) -> None:
    behind = "abcdefg"["abcdefg".index(enemy[0]) * 2 - 3] + str(int(enemy[1]) * 2 - 4)
    state = seat.state(f"Md4 m{enemy} ma7")
    assert seat.turns(state) == {f"d4{behind}"}
    seat.play(state, f"d4{behind}")
    assert seat.pieces(state) == {f"M{behind}", "ma7"}


@pytest.mark.parametrize("blocker", "mM")
def test_od1_the_square_behind_must_be_empty(seat: DraughtsSeat, blocker: str) -> None:
    assert not any(
        turn.startswith("d4d") for turn in seat.turns(seat.state(f"Md4 md5 {blocker}d6"))
    )
    assert seat.turns(seat.state("Ma4 mb4 mc4")) == {"a4a5", "a4b5"}
    assert seat.turns(seat.state("Mb4 ma4")) == {"b4a5", "b4b5", "b4c5"}  # the edge


def test_od1_no_promotion(seat: DraughtsSeat) -> None:
    state = seat.state("Md6 mg3")
    seat.play(state, "d6d7", "g3g2")
    assert seat.pieces(state) == {"Md7", "mg2"}
    assert seat.turns(state) == {"pass"}


# --- OD-2 -----------------------------------------------------------------------------------------


def test_od2_capturing_is_compulsory_with_free_choice(seat: DraughtsSeat) -> None:
    state = seat.state("Md4 Ma1 mc5 me5 mf5")
    assert seat.turns(state) == {"d4b6", "d4f6f4"}  # no maximum rule


def test_od2_a_jumping_man_must_go_on(seat: DraughtsSeat) -> None:
    state = seat.state("Md4 mc5 me5 mf5")
    state.apply(state.action_from_text("d4f6" if seat.us == 0 else "d4b2"))
    assert state.is_turn_open and state.to_move == seat.us
    assert seat.turns(state) == {"f6f4"}
    seat.play(state, "f6f4")
    assert seat.pieces(state) == {"Mf4", "mc5"} and state.to_move == seat.them
    assert state.history == ["d4f6f4" if seat.us == 0 else "d4b2b4"]


def test_od2_only_the_jumping_man_goes_on(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 md5 Ma1 ma2", side="w d4 0 9")) == {"d4d6"}


def test_od2_removal_at_once(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Md4 md5 ma7")) == {"d4d6"}  # not back over the same man
    state = seat.state("Md4 md5 me6 mf5 me4")  # round in a ring, to where it began
    assert seat.turns(state) == {"d4d6f6f4d4", "d4f4f6d6d4"}
    seat.play(state, "d4d6f6f4d4")
    assert seat.pieces(state) == {"Md4"}


def test_od2_a_jumped_square_is_free_at_once(seat: DraughtsSeat) -> None:
    state = seat.state("Md3 md4 me5 me4 ma7")  # d5, then f5, then e4 on the way to d3
    assert "d3d5f5d3" in seat.turns(state)
    state = seat.state("Mc3 mc4 md4 mc6 mb6 ma7")
    seat.play(state, next(iter(sorted(seat.turns(state)))))
    assert state.num_pieces(seat.us) == 1


# --- OD-3 -----------------------------------------------------------------------------------------


def test_od3_a_player_without_a_step_passes(seat: DraughtsSeat) -> None:
    state = seat.state("Ma7 mg7")
    assert not state.is_over and seat.turns(state) == {"pass"}
    assert state.legal_actions().tolist() == [784]
    seat.play(state, "pass", "g7g6")
    assert state.history[0] == "pass" and seat.turns(state) == {"pass"}


@pytest.mark.parametrize(
    ("pieces", "result"),
    [("Ma6 mg1", "draws"), ("Ma6 Mg7 mg1", "wins"), ("Ma6 mf1 mg1", "loses")],
)
def test_od3_neither_can_step(seat: DraughtsSeat, pieces: str, result: str) -> None:
    state = seat.state(pieces)
    assert not state.is_over
    seat.play(state, "a6a7")
    assert getattr(seat, result)(state, "blocked")
    assert state.legal_actions().size == 0
    assert getattr(seat, result)(seat.state(pieces.replace("a6", "a7")), "blocked")


def test_od3_a_possible_capture_is_a_step(seat: DraughtsSeat) -> None:
    state = seat.state("Ma7 mb7 md1")  # their man on b7 has steps, ours can capture
    assert seat.turns(state) == {"a7c7"}
    assert not seat.state("Ma7 Mb1 mc1").is_over  # b1 over c1


def test_od3_no_pieces_left(seat: DraughtsSeat) -> None:
    state = seat.state("Md4 md5")
    seat.play(state, "d4d6")
    assert seat.wins(state, "no_pieces")
    assert seat.wins(seat.state("Ma7"), "no_pieces")  # though it cannot step
    assert seat.loses(seat.state("ma1"), "no_pieces")


def test_od3_passes_to_the_end(seat: DraughtsSeat) -> None:
    state = seat.state("Ma7 Mb7 mg3")
    seat.play(state, "pass", "g3g2", "pass", "g2g1")
    assert seat.wins(state, "blocked")


def test_no_quiet_limit(make: Make) -> None:
    state = make().state("6m/7/7/7/7/7/M6 w - 400 90")
    state.push("a1a2")
    assert not state.is_over and state.fen().endswith(" b - 401 90")


def test_max_turns(make: Make) -> None:
    assert make().max_turns == 500
    state = make().state("6m/7/7/7/7/7/M4M1 b - 5 250")
    state.push("g7g6")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)


def test_perft_counts_passes_and_ends(make: Make) -> None:
    game = make()
    fen = "M6/7/7/7/7/7/2m4 w"
    assert game.perft(1, fen) == 0  # blocked
    fen = "M6/7/7/7/7/6m/7 w"
    assert [game.perft(depth, fen) for depth in range(4)] == [1, 1, 2, 0]  # pass, g2g1 or g2f1
    fen = "7/7/3m3/3M3/7/7/7 w"
    assert [game.perft(depth, fen) for depth in range(3)] == [1, 1, 0]


# --- Perft ----------------------------------------------------------------------------------------
