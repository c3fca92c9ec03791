"""Each clause of the Dobutsu rules as a named test, for every implementation of them.

Positions are written for the player to move as player 0; every clause is tested for both players
by turning board and text. `IMPLEMENTATIONS` holds the slow reference and the native engine.
"""

import copy
import pickle
import random
import re

import numpy as np
import pytest
from implementations import Make, PlayerSeat, implementations
from reference.dobutsu import Dobutsu

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError

RULESETS = ("standard", "fairy", "delayed_try")
START = "gle/1c1/1C1/ELG[-] w - - 0 1"
IMPLEMENTATIONS = implementations(Dobutsu)


# --- Both players -----------------------------------------------------------------------------


def turned_fen(fen: str) -> str:
    """The same position with the players exchanged: the board turned, counters kept."""
    board, side, *rest = fen.split(" ")
    placement, hand = board.rstrip("]").split("[")
    placement = placement[::-1].swapcase()
    hand = "".join(sorted(hand.swapcase(), key=str.islower))
    return " ".join([f"{placement}[{hand}]", "bw"["wb".index(side)], *rest])


def turned_text(text: str) -> str:
    """The same move by the other player."""
    return re.sub(
        "[abc][1-4]", lambda name: "cba"["abc".index(name[0][0])] + str(5 - int(name[0][1])), text
    )


class Seat(PlayerSeat):
    def turned_fen(self, fen: str) -> str:
        return turned_fen(fen)

    def turned_text(self, text: str) -> str:
        return turned_text(text)


@pytest.fixture(params=IMPLEMENTATIONS)
def make(request: pytest.FixtureRequest) -> Make:
    implementation: Make = request.param
    return implementation


@pytest.fixture(params=[0, 1], ids=["player_0", "player_1"])
def seat(make: Make, request: pytest.FixtureRequest) -> Seat:
    return Seat(make, request.param)


every_ruleset = pytest.mark.parametrize("ruleset", RULESETS)


def test_start_position(make: Make, seat: Seat) -> None:
    assert make().state().fen() == START
    state = seat.state("gle/1c1/1C1/ELG[-]")
    assert state.to_move == seat.us
    assert seat.turns(state) == {"c1c2", "b2b3", "b1c2", "b1a2"}
    assert state.legal_actions().tolist() == [2, 4, 12 + 1, 7 * 12 + 1]  # N, N, NE, NW


# --- DS-1 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("board", "targets"),
    [
        ("1l1/3/1L1/3[-]", "a1 b1 c1 a2 c2 a3 b3 c3"),
        ("1l1/3/1G1/L2[-]", "b1 a2 c2 b3"),
        ("1l1/3/1E1/1L1[-]", "a1 c1 a3 c3"),
        ("1l1/3/1C1/1L1[-]", "b3"),
        ("1l1/3/1H1/L2[-]", "b1 a2 c2 a3 b3 c3"),
    ],
)
def test_ds1_how_the_pieces_step(seat: Seat, board: str, targets: str) -> None:
    turns = {turn for turn in seat.turns(seat.state(board)) if turn.startswith("b2")}
    assert turns == {f"b2{square}" for square in targets.split()}


def test_ds1_own_pieces_block(seat: Seat) -> None:
    state = seat.state("1l1/1E1/CGC/1L1[-]")
    assert not any(turn.startswith("b2") for turn in seat.turns(state))


@pytest.mark.parametrize(("captured", "joins"), [("g", "G"), ("e", "E"), ("c", "C"), ("h", "C")])
def test_ds1_captured_piece_joins_the_hand(seat: Seat, captured: str, joins: str) -> None:
    state = seat.state(f"2l/1{captured}1/1G1/L2[-]")
    seat.play(state, "b2b3")
    assert seat.board(state) == f"2l/1G1/3/L2[{joins}]"


def test_ds1_hands_are_listed_by_player_and_in_order(seat: Seat) -> None:
    state = seat.state("2l/1c1/1L1/3[EGecg]")
    seat.play(state, "b2b3")
    assert seat.board(state) == "2l/1L1/3/3[GCEgce]"


# --- DS-2 -------------------------------------------------------------------------------------


def test_ds2_drop_on_any_empty_square(seat: Seat) -> None:
    state = seat.state("l2/3/1C1/2L[Cg]")
    drops = {turn for turn in seat.turns(state) if "@" in turn}
    empty = "b4 c4 a3 b3 c3 a2 c2 a1 b1".split()  # the last rank and the file of the other chick
    assert drops == {f"C@{square}" for square in empty}
    seat.play(state, "C@b1")
    assert seat.board(state) == "l2/3/1C1/1CL[g]"


def test_ds2_two_equal_pieces_are_one_action(seat: Seat) -> None:
    state = seat.state("l2/3/3/2L[EE]")
    actions = state.legal_actions().tolist()
    assert len(actions) == len(set(actions)) == 3 + 10
    seat.play(state, "E@b1")
    assert seat.board(state) == "l2/3/3/1EL[E]"


def test_ds2_chick_dropped_on_the_last_rank_stays_a_chick(seat: Seat) -> None:
    state = seat.state("l2/3/3/2L[C]")
    seat.play(state, "C@c4", "a4a3")
    assert seat.board(state) == "2C/l2/3/2L[-]"
    assert seat.turns(state) == {"c1b1", "c1b2", "c1c2"}


def test_ds2_mate_by_drop(seat: Seat) -> None:
    state = seat.state("l2/2E/1H1/2L[C]")
    seat.play(state, "C@a3")  # guarded by the hen, as is b3; b4 is by the elephant
    assert seat.wins(state, "checkmate")


# --- DS-3 -------------------------------------------------------------------------------------


def test_ds3_promotion_is_compulsory(seat: Seat) -> None:
    state = seat.state("l2/1C1/3/2L[-]")
    assert {turn for turn in seat.turns(state) if turn.startswith("b3")} == {"b3b4+"}
    before = state.copy()
    with pytest.raises(IllegalActionError):
        seat.play(state, "b3b4")
    assert state == before
    seat.play(state, "b3b4+")
    assert seat.board(state) == "lH1/3/3/2L[-]"


def test_ds3_promotion_by_capture(seat: Seat) -> None:
    state = seat.state("lg1/1C1/3/2L[-]")
    seat.play(state, "b3b4+")
    assert seat.board(state) == "lH1/3/3/2L[G]"


def test_ds3_other_pieces_do_not_promote(seat: Seat) -> None:
    state = seat.state("l2/1GE/3/2L[-]")
    assert {"b3b4", "c3b4"} <= seat.turns(state)
    seat.play(state, "c3b4")
    assert seat.board(state) == "lE1/1G1/3/2L[-]"


# --- DS-4 -------------------------------------------------------------------------------------


@every_ruleset
def test_ds4_capturing_the_lion_wins(seat: Seat, ruleset: str) -> None:
    state = seat.state("3/1l1/1G1/2L[c]", ruleset)
    seat.play(state, "b2b3")
    assert seat.wins(state, "lion_captured")
    assert state.returns() == ((1.0, -1.0) if seat.us == 0 else (-1.0, 1.0))
    assert seat.board(state) == "3/1G1/3/2L[Lc]"
    assert state.legal_actions().size == 0 and not state.legal_action_mask().any()
    assert state.turns() == [] and state.to_move == seat.them


@every_ruleset
def test_ds4_the_lion_may_step_into_capture(seat: Seat, ruleset: str) -> None:
    state = seat.state("3/1l1/3/1L1[-]", ruleset)
    seat.play(state, "b1b2")
    assert not state.is_over
    seat.play(state, "b3b2")
    assert seat.loses(state, "lion_captured")


@every_ruleset
def test_ds4_the_lion_may_be_left_to_capture(seat: Seat, ruleset: str) -> None:
    state = seat.state("l2/3/1g1/1LC[-]", ruleset)
    seat.play(state, "c1c2")
    assert not state.is_over
    seat.play(state, "b2b1")
    assert seat.loses(state, "lion_captured")


@every_ruleset
def test_ds4_capturing_a_lion_that_has_arrived(seat: Seat, ruleset: str) -> None:
    state = seat.state("1l1/L2/3/3[-]", ruleset)
    seat.play(state, "a3a4")
    assert not state.is_over
    seat.play(state, "b4a4")
    assert seat.loses(state, "lion_captured")


# --- DS-5 -------------------------------------------------------------------------------------


def test_ds5_safe_arrival_wins_at_once(seat: Seat) -> None:
    state = seat.state("2l/L2/3/3[-]")
    assert not state.is_over
    seat.play(state, "a3a4")
    assert seat.wins(state, "try")


def test_ds5_safe_arrival_by_capture(seat: Seat) -> None:
    state = seat.state("c1l/L2/3/3[-]")
    seat.play(state, "a3a4")
    assert seat.wins(state, "try")
    assert seat.board(state) == "L1l/3/3/3[C]"


def test_ds5_attacked_arrival_wins_when_it_survives(seat: Seat) -> None:
    state = seat.state("1l1/L2/3/3[-]")
    seat.play(state, "a3a4")
    assert not state.is_over
    seat.play(state, "b4c3")
    assert seat.wins(state, "try")


def test_ds5_survival_counts_even_under_attack(seat: Seat) -> None:
    state = seat.state("1g1/L2/2l/3[-]")
    seat.play(state, "a3a4", "c2c3")
    assert seat.wins(state, "try")


def test_ds5_is_looked_at_before_mate(seat: Seat) -> None:
    state = seat.state("1g1/L2/1el/3[-]")
    seat.play(state, "a3a4", "c2c3")  # a4, b4, a3 and b3 are all attacked, but the lion survived
    assert seat.wins(state, "try")


def test_ds5_the_reply_may_end_the_game_otherwise(seat: Seat) -> None:
    state = seat.state("1g1/L2/2l/3[-]")
    seat.play(state, "a3a4", "c2c1")  # a safe arrival of their own
    assert seat.loses(state, "try")


def test_ds5_two_attacked_arrivals(seat: Seat) -> None:
    state = seat.state("1g1/L2/2l/1G1[-]")
    seat.play(state, "a3a4", "c2c1")  # attacked, so that ours, which came first, has survived
    assert seat.wins(state, "try")


def test_ds5_read_from_fen(seat: Seat) -> None:
    assert seat.wins(seat.state("L2/3/1l1/3[-]", side="b"), "try")  # just arrived, safe
    assert not seat.state("Lg1/3/1l1/3[-]", side="b").is_over  # just arrived, attacked
    assert seat.wins(seat.state("Lg1/3/1l1/3[-]", side="w"), "try")  # survived
    assert seat.wins(seat.state("L2/3/1l1/3[-]", "delayed_try", "w"), "try")
    assert not seat.state("L2/3/1l1/3[-]", "delayed_try", "b").is_over
    assert seat.wins(seat.state("L2/3/1l1/3[-]", "fairy", "w"), "try")
    assert seat.wins(seat.state("L2/3/1l1/3[-]", "fairy", "b"), "try")
    assert not seat.state("Lg1/3/1l1/3[-]", "fairy", "w").is_over


def test_ds5_home_rank_is_no_try(seat: Seat) -> None:
    for ruleset in RULESETS:
        assert not seat.state("l2/3/3/2L[-]", ruleset).is_over


def test_ds5_fairy_safe_arrival_wins_at_once(seat: Seat) -> None:
    state = seat.state("2l/L2/3/3[-]", "fairy")
    seat.play(state, "a3a4")
    assert seat.wins(state, "try")


def test_ds5_fairy_wins_whenever_the_lion_stands_unattacked(seat: Seat) -> None:
    state = seat.state("1g1/L2/2l/3[-]", "fairy")
    seat.play(state, "a3a4", "c2c3")
    assert not state.is_over  # still attacked: survival is not enough
    seat.play(state, "a4b4")  # takes the giraffe, but the lion c3 attacks b4
    assert not state.is_over
    state = seat.state("1g1/L2/2l/3[-]", "fairy")
    seat.play(state, "a3a4", "b4c4")  # their own turn ends the attack
    assert seat.wins(state, "try")


def test_ds5_fairy_both_at_once_draw(seat: Seat) -> None:
    state = seat.state("L2/g2/1E1/2l[-]", "fairy")
    assert not state.is_over
    seat.play(state, "b2a3")
    assert state.outcome == Outcome(None, Termination.MUTUAL_TRY)
    assert state.returns() == (0.0, 0.0)


def test_ds5_delayed_try_always_allows_a_reply(seat: Seat) -> None:
    state = seat.state("2l/L2/3/3[-]", "delayed_try")
    seat.play(state, "a3a4")
    assert not state.is_over
    seat.play(state, "c4c3")
    assert seat.wins(state, "try")


def test_ds5_delayed_try_first_arrival_wins(seat: Seat) -> None:
    state = seat.state("3/L2/2l/3[-]", "delayed_try")
    seat.play(state, "a3a4", "c2c1")
    assert seat.wins(state, "try")


# --- DS-6 -------------------------------------------------------------------------------------

MATE_IN_ONE = "l2/2E/1H1/2L[Gce]"  # by G@a3; their pieces in hand cannot help


def test_ds6_mate_ends_the_game_before_the_turn(seat: Seat) -> None:
    state = seat.state(MATE_IN_ONE)
    seat.play(state, "G@a3")
    assert seat.wins(state, "checkmate")
    assert state.legal_actions().size == 0


def test_ds6_read_from_fen(seat: Seat) -> None:
    assert seat.wins(seat.state("l2/G1E/1H1/2L[-]", side="b"), "checkmate")


@pytest.mark.parametrize("ruleset", ["fairy", "delayed_try"])
def test_ds6_only_in_standard(seat: Seat, ruleset: str) -> None:
    state = seat.state(MATE_IN_ONE, ruleset)
    seat.play(state, "G@a3", "a4b3")
    assert not state.is_over
    seat.play(state, "b2b3")
    assert seat.wins(state, "lion_captured")


def test_ds6_not_if_the_lion_is_unattacked(seat: Seat) -> None:
    state = seat.state("l2/2E/1H1/2L[-]", side="b")  # every turn loses the lion
    assert not state.is_over
    assert seat.turns(state) == {"a4a3", "a4b3", "a4b4"}


def test_ds6_not_if_the_enemy_lion_can_be_captured(seat: Seat) -> None:
    state = seat.state("l2/2E/1Hg/2L[G]")
    seat.play(state, "G@a3")
    assert not state.is_over
    seat.play(state, "c2c1")
    assert seat.loses(state, "lion_captured")


def test_ds6_not_if_the_attacker_can_be_captured(seat: Seat) -> None:
    state = seat.state("l2/1gE/1H1/2L[G]")
    seat.play(state, "G@a3")
    assert not state.is_over
    seat.play(state, "b3a3")
    assert not state.is_over


def test_ds6_not_if_an_unattacked_arrival_is_left(seat: Seat) -> None:
    state = seat.state("2g/L2/g1l/1e1[-]")  # a3, a2, b2, b3 and b4 are attacked, a4 is not
    assert not state.is_over
    seat.play(state, "a3a4")
    assert seat.wins(state, "try")


def test_ds6_an_attacked_arrival_is_no_escape(seat: Seat) -> None:
    assert seat.loses(seat.state("1g1/L1e/g1l/1e1[-]"), "checkmate")


# --- DS-7 -------------------------------------------------------------------------------------

SHUFFLE = ("c1c2", "a4a3", "c2c1", "a3a4")


@every_ruleset
def test_ds7_third_occurrence_is_a_draw(make: Make, ruleset: str) -> None:
    state = make(ruleset=ruleset).state()
    planes = [state.observation()[16, 0, 0]]
    occurrences = [state.occurrences]
    for turn in SHUFFLE * 2:
        assert not state.is_over
        state.push(turn)
        planes.append(state.observation()[16, 0, 0])
        occurrences.append(state.occurrences)
    assert state.outcome == Outcome(None, Termination.REPETITION)
    assert state.returns() == (0.0, 0.0)
    assert planes == [0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5, 1]
    assert occurrences == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    state.undo()
    assert not state.is_over
    state.push("b3b2")  # another way
    assert not state.is_over


def test_ds7_a_fen_has_occurred_once(make: Make) -> None:
    state = make().state()
    for turn in SHUFFLE:
        state.push(turn)
    state = make().state(state.fen())
    for turn in SHUFFLE:
        state.push(turn)
    assert not state.is_over and state.observation()[16, 0, 0] == 0.5


def test_ds7_side_to_move_and_hands_make_a_difference(seat: Seat) -> None:
    state = seat.state("2l/3/3/L2[-]")
    before = seat.board(state)
    seat.play(state, "a1a2", "c4c3", "a2b1", "c3c4", "b1a1")  # three turns against two
    assert seat.board(state) == before
    assert state.observation()[16].max() == 0
    boards = ("2l/3/3/L2[C]", "2l/3/3/L2[c]", "2l/3/3/L2[-]", "2l/3/3/L2[CC]", "2l/3/3/LC1[-]")
    keys = {seat.state(board, side=side).key() for board in boards for side in "wb"}
    assert len(keys) == 10


@every_ruleset
def test_ds7_no_legal_step_loses(seat: Seat, ruleset: str) -> None:
    assert seat.loses(seat.state("GEl/LGE/CC1/3[-]", ruleset), "no_legal_turn")


def test_max_turns_truncates(make: Make) -> None:
    state = make(max_turns=3).state()
    for turn in SHUFFLE[:3]:
        assert not state.is_over
        state.push(turn)
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    assert state.outcome is not None and state.outcome.is_truncation
    assert state.returns() == (0.0, 0.0)


def test_max_turns_comes_after_all_rules(make: Make) -> None:
    state = make(max_turns=8).state()
    for turn in SHUFFLE * 2:
        state.push(turn)
    assert state.outcome == Outcome(None, Termination.REPETITION)
    state = make(max_turns=1).state("3/1l1/1G1/2L[-] w")
    state.push("b2b3")
    assert state.outcome == Outcome(0, Termination.LION_CAPTURED)


def test_max_turns_is_compared_with_the_fen(make: Make) -> None:
    assert make().max_turns == 256
    state = make().state("2l/3/3/L2[-] b - - 0 128")
    assert not state.is_over
    state.push("c4c3")
    assert state.outcome == Outcome(None, Termination.MAX_TURNS)
    assert make().state("2l/3/3/L2[-] w - - 0 129").is_over


# --- FEN --------------------------------------------------------------------------------------


def test_counters(make: Make) -> None:
    state = make().state("l2/1C1/2g/G1L[Ec] w - - 7 5")
    seen = []
    for turn in ("a1a2", "a4a3", "b3b4+", "a3a4", "c1c2", "C@a3", "E@a1"):
        state.push(turn)
        seen.append(state.fen().split(" ", 1)[1])
    assert seen == [
        "b - - 8 5",
        "w - - 9 6",
        "b - - 0 6",  # promotion
        "w - - 1 7",
        "b - - 0 7",  # capture
        "w - - 0 8",  # drop
        "b - - 0 8",
    ]


@pytest.mark.parametrize(
    ("fen", "written"),
    [
        ("gle/1c1/1C1/ELG[-] w", START),
        ("gle/1c1/1C1/ELG[] w", START),
        ("gle/1c1/1C1/ELG[] w 0 1", START),
        ("gle/1c1/1C1/ELG[-] b - - 12 34", "gle/1c1/1C1/ELG[-] b - - 12 34"),
        ("gle/1+c1/1+C1/ELG[-] w", "gle/1h1/1H1/ELG[-] w - - 0 1"),
        ("Cl1/3/3/1Lc[GEeg] w 3 9", "Cl1/3/3/1Lc[GEge] w - - 3 9"),
        ("1l1/3/3/1L1[-] b", "1l1/3/3/1L1[-] b - - 0 1"),  # fewer pieces are possible
    ],
)
def test_fen_is_read(make: Make, fen: str, written: str) -> None:
    state = make().state(fen)
    assert state.fen() == written
    assert state.history == [] and state.observation()[16].max() == 0


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("", ""),
        ("gle/1c1/1C1/ELG[-]", ""),
        ("gle/1c1/1C1/ELG[-] w -", ""),
        ("gle/1c1/1C1/ELG[-] w - - 0", ""),
        ("gle/1c1/1C1/ELG[-] w - - 0 1 ", ""),
        ("gle/1c1/1C1/ELG[-] w - - 0 1 1", ""),
        ("gle/1c1/1C1/ELG[-]  w", ""),
        (" gle/1c1/1C1/ELG[-] w", ""),
        ("gle/1c1/1C1/ELG[-]\tw", ""),
        ("gle/1c1/1C1/ELG[-] w\n", ""),
        ("gle/1c1/1C1[-] w", "board"),
        ("gle/1c1/1C1/ELG/3[-] w", "board"),
        ("gle/1c1/1C1/ELG/[-] w", "board"),
        ("gle/1c/1C1/ELG[-] w", "board"),
        ("gle/1c2/1C1/ELG[-] w", "board"),
        ("gle/4/1C1/ELG[-] w", "board"),
        ("gle/0c2/1C1/ELG[-] w", "board"),
        ("gle/01c1/1C1/ELG[-] w", "board"),
        ("gle/12/1C1/ELG[-] w", "board"),
        ("gle/1x1/1C1/ELG[-] w", "board"),
        ("gle/1+g1/1C1/ELG[-] w", "board"),
        ("gle/1+h1/1C1/ELG[-] w", "board"),
        ("gle/1+1/1C1/ELG[-] w", "board"),
        ("gle/1\u00e71/1C1/ELG[-] w", "board"),
        ("g\u0661l/1c1/1C1/ELG[-] w", "board"),
        ("g1e/1c1/1C1/ELG[-] w", ""),  # lions missing, doubled, captured
        ("gle/1c1/1C1/E1G[-] w", ""),
        ("gle/1l1/1C1/ELG[-] w", ""),
        ("gle/1c1/1C1/LLG[-] w", ""),
        ("3/1G1/3/2L[L] b - - 0 1", ""),
        ("gle/1c1/1C1/ELG[G] w", ""),  # the set exceeded
        ("gle/1c1/1C1/ELG[e] w", ""),
        ("gle/1c1/1H1/ELG[c] w", ""),
        ("1l1/3/3/1L1[CCc] w", ""),
        ("gge/1cl/1C1/ELG[-] w", ""),
        ("gle/1c1/1C1/ELG w", "hand"),
        ("gle/1c1/1C1/ELG[ w", "hand"),
        ("gle/1c1/1C1/ELG] w", "hand"),
        ("gle/1c1/1C1/ELG[-]] w", "hand"),
        ("gle/1c1/1C1/ELG[-][-] w", "hand"),
        ("gle/1c1/1C1/[-]ELG w", "hand"),
        ("1l1/3/3/1L1[H] w", "hand"),
        ("1l1/3/3/1L1[+C] w", "hand"),
        ("1l1/3/3/1L1[1] w", "hand"),
        ("1l1/3/3/1L1[C-] w", "hand"),
        ("1l1/3/3/1L1[--] w", "hand"),
        ("gle/1c1/1C1/ELG[-] W", "side"),
        ("gle/1c1/1C1/ELG[-] white", "side"),
        ("gle/1c1/1C1/ELG[-] -", "side"),
        ("gle/1c1/1C1/ELG[-] w a1 - 0 1", ""),
        ("gle/1c1/1C1/ELG[-] w - @ 0 1", ""),
        ("gle/1c1/1C1/ELG[-] w - - -1 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - +1 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - 00 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - x 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - 1.0 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - \u0661 1", "quiet"),
        (f"gle/1c1/1C1/ELG[-] w - - {'9' * 5000} 1", "quiet"),
        ("gle/1c1/1C1/ELG[-] w - - 0 0", "move"),
        ("gle/1c1/1C1/ELG[-] w - - 0 01", "move"),
        ("gle/1c1/1C1/ELG[-] w - - 0 -1", "move"),
        ("gle/1c1/1C1/ELG[-] w - - 0 ", ""),
        (f"gle/1c1/1C1/ELG[-] w - - 0 {2**64 + 1}", "move"),
    ],
)
def test_fen_is_rejected(make: Make, fen: str, field: str) -> None:
    with pytest.raises(FenError, match=field or None):
        make().state(fen)
    with pytest.raises(FenError, match=field or None):
        make().perft(1, fen)


# --- The interface, on random games -----------------------------------------------------------


@every_ruleset
def test_random_games(make: Make, ruleset: str) -> None:
    """At every step: FEN round trip, copy, undo, pickle, text, mask and players exchanged."""
    game = make(ruleset=ruleset)
    generator = random.Random(ruleset)
    endings = set()
    for _ in range(25):
        state = game.state()
        while not state.is_over:
            again = game.state(state.fen())
            assert again.fen() == state.fen() and again.key() == state.key()
            actions = state.legal_actions()
            assert actions.dtype == np.int32
            assert (
                actions.tolist() == sorted(set(actions.tolist())) == again.legal_actions().tolist()
            )
            assert np.flatnonzero(state.legal_action_mask()).tolist() == actions.tolist()
            texts = [state.action_to_text(action) for action in actions.tolist()]
            assert texts == state.turns() and len(set(texts)) == len(texts)
            assert [state.action_from_text(text) for text in texts] == actions.tolist()

            turned = game.state(turned_fen(state.fen()))
            assert turned.legal_actions().tolist() == actions.tolist()
            assert (turned.observation()[:16] == state.observation()[:16]).all()
            assert turned.turns() == [turned_text(text) for text in texts]

            action = generator.choice(actions.tolist())
            before = state.copy()
            assert before == state and before.history == state.history
            state.apply(action)
            assert before != state and state.history == [
                *before.history,
                texts[actions.tolist().index(action)],
            ]
            assert pickle.loads(pickle.dumps(state)) == state == copy.deepcopy(state)
            taken_back = state.copy()
            taken_back.undo()
            assert taken_back == before and taken_back.outcome is None
        assert state.outcome is not None
        endings.add(state.outcome.termination)
    assert {Termination.LION_CAPTURED, Termination.TRY} <= endings


def test_mirror_actions(make: Make) -> None:
    game = make()
    mirror = game.mirror_actions
    assert mirror is not None and mirror.dtype == np.int32 and mirror.shape == (132,)
    assert (mirror[mirror] == np.arange(132)).all()
    generator = random.Random(1)
    for _ in range(10):
        state = game.state()
        while not state.is_over:
            board, rest = state.fen().split("[")
            ranks = [rank[::-1] for rank in board.split("/")]
            mirrored = game.state("/".join(ranks) + "[" + rest)
            actions = state.legal_actions()
            assert sorted(mirror[actions].tolist()) == mirrored.legal_actions().tolist()
            assert (mirrored.observation()[:16] == state.observation()[:16, :, ::-1]).all()
            state.apply(generator.choice(actions.tolist()))


def test_observation_is_seen_by_the_player(make: Make) -> None:
    state = make().state("2l/1h1/E2/LG1[Ceg] b")
    own = state.observation()
    assert own.shape == (17, 4, 3) and own.dtype == np.float32
    expected = np.zeros((17, 4, 3), np.float32)
    expected[0, 0, 0] = 1  # own lion: c4 is a1 of player 1
    expected[4, 1, 1] = 1  # own hen b3
    expected[5, 3, 2] = 1  # enemy lion a1
    expected[6, 3, 1] = 1  # enemy giraffe b1
    expected[7, 2, 2] = 1  # enemy elephant a2
    expected[10] = expected[11] = 0.5  # own G, E in hand
    expected[15] = 0.5  # an enemy chick
    assert (own == expected).all()
    assert (state.observation(1) == own).all()
    seen = state.observation(0)
    assert seen[0, 0, 0] == seen[9, 2, 1] == 1 and seen[12, 0, 0] == seen[13, 3, 2] == 0.5


def test_absolute_view(make: Make) -> None:
    game = make(view="absolute")
    assert game.observation_shape == (18, 4, 3) and make().observation_shape == (17, 4, 3)
    for side in "wb":
        fen = f"2l/1h1/E2/LG1[Ceg] {side}"
        seen = game.state(fen).observation()
        assert (seen[:17] == make().state(fen).observation(0)).all()
        assert (seen[17] == (side == "b")).all()
        assert (game.state(fen).observation(1) == seen).all()
        actions = game.state(fen).legal_actions().tolist()
        assert actions == make().state(fen).legal_actions().tolist()


def test_num_pieces(make: Make) -> None:
    state = make().state("2l/1h1/E2/LG1[Ceg] b")
    assert (state.num_pieces(0), state.num_pieces(1)) == (3, 2) and not state.is_turn_open


def test_captured_lion_is_in_no_plane(make: Make) -> None:
    state = make().state("3/1l1/1G1/2L[-] w")
    state.push("b2b3")
    assert state.observation(0).sum() == state.observation(1).sum() == 2


def test_protocols_and_options(make: Make) -> None:
    game = make()
    assert isinstance(game, Game) and isinstance(game.state(), State)
    assert (game.id, game.ruleset, game.setup, game.view) == (
        "dobutsu_v0",
        "standard",
        "default",
        "relative",
    )
    assert (game.num_actions, game.action_shape) == (132, (11, 4, 3))
    assert tuple(game.rulesets) == RULESETS and tuple(game.setups) == ("default",)
    assert game == make() == pickle.loads(pickle.dumps(game)) and hash(game) == hash(make())
    for other in (make(ruleset="fairy"), make(max_turns=10), make(view="absolute")):
        assert game != other and game.state() != other.state()
        assert other.state().game == other
    with pytest.raises(UnknownGameError):
        make(ruleset="chess")
    with pytest.raises(UnknownGameError):
        make(setup="random")
    with pytest.raises(ConfigurationError):
        make(max_turns=0)
    with pytest.raises(ConfigurationError):
        make(view="sideways")


@pytest.mark.parametrize("action", [-1, 132, 2**31, -(2**63), 0, 131])
def test_illegal_actions_change_nothing(make: Make, action: int) -> None:
    state = make().state()
    state.push("c1c2")
    before = state.copy()
    with pytest.raises(IllegalActionError, match=str(action)):
        state.apply(action)
    if not 0 <= action < 132:
        with pytest.raises(IllegalActionError):
            state.action_to_text(action)
    for turn in ("", "a1a2", "gibberish", "a4a3 ", "A4A3", "a4a3,b3b2", "pass"):
        with pytest.raises(IllegalActionError):
            state.push(turn)
        with pytest.raises(IllegalActionError):
            state.action_from_text(turn)
    assert state == before


def test_nothing_goes_on_after_the_end(make: Make) -> None:
    state = make().state("3/1l1/1G1/2L[-] w")
    action = state.action_from_text("b2b3")
    state.apply(action)
    before = state.copy()
    with pytest.raises(IllegalActionError):
        state.apply(action)
    with pytest.raises(IllegalActionError):
        state.push("b3b4")
    assert state == before
    state.undo()
    assert state == make().state("3/1l1/1G1/2L[-] w")
    with pytest.raises(IllegalActionError):
        state.undo()


def test_copies_are_independent(make: Make) -> None:
    state = make().state()
    twin = state.copy()
    twin.push("b2b3")
    assert state == make().state() and state.history == [] and twin.history == ["b2b3"]
    twin.undo()
    assert twin == state
    history = state.history
    history.append("a1a1")
    assert state.history == []


def test_equality_needs_the_same_history(make: Make) -> None:
    state = make().state()
    for turn in SHUFFLE:
        state.push(turn)
    again = make().state(state.fen())
    assert again != state and again.key() == state.key()
    assert state != "dobutsu"


def test_turns_limit(make: Make) -> None:
    state = make().state()
    assert state.turns() == state.turns(limit=99) == ["c1c2", "b2b3", "b1c2", "b1a2"]
    assert state.turns(limit=2) == ["c1c2", "b2b3"] and state.turns(limit=0) == []


# --- Perft ------------------------------------------------------------------------------------


def test_perft_depth_0_and_finished_positions(make: Make) -> None:
    assert make().perft(0) == 1
    assert make().perft(1, "L2/3/1l1/3[-] b") == 0  # over by a try
    assert make().perft(1, "3/1l1/1G1/2L[-] w - - 0 900") == 6  # max_turns is ignored
