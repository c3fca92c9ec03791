"""Write the positions of the meter of perfect play, train/meter_dobutsu_v0.csv.

    deskovky solve dobutsu_v0 && python tools/meter_positions.py

Games between two players that play perfectly but for some random actions, after a random opening.
Every position that is met is a candidate, once up to mirroring and change of sides, if not all its
actions are equally good and no lion has arrived (what follows if it is not captured is not the same
in all rulesets). Each band gets the same number of them, in the order in which they are met. The
same seed writes the same file.
"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

import deskovky as dk
from deskovky.agents.oracle import Oracle, Values
from deskovky.envs.dobutsu import OBSERVATION_PLANES
from deskovky.envs.protocol import State
from deskovky.train.meter import BANDS, band_of, write_result

PATH = Path(__file__).parents[1] / "train" / "meter_dobutsu_v0.csv"
POSITIONS_PER_BAND = 170
OPENING_TURNS = 6
EPSILON = 0.25
SEED = 0
ENEMY_LION = OBSERVATION_PLANES.index("enemy lion")


def main() -> None:
    """Write the file."""
    oracle = dk.oracle("dobutsu_v0")
    agent = dk.agent(f"oracle:epsilon={EPSILON}", seed=SEED)
    random = np.random.default_rng(SEED)
    bands: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    seen: set[bytes] = set()
    while any(len(bands[band]) < POSITIONS_PER_BAND for band in BANDS):
        state = dk.game("dobutsu_v0").state()
        opening_turns = random.integers(OPENING_TURNS + 1)
        while not state.is_over:
            consider(oracle, state, bands, seen)
            is_opening = len(state.history) < opening_turns
            legal = state.legal_actions()
            state.apply(int(random.choice(legal)) if is_opening else agent.act(state))
    with PATH.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("fen", "result", "actions"))
        for band in BANDS:
            writer.writerows(bands[band])


def consider(
    oracle: Oracle,
    state: State,
    bands: dict[str, list[tuple[str, str, str]]],
    seen: set[bytes],
) -> None:
    """Take the position if it is new, and its band still has room."""
    observation = state.observation()[:-1]  # without the plane of repetition
    key = min(observation.tobytes(), observation[:, :, ::-1].tobytes())
    value, distance = (int(array[0]) for array in oracle.values([state]))
    band = band_of(value, distance)
    actions = oracle.action_values([state])
    ranks = actions.ranks[0, state.legal_actions()]
    is_dull = ranks.min() == ranks.max()
    has_arrived = bool(observation[ENEMY_LION, 0].any())
    if (
        band is None
        or key in seen
        or is_dull
        or has_arrived
        or len(bands[band]) == POSITIONS_PER_BAND
    ):
        return
    seen.add(key)
    fen = " ".join(state.fen().split()[:4] + ["0", "1"])
    bands[band].append((fen, write_result(value, distance), results(actions, state)))


def results(actions: Values, state: State) -> str:
    """Return the results of the legal actions, ascending."""
    legal = state.legal_actions()
    pairs = zip(
        actions.values[0, legal].tolist(), actions.distances[0, legal].tolist(), strict=True
    )
    return " ".join(write_result(*pair) for pair in pairs)


if __name__ == "__main__":
    main()
