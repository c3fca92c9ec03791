"""Ossetian draughts, rules OD-1 to OD-3: the slow reference.

Actions, ``plane * 49 + square``: plane 0-7 a step of the man on `square` in one of the eight
directions of `COMPASS`, plane 8-15 a jump over the next square there; the last action is `pass`.
The rest is what all draughts share: free choice, a jumping man goes on while it can (OD-2).
"""

from .draughts import ALL, NE, NW, Draughts, Movement, N


class OssetianDraughts(Draughts):
    id = "ossetian_draughts_v0"
    start_fens = {"default": "mmmmmmm/mmmmmmm/mmmmmmm/7/MMMMMMM/MMMMMMM/MMMMMMM w - 0 1"}
    default_max_turns = 500
    action_shape = (16, 7, 7)
    num_planes = 3
    pieces = "M"
    max_counts = {"M": 21}
    strength = {"M": 1}  # OD-3
    mirror_planes = tuple(kind * 8 + -direction % 8 for kind in (0, 1) for direction in ALL)
    movements = {"M": Movement((NW, N, NE), ALL)}  # OD-1

    def plane_of(self, direction: int, distance: int, is_jump: bool) -> int:
        return 8 * (distance - 1) + direction
