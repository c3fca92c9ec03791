"""Each clause of the rules of Medieval battle as a named test, for every implementation of them.

Positions are written for the player to move as player 0 and tested for both players. What the
draughts games share is tested in test_reference_draughts.py.
"""

import pytest
from implementations import DraughtsSeat, Make, implementations
from reference.medieval_battle import MedievalBattle

from deskovky.envs.protocol import Outcome, Termination


@pytest.fixture(params=implementations(MedievalBattle))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> DraughtsSeat:
    return DraughtsSeat(make, request.param, size=10)


START = "1n1n1n1n1n/f1f1f1f1f1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1F1F1F1F1F/N1N1N1N1N1"
VANGUARD = "1f1f1f1f1f/n1n1n1n1n1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1N1N1N1N1N/F1F1F1F1F1"


def test_mb1_setups(make: Make, seat: DraughtsSeat) -> None:
    for setup, board in (("default", START), ("vanguard", VANGUARD)):
        state = make(setup=setup).state()
        assert state.fen() == f"{board} w - 0 1"
        assert board.count("F") == board.count("f") == 10
        assert board.count("N") == board.count("n") == 5
        assert seat.state(board).fen().split(" ")[:2] == [board, "wb"[seat.us]]  # symmetric
    assert len(make().state().turns()) == len(make(setup="vanguard").state().turns()) == 23
    assert make().num_actions == 7201 and make().action_shape == (72, 10, 10)
    actions = make().state("k9/10/10/10/10/10/10/3F6/10/10 w").legal_actions().tolist()
    assert actions == [9 * 100 + 23, 63 * 100 + 23]  # d3: north-east and north-west by one


# --- MB-2, MB-3: steps and captures ---------------------------------------------------------------


def test_mb2_footman_and_knight_step(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Fd4 fj10")) == {"d4c5", "d4e5"}
    assert seat.turns(seat.state("Nd4 fj10")) == {"d4c4", "d4d5", "d4e4"}
    assert seat.turns(seat.state("Fd4 Nc5 Ne5 fj10")) == {
        "c5b5", "c5c6", "c5d5", "e5d5", "e5e6", "e5f5",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("piece", "captures"),
    [("F", "c5b6 e5f6"), ("N", "c4b4 d5d6 e4f4")],
)
@pytest.mark.parametrize("enemy", ["c3", "d3", "e3", "c4", "e4", "c5", "d5", "e5"])
@pytest.mark.parametrize("captured", "fnck")
def test_mb3_short_captures(
    seat: DraughtsSeat, piece: str, captures: str, enemy: str, captured: str
) -> None:
    state = seat.state(f"{piece}d4 {captured}{enemy} fj10")
    behind = {capture[:2]: capture[2:] for capture in captures.split()}.get(enemy)
    if behind is None:
        assert all("d" + "4" + enemy not in turn for turn in seat.turns(state))
        seat.play(state, sorted(seat.turns(state))[0])
        assert state.num_pieces(seat.them) == 2
    else:
        assert seat.turns(state) == {f"d4{behind}"}
        seat.play(state, f"d4{behind}")
        assert seat.pieces(state) == {f"{piece}{behind}", "fj10"}


def test_mb3_short_captures_need_an_empty_square_next_to_an_adjacent_piece(
    seat: DraughtsSeat,
) -> None:
    assert seat.turns(seat.state("Nd4 fd5 fd6")) == {"d4c4", "d4e4"}
    assert seat.turns(seat.state("Nd4 fd6")) == {"d4c4", "d4d5", "d4e4"}
    assert seat.turns(seat.state("Fi4 fj5")) == {"i4h5"}


DIAGONAL = "a1 b2 c3 e5 f6 g7 h8 i9 j10 a7 b6 c5 e3 f2 g1"
ORTHOGONAL = "a4 b4 c4 e4 f4 g4 h4 i4 j4 d1 d2 d3 d5 d6 d7 d8 d9 d10"


def test_mb3_commander_and_king_step(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Cd4 fa10")) == {f"d4{to}" for to in DIAGONAL.split()}
    assert seat.turns(seat.state("Kd4 fa10")) == {
        f"d4{to}" for to in f"{DIAGONAL} {ORTHOGONAL}".split()
    }


@pytest.mark.parametrize(
    ("enemy", "targets"),
    [
        ("e5", "f6 g7 h8 i9 j10"),
        ("g7", "h8 i9 j10"),
        ("b6", "a7"),
        ("f2", "g1"),
        ("b2", "a1"),
        ("d8", "d9 d10"),
        ("d2", "d1"),
        ("b4", "a4"),
        ("g4", "h4 i4 j4"),
    ],
)
def test_mb3_long_captures(seat: DraughtsSeat, enemy: str, targets: str) -> None:
    captures = {f"d4{to}" for to in targets.split()}
    assert seat.turns(seat.state(f"Kd4 f{enemy} fa10")) == captures
    commander = seat.turns(seat.state(f"Cd4 f{enemy} fa10"))
    if enemy[0] == "d" or enemy[1] == "4":
        assert not commander & captures and "d4e5" in commander
    else:
        assert commander == captures


def test_mb3_long_captures_as_gd2(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Ca1 fd4 Fg7")) == {"a1e5", "a1f6"}
    assert not any(
        turn.startswith(("a1e", "a1f")) for turn in seat.turns(seat.state("Ca1 fd4 fe5"))
    )
    assert seat.turns(seat.state("Ca1 Fd4 ff6")) == {"a1b2", "a1c3", "d4c5", "d4e5"}


# --- MB-4 -----------------------------------------------------------------------------------------


def test_mb4_compulsory_with_free_choice(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Na1 Ne1 Fj1 fa2 fe2 fe4")) == {"a1a3", "e1e3e5"}


def test_mb4_the_landing_square_is_free(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Ka1 fd4 ff7")) == {
        "a1e5", "a1h8", "a1i9", "a1j10",  # from these nothing can be captured
        "a1f6f8", "a1f6f9", "a1f6f10",
        "a1g7e7", "a1g7d7", "a1g7c7", "a1g7b7", "a1g7a7",
    }  # fmt: skip


def test_mb4_reversal_and_removal_at_once(seat: DraughtsSeat) -> None:
    state = seat.state("Kd3 fd5 fd2 fj9")
    assert seat.turns(state) == {
        *(f"d3d{rank}d1" for rank in (6, 7, 8, 9, 10)),
        *(f"d3d1d{rank}" for rank in (6, 7, 8, 9, 10)),
    }
    seat.play(state, "d3d10d1")
    assert seat.pieces(state) == {"Kd1", "fj9"}


def test_mb4_only_the_jumping_piece_goes_on(seat: DraughtsSeat) -> None:
    assert seat.turns(seat.state("Nd4 fd5 Na1 fa2", side="w d4 0 9")) == {"d4d6"}


# --- MB-5 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "turn", "after"),
    [
        ("Fd9", "d9e10", "Ce10"),
        ("Nd9", "d9d10", "Kd10"),
        ("Nd9", "d9e9", "Ne9"),
        ("Nd8 fd9", "d8d10", "Kd10"),
        ("Fd8 fe9", "d8f10", "Cf10"),
        ("Nd10", "d10e10", "Ke10"),  # read as a knight; a turn of its own ends there
        ("Fd8", "d8e9", "Fe9"),
    ],
)
def test_mb5_promotion(seat: DraughtsSeat, pieces: str, turn: str, after: str) -> None:
    state = seat.state(f"{pieces} fj3")
    seat.play(state, turn)
    assert seat.pieces(state) == {after, "fj3"}


def test_mb5_in_mid_capture_a_knight_goes_on_as_a_knight(seat: DraughtsSeat) -> None:
    state = seat.state("Nd8 fd9 fe10 ff8 fj3")
    assert seat.turns(state) == {"d8d10f10"}
    state.apply(int(state.legal_actions()[0]))
    assert state.is_turn_open and "Nd10" in seat.pieces(state)
    state.apply(int(state.legal_actions()[0]))
    assert seat.pieces(state) == {"Kf10", "ff8", "fj3"}  # not on over f8
    state = seat.state("Nd8 fd9 ff8 fj3")  # a king on d10 could capture f8
    seat.play(state, "d8d10")
    assert seat.pieces(state) == {"Kd10", "ff8", "fj3"}


def test_mb5_a_footman_there_captures_nothing_more(seat: DraughtsSeat) -> None:
    state = seat.state("Fd8 fe9 fh8 fj3")  # a commander on f10 could capture h8
    assert seat.turns(state) == {"d8f10"}


# --- MB-6, MB-7 -----------------------------------------------------------------------------------


def test_mb6_a_player_without_a_step_passes(seat: DraughtsSeat) -> None:
    state = seat.state("Fa10 fj10")
    assert not state.is_over and seat.turns(state) == {"pass"}
    assert state.legal_actions().tolist() == [7200]
    seat.play(state, "pass", "j10i9")
    assert seat.turns(state) == {"pass"} and "Fa10" in seat.pieces(state)


@pytest.mark.parametrize(
    ("pieces", "result"),
    [
        ("fa1", "wins"),
        ("fa1 fc1", "draws"),
        ("na1 fb1", "loses"),  # strength, not number
        ("fa1 fc1 fe1", "loses"),
    ],
)
def test_mb6_neither_can_step(seat: DraughtsSeat, pieces: str, result: str) -> None:
    state = seat.state(f"Fb8 Fb10 {pieces}")
    assert not state.is_over
    seat.play(state, "b8a9")
    assert getattr(seat, result)(state, "blocked")
    assert state.legal_actions().size == 0 and state.turns() == []


def test_mb7_a_player_without_pieces_has_lost(seat: DraughtsSeat) -> None:
    state = seat.state("Nd4 kd5", side="w - 29 50")
    seat.play(state, "d4d6")
    assert seat.wins(state, "no_pieces")
    assert seat.wins(seat.state("Fa10", side="w - 30 50"), "no_pieces")
    assert seat.loses(seat.state("ka1"), "no_pieces")


# --- MB-8 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "result"),
    [
        ("Na1 ff10 fh10", "draws"),
        ("Na1 ff10", "wins"),
        ("Na1 cf10", "loses"),
        ("Na1 Fh1 cf10", "draws"),
        ("Na1 Fg1 Fh1 cf10", "wins"),
        ("Na1 Nh1 kh10", "draws"),
        ("Na1 Fh1 kg10", "loses"),
        ("Na1 Ch1 kf10", "wins"),
        ("Na1 ff10 fh10 fj10", "loses"),
    ],
)
def test_mb8_after_30_quiet_turns_strength_decides(
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
    assert getattr(seat, result)(seat.state(pieces, side="w - 30 50"), "quiet_limit")


def test_mb8_what_resets_the_count(seat: DraughtsSeat) -> None:
    state = seat.state("Fa10 fj10", side="w - 29 50")
    seat.play(state, "pass")  # passes count
    assert seat.draws(state, "quiet_limit")
    state = seat.state("Fa9 cj3", side="w - 29 50")
    seat.play(state, "a9b10")  # a promotion is no capture, but makes us stronger
    assert seat.draws(state, "quiet_limit")
    state = seat.state("Nd4 fd5 fj10", side="w - 29 50")
    seat.play(state, "d4d6")
    assert not state.is_over and " - 0 5" in state.fen()


def test_max_turns(make: Make) -> None:
    assert make().max_turns == 1000
    state = make().state("9k/10/10/10/10/10/10/10/10/F9 b - 5 500")
    state.push("j10j9")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    state = make().state("9k/10/10/10/10/10/10/10/10/F9 b - 29 500")
    state.push("j10j9")
    assert state.outcome == Outcome(1, Termination.QUIET_LIMIT)


# --- Perft ----------------------------------------------------------------------------------------
