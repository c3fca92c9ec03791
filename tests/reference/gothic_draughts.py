"""Gothic draughts, rules GD-1 to GD-8: the slow reference.

Actions, ``plane * 64 + square``: ``plane = direction * 7 + distance - 1``, a step or a jump of the
piece on `square` in one of the eight directions of `COMPASS`; the last action is `pass`.
"""

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import Position

from .draughts import ALL, NE, NW, Draughts, E, Movement, N, Step, W

FORWARD_OR_SIDEWAYS = (W, NW, N, NE, E)


class GothicDraughts(Draughts):
    id = "gothic_draughts_v0"
    start_fens = {"default": "mmmmmmmm/mmmmmmmm/8/8/8/8/MMMMMMMM/MMMMMMMM w - 0 1"}
    default_max_turns = 1000
    action_shape = (56, 8, 8)
    num_planes = 6
    pieces = "MK"
    max_counts = {"MK": 16}
    promotions = {"M": "K"}  # GD-5: a man that jumps on from there goes on as a man
    strength = {"M": 1, "K": 1}
    quiet_limit = 30
    has_quiet_plane = True
    mirror_planes = tuple(
        -direction % 8 * 7 + distance for direction in ALL for distance in range(7)
    )
    movements = {
        "M": Movement(FORWARD_OR_SIDEWAYS, FORWARD_OR_SIDEWAYS),  # GD-1
        "K": Movement(ALL, ALL, is_flying=True),  # GD-2
    }

    def choose(self, seen: tuple[str, ...], jumps: list[Step]) -> list[Step]:
        """GD-3: only jumps that begin a way to take as many pieces as possible."""
        known: dict[tuple[tuple[str, ...], int], int] = {}  # many ways lead to the same position

        def most_captures(seen: tuple[str, ...], square: int) -> int:
            if (seen, square) not in known:
                known[seen, square] = max(
                    (captures(seen, jump) for jump in self.jumps(seen, square)), default=0
                )
            return known[seen, square]

        def captures(seen: tuple[str, ...], jump: Step) -> int:
            return 1 + most_captures(self.after(seen, jump), jump.to)

        most = max(captures(seen, jump) for jump in jumps)
        return [jump for jump in jumps if captures(seen, jump) == most]

    def end_by_quiet(self, position: Position) -> Outcome:
        return self.outcome_by_strength(position, Termination.QUIET_LIMIT)  # GD-8
