"""Strength from results: Bradley-Terry ratings with bootstrap intervals, and the SPRT.

Games come in pairs, one opening played from both sides. A pair is worth 0, 1/2, 1, 3/2 or 2 points
to an agent, and how often each of the five happened is its pentanomial: the games of a pair depend
on each other through their opening, so that pairs, not games, are what is drawn independently.

A rating is an Elo number: 400 points more mean 10 points won for 1 lost.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deskovky.errors import ConfigurationError

ELO = 400 / math.log(10)
"""Elo points of one unit of the natural logarithm of strength."""

PAIR_POINTS = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
"""What a pair of games can be worth."""

PRIOR_GAMES = 1.0
"""Drawn games that each agent is given, spread over those it met. Without them an agent that won
everything would be infinitely strong; with them, one that won all of n games against its only
opponent is ahead by 400 log10(2n + 1)."""

PRIOR_PAIRS = 1.0
"""Pairs that the bootstrap adds for each agent, likewise spread, their five results alike.
Without them a match that was won throughout would have an interval of no width."""


@dataclass(frozen=True)
class Rating:
    """The strength of one agent, with its 95 % interval."""

    agent: str
    elo: float
    low: float
    high: float
    games: int
    score: float
    """Wins plus half the draws, divided by the games."""


def elo_score(elo: float) -> float:
    """Return the expected score of an agent that is `elo` points stronger.

    >>> round(elo_score(400), 4)
    0.9091
    """
    return 1 / (1 + math.exp(-elo / ELO))


def pentanomial(points: Sequence[float]) -> NDArray[np.int64]:
    """Count pairs by their points: ``[5]`` int64, those worth 0 first.

    points: those of an agent in each game, 0, 1/2 or 1, the games of a pair side by side.

    >>> pentanomial([1, 1, 0, 1, 0.5, 0]).tolist()
    [0, 1, 1, 0, 1]
    """
    halves = np.rint(2 * np.asarray(points, np.float64)).astype(np.int64).reshape(-1, 2).sum(axis=1)
    counts: NDArray[np.int64] = np.bincount(halves, minlength=5)
    return counts


def pair_table(agents: int, matches: Iterable[tuple[int, int, ArrayLike]]) -> NDArray[np.int64]:
    """Return pentanomials by agent and opponent, ``[agents, agents, 5]`` int64.

    matches: agent, opponent and the pentanomial as seen by the agent.
    """
    pairs = np.zeros((agents, agents, 5), np.int64)
    for agent, opponent, counts in matches:
        pairs[agent, opponent] += counts
        pairs[opponent, agent] += np.flip(counts)
    return pairs


def won(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the points won by agent against opponent, ``[..., k, k]``."""
    points: NDArray[np.float64] = pairs.astype(np.float64) @ PAIR_POINTS
    return points


def fit(pairs: NDArray[np.int64], known: Mapping[int, float]) -> NDArray[np.float64]:
    """Return the Elo of each agent that makes the results likeliest.

    pairs: pentanomials by agent and opponent, ``[..., k, k, 5]``; the result is ``[..., k]``.
    known: the agents whose Elo is known, such as 0 for the one that all are compared with.

    The model is that of Bradley and Terry (1952): i beats j with probability s_i / (s_i + s_j); a
    draw is half a win and half a loss. `PRIOR_GAMES` are added. The likelihood is concave in the
    logarithms of s and has one maximum if a chain of games connects all agents (Hunter 2004, "MM
    algorithms for generalized Bradley-Terry models"). Newton's method finds it, its steps shortened
    such that each one gains (Bach 2010, "Self-concordant analysis for logistic regression").

    Raises ConfigurationError if no chain of games connects the agents.
    """
    points = won(pairs)
    points = points + PRIOR_GAMES / 2 * _spread(points)
    games = points + points.swapaxes(-1, -2)
    others = np.ones(games.shape[-1], np.bool_)
    strength = np.zeros(games.shape[:-1])  # logarithms
    for agent, elo in known.items():
        others[agent] = False
        strength[..., agent] = elo / ELO
    for _ in range(100):
        expected = 1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None]))
        gradient = (points - games * expected).sum(axis=-1)[..., others]
        weight = games * expected * (1 - expected)
        hessian = weight.sum(axis=-1)[..., None] * np.eye(len(others)) - weight
        step = np.linalg.solve(hessian[..., others, :][..., others], gradient[..., None])[..., 0]
        span = np.maximum(step.max(axis=-1), 0) - np.minimum(step.min(axis=-1), 0)
        if span.max() < 1e-9:
            break
        strength[..., others] += step * (np.log1p(span) / np.maximum(span, 1e-12))[..., None]
    return ELO * strength


def bootstrap(
    pairs: NDArray[np.int64], known: Mapping[int, float], samples: int = 1000, seed: int = 0
) -> NDArray[np.float64]:
    """Return the Elo of each agent in as many resamplings of the pairs, ``[samples, k]``.

    Each match is drawn anew, with as many pairs, from the frequencies of its pentanomial, to which
    `PRIOR_PAIRS` are added.
    """
    random = np.random.default_rng(seed)
    prior = PRIOR_PAIRS / 5 * _spread(won(pairs))
    k = len(pairs)
    drawn = np.zeros((samples, k, k, 5), np.int64)
    for i, j in np.argwhere(np.triu(pairs.sum(axis=-1)) > 0):
        frequencies = pairs[i, j] + prior[i, j]
        drawn[:, i, j] = random.multinomial(
            pairs[i, j].sum(), frequencies / frequencies.sum(), samples
        )
        drawn[:, j, i] = drawn[:, i, j, ::-1]
    return fit(drawn, known)


def _spread(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each pairing when every agent spreads 1 over its opponents.

    points: those won by agent against opponent, ``[..., k, k]``.

    A match is given weight in proportion to its information, games times score times the opponent's
    score: a draw more tells little there, but much in a match that was won throughout. A pairing
    has the mean of what its two agents give it, so that a lone match has weight 1.
    """
    theirs = points.swapaxes(-1, -2)
    games = points + theirs
    information = (games > 0) * (points + 0.5) * (theirs + 0.5) / (games + 1)
    share = information / np.maximum(information.sum(axis=-1, keepdims=True), 1e-300)
    weight: NDArray[np.float64] = (share + share.swapaxes(-1, -2)) / 2
    return weight


def rate(
    agents: Sequence[str], pairs: NDArray[np.int64], known: Mapping[int, float], seed: int = 0
) -> list[Rating]:
    """Return the ratings of all agents in their order, with intervals by `bootstrap`.

    pairs, known: as in `fit`.

    Raises ConfigurationError if no chain of games connects the agents.
    """
    check_connected(agents, pairs.sum(axis=-1) > 0)
    elo = fit(pairs, known)
    low, high = np.percentile(bootstrap(pairs, known, seed=seed), [2.5, 97.5], axis=0)
    games = 2 * pairs.sum(axis=(1, 2))
    points = won(pairs).sum(axis=1)
    return [
        Rating(
            agent,
            elo=float(elo[i]),
            low=float(low[i]),
            high=float(high[i]),
            games=int(games[i]),
            score=float(points[i] / games[i]),
        )
        for i, agent in enumerate(agents)
    ]


def check_connected(agents: Sequence[str], met: NDArray[np.bool_]) -> None:
    """Raise ConfigurationError, naming the agents, unless a chain of games connects them all.

    met: who played whom, ``[k, k]``.
    """
    reached = np.arange(len(agents)) == 0
    for _ in agents:
        reached |= met[reached].any(axis=0)
    if missing := [
        name for name, is_reached in zip(agents, reached, strict=True) if not is_reached
    ]:
        raise ConfigurationError(
            f"no ratings: no chain of games connects {agents[0]} with {', '.join(missing)}"
        )


@dataclass(frozen=True)
class Sprt:
    """The sequential test of "the new agent is stronger than the old one by `elo1`, not `elo0`".

    After each pair of games `llr` is compared with `bounds`: at the upper one elo1 is accepted, at
    the lower one elo0. If the truth is elo0, elo1 is accepted with probability `alpha` at most, and
    the other way round with `beta`. (Wald 1945; the bounds are his, which ignore the overshoot.)

    The likelihood ratio is the generalised one over all pentanomials with the expectation that each
    hypothesis says (M. Van den Bergh's GSPRT, as on Stockfish's Fishtest), so that draws and
    the dependence within pairs are taken as they come.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raise ConfigurationError for numbers that are no test."""
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise ConfigurationError(
                f"SPRT with elo0 = {self.elo0}, elo1 = {self.elo1}: expected elo0 < elo1, both "
                "within 2000 of 0"
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ConfigurationError(
                    f"SPRT with {name} = {getattr(self, name)}: expected more than 0, less than 0.5"
                )

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which elo0 and elo1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: NDArray[np.int64]) -> float:
        """Return the log-likelihood ratio of elo1 to elo0, given the new agent's pentanomial."""
        if not counts.sum():
            return 0.0
        seen = np.maximum(counts, 1e-3).tolist()  # what has not been seen yet may be needed
        frequencies = [count / sum(seen) for count in seen]
        p0, p1 = (_likeliest(frequencies, elo_score(elo)) for elo in (self.elo0, self.elo1))
        return math.fsum(n * math.log(b / a) for n, a, b in zip(seen, p0, p1, strict=True))

    def accepted(self, llr: float) -> float | None:
        """Return the Elo that is accepted, elo0 or elo1; None if the test has to go on."""
        low, high = self.bounds
        if llr <= low:
            return self.elo0
        return self.elo1 if llr >= high else None


def _likeliest(frequencies: Sequence[float], score: float) -> list[float]:
    """Return the pentanomial of that mean score under which `frequencies` are likeliest.

    Its elements are p / (1 + t d), where d is the deviation from the score and t such that the mean
    of d is 0 (Owen 1988, empirical likelihood); that mean falls as t grows.
    """
    parts = [(p, i / 4 - score) for i, p in enumerate(frequencies)]
    low, high = -1 / (1 - score), 1 / score
    for _ in range(60):
        middle = (low + high) / 2
        if sum(p * d / (1 + middle * d) for p, d in parts) > 0:
            low = middle
        else:
            high = middle
    t = (low + high) / 2
    weights = [p / (1 + t * d) for p, d in parts]
    return [weight / sum(weights) for weight in weights]
