"""The agent that looks one step ahead: win, else capture."""

from deskovky import _core
from deskovky.agents.analysis import Analysis, spread
from deskovky.agents.protocol import SeededAgent
from deskovky.envs.protocol import State


class GreedyAgent(SeededAgent):
    """Play a step that wins at once; if there is none, one that captures; else any.

    Among several, a uniformly random one. A capture is a step after which the enemy has fewer
    pieces on the board.
    """

    def __init__(self, *, seed: int | None = None) -> None:
        super().__init__(seed)

    @property
    def name(self) -> str:
        return "greedy"

    def act(self, state: State) -> int:
        actions = _core.greedy_actions(state)
        return int(actions[self._random.randrange(len(actions))])

    def analyse(self, state: State) -> Analysis:
        """Return the steps it chooses among. Raises IllegalActionError if the game is over."""
        return Analysis(spread(state, _core.greedy_actions(state)), None)
