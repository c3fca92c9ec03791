"""A tiny game whose turns have two steps and that can be solved, for tests of signs in searches.

A pile of chips. A step takes the last chip or the last two, a turn is two steps (one, if that
empties the pile), and whoever takes the last chip wins.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, Moment, Position, PythonGame


class TwoStepGame(PythonGame):
    id = "two_step_v0"
    start_fens = {"default": "PPPPPPPPPP w - 0 1"}
    default_max_turns = 30
    action_shape = (2, 1, 10)  # plane 0: one chip, plane 1: two; the square is that of the last
    num_planes = 2
    pieces = "P"

    def legal_actions(self, position: Position) -> list[int]:
        chips = num_chips(position)
        return [10 * plane + chips - 1 for plane in (0, 1) if plane < chips]

    def step(self, position: Position, action: int) -> Position:
        rest = num_chips(position) - 1 - action // 10
        board = ("P",) * rest + (EMPTY,) * (10 - rest)
        if rest and not position.is_turn_open:
            return replace(position, board=board, pending=self.square_name(rest - 1))
        return position.finish_turn(resets_quiet=True, board=board)

    def end_by_rule(self, position: Position) -> Outcome | None:
        if num_chips(position) == 0:
            return Outcome(1 - position.to_move, Termination.NO_PIECES)
        return None

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        chips = np.array([[piece != EMPTY for piece in moment.position.board]], np.float32)
        return [chips, self.plane(moment.position.is_turn_open)]

    def step_text(self, position: Position, action: int) -> str:
        plane, square = divmod(action, 10)
        return self.square_name(square) + self.square_name(max(0, square - 1 - plane))

    def check(self, position: Position) -> None:
        """Every pile will do."""

    def _check_pending(self, position: Position, value: str) -> None:
        """The chips are nobody's."""


def num_chips(position: Position) -> int:
    return sum(piece != EMPTY for piece in position.board)


@cache
def solve(chips: int, is_turn_open: bool) -> int:
    """Return the value of a pile for the player to move, 1 or -1."""
    values = []
    for rest in range(max(0, chips - 2), chips):
        if rest == 0:
            values.append(1)
        else:
            values.append(-solve(rest, False) if is_turn_open else solve(rest, True))
    return max(values)
