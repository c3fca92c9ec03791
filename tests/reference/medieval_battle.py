"""Medieval battle, rules MB-1 to MB-8: the slow reference.

Actions, ``plane * 100 + square``: ``plane = direction * 9 + distance - 1``, a step or a jump of
the piece on `square` in one of the eight directions of `COMPASS`; the last action is `pass`.
"""

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import Position

from .draughts import ALL, NE, NW, SE, SW, Draughts, E, Movement, N, W

FOOTMAN = (NW, NE)
KNIGHT = (W, N, E)
COMMANDER = (NE, SE, SW, NW)


class MedievalBattle(Draughts):
    id = "medieval_battle_v0"
    start_fens = {
        "default": "1n1n1n1n1n/f1f1f1f1f1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1F1F1F1F1F/N1N1N1N1N1 "
        "w - 0 1",
        "vanguard": "1f1f1f1f1f/n1n1n1n1n1/1f1f1f1f1f/10/10/10/10/F1F1F1F1F1/1N1N1N1N1N/F1F1F1F1F1 "
        "w - 0 1",
    }
    default_max_turns = 1000
    action_shape = (72, 10, 10)
    num_planes = 10
    pieces = "FNCK"
    max_counts = {"FC": 10, "NK": 5}
    promotions = {"F": "C", "N": "K"}  # MB-5
    strength = {"F": 1, "N": 2, "C": 3, "K": 4}  # MB-8
    quiet_limit = 30
    has_quiet_plane = True
    mirror_planes = tuple(
        -direction % 8 * 9 + distance for direction in ALL for distance in range(9)
    )
    movements = {  # MB-2, MB-3
        "F": Movement(FOOTMAN, FOOTMAN),
        "N": Movement(KNIGHT, KNIGHT),
        "C": Movement(COMMANDER, COMMANDER, is_flying=True),
        "K": Movement(ALL, ALL, is_flying=True),
    }

    def end_by_quiet(self, position: Position) -> Outcome:
        return self.outcome_by_strength(position, Termination.QUIET_LIMIT)  # MB-8
