"""Medieval battle: 10 x 10 squares, footmen and knights. Its rules are in README.md.

>>> import deskovky as dk
>>> state = dk.game("medieval_battle_v0").state()
>>> len(state.turns())
23
"""

PIECES = {"F": "footman", "N": "knight", "C": "commander", "K": "king"}
"""The FEN letters, capital, in the order of the observation planes."""

DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
MAX_DISTANCE = 9

ACTION_PLANES = tuple(
    f"{direction} by {distance}, as a step or as a jump"
    for direction in DIRECTIONS
    for distance in range(1, MAX_DISTANCE + 1)
)
"""What each action plane means, from the mover's view: N is up the board."""

OBSERVATION_PLANES = (
    *(f"own {piece}" for piece in PIECES.values()),
    *(f"enemy {piece}" for piece in PIECES.values()),
    "the piece that must go on jumping",
    "quiet count / 30, at most 1, on every square",
)
"""What each observation plane holds."""
