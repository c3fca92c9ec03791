"""The Monte Carlo tree search agent: native UCT with random rollouts."""

import numpy as np

from deskovky import _core
from deskovky.agents.analysis import Analysis
from deskovky.agents.protocol import SeededAgent
from deskovky.agents.registry import spec_text
from deskovky.envs.protocol import State

DEFAULT_SIMULATIONS = 800
DEFAULT_EXPLORATION = 1.4  # about the square root of two, for results from -1 to 1


class MctsAgent(SeededAgent):
    """Play the action that does best in random games, in a tree grown towards good play.

    simulations: how many random games a search plays, 1 to 100,000,000; fewer only if the result
    is proven before.
    exploration: the factor c of UCT, 0 to 1,000,000; the larger, the wider the tree.

    Raises ConfigurationError for a value out of range.
    """

    def __init__(
        self,
        *,
        simulations: int = DEFAULT_SIMULATIONS,
        exploration: float = DEFAULT_EXPLORATION,
        seed: int | None = None,
    ) -> None:
        _core.check_mcts_options(simulations=simulations, exploration=exploration)
        self.simulations, self.exploration = simulations, exploration
        super().__init__(seed)

    @property
    def name(self) -> str:
        is_default = self.exploration == DEFAULT_EXPLORATION
        return spec_text(
            "mcts",
            simulations=self.simulations,
            exploration=None if is_default else self.exploration,
        )

    def search(self, state: State) -> _core.MctsResult:
        """Return the whole tree. Raises IllegalActionError if the game is over."""
        return _core.mcts(
            state,
            simulations=self.simulations,
            exploration=self.exploration,
            seed=self._random.getrandbits(64),
        )

    def act(self, state: State) -> int:
        return self.search(state).action

    def analyse(self, state: State) -> Analysis:
        """Return the shares of the visits, and the value. Raises IllegalActionError if the game is
        over."""
        result = self.search(state)
        visits = result.visit_counts.astype(np.float32)
        return Analysis(visits / visits.sum(), result.value)
