"""What a player must offer: the `Agent` protocol."""

import random
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Game, State
from deskovky.envs.support import check_seed
from deskovky.errors import IllegalActionError


@runtime_checkable
class Agent(Protocol):
    """A player. Under a seed its actions depend only on the calls since `reset`.

    (Under a wall-clock limit they also depend on the machine.) Subclass it, or write any class
    with these members. One that knows only some games has a method `check_game` besides, see
    `check_plays`.
    """

    @property
    def name(self) -> str:
        """The canonical spec, such as ``"minimax:depth=4"``: `agent(name)` makes an equal one.

        By default the name of the class.
        """
        return type(self).__name__

    def act(self, state: State) -> int:
        """Return a legal action of `state.to_move`; the state is left as it is.

        Raises IllegalActionError if the game is over.
        """
        ...

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        """Return one action for each state, ``[len(states)]`` int32.

        The same as `act` on one state after another, unless a subclass does better.
        """
        return np.array([self.act(state) for state in states], dtype=np.int32)

    def reset(self, seed: int | None = None) -> None:
        """Forget the past and draw from `seed` from now on; None: from a seed of the system's.

        By default there is nothing to forget.
        """
        return None


class SeededAgent(Agent):
    """The base of agents that draw from one random stream, `_random`."""

    def __init__(self, seed: int | None = None) -> None:
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Start the random stream of `seed`. Raises ConfigurationError if it is none of 64 bits."""
        check_seed(seed)
        self._random = random.Random(None if seed is None else int(seed))


def check_plays(agent: object, game: Game) -> None:
    """Raise the error of `agent` unless it can play `game`.

    An agent that knows only some games has a method ``check_game(game)``, which raises a
    DeskovkyError for the others. One without it plays all games.
    """
    check = getattr(agent, "check_game", None)
    if check is not None:
        check(game)


def check_ongoing(state: State) -> None:
    """Raise IllegalActionError if the game is over."""
    if state.is_over:
        raise IllegalActionError("no action to choose: the game is over")
