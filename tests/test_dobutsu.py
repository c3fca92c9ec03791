"""Dobutsu shogi: what is its own. Its rules are tested in test_reference_dobutsu.py, for the native
engine and the reference alike."""

import numpy as np
import pytest
from numpy.typing import NDArray

import deskovky as dk
from deskovky.envs import dobutsu

PIECES = "LGECH"


def decoded(observation: NDArray[np.float32], player: int) -> tuple[list[str], str, int]:
    """Return squares (a1 first), hands and occurrences that the observation of `player` shows."""
    squares = [""] * 12
    for plane in range(10):
        letter = PIECES[plane % 5]
        is_player_0s = (plane < 5) == (player == 0)
        for square in np.flatnonzero(observation[plane]).tolist():
            place = 11 - square if player else square
            squares[place] = letter if is_player_0s else letter.lower()
    counts = np.rint(2 * observation[10:16, 0, 0]).astype(int).tolist()
    own = "".join(piece * count for piece, count in zip("GEC", counts[:3], strict=True))
    enemy = "".join(piece * count for piece, count in zip("GEC", counts[3:], strict=True))
    hands = own + enemy.lower() if player == 0 else enemy + own.lower()
    return squares, hands, round(2 * float(observation[16, 0, 0])) + 1


@pytest.mark.parametrize("seed", range(20))
def test_observations_of_both_players_decode_to_the_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = dk.game("dobutsu_v0").state()
    while not state.is_over:
        board, _, hands = state.fen().split(" ")[0].rstrip("]").partition("[")
        squares = [
            cell
            for row in reversed(board.split("/"))
            for token in row
            for cell in ([""] * int(token) if token.isdigit() else [token])
        ]
        for player in (0, 1):
            seen_squares, seen_hands, occurrences = decoded(state.observation(player), player)
            assert seen_squares == squares
            assert sorted(seen_hands) == sorted(hands.replace("-", ""))
            assert occurrences == state.occurrences
        state.apply(int(rng.choice(state.legal_actions())))


def test_the_second_and_third_occurrence_are_seen() -> None:
    state = dk.game("dobutsu_v0").state("g1e/1l1/1L1/E1G[] w".replace("1L1", "L2"))
    seen = []
    for _ in range(2):
        for turn in ("a2a3", "b3c3", "a3a2", "c3b3"):
            state.push(turn)
        seen.append((state.occurrences, float(state.observation()[16].max())))
    assert seen == [(2, 0.5), (3, 1.0)]
    assert state.outcome == dk.Outcome(None, dk.Termination.REPETITION)


def test_a_chick_that_promotes_by_taking_a_hen() -> None:
    """The hen was once left on the board and did not come into the hand."""
    state = dk.game("dobutsu_v0").state("e1g/2l/cL1/H2[Ge] b - - 0 1")
    state.push("a2a1+")
    assert state.fen() == "e1g/2l/1L1/h2[Gce] w - - 0 2"


def test_plane_names_tell_the_actions() -> None:
    """The README's table is made of these names."""
    state = dk.game("dobutsu_v0").state()
    north = dobutsu.ACTION_PLANES.index("step N")
    assert state.action_to_text(north * 12 + 4) == "b2b3"
    assert dobutsu.OBSERVATION_PLANES.index("enemy chick") == 8
    assert np.flatnonzero(state.observation()[8]).tolist() == [7]
