"""Knight draughts, rules KD-1 to KD-8: the slow reference.

Actions, ``plane * 100 + square``: plane 0-7 a leap of the piece on `square`, in the order of
`LEAPS`, plane 8-15 a capture by two such leaps; the last action is `pass`. A leap is to this game
what a step to the next square is to the others: a capture goes over the first leap's square onto
the second's.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import Moment, Position

from .draughts import ALL, Draughts, Movement

# (files to the right, ranks forward)
LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
FORWARD = tuple(leap for leap in ALL if LEAPS[leap][1] > 0)


class KnightDraughts(Draughts):
    id = "knight_draughts_v0"
    rulesets = ("standard", "allround")
    start_fens = {
        "default": "10/10/mmmmmmmmmm/mmmmmmmmmm/10/10/MMMMMMMMMM/MMMMMMMMMM/10/10 w - 0 1"
    }
    default_max_turns = 200
    action_shape = (16, 10, 10)
    num_planes = 6
    pieces = "MQ"
    directions = LEAPS
    max_counts = {"MQ": 20}
    promotions = {"M": "Q"}
    promotion_ends_turn = True  # KD-5
    strength = {"M": 1, "Q": 1}
    mirror_planes = tuple(kind * 8 + 7 - leap for kind in (0, 1) for leap in ALL)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        captures = ALL if self.ruleset == "allround" else FORWARD  # KD-3
        self.movements = {"M": Movement(FORWARD, captures), "Q": Movement(ALL, ALL)}  # KD-1, KD-2

    def plane_of(self, direction: int, distance: int, is_jump: bool) -> int:
        return 8 * (distance - 1) + direction

    def end_by_length(self, position: Position) -> Outcome:
        return self.outcome_by_strength(position, Termination.LENGTH_LIMIT)  # KD-8

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        left = max(0, self.max_turns - moment.position.turns_played)
        return [*super().planes(moment, player), self.plane(left / self.max_turns)]
