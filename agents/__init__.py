"""Players.

`agent()` makes one from text: ``agent("minimax:depth=4", seed=1)``. Each has `act`, `act_batch`,
`name` and `reset`, the protocol `Agent`.
"""

from deskovky.agents.protocol import Agent
from deskovky.agents.registry import agent, agents, register_agent, spec_text

__all__ = ["Agent", "agent", "agents", "register_agent", "spec_text"]
