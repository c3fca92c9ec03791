"""Knight draughts: 10 x 10 squares, men that leap as chess knights. Its rules are in README.md.

>>> import deskovky as dk
>>> state = dk.game("knight_draughts_v0").state()
>>> len(state.turns())
52
"""

PIECES = {"M": "man", "Q": "queen"}
"""The FEN letters, capital, in the order of the observation planes."""

LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
"""Files to the right and ranks forward, from the mover's view, clockwise."""

ACTION_PLANES = (
    *(f"leap {files:+} files, {ranks:+} ranks" for files, ranks in LEAPS),
    *(f"capture by two leaps of {files:+} files, {ranks:+} ranks" for files, ranks in LEAPS),
)
"""What each action plane means, from the mover's view."""

OBSERVATION_PLANES = (
    *(f"own {piece}" for piece in PIECES.values()),
    *(f"enemy {piece}" for piece in PIECES.values()),
    "the piece that must go on capturing",
    "turns left / max_turns, on every square",
)
"""What each observation plane holds."""
