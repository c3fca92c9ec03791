"""Tune the weights of a game's evaluation on games of minimax against itself.

    python tools/tune_evaluation.py dobutsu_v0 --seconds 60 --write

1. Minimax plays itself for some CPU seconds, with random openings and now and then a random action.
   Quiet positions are kept with the game's result.
2. A logistic regression (known as Texel tuning among chess programmers) predicts the result from
   the features of a position. A weak pull towards the old weights keeps rare features in place.
   The weights are scaled to predict as surely as the old ones.
3. The new weights play the old ones with equally many nodes, paired and colour-swapped.

With --write the new weights go into the game's header, if they scored better; build again then.
"""

import argparse
import re
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import deskovky as dk
from deskovky import _core
from deskovky.agents.protocol import SeededAgent
from deskovky.envs.protocol import State
from deskovky.train.evaluate import Match, evaluate

ROOT = Path(__file__).resolve().parents[1]
RANDOM_ACTIONS = 0.1
"""How often self-play makes a random action."""

PULL = 0.002
"""How much the regression holds on to the old weights, per position and standard deviation."""

Vector = NDArray[np.float64]


class WeightedAgent(SeededAgent):
    """Minimax with weights of its own."""

    def __init__(self, nodes: int, weights: list[int], seed: int | None = None) -> None:
        self.nodes, self.weights = nodes, weights
        super().__init__(seed)

    def act(self, state: State) -> int:
        seed = self._random.getrandbits(64)
        return _core.minimax(state, nodes=self.nodes, weights=self.weights, seed=seed).action


def play(
    game: dk.Game, nodes: int, seconds: float, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """Return features `[N, terms]` and results `[N]`, 0 to 1, both as player 0 sees them."""
    features: list[NDArray[np.int32]] = []
    results: list[float] = []
    end = time.process_time() + seconds
    while time.process_time() < end:
        state = game.state()
        opening_turns = int(rng.integers(2, 8))
        start = len(features)
        while not state.is_over:
            is_random = len(state.history) < opening_turns or rng.random() < RANDOM_ACTIONS
            if is_random:
                action = int(rng.choice(state.legal_actions()))
            else:
                seed = int(rng.integers(2**60))
                action = _core.minimax(state, nodes=nodes, seed=seed, table_mb=1).action
            if not state.is_turn_open and _core.quiescence(state) == _core.evaluate(state):
                sign = 1 if state.to_move == 0 else -1
                features.append(sign * _core.evaluation_features(state))
            state.apply(action)
        result = (1 + float(state.returns()[0])) / 2
        results += [result] * (len(features) - start)
    return np.array(features, float), np.array(results, float)


def cross_entropy(logits: Vector, results: Vector) -> float:
    """Return the mean cross-entropy of the results, 0 to 1, under predictions as logits."""
    return float((np.logaddexp(0, logits) - results * logits).mean())


def fit(features: Vector, results: Vector, prior: Vector, pull: float) -> Vector:
    """Return the weights of a logistic regression, by Newton's method with shortened steps.

    features: `[N, terms]`; results: `[N]`, 0 to 1; prior: `[terms]`, where `pull` pulls to.
    """
    strength = pull * (features**2).mean(axis=0) + 1e-12

    def cost(weights: Vector) -> float:
        pulled = float(strength @ (weights - prior) ** 2) / 2
        return cross_entropy(features @ weights, results) + pulled

    weights = prior
    for _ in range(50):
        expected = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (expected - results) / len(results) + strength * (weights - prior)
        curvature = (features.T * (expected * (1 - expected))) @ features / len(results)
        step = np.linalg.solve(curvature + np.diag(strength), gradient)
        size = 1.0
        while size > 1e-6 and cost(weights - size * step) > cost(weights):
            size /= 2
        if size <= 1e-6:
            break
        weights = weights - size * step
    return weights


def scale_of(advantage: Vector, results: Vector) -> float:
    """Return the factor that turns an advantage `[N]` into the best logits."""
    return float(fit(advantage[:, None], results, np.array([0.001]), 0.0)[0])


def tuned(features: Vector, results: Vector, old: list[int]) -> list[int]:
    """Return new weights in place of `old`, for logits of the same scale."""
    scale = scale_of(features @ np.array(old, float), results)
    fitted = fit(features, results, scale * np.array(old, float), PULL)
    return [round(weight / scale) for weight in fitted]


def loss(features: Vector, results: Vector, weights: list[int]) -> float:
    """Return the mean cross-entropy of the results, at the best scale."""
    advantage = features @ np.array(weights, float)
    return cross_entropy(advantage * scale_of(advantage, results), results)


def write(game: dk.Game, names: list[str], weights: list[int]) -> None:
    """Put the weights into the game's header."""
    name = game.id.rpartition("_v")[0]
    header = ROOT / "envs" / name / f"{name}.hpp"
    text = header.read_text(encoding="utf-8")
    for term, weight in zip(names, weights, strict=True):
        text, count = re.subn(rf'(\{{"{re.escape(term)}", )-?\d+\}}', rf"\g<1>{weight}}}", text)
        if count != 1:
            raise SystemExit(f"{header}: {count} terms called {term!r}")
    header.write_text(text, encoding="utf-8")


def report(match: Match) -> str:
    low, high = match.interval
    total = match.total
    return (
        f"{match.score:.1%} ({low:.1%} to {high:.1%}): +{total.wins} ={total.draws} -{total.losses}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=dk.games())
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU-seconds of self-play")
    parser.add_argument("--nodes", type=int, default=300, help="of a search in self-play")
    parser.add_argument("--match-nodes", type=int, default=2000, help="of a search in the match")
    parser.add_argument("--games", type=int, default=200, help="of the match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into the header, if they are better")
    arguments = parser.parse_args()

    game = dk.game(arguments.game)
    names, old = zip(*_core.evaluation_weights(game.state()).items(), strict=True)
    rng = np.random.default_rng(arguments.seed)
    features, results = play(game, arguments.nodes, arguments.seconds, rng)
    new = tuned(features, results, list(old))
    print(f"{game.id}: {len(results)} quiet positions, mean result {results.mean():.3f}")
    print(f"loss {loss(features, results, list(old)):.4f} -> {loss(features, results, new):.4f}")
    for name, before, after in zip(names, old, new, strict=True):
        print(f"  {name:32} {before:5} -> {after:5}")
    challenger = WeightedAgent(arguments.match_nodes, new)
    holder = WeightedAgent(arguments.match_nodes, list(old))
    match = evaluate(game, challenger, holder, arguments.games, arguments.seed, opening_turns=4)
    print(f"new against old, {arguments.match_nodes} nodes a step: {report(match)}", flush=True)
    if arguments.write and match.score > 0.5:
        write(game, list(names), new)


if __name__ == "__main__":
    main()
