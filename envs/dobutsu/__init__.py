"""Dobutsu shogi: 3 x 4 squares, drops, catch the lion. Its rules are in README.md.

>>> import deskovky as dk
>>> state = dk.game("dobutsu_v0").state()
>>> for turn in ("b2b3", "c4b3", "C@b2"):
...     state.push(turn)
>>> state.fen()
'gl1/1e1/1C1/ELG[c] b - - 0 2'
"""

PIECES = {"L": "lion", "G": "giraffe", "E": "elephant", "C": "chick", "H": "hen"}
"""The FEN letters, capital, in the order of the observation planes."""

ACTION_PLANES = (
    *(f"step {direction}" for direction in ("N", "NE", "E", "SE", "S", "SW", "W", "NW")),
    *(f"drop {piece}" for piece in ("giraffe", "elephant", "chick")),
)
"""What each action plane means, from the mover's view: N is up the board."""

OBSERVATION_PLANES = (
    *(f"own {piece}" for piece in PIECES.values()),
    *(f"enemy {piece}" for piece in PIECES.values()),
    *(f"own {piece}s in hand / 2" for piece in ("giraffe", "elephant", "chick")),
    *(f"enemy {piece}s in hand / 2" for piece in ("giraffe", "elephant", "chick")),
    "(occurrences of the position - 1) / 2",
)
"""What each observation plane holds."""
