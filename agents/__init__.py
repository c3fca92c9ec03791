"""Players.

`agent()` makes one from text: ``agent("minimax:depth=4", seed=1)``. Each has `act`, `act_batch`,
`name` and `reset`, the protocol `Agent`; `analyse()` asks any of them what it thinks of a state.
"""

from deskovky.agents.analysis import Analysis, analyse
from deskovky.agents.protocol import Agent
from deskovky.agents.registry import agent, agents, register_agent, spec_text

__all__ = ["Agent", "Analysis", "agent", "agents", "analyse", "register_agent", "spec_text"]
