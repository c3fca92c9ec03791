"""Perfect play, looked up in the complete solution of a game.

    deskovky solve dobutsu_v0          # once: a minute, 160 MB in a cache folder

    oracle = dk.oracle("dobutsu_v0")
    state = dk.game("dobutsu_v0").state()
    oracle.value(state), oracle.distance(state)     # (-1, 78): the player to move loses in 78 turns
    oracle.best_actions(state)                      # the actions that hold out so long
    dk.agent("oracle:epsilon=0.1")                  # a perfect player that errs at every tenth turn

A solution is made for a whole game; so far there is one of Dobutsu. Values and distances are those
of Tanaka's analysis (2009): there is no repetition and no limit of length, a safe try ends the game
at once, and every other win is counted until the lion is captured. How the rulesets differ:

- *Values* are the same in all of them, as long as nobody declines to capture a lion. Where that has
  been done, the rules of the state decide: such positions are worked out from those that follow.
- `standard` ends a mated game (DS-6) two turns before the lion would be captured: a mated state,
  which is over there, has distance 2, and a win by mate ends two turns sooner than its distance.
  A try that is not safe (DS-5) never helps.
- `fairy` ends games exactly when the distance says so.
- `delayed_try` lets the opponent make one more turn after a safe try: such wins take one turn more.
"""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.agents.analysis import Analysis, spread
from deskovky.agents.protocol import SeededAgent, check_ongoing
from deskovky.agents.registry import spec_text
from deskovky.envs.protocol import Game, State, Termination
from deskovky.errors import ConfigurationError

SOLUTIONS = {"dobutsu_v0": "deskovky.envs.dobutsu.solution"}
"""The solved games: id -> the module that makes, checks and opens the table."""

HISTORY_ENDS = (Termination.REPETITION, Termination.MAX_TURNS)
"""What the solution does not know of."""

Positions = Sequence[State] | NDArray[np.float32]
"""States, or observations ``[n, planes, ranks, files]`` as their player to move sees them."""


class Values(NamedTuple):
    """What perfect play leads to, for the player to move."""

    values: NDArray[np.int32]
    """1 a win, 0 a draw, -1 a loss; -2 for an illegal action."""
    distances: NDArray[np.int32]
    """The turns until then; -1 for a draw or an illegal action."""

    @property
    def ranks(self) -> NDArray[np.int32]:
        """A number that is the greater, the better: quick wins, draws, slow losses, illegal."""
        return self.values * (1000 - self.distances)


class Oracle:
    """The solution of a game.

    game: decides the rules under which observations are read; states bring their own.

    All methods raise ConfigurationError for another game, or states that are not native, and
    TableError for a position that lacks pieces. History and `max_turns` are not looked at.
    """

    def __init__(self, game: Game, cache_dir: Path | str | None = None) -> None:
        if game.id not in SOLUTIONS:
            raise ConfigurationError(f"no solution of {game.id}; solved: {', '.join(SOLUTIONS)}")
        module = importlib.import_module(SOLUTIONS[game.id])
        self.game = game
        self._solution = module.open_table(module.table_path(cache_dir))

    def value(self, state: State) -> int:
        """Return what the player to move gets: 1 a win, 0 a draw, -1 a loss."""
        return int(self.values([state]).values[0])

    def distance(self, state: State) -> int | None:
        """Return how many turns it takes, both playing perfectly; None for a draw."""
        distance = int(self.values([state]).distances[0])
        return None if distance < 0 else distance

    def best_actions(self, state: State) -> NDArray[np.int32]:
        """Return the actions with the best value, and of these the quickest wins or slowest
        losses; ``[k]`` int32, ascending.

        Raises IllegalActionError if the game is over.
        """
        check_ongoing(state)
        return best(self.action_values([state]).ranks[0])

    def values(self, positions: Positions) -> Values:
        """Return values and distances ``[n]`` of states or observations."""
        if isinstance(positions, np.ndarray):
            observations = self._checked(positions)
            return Values(*self._solution.values_of_observations(observations, self.game))
        return Values(*self._solution.values(positions))

    def action_values(self, positions: Positions) -> Values:
        """Return values and distances ``[n, num_actions]`` of each action, for the player to move.

        After the end of a game no action is legal.
        """
        if isinstance(positions, np.ndarray):
            observations = self._checked(positions)
            return Values(*self._solution.action_values_of_observations(observations, self.game))
        return Values(*self._solution.action_values(positions))

    def _checked(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        shape = self.game.observation_shape
        if observations.shape[1:] != shape or observations.dtype.kind != "f":
            raise ConfigurationError(
                f"observations: expected float32 of shape (n, {', '.join(map(str, shape))}), found "
                f"{observations.dtype} of {observations.shape}"
            )
        return np.ascontiguousarray(observations, np.float32)


def oracle(id: str, *, ruleset: str | None = None, cache_dir: Path | str | None = None) -> Oracle:
    """Return the solution of a game.

    id: of a solved game, `SOLUTIONS`.
    ruleset: under which observations are read; states bring their own.
    cache_dir: where the table lies; None is the folder in the environment variable DESKOVKY_CACHE,
        or else the platform's cache folder.

    Raises ConfigurationError for a game that is not solved; TableError if its table is missing,
    truncated or foreign: ``deskovky solve`` makes it.
    """
    from deskovky.envs import game

    return Oracle(game(id, ruleset=ruleset), cache_dir)


def best(ranks: NDArray[np.int32] | NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the indices of the greatest ranks."""
    return np.flatnonzero(ranks == ranks.max()).astype(np.int32)


class OracleAgent(SeededAgent):
    """Play perfectly: win as quickly, or lose as slowly as possible, else keep the draw.

    epsilon: the probability of a random legal action instead.
    hardest: of the best actions, choose one that leaves the opponent the smallest share of turns
        that keep its value, and then of best turns; by default any.
    game: id of the game; it must be solved.

    An action that ends the game at once by repetition or length counts as the draw that it is.
    Raises ConfigurationError for a value out of range or a game that is not solved, TableError if
    the solution cannot be opened.
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        hardest: bool = False,
        game: str = "dobutsu_v0",
        seed: int | None = None,
    ) -> None:
        if not 0 <= epsilon <= 1:
            raise ConfigurationError(f"epsilon = {epsilon}: expected a number from 0 to 1")
        self.oracle = oracle(game)
        self.epsilon, self.hardest = epsilon, hardest
        super().__init__(seed)

    @property
    def name(self) -> str:
        default = self.oracle.game.id == "dobutsu_v0"
        return spec_text(
            "oracle",
            epsilon=self.epsilon or None,
            hardest="true" if self.hardest else None,
            game=None if default else self.oracle.game.id,
        )

    def check_game(self, game: Game) -> None:
        """Raise ConfigurationError unless it is the solved game, by whatever rules."""
        if game.id != self.oracle.game.id:
            raise ConfigurationError(f"{self.name} plays {self.oracle.game.id}, not {game.id}")

    def act(self, state: State) -> int:
        check_ongoing(state)
        if self._random.random() < self.epsilon:
            actions = state.legal_actions()
        else:
            actions = self.best_actions(state)
        return int(actions[self._random.randrange(len(actions))])

    def analyse(self, state: State) -> Analysis:
        """Return the actions that may be played, `epsilon` aside, and the value. Raises
        IllegalActionError if the game is over."""
        return Analysis(spread(state, self.best_actions(state)), float(self.oracle.value(state)))

    def best_actions(self, state: State) -> NDArray[np.int32]:
        """Return the actions between which a random one is played, `epsilon` aside.

        Raises IllegalActionError if the game is over.
        """
        check_ongoing(state)
        ranks = self.oracle.action_values([state]).ranks[0]
        children = {}
        for action in state.legal_actions().tolist():
            children[action] = state.copy()
            children[action].apply(action)
            outcome = children[action].outcome
            if outcome is not None and outcome.termination in HISTORY_ENDS:
                ranks[action] = 0
        actions = best(ranks)
        if not self.hardest:
            return actions
        replies = self.oracle.action_values([children[action] for action in actions.tolist()])
        return actions[best(hardness(replies))]


def hardness(replies: Values) -> NDArray[np.float64]:
    """Return a number for each position that is the greater, the fewer of its turns are good.

    replies: the values of all its actions, ``[n, num_actions]``.
    """
    num_legal = np.maximum(1, (replies.values > -2).sum(1))
    keep, perfect = (
        (scores == scores.max(1, keepdims=True)).sum(1) * (scores.max(1) > -2) / num_legal
        for scores in (replies.values, replies.ranks / 1000)
    )
    # Shares differ by more than 1/10,000, or not at all.
    hardness: NDArray[np.float64] = -keep - perfect / 10_000
    return hardness
