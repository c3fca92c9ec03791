"""The hard parts of the rules of Drakoburg, each as a named test on a hand-made position."""

import importlib
import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from seats import Seat, is_draw, seats

import deskovky as dk
from deskovky.envs.protocol import Game

SETUPS = {
    "default": "z1sta1u/ppppppp/7/7/7/PPPPPPP/Z1STA1U w - 0 1",
    "wide": "zs1t1au/ppppppp/7/7/7/PPPPPPP/ZS1T1AU w - 0 1",
    "paired": "zsstaau/p1ppp1p/7/7/7/P1PPP1P/ZSSTAAU w - 0 1",
}


def make_native(**options: str) -> Game:
    return dk.game("drakoburg_v0", **options)  # type: ignore[arg-type]


def implementations() -> list[Callable[..., Game]]:
    try:
        return [make_native, importlib.import_module("reference.drakoburg").Drakoburg]
    except ModuleNotFoundError:
        return [make_native]


def turned_board(board: str) -> str:
    return "/".join(reversed(board.split("/"))).swapcase()


def turned_text(text: str) -> str:
    return re.sub("[a-g][1-7]", lambda name: name[0][0] + str(8 - int(name[0][1])), text)


def seat_id(seat: Seat) -> str:
    kind = "native" if seat.make is make_native else "reference"
    return f"{kind}-player_{seat.us}"


@pytest.fixture(params=seats(implementations(), turned_board, turned_text), ids=seat_id)
def seat(request: pytest.FixtureRequest) -> Seat:
    chosen: Seat = request.param
    return chosen


# --- DB-1, DB-2 -------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", SETUPS)
def test_db1_setups(seat: Seat, setup: str) -> None:
    game = seat.make(setup=setup)
    assert game.setups == tuple(SETUPS)
    assert game.state().fen() == SETUPS[setup]


@pytest.mark.parametrize(
    ("board", "targets"),
    [
        # Each piece alone on d4.
        ("t6/7/7/3P3/7/7/6T", "c5 d5 e5"),
        ("6t/7/7/3S3/7/7/T6", "a7 b2 b6 c3 c4 c5 d3 d5 e3 e4 e5 f2 f6 g1 g7"),
        ("t6/7/7/3Z3/7/7/6T", "a4 b4 c3 c4 c5 d1 d2 d3 d5 d6 d7 e3 e4 e5 f4 g4"),
        (
            "t6/7/7/3A3/7/7/6T",
            "a2 a6 b1 b3 b5 b7 c2 c3 c4 c5 c6 d3 d5 e2 e3 e4 e5 e6 f1 f3 f5 f7 g2 g6",
        ),
        (
            "t6/7/7/3U3/7/7/6T",
            "a3 a5 b3 b5 c1 c2 c3 c4 c5 c6 c7 d3 d5 e1 e2 e3 e4 e5 e6 e7 f3 f5 g3 g5",
        ),
        ("t6/7/7/3T3/7/7/7", "b2 b4 c3 c4 d2 d3 d5 d6 e3 e4 e5 f2 f4 f6"),  # not beside t
        # A squire needs its first, orthogonal step and all the diagonal ones; its leap does not.
        (
            "t6/7/3P3/3A3/7/7/6T",
            "a2 a6 b1 b3 b5 c2 c3 c4 c5 c6 d3 e2 e3 e4 e5 e6 f1 f3 f5 g2 g6",
        ),
        (
            "t6/7/2P4/3A3/7/7/6T",
            "a2 a6 b1 b3 b5 b7 c2 c3 c4 c6 d3 d5 e2 e3 e4 e5 e6 f1 f3 f5 f7 g2 g6",
        ),
        (
            "t6/2p4/7/3A3/7/7/6T",
            "a2 a6 b1 b3 b5 c2 c3 c4 c5 c6 d3 d5 e2 e3 e4 e5 e6 f1 f3 f5 f7 g2 g6",
        ),
        # A turcopole needs its first, diagonal step and all the orthogonal ones.
        (
            "t6/7/2P4/3U3/7/7/6T",
            "a3 b3 b5 c1 c2 c3 c4 c6 d3 d5 e1 e2 e3 e4 e5 e6 e7 f3 f5 g3 g5",
        ),
        (
            "t6/2p4/7/3U3/7/7/6T",
            "a3 a5 b3 b5 c1 c2 c3 c4 c5 c6 d3 d5 e1 e2 e3 e4 e5 e6 e7 f3 f5 g3 g5",
        ),
        (
            "t6/7/3p3/3U3/7/7/6T",
            "a3 a5 b3 b5 c1 c2 c3 c4 c5 c6 c7 d3 d5 e1 e2 e3 e4 e5 e6 e7 f3 f5 g3 g5",
        ),
        # Lines stop at the first piece.
        ("6t/7/3p3/1P1Z3/7/7/T6", "c3 c4 c5 d1 d2 d3 d5 e3 e4 e5 f4 g4"),
        ("7/1t3p1/7/3S3/7/1P5/T6", "b6 c3 c4 c5 d3 d5 e3 e4 e5 f2 f6 g1"),
    ],
)
def test_db2_how_the_pieces_move(seat: Seat, board: str, targets: str) -> None:
    assert seat.targets(seat.state(board), "d4") == targets


def test_db2_bannerets_leap_over_anything(seat: Seat) -> None:
    state = seat.state("t6/7/2PPP2/2PTP2/2PPP2/7/7")
    assert seat.targets(state, "d4") == "b2 b4 d2 d6 f2 f4 f6"  # b6 is beside t


def test_db2_pikemen_capture_as_they_move(seat: Seat) -> None:
    state = seat.state("t6/7/2szs2/3P3/7/7/1T5")
    assert seat.targets(state, "d4") == "c5 d5 e5"


# --- DB-3, DB-4 -------------------------------------------------------------------------------


def test_db3_a_banneret_does_not_capture_a_banneret(seat: Seat) -> None:
    state = seat.state("7/7/7/3Tt2/7/7/7")
    assert "e4" not in seat.targets(state, "d4").split()
    state = seat.state("7/7/7/3T1t1/7/7/7")
    assert "f4" not in seat.targets(state, "d4").split()


def test_db3_other_pieces_capture_bannerets(seat: Seat) -> None:
    state = seat.state("1t5/7/7/1Z5/7/7/2tT3")
    seat.play(state, "b4b7")
    assert not state.is_over and seat.board(state).startswith("1Z5")


def test_db4_bannerets_keep_apart(seat: Seat) -> None:
    state = seat.state("7/7/7/3t3/7/7/3T3")
    # d4 reaches b2, d2, f2 by leaps of two, and c3 to e3 by steps.
    assert seat.targets(state, "d1") == "b1 b3 c1 c2 e1 e2 f1 f3"


def test_db4_an_enemy_banneret_gives_no_check(seat: Seat) -> None:
    state = seat.state("7/7/7/3t3/3T3/7/P6")
    assert "a1a2" in seat.turns(state)  # the own one stays beside it
    seat.play(state, "a1a2")
    assert not state.is_over


def test_db4_keep_apart_after_promotion(seat: Seat) -> None:
    """A pikeman may become a banneret beside the enemy's, which must then not come near it."""
    state = seat.state("4t2/7/2P4/7/7/7/T6")
    seat.play(state, "c5d6")
    assert seat.board(state) == "4t2/3T3/7/7/7/7/T6"
    assert seat.targets(state, "e7") == "f7 g5 g7"  # not d7 e6 f6, nor c7 e5 c5


def test_db4_promotion_on_an_attacked_square(seat: Seat) -> None:
    state = seat.state("3zt2/7/2P4/7/7/7/T6")
    seat.play(state, "c5d6")
    assert "d7d6" in seat.turns(state)
    seat.play(state, "d7d6")
    assert not state.is_over


def test_db4_a_captured_piece_attacks_no_longer(seat: Seat) -> None:
    state = seat.state("t6/7/7/7/7/2z4/3T3")
    assert "c2" in seat.targets(state, "d1").split()  # the only attacker of c1, d2 ...
    assert not {"c1", "d2", "e2"} & set(seat.targets(state, "d1").split())
    state = seat.state("t6/7/7/2z4/7/2z4/3T3")
    assert "c2" not in seat.targets(state, "d1").split()  # guarded


def test_db4_the_square_left_is_empty(seat: Seat) -> None:
    state = seat.state("t6/7/7/7/7/7/z2T3")
    assert not {"e1", "f1", "b1", "c1"} & set(seat.targets(state, "d1").split())


def test_db4_pinned_pieces_attack(seat: Seat) -> None:
    # The man-at-arms on a6 is pinned by a1, and attacks along its rank all the same.
    state = seat.state("t6/z6/7/4T2/7/7/Z6")
    assert not {"c6", "e6", "g6"} & set(seat.targets(state, "e4").split())
    assert "g4" in seat.targets(state, "e4").split()


# --- DB-5 -------------------------------------------------------------------------------------


def test_db5_the_only_banneret_must_not_stay_in_check(seat: Seat) -> None:
    state = seat.state("t2z3/7/7/7/7/7/A2T3")
    assert seat.targets(state, "a1") == "d3 d5"  # in between
    assert seat.targets(state, "d1") == "b1 b3 c1 c2 e1 e2 f1 f3"


def test_db5_pins(seat: Seat) -> None:
    state = seat.state("t2z3/7/7/7/7/3Z3/3T3")
    assert seat.targets(state, "d2") == "d3 d4 d5 d6 d7"


def test_db5_capturing_the_checking_piece(seat: Seat) -> None:
    state = seat.state("t2z3/7/7/7/7/7/S2T3")
    assert seat.targets(state, "a1") == "d4"  # blocking
    state = seat.state("t2z3/7/7/S6/7/7/3T3")
    assert seat.targets(state, "a4") == "d7"  # capturing


def test_db5_two_bannerets_may_be_left_attacked(seat: Seat) -> None:
    state = seat.state("t1z4/7/7/7/7/P6/T1T4")
    assert "a2a3" in seat.turns(state)
    seat.play(state, "a2a3 c7c1")
    assert not state.is_over and seat.board(state) == "t6/7/7/7/P6/7/T1z4"
    # The last one is royal now.
    assert "a3a4" not in seat.turns(state)


def test_db5_a_second_banneret_by_promotion_counts_at_once(seat: Seat) -> None:
    state = seat.state("t5z/7/2P4/7/7/P6/6T")
    assert "c5d6" in seat.turns(state) and "c5c6" not in seat.turns(state)
    assert "a2a3" not in seat.turns(state)


def test_db5_discovered_by_a_capture(seat: Seat) -> None:
    """A pikeman that leaves a file captures, but uncovers its own banneret."""
    state = seat.state("t2z3/7/7/2s4/3P3/7/3T3")
    assert seat.targets(state, "d3") == "d4"


# --- DB-6 -------------------------------------------------------------------------------------


def test_db6_mate(seat: Seat) -> None:
    assert seat.loses(seat.state("t6/7/7/7/z6/z6/z5T"), "checkmate")


def test_db6_stalemate(seat: Seat) -> None:
    assert is_draw(seat.state("t6/7/4z2/5z1/z6/z6/6T"), "stalemate")


def test_db6_several_bannerets(seat: Seat) -> None:
    assert is_draw(seat.state("7/4t2/4z2/6u/7/6T/3a2T"), "stalemate")
    assert seat.loses(seat.state("7/1t5/T6/1u5/T6/1u5/1s5"), "checkmate")  # one is in check


def test_db6_without_a_banneret(seat: Seat) -> None:
    assert seat.loses(seat.state("t6/7/7/7/7/7/6P"), "no_banneret")
    assert seat.wins(seat.state("p6/7/7/7/7/7/6T"), "no_banneret")


# --- DB-7 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", "abcdefg")
def test_db7_promotion_by_file(seat: Seat, file: str) -> None:
    i = "abcdefg".index(file)
    piece = "ZSSTAAU"[i]
    pikeman = f"{i or ''}P{6 - i or ''}"
    state = seat.state(f"7/7/{pikeman}/7/7/2t4/T6")
    seat.play(state, f"{file}5{file}6")
    assert seat.board(state) == f"7/{pikeman.replace('P', piece)}/7/7/7/2t4/T6"


def test_db7_promotion_by_capture_goes_by_the_file_of_arrival(seat: Seat) -> None:
    state = seat.state("7/2z4/3P3/7/7/6t/T6")
    seat.play(state, "d5c6")
    assert seat.board(state) == "7/2S4/7/7/7/6t/T6"


def test_db7_pikemen_promote_only_on_arriving(seat: Seat) -> None:
    state = seat.state("2P4/4P2/7/7/7/6t/T6")
    assert seat.targets(state, "c7") == ""
    seat.play(state, "e6f7")
    assert seat.board(state) == "2P2P1/7/7/7/7/6t/T6"


# --- DB-8 -------------------------------------------------------------------------------------


def test_db8_arrival_on_a_castle_adds_a_pikeman(seat: Seat) -> None:
    state = seat.state("7/1t5/7/6Z/7/PP5/6T")
    placed = [turn for turn in seat.turns(state) if turn.startswith("g4g7")]
    assert placed == [f"g4g7,P@{file}2" for file in "cdefg"]
    state.apply(state.action_from_text(seat.text("g4g7")))
    assert state.is_turn_open and state.to_move == seat.us and not state.is_over
    assert state.fen().split(" ")[2] == "@"
    assert seat.turns(state) == [f"P@{file}2" for file in "cdefg"]
    seat.play(state, "P@d2")
    assert state.to_move == seat.them and not state.is_turn_open
    assert seat.board(state) == "6Z/1t5/7/7/7/PP1P3/6T"
    assert [seat.text(turn) for turn in state.history] == ["g4g7,P@d2"]


@pytest.mark.parametrize("castle", ["a7", "d7", "g7"])
def test_db8_castles_in_every_setup(seat: Seat, castle: str) -> None:
    file = castle[0]
    i = "abcdefg".index(file)
    state = seat.state(f"7/7/{i or ''}Z{6 - i or ''}/7/2t4/7/6T")
    state.apply(state.action_from_text(seat.text(f"{file}5{castle}")))
    assert state.is_turn_open


def test_db8_own_home_squares_and_others_are_no_castles(seat: Seat) -> None:
    state = seat.state("7/1t5/7/Z6/7/7/6T")
    assert "a4a1" in seat.turns(state)
    state = seat.state("7/1t5/7/4Z2/7/7/6T")
    assert "e4e7" in seat.turns(state)


def test_db8_castles_hit_by_capture(seat: Seat) -> None:
    state = seat.state("z6/2t4/7/7/Z6/7/6T")
    turns = [turn for turn in seat.turns(state) if turn.startswith("a3a7")]
    assert len(turns) == 7
    seat.play(state, "a3a7,P@a2")
    assert seat.board(state) == "Z6/2t4/7/7/7/P6/6T"


def test_db8_every_arrival_counts_again(seat: Seat) -> None:
    state = seat.state("Z6/7/2t4/7/7/7/6T")
    assert "a7d7,P@a2" in seat.turns(state) and "a7b7" in seat.turns(state)
    seat.play(state, "a7b7 c5c4 b7a7,P@a2 c4c5 a7d7,P@b2")
    assert seat.board(state) == "3Z3/7/2t4/7/7/PP5/6T"


def test_db8_any_piece_breeds(seat: Seat) -> None:
    state = seat.state("7/7/6T/7/7/t6/7")
    assert "g5g7,P@a2" not in seat.turns(state)  # the enemy stands there
    assert {f"g5g7,P@{file}2" for file in "bcdefg"} <= set(seat.turns(state))
    state = seat.state("7/3P3/7/7/7/t6/6T")  # a pikeman that was read on the sixth rank
    assert "d6d7,P@b2" in seat.turns(state)


def test_db8_the_square_just_left_counts_as_empty(seat: Seat) -> None:
    state = seat.state("7/1t5/7/7/7/PPPPPPZ/6T")
    assert [t for t in seat.turns(state) if t.startswith("g2g7")] == ["g2g7,P@g2"]
    seat.play(state, "g2g7,P@g2")
    assert seat.board(state) == "6Z/1t5/7/7/7/PPPPPPP/6T"


def test_db8_nothing_is_added_to_a_full_row(seat: Seat) -> None:
    state = seat.state("7/1t5/6Z/7/7/PPPPPPP/6T")
    assert "g5g7" in seat.turns(state)
    seat.play(state, "g5g7")
    assert state.to_move == seat.them
    state = seat.state("7/1t5/6Z/7/7/PPPPPPs/T6")  # enemy pieces fill it too
    assert "g5g7" in seat.turns(state)


def test_db8_the_move_step_is_judged_before_the_placement(seat: Seat) -> None:
    """A pikeman on d2 would shield the banneret, but it comes too late."""
    state = seat.state("3z3/1t5/7/7/7/6Z/3T3")
    assert not any(turn.startswith("g2g7") for turn in seat.turns(state))
    assert "g2d2" in seat.turns(state)


def test_db8_counters_within_the_turn(seat: Seat) -> None:
    def counters(state: dk.State) -> list[str]:
        return state.fen().split(" ")[2:]

    state = seat.state("6z/1t5/7/6Z/7/7/6T w - 7 20")
    state.apply(state.action_from_text(seat.text("g4g7")))
    assert counters(state) == ["@", "0", "20"]  # it captured
    state = seat.state("7/1t5/7/6Z/7/7/6T w - 7 20")
    state.apply(state.action_from_text(seat.text("g4g7")))
    assert counters(state) == ["@", "7", "20"]
    seat.play(state, "P@a2")
    assert counters(state) == ["-", "0", str(20 + seat.us)]


def test_db8_read_from_fen(seat: Seat) -> None:
    state = seat.state("Z6/1t5/7/7/7/PPPP2P/6T w @ 0 5")
    assert state.is_turn_open and seat.turns(state) == ["P@e2", "P@f2"]
    assert (state.observation()[12] == 1).all()


# --- DB-9 -------------------------------------------------------------------------------------


def test_db9_repetition(seat: Seat) -> None:
    state = seat.state("t6/7/7/7/7/7/6T")
    for _ in range(2):
        assert not state.is_over
        seat.play(state, "g1g2 a7a6 g2g1 a6a7")
    assert is_draw(state, "repetition")


def test_db9_captures_and_placements_may_lead_back(seat: Seat) -> None:
    """A pikeman is taken and bred anew: all positions of the game count."""
    state = seat.state("7/Z6/2z4/6t/7/2P4/6T")
    seat.play(state, "a6b6 c5c2 b6a6 c2c5 a6a7,P@c2 c5d5 a7a6 d5c5")
    assert state.occurrences == 2


def test_db9_quiet_limit(seat: Seat) -> None:
    state = seat.state("t6/7/7/7/7/7/6T w - 98 80")
    seat.play(state, "g1g2")
    assert not state.is_over
    seat.play(state, "a7a6")
    assert is_draw(state, "quiet_limit")


@pytest.mark.parametrize("turn", ["b2b3", "f4f6", "f4g4"])
def test_db9_what_resets_the_count(seat: Seat, turn: str) -> None:
    state = seat.state("t6/5s1/7/5Z1/7/1P5/6T w - 50 80")
    seat.play(state, turn)
    assert state.fen().split(" ")[3] == ("51" if turn == "f4g4" else "0")


def test_db9_a_bare_banneret_is_no_draw(seat: Seat) -> None:
    assert not seat.state("t6/7/7/7/7/7/6T").is_over
    assert seat.make().max_turns == 400


# --- FEN --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "field"),
    [
        ("t6/7/7/7/7/6T w", "board"),
        ("t6/7/7/7/7/7/7/6T w", "board"),
        ("t6/7/7/7/7/8/6T w", "board"),
        ("t6/7/7/7/7/6/6T w", "board"),
        ("t6/7/7/7/7/k6/6T w", "board"),
        ("7/7/7/7/7/7/7 w", "board"),  # no pieces
        ("p6/7/7/7/7/7/6P w", "board"),  # no banneret at all
        ("t6/7/7/7/7/7/6T", "board"),
        ("t6/7/7/7/7/7/6T x", "side"),
        ("t6/7/7/7/7/7/6T w -", "board"),
        ("t6/7/7/7/7/7/6T w a1 0 1", "pending"),
        ("t6/7/7/7/7/7/6T w @ 0 1", "pending"),  # nothing on a castle
        ("t6/7/7/7/7/7/Z5T w @ 0 1", "pending"),  # not the own ones
        ("Z2t3/7/7/7/7/7/6T b @ 0 1", "pending"),
        ("Z2t3/7/7/7/7/PPPPPPP/6T w @ 0 1", "pending"),
        ("t6/7/7/7/7/7/6T w - -1 1", "quiet"),
        ("t6/7/7/7/7/7/6T w - 0 0", "move"),
        ("t6/7/7/7/7/7/6T w  - 0 1", "board"),
    ],
)
def test_fen_rejections(fen: str, field: str) -> None:
    with pytest.raises(dk.FenError, match=f"'{field}'"):
        make_native().state(fen)


def test_any_number_of_pieces_is_read(seat: Seat) -> None:
    board = "ttttttt/7/7/7/7/UUUUUUU/TTTTTTT"
    assert seat.board(seat.state(board)) == board


@pytest.mark.parametrize("seed", range(10))
def test_fens_of_random_games_are_read_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = make_native(setup=["default", "wide", "paired"][seed % 3]).state()
    while not state.is_over:
        read = state.game.state(state.fen())
        assert read.fen() == state.fen() and read.key() == state.key()
        assert read.legal_actions().tolist() == state.legal_actions().tolist()
        state.apply(int(rng.choice(state.legal_actions())))


# --- Observation ------------------------------------------------------------------------------


def decoded(observation: NDArray[np.float32], player: int) -> str:
    """Return the letters on the board, a1 first, that the observation of `player` shows."""
    squares = ["."] * 49
    for plane in range(12):
        letter = "PSZAUT"[plane % 6]
        is_player_0s = (plane < 6) == (player == 0)
        for rank, file in np.argwhere(observation[plane]).tolist():
            squares[7 * (6 - rank if player else rank) + file] = (
                letter if is_player_0s else letter.lower()
            )
    return "".join(squares)


@pytest.mark.parametrize("seed", range(5))
def test_observations_of_both_players_decode_to_the_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = make_native().state()
    while not state.is_over:
        placement, _, pending, quiet, _ = state.fen().split(" ")
        ranks = reversed(placement.split("/"))
        board = "".join(re.sub(r"\d", lambda n: "." * int(n[0]), rank) for rank in ranks)
        for player in (0, 1):
            observation = state.observation(player)
            assert decoded(observation, player) == board
            assert (observation[12] == (pending == "@")).all()
            assert (observation[13] == np.float32(int(quiet) / 100)).all()
            assert round(2 * float(observation[14, 0, 0])) + 1 == state.occurrences
        state.apply(int(rng.choice(state.legal_actions())))
