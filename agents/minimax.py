"""The minimax agent: native iterative deepening alpha-beta."""

from deskovky import _core
from deskovky.agents.analysis import Analysis, spread
from deskovky.agents.protocol import SeededAgent
from deskovky.agents.registry import spec_text
from deskovky.envs.protocol import State


class MinimaxAgent(SeededAgent):
    """Play the action that is best some turns ahead.

    depth: how many turns to look ahead, 1 to 63.
    nodes: how many positions to visit at most, those of quiescence included.
    time_ms: how many milliseconds to think at most; the only option that is not deterministic.
    table_mb: the size of the transposition table in MiB at most, 0 for none.

    The search goes deeper turn by turn until the first limit, at least one turn deep, or until a
    win or loss is proven. Without any limit the depth is 4. Behind the last turn it follows
    captures until the position is quiet. With `depth` every action is looked at so far and a draw
    is worth 0; without it, late and quiet actions are looked at less far, and a draw counts as 0.3
    of the weakest piece lost, so that a better game is played on. Equal actions are chosen between
    at random.

    A position is judged by the named terms of its game (`_core.evaluation_weights`); that of a game
    in Python by its state's method ``evaluate() -> int`` if there is one, which takes the view of
    the player to move and counts in hundredths of the weakest piece, else by the number of pieces.

    Raises ConfigurationError for a value out of range.
    """

    def __init__(
        self,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        time_ms: float | None = None,
        table_mb: int = 16,
        seed: int | None = None,
    ) -> None:
        if depth is None and nodes is None and time_ms is None:
            depth = 4
        _core.check_minimax_options(depth=depth, nodes=nodes, time_ms=time_ms, table_mb=table_mb)
        self.depth, self.nodes, self.time_ms, self.table_mb = depth, nodes, time_ms, table_mb
        super().__init__(seed)

    @property
    def name(self) -> str:
        return spec_text(
            "minimax",
            depth=self.depth,
            nodes=self.nodes,
            time_ms=self.time_ms,
            table_mb=None if self.table_mb == 16 else self.table_mb,
        )

    def search(self, state: State) -> _core.MinimaxResult:
        """Return all that the search found. Raises IllegalActionError if the game is over."""
        return _core.minimax(
            state,
            depth=self.depth,
            nodes=self.nodes,
            time_ms=self.time_ms,
            seed=self._random.getrandbits(64),
            table_mb=self.table_mb,
        )

    def act(self, state: State) -> int:
        return self.search(state).action

    def analyse(self, state: State) -> Analysis:
        """Return the best action and its value. Raises IllegalActionError if the game is over."""
        result = self.search(state)
        return Analysis(spread(state, [result.action]), result.value)
