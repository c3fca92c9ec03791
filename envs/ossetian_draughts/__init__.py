"""Ossetian draughts: 7 x 7 squares, only men, captures in all directions. Rules: README.md.

>>> import deskovky as dk
>>> state = dk.game("ossetian_draughts_v0").state()
>>> for turn in ("d3d4", "d5d3"):
...     state.push(turn)
>>> state.turns()
['d2d4', 'c2e4', 'e2c4']
"""

PIECES = {"M": "man"}
"""The FEN letters, capital, in the order of the observation planes."""

DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")

ACTION_PLANES = (
    *(f"step {direction}" for direction in DIRECTIONS),
    *(f"jump {direction}" for direction in DIRECTIONS),
)
"""What each action plane means, from the mover's view: N is up the board."""

OBSERVATION_PLANES = ("own man", "enemy man", "the man that must go on jumping")
"""What each observation plane holds."""
