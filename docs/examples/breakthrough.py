"""Breakthrough on 6 x 6. Rules: README.md."""

PIECES = {"P": "pawn"}
"""The FEN letters, capital, in the order of the observation planes."""

ACTION_PLANES = ("step N", "step NE", "step NW")
"""What each action plane means, from the mover's view: N is up the board."""

OBSERVATION_PLANES = ("own pawn", "enemy pawn", "always empty: no turn has several steps")
"""What each observation plane holds."""
