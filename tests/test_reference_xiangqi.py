"""Each clause of the rules of Xiangqi as a named test, for every implementation of them.

Positions are written for the player to move as player 0, often as lists of pieces, and tested for
both players.
"""

import copy
import pickle
import random

import numpy as np
import pytest
from implementations import BoardSeat, Make, implementations
from numpy.typing import NDArray
from reference.xiangqi import Xiangqi

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
RULESETS = ("standard", "axf")


@pytest.fixture(params=implementations(Xiangqi))
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> BoardSeat:
    return BoardSeat(make, request.param, size=9, num_ranks=10)


every_ruleset = pytest.mark.parametrize("ruleset", RULESETS)


def test_start_position(make: Make, seat: BoardSeat) -> None:
    assert make().state().fen() == START
    state = seat.state(START.split(" ")[0])
    assert state.to_move == seat.us and len(seat.turns(state)) == 44
    assert seat.targets(state, "b1") == {"a3", "c3"}
    assert seat.targets(state, "b3") == set("a3 c3 d3 e3 f3 g3 b2 b4 b5 b6 b7 b10".split())
    assert seat.targets(state, "e1") == {"e2"} and seat.targets(state, "a4") == {"a5"}


# --- XQ-1 -----------------------------------------------------------------------------------------

MOVEMENTS = {
    "chariot": ("Re5 Pe8 pb5 Ne2", "e5", "e6 e7 e4 e3 d5 c5 b5 f5 g5 h5 i5"),
    "horse": ("Ne5", "e5", "d7 f7 g6 g4 f3 d3 c4 c6"),
    "horse with a blocked leg": ("Ne5 pe6 Pd5", "e5", "g6 g4 f3 d3"),
    "horse is not blocked elsewhere": ("Ne5 pf6 pd6", "e5", "d7 f7 g6 g4 f3 d3 c4 c6"),
    "horse captures": ("Ne5 pd7 Pf7", "e5", "d7 g6 g4 f3 d3 c4 c6"),
    "elephant": ("Be3", "e3", "c5 g5 c1 g1"),
    "elephant with a blocked eye": ("Be3 pf4 Rd2", "e3", "c5 g1"),
    "elephant stays on its side": ("Bc5", "c5", "a3 e3"),
    "advisor": ("Ae2", "e2", "f1 d3 f3"),
    "advisor stays in the palace": ("Af3", "f3", "e2"),
    "general": ("", "d1", "d2 e1"),
    "cannon moves": ("Ce5", "e5", "e1 e2 e3 e4 e6 e7 e8 e9 e10 a5 b5 c5 d5 f5 g5 h5 i5"),
    "cannon jumps either colour": (
        "Ce5 Pe8 pe9 nb5 pa5 Ph5 pi5",
        "e5",
        "e1 e2 e3 e4 e6 e7 e9 d5 c5 a5 f5 g5 i5",
    ),
    "cannon jumps exactly one": (
        "Ce5 pe6 pe7 pe8 Rd5 Rc5 pb5",
        "e5",
        "e1 e2 e3 e4 e7 f5 g5 h5 i5",
    ),
    "cannon jumps from afar": ("Ce2 pe5 re9", "e2", "e1 e3 e4 e9 a2 b2 c2 d2 f2 g2 h2 i2"),
    "cannon does not capture next to it": (
        "Ce5 pe6 Pf5",
        "e5",
        "e1 e2 e3 e4 a5 b5 c5 d5",
    ),
    "soldier": ("Pc4", "c4", "c5"),
    "soldier before the river": ("Pc5", "c5", "c6"),
    "soldier beyond the river": ("Pc6", "c6", "c7 b6 d6"),
    "soldier at the edge": ("Pa7", "a7", "a8 b7"),
    "soldier captures as it moves": ("Pc6 nc7 nb6 Rd6 rd7", "c6", "c7 b6"),
    "soldier on the last rank": ("Pc10", "c10", "b10 d10"),
}


@pytest.mark.parametrize(("pieces", "origin", "targets"), MOVEMENTS.values(), ids=MOVEMENTS)
def test_xq1_movement(seat: BoardSeat, pieces: str, origin: str, targets: str) -> None:
    state = seat.state(f"Kd1 kf10 pi10 {pieces}")
    assert seat.targets(state, origin) == set(targets.split())


def test_xq1_general_stays_in_the_palace(seat: BoardSeat) -> None:
    assert seat.targets(seat.state("Kf3 kd10 pi10"), "f3") == {"e3", "f2"}
    assert seat.targets(seat.state("Ke2 kd10 pi10"), "e2") == {"e1", "e3", "f2"}  # d2 would face


def test_xq1_capture(seat: BoardSeat) -> None:
    state = seat.state("Kd1 kf10 Cb3 pb5 nb8")
    seat.play(state, "b3b8")
    assert seat.pieces(state) == {"Kd1", "kf10", "Cb8", "pb5"}
    assert state.num_pieces(seat.us) == 2 and state.num_pieces(seat.them) == 2


def test_xq1_soldier_does_not_promote(seat: BoardSeat) -> None:
    state = seat.state("Kd1 kf10 Pa9")
    seat.play(state, "a9a10")
    assert "Pa10" in seat.pieces(state)


# --- XQ-2 -----------------------------------------------------------------------------------------


def test_xq2_generals_never_face(seat: BoardSeat) -> None:
    assert seat.targets(seat.state("Kd1 ke10 pi10"), "d1") == {"d2"}
    assert seat.targets(seat.state("Kd1 ke10 pe5"), "d1") == {"d2", "e1"}
    assert seat.targets(seat.state("Ke1 Ne5 ke10"), "e5") == set()
    assert len(seat.targets(seat.state("Ke1 Ne5 pe8 ke10"), "e5")) == 8


def test_xq2_pinned_pieces(seat: BoardSeat) -> None:
    assert seat.targets(seat.state("Kd1 Nd4 rd9 kf10"), "d4") == set()
    assert seat.targets(seat.state("Kd1 Nd4 pd5 cd9 kf10"), "d4") == set()  # one of two hurdles
    assert seat.targets(seat.state("Kd1 Nd4 pd5 rd9 kf10"), "d4") != set()
    along = set("d2 d3 d5 d6 d7 d8 d9".split())
    assert seat.targets(seat.state("Kd1 Rd4 rd9 kf10"), "d4") == along


def test_xq2_check_must_be_answered(seat: BoardSeat) -> None:
    assert seat.turns(seat.state("Kd1 Rb5 rd9 kf10")) == {"b5d5", "d1e1"}
    assert seat.turns(seat.state("Kd1 Ra9 rd9 kf10")) == {"a9d9", "d1e1"}


def test_xq2_cannon_check_is_answered_at_the_hurdle(seat: BoardSeat) -> None:
    turns = seat.turns(seat.state("Kd1 Nd4 Pa4 cd9 kf10"))
    assert "a4a5" not in turns
    assert {"d1e1", "d4b5", "d4f5"} <= turns


def test_xq2_horse_check_is_answered_at_its_leg(seat: BoardSeat) -> None:
    assert seat.turns(seat.state("Kd1 Ra2 nc3 kf10")) == {"d1d2", "d1e1", "a2c2"}
    assert seat.turns(seat.state("Kd1 Rc9 nc3 kf10")) == {"d1d2", "d1e1", "c9c3"}


# --- XQ-3 -----------------------------------------------------------------------------------------


@every_ruleset
def test_xq3_checkmate(seat: BoardSeat, ruleset: str) -> None:
    state = seat.state("Kd1 Ra9 Rb8 kf10", ruleset)
    seat.play(state, "b8b10")
    assert seat.wins(state, "checkmate")
    assert state.legal_actions().size == 0 and not state.legal_action_mask().any()
    assert state.turns() == [] and state.to_move == seat.them
    assert seat.loses(seat.state("Kd1 ra1 rb2 kf10", ruleset), "checkmate")


@every_ruleset
def test_xq3_stalemate_loses(seat: BoardSeat, ruleset: str) -> None:
    assert seat.loses(seat.state("Kd1 re5 ra2 kf10", ruleset), "stalemate")
    state = seat.state("Kd1 Re5 Ra8 kf10", ruleset)
    seat.play(state, "a8a9")
    assert seat.wins(state, "stalemate")
    assert state.returns() == ((1.0, -1.0) if seat.us == 0 else (-1.0, 1.0))


# --- XQ-4 -----------------------------------------------------------------------------------------

CHECKS = ("a9a10", "e10e9", "a10a9", "e9e10", "a9a10", "e10e9")  # three checks, three answers


def test_xq4_no_fourth_check(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10")
    seat.play(state, *CHECKS)
    assert "a10a9" not in seat.turns(state)
    assert {"a10b10", "a10a8", "a10e10"} - seat.turns(state) == {"a10e10"}  # a check as well
    before = state.copy()
    with pytest.raises(IllegalActionError):
        seat.play(state, "a10a9")
    assert state == before
    assert "a10a9" in seat.turns(state.game.state(state.fen()))  # a FEN knows no chain


def test_xq4_axf_has_no_limit(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10", "axf")
    seat.play(state, *CHECKS)
    assert {"a10a9", "a10e10"} <= seat.turns(state)


def test_xq4_another_piece_may_check(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 Ri1 ke10")
    seat.play(state, *CHECKS)
    assert "i1i9" in seat.turns(state) and "a10a9" not in seat.turns(state)
    seat.play(state, "i1i9", "e9e8")
    assert "a10a8" in seat.turns(state)  # a new chain of the first piece


def test_xq4_a_quiet_turn_ends_the_chain(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 Pc4 ke10")
    seat.play(state, *CHECKS, "c4c5", "e9e8")
    assert "a10a8" in seat.turns(state)
    seat.play(state, "a10a8", "e8e9", "a8a9", "e9e10", "a9a10", "e10e9")
    assert "a10a9" not in seat.turns(state)


def test_xq4_another_answering_piece_begins_a_new_chain(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10 rc5")
    seat.play(state, *CHECKS[:5], "c5c10")
    assert "a10c10" in seat.turns(state)  # it would be the fourth


def test_xq4_the_check_just_answered_is_the_first_of_the_new_chain(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10 rc5")
    seat.play(state, "a9a10", "e10e9", "a10a9", "c5c9")
    seat.play(state, "a9c9", "e9e10")  # the general answers: this check is now the first
    seat.play(state, "c9c10", "e10e9", "c10c9", "e9e10")
    assert "c9c10" not in seat.turns(state)


def test_xq4_captures_are_checks_too(seat: BoardSeat) -> None:
    for ruleset in RULESETS:
        state = seat.state("Kd1 Ra10 ke9 ba8", ruleset)
        seat.play(state, "a10a9", "e9e10", "a9a10", "e10e9", "a10a9", "e9e8")
        assert ("a9a8" in seat.turns(state)) == (ruleset == "axf")


def test_xq4_may_leave_no_legal_turn(seat: BoardSeat) -> None:
    """Only the soldier can move, and only to check: XQ-3 counts the turns that are left."""
    pieces = "Kd1 Pd9 Nf9 ke10 af10 af8 ng9 ra2 ng2 pd6"
    turns = ("d9e9", "e10d10", "e9d9", "d10e10", "d9e9", "e10d10")
    state = seat.state(pieces, "axf")
    seat.play(state, *turns)
    assert seat.turns(state) == {"e9d9", "e9e10"}
    state = seat.state(pieces)
    seat.play(state, *turns)
    assert seat.loses(state, "stalemate")


@every_ruleset
def test_xq4_a_mating_turn_is_no_exception(seat: BoardSeat, ruleset: str) -> None:
    state = seat.state("3a1k3/9/b8/r6N1/9/9/5C3/9/4K4/9", ruleset)
    seat.play(state, "h7f8", "a7f7", "f8h7", "f7a7", "h7f8", "a7f7")
    assert ("f8h9" in seat.turns(state)) == (ruleset == "axf")
    if ruleset == "axf":
        seat.play(state, "f8h9")
        assert seat.wins(state, "checkmate")


def test_xq4_the_chain_is_observed(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10")
    seat.play(state, "a9a10")
    assert chain_of(state, seat, seat.us) == (1 / 3, "a10", None)
    seat.play(state, "e10e9")
    assert chain_of(state, seat, seat.us) == (1 / 3, "a10", "e9")
    seat.play(state, "a10a9")
    assert chain_of(state, seat, seat.us) == (2 / 3, "a9", "e9")
    assert chain_of(state, seat, seat.them) == (0, None, None)
    seat.play(state, "e9e10", "a9a10", "e10e9")
    assert chain_of(state, seat, seat.us) == (1, "a10", "e9")
    seat.play(state, "a10b10")
    assert chain_of(state, seat, seat.us) == (0, None, None)
    again = state.game.state(state.fen())
    assert (again.observation()[:21] == state.observation()[:21]).all()


def test_xq4_the_observed_chain_of_new_pieces(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10 rc5")
    seat.play(state, "a9a10", "e10e9", "a10a9", "c5c9")
    assert chain_of(state, seat, seat.us) == (1 / 3, "a9", "c9")
    seat.play(state, "a9c9")
    assert chain_of(state, seat, seat.us) == (2 / 3, "c9", None)  # it captured the answerer
    seat.play(state, "e9e10")
    assert chain_of(state, seat, seat.us) == (1 / 3, "c9", "e10")


def test_xq4_the_checking_piece_is_captured(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10")
    seat.play(state, "a9e9", "e10e9")
    assert chain_of(state, seat, seat.us) == (0, None, None)


def test_xq4_axf_shows_no_chain(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 ke10", "axf")
    seat.play(state, *CHECKS)
    assert not state.observation()[14:20].any()


def chain_of(state: State, seat: BoardSeat, player: int) -> tuple[float, str | None, str | None]:
    """Return what both players see of a chain: length / 3, checking piece, answering piece."""
    chains = []
    for viewer in (0, 1):
        first = 14 if viewer == player else 17
        length, checker, answerer = state.observation(viewer)[first : first + 3]
        assert (length == length[0, 0]).all()
        [value] = [x for x in (0, 1 / 3, 2 / 3, 1) if np.float32(x) == length[0, 0]]
        chains.append((value, marked(checker, seat, viewer), marked(answerer, seat, viewer)))
    assert chains[0] == chains[1]
    return chains[0]


def marked(plane: NDArray[np.float32], seat: BoardSeat, viewer: int) -> str | None:
    """Return the one square that is marked in a plane seen by `viewer`, as our side calls it."""
    names = [f"{'abcdefghi'[file]}{rank + 1}" for rank, file in np.argwhere(plane).tolist()]
    if not names:
        return None
    [name] = names
    return name if viewer == seat.us else seat.turned_text(name)


# --- XQ-5 -----------------------------------------------------------------------------------------


def repeated(seat: BoardSeat, pieces: str, cycle: str, ruleset: str = "standard") -> State:
    """Return the state after twice the four turns of a cycle; it is over then and not before."""
    state = seat.state(pieces, ruleset)
    for turn in cycle.split() * 2:
        assert not state.is_over
        seat.play(state, turn)
    assert state.occurrences == 3
    return state


def test_xq5_third_occurrence_draws(seat: BoardSeat) -> None:
    state = repeated(seat, "Kd1 Ra5 ni9 kf10", "d1d2 f10f9 d2d1 f9f10")
    assert seat.draws(state, "repetition")
    assert (state.observation()[21] == 1).all()


def test_xq5_a_fen_has_occurred_once(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra5 ni9 kf10")
    seat.play(state, *"d1d2 f10f9 d2d1 f9f10".split())
    assert state.occurrences == 2
    again = state.game.state(state.fen())
    assert again.occurrences == 1
    seat.play(again, *"d1d2 f10f9 d2d1 f9f10".split())
    assert not again.is_over and again.occurrences == 2


def test_xq5_perpetual_check_loses(seat: BoardSeat) -> None:
    state = repeated(seat, "Kd1 Ra9 ke10", "a9a10 e10e9 a10a9 e9e10", "axf")
    assert seat.loses(state, "perpetual_check")


@every_ruleset
def test_xq5_every_turn_must_check(seat: BoardSeat, ruleset: str) -> None:
    state = repeated(seat, "Kd1 Ra8 ke10", "a8a10 e10e9 a10a8 e9e10", ruleset)
    assert seat.draws(state, "repetition")


def test_xq5_perpetual_check_in_standard(seat: BoardSeat) -> None:
    """Two pieces check by turns, so that no chain grows to four."""
    state = seat.state("Kf3 Ri1 Nd7 kd8")
    seat.play(state, *"i1i8 d8d9 i8i9 d9d8 i9i8 d8d9 d7f8 d9d8".split())
    assert not state.is_over
    seat.play(state, "f8d7")
    assert seat.loses(state, "perpetual_check")


def test_xq5_turns_before_the_first_occurrence_do_not_count(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra7 ke10", "axf")
    seat.play(state, "a7b7", "e10e9")  # gives no check
    seat.play(state, "b7b9", *"e9e10 b9b10 e10e9 b10b9".split() * 2)
    assert seat.loses(state, "perpetual_check")


@every_ruleset
def test_xq5_perpetual_chase_loses(seat: BoardSeat, ruleset: str) -> None:
    state = repeated(seat, "Kd1 Ra5 cc6 kf10", "a5a6 c6c5 a6a5 c5c6", ruleset)
    assert seat.loses(state, "perpetual_chase")


def test_xq5_the_second_player_may_be_the_hunter(seat: BoardSeat) -> None:
    state = repeated(seat, "Kd1 Cc6 ra6 kf10", "c6c5 a6a5 c5c6 a5a6")
    assert seat.wins(state, "perpetual_chase")


def test_xq5_two_hunters_draw(seat: BoardSeat) -> None:
    """The horse hunts the chariot, the chariot the cannon and the elephant by turns."""
    state = repeated(seat, "9/9/1C3k3/8r/9/9/4P3c/B2N5/4K4/1r7", "d3b2 i7b7 b2d3 b7i7")
    assert seat.draws(state, "repetition")


def test_xq5_a_check_among_chases_makes_idle(seat: BoardSeat) -> None:
    state = repeated(seat, "Kd1 Ra5 cc5 kf10", "a5a10 f10f9 a10a5 f9f10")
    assert seat.draws(state, "repetition")


def test_xq5_one_piece_must_be_chased_by_every_turn(seat: BoardSeat) -> None:
    state = repeated(seat, "Kd1 Ra5 cc6 nc5 kf10", "a5a6 f10f9 a6a5 f9f10")
    assert seat.draws(state, "repetition")


# --- XQ-6 -----------------------------------------------------------------------------------------

CHARIOT_HUNT = "a5a6 c6c5 a6a5 c5c6"
DISCOVERIES = "e5a5 f10f9 a5e5 f9f10"  # the chariot in front leaves and comes back

CHASES = {
    "chariot hunts a cannon": ("Kd1 Ra5 cc6 kf10", CHARIOT_HUNT),
    "the protector is pinned": ("Kd1 Ra5 Ra10 cc6 rc10 kf10", CHARIOT_HUNT),
    "a cannon may hunt a protected chariot": ("Kd1 Ca5 Pb5 Pb6 rc6 rc10 kf10", CHARIOT_HUNT),
    "an elephant may hunt protected pieces": ("Kd1 Be3 Rd4 rc5 ne6 ke10", "d4f4 c5g5 f4d4 g5c5"),
    "a pinned chariot may be hunted by one": ("Ke1 Re2 Ra5 re6 ke10", "a5a6 e6e5 a6a5 e5e6"),
    "two hunters by turns, the prey at rest": ("Kd1 Re5 Re2 ne7 kf10", DISCOVERIES),
    "soldier beyond the river": ("Kd1 Rb9 pc4 kf10", "b9c9 c4b4 c9b9 b4c4"),
}
NO_CHASES = {
    "protected": ("Kd1 Ra5 cc6 rc10 kf10", CHARIOT_HUNT),
    "chariots that can take each other": ("Kd1 Ra5 rc6 kf10", CHARIOT_HUNT),
    "soldier on its own half": ("Kd1 Re5 Re2 pe7 kf10", DISCOVERIES),
    "hunted by a soldier": ("Kd1 Pb6 cc7 kf10", "b6c6 c7b7 c6b6 b7c7"),
    "hunted by the general": ("Ke1 cd2 kf10", "e1d1 d2e2 d1e1 e2d2"),
    "the hunter is pinned": ("Kd1 Rd5 cb6 rd10 kf10", "d5d6 b6b5 d6d5 b5b6"),
    "the attack is not new": ("Kd1 Ra5 nc5 kf10", "a5b5 f10f9 b5a5 f9f10"),
}


@every_ruleset
@pytest.mark.parametrize(("pieces", "cycle"), CHASES.values(), ids=CHASES)
def test_xq6_chase(seat: BoardSeat, pieces: str, cycle: str, ruleset: str) -> None:
    assert seat.loses(repeated(seat, pieces, cycle, ruleset), "perpetual_chase")


@every_ruleset
@pytest.mark.parametrize(("pieces", "cycle"), NO_CHASES.values(), ids=NO_CHASES)
def test_xq6_no_chase(seat: BoardSeat, pieces: str, cycle: str, ruleset: str) -> None:
    assert seat.draws(repeated(seat, pieces, cycle, ruleset), "repetition")


# --- XQ-7, XQ-8 -----------------------------------------------------------------------------------


def test_xq7_quiet_limit(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra5 nc5 kf10", side="w - - 118 30")
    seat.play(state, "a5a6")
    assert not state.is_over
    taken = state.copy()
    seat.play(state, "f10f9")
    assert seat.draws(state, "quiet_limit") and state.fen().split(" ")[4] == "120"
    seat.play(taken, "c5a6")
    assert not taken.is_over and taken.fen().split(" ")[4] == "0"
    over = seat.state("Kd1 Ra5 nc5 kf10", side="w - - 120 30", max_turns=9)
    assert seat.draws(over, "quiet_limit")


def test_xq7_a_soldier_move_is_quiet(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Pa5 kf10", side="w - - 119 30")
    seat.play(state, "a5a6")
    assert seat.draws(state, "quiet_limit")


def test_xq7_mate_on_the_last_turn_counts(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra9 Rb8 kf10", side="w - - 119 90")
    seat.play(state, "b8b10")
    assert seat.wins(state, "checkmate")


def test_xq7_repetition_comes_before_the_quiet_limit(seat: BoardSeat) -> None:
    state = seat.state("Kd1 Ra5 cc6 kf10", side="w - - 112 90")
    seat.play(state, *CHARIOT_HUNT.split() * 2)
    assert seat.loses(state, "perpetual_chase")


def test_xq7_material(seat: BoardSeat) -> None:
    assert seat.draws(seat.state("Kd1 Ae2 Be3 kf10 ae9 be8"), "insufficient_material")
    for piece in "RNCP":
        for letter in (piece, piece.lower()):
            assert not seat.state(f"Kd1 kf10 {letter}i6").is_over
    state = seat.state("Kd1 rd2 kf10")
    seat.play(state, "d1d2")
    assert seat.draws(state, "insufficient_material")
    game = seat.make()
    assert game.perft(1, seat.state("Kd1 Ae2 kf10 pa5").fen()) > 0
    assert game.perft(1, seat.state("Kd1 Ae2 kf10").fen()) == 0


def test_xq8_max_turns(make: Make) -> None:
    game = make()
    assert game.max_turns == 500
    board = START.split(" ")[0]
    state = game.state(f"{board} b - - 0 250")
    assert not state.is_over
    state.push("h10g8")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    assert state.outcome is not None and state.outcome.is_truncation
    assert game.state(f"{board} w - - 0 251").is_over
    state = make(max_turns=1).state()
    state.push("b1c3")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)


# --- FEN ------------------------------------------------------------------------------------------


def test_counters(make: Make) -> None:
    state = make().state("3k5/9/9/9/9/p8/R8/9/9/5K3 w - - 7 5")
    seen = []
    for turn in ("f1f2", "a5b5", "a4b4", "b5c5", "b4c4", "d10d9", "c4c5"):
        state.push(turn)
        seen.append(state.fen().split(" ", 1)[1])
    assert seen == [
        "b - - 8 5",
        "w - - 9 6",
        "b - - 10 6",
        "w - - 11 7",
        "b - - 12 7",
        "w - - 13 8",
        "b - - 0 8",
    ]


@pytest.mark.parametrize(
    ("fen", "written"),
    [
        ("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w", START),
        ("rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w - - 0 1", START),
        ("4k4/9/9/9/9/9/9/9/9/3KR4 b", "4k4/9/9/9/9/9/9/9/9/3KR4 b - - 0 1"),
        ("3k5/9/9/9/9/9/9/9/P7P/5K3 w - - 119 77", "3k5/9/9/9/9/9/9/9/P7P/5K3 w - - 119 77"),
        ("3k1R3/9/9/9/9/9/9/9/9/4K4 b - - 0 1", "3k1R3/9/9/9/9/9/9/9/9/4K4 b - - 0 1"),
    ],
)
def test_fen_is_read(make: Make, fen: str, written: str) -> None:
    state = make().state(fen)
    assert state.fen() == written
    assert state.history == [] and state.occurrences == 1


BOARD = START.split(" ")[0]
FIRST, REST = BOARD.split("/", 1)

WRONG_FENS = [
    ("", ""),
    (BOARD, ""),
    (f"{BOARD} w -", ""),
    (f"{BOARD} w 0 1", ""),
    (f"{BOARD} w - - 0", ""),
    (f"{BOARD} w - - 0 1 ", ""),
    (f"{BOARD} w - - 0 1 1", ""),
    (f" {BOARD} w", ""),
    (f"{BOARD}  w", ""),
    (f"{BOARD}\tw", ""),
    (f"{BOARD} w\n", ""),
    (f"{REST} w", "board"),
    (f"{BOARD}/9 w", "board"),
    (f"{BOARD}/ w", "board"),
    (f"{FIRST}1/{REST} w", "board"),
    (f"rnbakabn/{REST} w", "board"),
    (f"rnbakabn2/{REST} w", "board"),
    (f"0{FIRST}/{REST} w", "board"),
    (BOARD.replace("/9/", "/09/") + " w", "board"),
    (BOARD.replace("/9/", "/10/") + " w", "board"),
    (BOARD.replace("/9/", "/55/") + " w", "board"),
    (BOARD.replace("/9/", "/x8/") + " w", "board"),
    (BOARD.replace("/9/", "/+P8/") + " w", "board"),
    (BOARD.replace("/9/", "/m8/") + " w", "board"),
    (BOARD.replace("/9/", "/\u0661/") + " w", "board"),
    (f"{BOARD} W", "side"),
    (f"{BOARD} white", "side"),
    (f"{BOARD} w a1 - 0 1", ""),
    (f"{BOARD} w - @ 0 1", ""),
    (f"{BOARD} w KQkq - 0 1", ""),
    (f"{BOARD} w - - -1 1", "quiet"),
    (f"{BOARD} w - - 00 1", "quiet"),
    (f"{BOARD} w - - x 1", "quiet"),
    (f"{BOARD} w - - {'9' * 5000} 1", "quiet"),
    (f"{BOARD} w - - 0 0", "move"),
    (f"{BOARD} w - - 0 01", "move"),
    (f"{BOARD} w - - 0 -1", "move"),
    (f"{BOARD} w - - 0 ", ""),
    (f"{BOARD} w - - 0 {2**64 + 1}", "move"),
]


@pytest.mark.parametrize(("fen", "field"), WRONG_FENS)
def test_fen_is_rejected(make: Make, fen: str, field: str) -> None:
    with pytest.raises(FenError, match=field or None):
        make().state(fen)
    with pytest.raises(FenError, match=field or None):
        make().perft(1, fen)


@pytest.mark.parametrize(
    "pieces",
    [
        "Kd1",  # generals missing or doubled
        "kf10 Ra1",
        "Kd1 Ke1 kf10",
        "Kd1 kf10 kf9",
        "Kc1 kf10",  # where they can never be
        "Kd4 kf10",
        "Kd1 kf7",
        "Kd1 kg10",
        "Kd1 kd3",
        "Kd1 kf10 Ad2",
        "Kd1 kf10 Ae1",
        "Kd1 kf10 Ac2",
        "Kd1 kf10 ae8",
        "Kd1 kf10 ad2",
        "Kd1 kf10 Ba1",
        "Kd1 kf10 Bb2",
        "Kd1 kf10 Be5",
        "Kd1 kf10 Ba7",
        "Kd1 kf10 ba3",
        "Kd1 kf10 be6",
        "Ke1 ke10",  # facing
        "Ke1 kd10 Rd5",  # the other general could be captured
        "Ke1 kd10 Nc8",
        "Ke1 kd10 Cd5 Pd7",
        "Ke1 kd10 Pd9",
        "Ke1 kd10 Pe10",
        "Kd1 kf10 Ra1 Rb1 Rc1",  # more than the set
        "Kd1 kf10 na10 nb10 nc10",
        "Kd1 kf10 Ca1 Cb1 Cc1",
        "Kd1 kf10 ad10 ad8 ae9",
        "Kd1 kf10 Bc1 Ba3 Be3",
        "Kd1 kf10 Pa4 Pb4 Pc4 Pe4 Pg4 Ph4",
    ],
)
def test_fen_of_an_impossible_position_is_rejected(seat: BoardSeat, pieces: str) -> None:
    with pytest.raises(FenError, match="board"):
        seat.state(pieces)


@pytest.mark.parametrize(
    "pieces",
    [
        "Ke1 kd10 rd2 re5",  # our own general may be attacked
        "Kd1 kf10 Pa1 Pb2 Pi3 pa10 pb8",  # soldiers may stand anywhere
        "Kd1 kf10 Ad3 Af1 ad8 af8 Bc1 Bi3 bg6 ba8",
        "Kd1 kf10 Ra1 Rb1 Na3 Nb3 Ca4 Cb4 Pa5 Pb5 Pc5 Pe5 Pg5",
        "Ke1 ke10 bg6 pe5",
    ],
)
def test_fen_of_a_possible_position_is_read(seat: BoardSeat, pieces: str) -> None:
    state = seat.state(pieces)
    assert seat.pieces(state) == set(pieces.split())


# --- Observation and actions ----------------------------------------------------------------------


def test_observation(make: Make) -> None:
    state = make().state("3k1a3/9/4b4/9/2p6/9/8P/7N1/c8/R3K2C1 b - - 30 9")
    own = state.observation()
    assert own.shape == (22, 10, 9) and own.dtype == np.float32
    expected = np.zeros((22, 10, 9), np.float32)
    for plane, square in (
        (0, "f1"),  # d10 is f1 of player 1
        (1, "d1"),
        (2, "e3"),
        (6, "g5"),
        (5, "i9"),
        (7, "e10"),
        (13, "a7"),
        (10, "b8"),
        (11, "i10"),
        (12, "b10"),
    ):
        expected[plane, int(square[1:]) - 1, "abcdefghi".index(square[0])] = 1
    expected[20] = np.float32(30 / 120)
    assert (own == expected).all()
    assert (state.observation(1) == own).all()
    assert state.observation(0)[0, 0, 4] == state.observation(0)[12, 1, 0] == 1
    assert (make().state(f"{BOARD} w - - 500 1").observation()[20] == 1).all()


def test_absolute_view(make: Make) -> None:
    game = make(view="absolute")
    assert game.observation_shape == (23, 10, 9) and make().observation_shape == (22, 10, 9)
    for side in "wb":
        fen = f"{BOARD} {side} - - 3 4"
        state, relative = game.state(fen), make().state(fen)
        for player in (None, 0, 1):
            assert (state.observation(player)[:22] == relative.observation(0)).all()
            assert (state.observation(player)[22] == (side == "b")).all()
        assert (state.legal_actions() == relative.legal_actions()).all()


ACTIONS = {
    "north": ("Kd1 kf10 Ra1", "a1a10", 8, "a1"),
    "south": ("Kd1 kf9 Rb10", "b10b1", 17, "b10"),
    "east": ("Kd2 kf10 Ra1", "a1i1", 25, "a1"),
    "west": ("Kd2 kf10 Ri1", "i1a1", 33, "i1"),
    "one step north": ("Kd1 kf10 Ra1", "d1d2", 0, "d1"),
    "one step east": ("Kd1 kf10 Ra1", "d1e1", 18, "d1"),
    "elephant": ("Kd1 kf10 Ba3 Ra1", "a3c1", 43, "a3"),
    "advisor": ("Kd1 kf10 Ae2 Ra1", "e2d3", 49, "e2"),
    "soldier": ("Kd1 kf10 Pe6", "e6d6", 26, "e6"),
    "cannon": ("Kd1 kf10 Ca5 pb5 nd5", "a5d5", 20, "a5"),
    **{
        f"horse to {target}": ("Kd1 kf10 Ne5", f"e5{target}", 34 + index, "e5")
        for index, target in enumerate("f7 g6 g4 f3 d3 c4 c6 d7".split())
    },
}


@pytest.mark.parametrize(("pieces", "turn", "plane", "origin"), ACTIONS.values(), ids=ACTIONS)
def test_actions(seat: BoardSeat, pieces: str, turn: str, plane: int, origin: str) -> None:
    state = seat.state(pieces)
    text = seat.turned_text(turn) if seat.us else turn
    square = (int(origin[1:]) - 1) * 9 + "abcdefghi".index(origin[0])
    assert state.action_from_text(text) == plane * 90 + square
    assert state.action_to_text(plane * 90 + square) == text


def test_mirror_actions(make: Make) -> None:
    game = make()
    mirror = game.mirror_actions
    assert mirror is not None and mirror.dtype == np.int32 and mirror.shape == (4500,)
    assert (mirror[mirror] == np.arange(4500)).all()
    for state in random_game(game, random.Random(2))[::7]:
        board, rest = state.fen().split(" ", 1)
        mirrored = game.state("/".join(rank[::-1] for rank in board.split("/")) + " " + rest)
        actions = game.state(state.fen()).legal_actions()
        assert sorted(mirror[actions].tolist()) == mirrored.legal_actions().tolist()
        planes = [*range(14), 20]
        assert (mirrored.observation()[planes] == state.observation()[planes, :, ::-1]).all()


# --- The interface --------------------------------------------------------------------------------


def random_game(game: Game, generator: random.Random, max_steps: int = 200) -> list[State]:
    """Return the states of a random game from the start, at most `max_steps` of them."""
    states = [game.state()]
    while not states[-1].is_over and len(states) <= max_steps:
        state = states[-1].copy()
        state.apply(generator.choice(state.legal_actions().tolist()))
        states.append(state)
    return states


@every_ruleset
def test_random_games(make: Make, ruleset: str) -> None:
    """At many steps: FEN round trip, copy, undo, pickle, text, mask and players exchanged."""
    generator = random.Random(1)
    game = make(ruleset=ruleset)
    seat = BoardSeat(make, 1, size=9, num_ranks=10)
    states = random_game(game, generator)
    for before, state in zip(states, states[1:], strict=False):
        if generator.random() < 0.7:
            continue
        again = game.state(state.fen())
        assert again.fen() == state.fen() and again.key() == state.key()
        actions = state.legal_actions()
        assert actions.dtype == np.int32 and (np.diff(actions) > 0).all()
        assert np.flatnonzero(state.legal_action_mask()).tolist() == actions.tolist()
        texts = [state.action_to_text(action) for action in actions.tolist()]
        assert [state.action_from_text(text) for text in texts] == actions.tolist()
        assert state.turns() == texts and state.turns(limit=2) == texts[:2]
        assert pickle.loads(pickle.dumps(state)) == state == copy.deepcopy(state)
        taken_back = state.copy()
        taken_back.undo()
        assert taken_back == before != state and taken_back.fen() == before.fen()
        if not state.is_over:
            other = game.state(seat.turned_fen(state.fen()))
            assert other.turns() == [
                seat.turned_text(turn) for turn in game.state(state.fen()).turns()
            ]
            planes = [*range(14), 20]
            assert (other.observation()[planes] == state.observation()[planes]).all()


def test_options(make: Make) -> None:
    game = make()
    assert isinstance(game, Game) and isinstance(game.state(), State)
    assert (game.id, game.ruleset, game.setup) == ("xiangqi_v0", "standard", "default")
    assert tuple(game.rulesets) == RULESETS and tuple(game.setups) == ("default",)
    assert (game.num_actions, game.action_shape) == (4500, (50, 10, 9))
    assert game == make() == pickle.loads(pickle.dumps(game)) and hash(game) == hash(make())
    for other in (make(ruleset="axf"), make(max_turns=10), make(view="absolute")):
        assert game != other and game.state() != other.state()
    with pytest.raises(UnknownGameError):
        make(ruleset="chess")
    with pytest.raises(UnknownGameError):
        make(setup="random")
    with pytest.raises(ConfigurationError):
        make(max_turns=0)


def test_illegal_actions_change_nothing(seat: BoardSeat) -> None:
    state = seat.state(BOARD)
    before = state.copy()
    legal = set(state.legal_actions().tolist())
    actions = set(range(0, 4500, 7)) - legal
    for action in (*actions, -1, 4500, 2**31, -(2**63)):
        with pytest.raises(IllegalActionError, match=str(action)):
            state.apply(action)
    for turn in ("", "a1", "gibberish", "a1a1", "P@a2", "pass", "e1e10", "B1C3"):
        with pytest.raises(IllegalActionError):
            state.push(turn)
        with pytest.raises(IllegalActionError):
            state.action_from_text(turn)
    assert state == before
    with pytest.raises(IllegalActionError):
        state.undo()


# --- Perft ----------------------------------------------------------------------------------------


def test_perft_counts_every_turn_of_a_fen_alone(make: Make) -> None:
    game = make()
    assert game.perft(0) == 1
    assert game.perft(1, "3k5/9/9/9/9/9/9/9/r8/4K4 w - - 900 900") == 1  # the limits are ignored
    assert game.perft(1, "5k3/9/9/9/9/9/9/9/1r7/r2K5 w") == 0  # mate
