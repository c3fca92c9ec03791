"""deskovky: two-player board games for reinforcement learning.

import deskovky as dk

env = dk.make("dobutsu_v0")                        # PettingZoo AEC environment
state = dk.game("dobutsu_v0").state()              # the rules as an object
venv = dk.make_vec("dobutsu_v0", num_envs=1024)    # many games at once, native
agent = dk.agent("minimax:depth=4")                # players from text
board = dk.board("dobutsu_v0")                     # to play in a notebook
"""

from deskovky.agents import agent
from deskovky.agents.oracle import oracle
from deskovky.envs import game, games, make, make_vec, register_game
from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.records import Annotation, Record, RecordWriter, read_records, write_records
from deskovky.errors import (
    AgentSpecError,
    CheckpointError,
    ConfigurationError,
    DeskovkyError,
    FenError,
    IllegalActionError,
    RecordError,
    RenderError,
    TableError,
    UnknownGameError,
)
from deskovky.notebook import board

__version__ = "0.1.0"

__all__ = [
    "AgentSpecError",
    "Annotation",
    "CheckpointError",
    "ConfigurationError",
    "DeskovkyError",
    "FenError",
    "Game",
    "IllegalActionError",
    "Outcome",
    "Record",
    "RecordError",
    "RecordWriter",
    "RenderError",
    "State",
    "TableError",
    "Termination",
    "UnknownGameError",
    "agent",
    "board",
    "game",
    "games",
    "make",
    "make_vec",
    "oracle",
    "read_records",
    "register_game",
    "write_records",
]
