"""A stored game of every registered game: what a player sees and may do, step by step.

A difference means that rules, encodings or texts of a game have changed, which asks for a new
version of it. After a wanted change write the files anew with `python tests/test_playthroughs.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import deskovky as dk

FOLDER = Path(__file__).parent / "playthroughs"
MAX_STEPS = 120
STEPS_BETWEEN_OBSERVATIONS = 20  # they are long


def playthrough(id: str) -> Iterator[str]:
    """Yield the lines of one game."""
    game = dk.game(id)
    yield f"game {game!r}"
    yield f"rulesets {' '.join(game.rulesets)}"
    yield f"setups {' '.join(game.setups)}"
    yield f"max_turns {game.max_turns}"
    yield f"actions {game.num_actions} {game.action_shape}"
    yield f"observation {game.observation_shape}"
    state = game.state()
    for step in range(MAX_STEPS):
        yield ""
        yield f"step {step}: player {state.to_move}"
        yield f"fen {state.fen()}"
        yield f"occurrences {state.occurrences}, turn open {state.is_turn_open}"
        if step % STEPS_BETWEEN_OBSERVATIONS == 0:
            yield from observation_lines(state.observation())
        actions = state.legal_actions().tolist()
        yield "legal " + " ".join(f"{a}={state.action_to_text(a)}" for a in actions)
        if state.is_over:
            break
        action = actions[(step * 7919 + 13) % len(actions)]
        yield f"apply {action}"
        state.apply(action)
    yield ""
    yield f"history {' '.join(state.history)}"
    yield f"outcome {state.outcome} {state.returns()}"


def observation_lines(observation: NDArray[np.float32]) -> Iterator[str]:
    """Yield the planes that are not all zero, the highest rank first."""
    for number, plane in enumerate(observation):
        if plane.any():
            yield f"plane {number}"
            for rank in plane[::-1]:
                yield "  " + " ".join("." if value == 0 else f"{value:.3g}" for value in rank)


@pytest.mark.parametrize("id", dk.games())
def test_playthrough_is_as_stored(id: str) -> None:
    stored = (FOLDER / f"{id}.txt").read_text(encoding="utf-8").splitlines()
    assert list(playthrough(id)) == stored


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for id in dk.games():
        text = "\n".join(playthrough(id)) + "\n"
        (FOLDER / f"{id}.txt").write_text(text, encoding="utf-8")
