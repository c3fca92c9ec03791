"""The agent that plays uniformly random legal actions."""

from deskovky.agents.analysis import Analysis, spread
from deskovky.agents.protocol import SeededAgent, check_ongoing
from deskovky.envs.protocol import State


class RandomAgent(SeededAgent):
    """Play a uniformly random legal action."""

    def __init__(self, *, seed: int | None = None) -> None:
        super().__init__(seed)

    @property
    def name(self) -> str:
        return "random"

    def act(self, state: State) -> int:
        check_ongoing(state)
        actions = state.legal_actions()
        return int(actions[self._random.randrange(len(actions))])

    def analyse(self, state: State) -> Analysis:
        """Return all legal actions. Raises IllegalActionError if the game is over."""
        check_ongoing(state)
        return Analysis(spread(state, state.legal_actions()), None)
