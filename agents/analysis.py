"""What an agent thinks of a state: how likely each action is, and how good the state is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky.agents.protocol import Agent, check_ongoing
from deskovky.envs.protocol import State


class Analysis(NamedTuple):
    """What an agent thinks of a state."""

    policy: NDArray[np.float32]
    """``[num_actions]``, a probability for each action; zero where illegal, in all one."""

    value: float | None
    """The result expected by the player to move, from -1 to 1; None if the agent has no idea."""


def analyse(agent: Agent, state: State) -> Analysis:
    """Return what `agent` thinks of a state; the state is left as it is.

    An agent without a method `analyse` is asked for its action, which then has all the probability.
    Raises IllegalActionError if the game is over.

    >>> import deskovky as dk
    >>> state = dk.game("dobutsu_v0").state("3/1l1/1L1/3[-] w")
    >>> policy, value = analyse(dk.agent("minimax:depth=1"), state)
    >>> state.action_to_text(policy.argmax()), value
    ('b2b3', 1.0)
    """
    check_ongoing(state)
    own: Any = getattr(agent, "analyse", None)
    if own is None:
        return Analysis(spread(state, [agent.act(state)]), None)
    analysis: Analysis = own(state)
    return analysis


def analyse_batch(agent: Agent, states: Sequence[State]) -> list[Analysis]:
    """Return what `agent` thinks of each state.

    The same as `analyse` on one after another, unless the agent has an `analyse_batch` of its own.
    """
    own: Any = getattr(agent, "analyse_batch", None)
    if own is None:
        return [analyse(agent, state) for state in states]
    analyses: list[Analysis] = own(states)
    return analyses


def spread(state: State, actions: list[int] | NDArray[np.int32]) -> NDArray[np.float32]:
    """Return the policy that chooses among `actions`, each as likely as the others."""
    policy = np.zeros(state.game.num_actions, np.float32)
    policy[actions] = 1 / len(actions)
    return policy
