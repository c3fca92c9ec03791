"""Xiangqi (Chinese chess): 9 x 10 points. Its rules are in README.md.

>>> import deskovky as dk
>>> state = dk.game("xiangqi_v0").state()
>>> for turn in ("h3e3", "h10g8", "e3e7"):
...     state.push(turn)
>>> state.fen()
'rnbakab1r/9/1c4nc1/p1p1C1p1p/9/9/P1P1P1P1P/1C7/9/RNBAKABNR b - - 0 2'
"""

PIECES = {
    "K": "general",
    "A": "advisor",
    "B": "elephant",
    "N": "horse",
    "R": "chariot",
    "C": "cannon",
    "P": "soldier",
}
"""The FEN letters, capital, in the order of the observation planes."""

_DIAGONALS = ("NE", "SE", "SW", "NW")

ACTION_PLANES = (
    *(f"N by {distance}" for distance in range(1, 10)),
    *(f"S by {distance}" for distance in range(1, 10)),
    *(f"E by {distance}" for distance in range(1, 9)),
    *(f"W by {distance}" for distance in range(1, 9)),
    *(f"horse {way}" for way in ("NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW", "NNW")),
    *(f"elephant {way}" for way in _DIAGONALS),
    *(f"advisor {way}" for way in _DIAGONALS),
)
"""What each action plane means, from the mover's view: N is up the board."""

OBSERVATION_PLANES = (
    *(f"own {piece}" for piece in PIECES.values()),
    *(f"enemy {piece}" for piece in PIECES.values()),
    "length of the own checking chain (XQ-4) / 3",
    "the own piece that checks in it",
    "the enemy piece that answers it",
    "length of the enemy's checking chain / 3",
    "the enemy piece that checks in it",
    "the own piece that answers it",
    "min(quiet, 120) / 120",
    "(occurrences of the position - 1) / 2",
)
"""What each observation plane holds."""
