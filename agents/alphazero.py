"""The agent that `deskovky train alphazero` trains: a network and a Gumbel search.

    agent = AlphaZeroAgent("runs/demo/best.pt", simulations=64)

or from text, ``"alphazero:runs/demo/best.pt?simulations=64"``. Needs the extra `train`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky._core import GumbelSearch
from deskovky.agents.analysis import Analysis
from deskovky.agents.checkpoint import check_game, load_network, read_checkpoint
from deskovky.agents.network import choose_device, one_thread
from deskovky.agents.protocol import Agent, check_ongoing
from deskovky.agents.registry import spec_text
from deskovky.envs.protocol import Game, State
from deskovky.envs.support import check_seed

Evaluate = Callable[
    [NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]
]  # observations [B, C, H, W] -> prior_logits [B, A] and values [B]


class SearchResult(NamedTuple):
    """What a search found out about B states."""

    actions: NDArray[np.int32]
    """`[B]`, the chosen ones."""
    action_weights: NDArray[np.float32]
    """`[B, A]`, the improved policy; zero where illegal."""
    root_values: NDArray[np.float32]
    """`[B]`, the value of the improved policy for the player to move."""
    visit_counts: NDArray[np.int32]
    """`[B, A]`"""


def run_search(
    search: GumbelSearch, evaluate: Evaluate, states: Sequence[State], seed: int = 0
) -> SearchResult:
    """Search from `states`, all of one game and not over; `seed` is that of the Gumbel noise."""
    search.set_roots(states, seed)
    while len(observations := search.collect()):
        search.update(*evaluate(observations))
    return SearchResult(*search.results())


class AlphaZeroAgent(Agent):
    """A player that searches with a network; it explores nothing, unless told to.

    path: the file that `deskovky train alphazero` wrote.
    simulations: of the search, for each step; 0 plays by the network's policy alone.
    max_considered_actions: how many actions the search considers at the root, at most.
    gumbel_scale: the noise at the root; 0 always plays the best action found, 1 is that of
        self-play.
    contempt: by how much less than 0, up to 1, the search values a drawn game: one that is no worse
        than that is played on.
    device: ``"cpu"``, ``"cuda"``, ...; ``"auto"`` is the GPU if there is one.
    seed: of the noise.

    Raises CheckpointError for a file that is no such checkpoint or a damaged one, and
    ConfigurationError for options that cannot be used.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        simulations: int = 64,
        max_considered_actions: int = 16,
        gumbel_scale: float = 0.0,
        contempt: float = 0.0,
        device: str = "auto",
        seed: int | None = None,
    ) -> None:
        self._search = GumbelSearch(
            simulations,
            max_considered_actions=max_considered_actions,
            gumbel_scale=gumbel_scale,
            contempt=contempt,
        )
        self._path, self._device = path, device
        self._checkpoint = read_checkpoint(path)
        self._network = load_network(path, self._checkpoint).to(choose_device(device))
        self._name = spec_text(
            "alphazero",
            str(path),
            simulations=simulations,
            max_considered_actions=max_considered_actions if max_considered_actions != 16 else None,
            gumbel_scale=gumbel_scale or None,
            contempt=contempt or None,
        )
        self._game: Game | None = None  # the one checked last
        self.reset(seed)

    @property
    def name(self) -> str:
        """The spec of this agent, such as ``"alphazero:best.pt?simulations=64"``."""
        return self._name

    def reset(self, seed: int | None = None) -> None:
        """Start the random stream of `seed`, None: one of the system's. It decides the noise."""
        check_seed(seed)
        self._random = np.random.default_rng(seed)

    def check_game(self, game: Game) -> None:
        """Raise CheckpointError unless the network is for this game, ruleset and view."""
        if game != self._game:
            check_game(self._path, self._checkpoint, game)
            self._game = game

    def act(self, state: State) -> int:
        """Return the action that the search chooses. Raises as `act_batch` does."""
        return int(self.act_batch([state])[0])

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        """Return an action for each state, `[B]` int32; all are searched together.

        Raises IllegalActionError if one of the games is over, CheckpointError if the network is
        for another game, ruleset or view.
        """
        return self.search(states).actions if states else np.zeros(0, np.int32)

    def analyse(self, state: State) -> Analysis:
        """Return the improved policy and its value. Raises as `act_batch` does."""
        return self.analyse_batch([state])[0]

    def analyse_batch(self, states: Sequence[State]) -> list[Analysis]:
        """Return `analyse` of each state; all are searched together."""
        if not states:
            return []
        result = self.search(states)
        pairs = zip(result.action_weights, result.root_values.tolist(), strict=True)
        return [Analysis(*pair) for pair in pairs]

    def without_search(self) -> "AlphaZeroAgent":
        """Return the agent that plays by the policy of the same network alone."""
        return AlphaZeroAgent(self._path, simulations=0, device=self._device)

    def search(self, states: Sequence[State]) -> SearchResult:
        """Return what the search finds out about at least one state. Raises as `act_batch` does."""
        for state in states:
            check_ongoing(state)
            self.check_game(state.game)
        seed = int(self._random.integers(2**63))
        with one_thread():
            return run_search(self._search, self._network.evaluate, states, seed)
