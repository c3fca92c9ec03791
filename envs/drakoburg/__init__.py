"""Drakoburg (dragon chess): 7 x 7 squares, promotion by file, castles that breed pikemen. Its rules
are in README.md.

>>> import deskovky as dk
>>> state = dk.game("drakoburg_v0").state("3t3/7/1Z5/7/7/7/3T3 w")
>>> state.push("b5a5")
>>> state.push("d7e7")
>>> state.push("a5a7,P@c2")
>>> state.fen()
'Z3t2/7/7/7/7/2P4/3T3 b - 0 2'
"""

PIECES = {
    "P": "pikeman",
    "S": "archer",
    "Z": "man-at-arms",
    "A": "squire",
    "U": "turcopole",
    "T": "banneret",
}
"""The FEN letters, capital, in the order of the observation planes."""

_DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
_OCTANTS = ("NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW", "NNW")
_BENDS = (
    "knight's leap",
    *(f"squire ({i},{i + 1})" for i in range(2, 6)),
    *(f"turcopole (1,{i})" for i in range(3, 7)),
)

ACTION_PLANES = (
    *(f"{direction} by {distance}" for direction in _DIRECTIONS for distance in range(1, 7)),
    *(f"{bend} {octant}" for octant in _OCTANTS for bend in _BENDS),
    "place a pikeman",
)
"""What each action plane means, from the mover's view: N is up the board. A bent move's numbers are
the lengths of its shorter and its longer side."""

OBSERVATION_PLANES = (
    *(f"own {piece}" for piece in PIECES.values()),
    *(f"enemy {piece}" for piece in PIECES.values()),
    "1 while the player to move owes a placement",
    "min(quiet, 100) / 100",
    "(occurrences of the position - 1) / 2",
)
"""What each observation plane holds."""
