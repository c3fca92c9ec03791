"""A tiny game in plain Python whose turns have two steps, for tests of signs in searches.

A pile of chips. A step takes one chip or two, a turn is two steps (one, if that empties the pile),
and whoever takes the last chip wins.
"""

from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.errors import ConfigurationError, FenError, IllegalActionError, UnknownGameError

MOST_CHIPS = 16


class TwoStepGame:
    id = "two_step_v0"
    ruleset = "standard"
    setup = "default"
    view = "relative"
    num_actions = 2  # action a takes a + 1 chips
    action_shape = (2, 1, 1)
    observation_shape = (2, 1, MOST_CHIPS + 1)
    rulesets = ("standard",)
    setups = ("default",)
    mirror_actions = None

    def __init__(
        self,
        *,
        ruleset: str | None = None,
        setup: str | None = None,
        max_turns: int | None = None,
        view: str = "relative",
    ) -> None:
        if ruleset not in (None, "standard") or setup not in (None, "default"):
            raise UnknownGameError("two_step_v0 has one ruleset and one setup")
        if view != "relative":
            raise ConfigurationError("two_step_v0 has only the relative view")
        self.max_turns = max_turns or 100

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TwoStepGame) and other.max_turns == self.max_turns

    def __hash__(self) -> int:
        return hash((self.id, self.max_turns))

    def state(self, fen: str | None = None) -> "TwoStepState":
        chips, side, pending = (fen or "10 w -").split(" ")
        if not 0 < int(chips) <= MOST_CHIPS:
            raise FenError("chips: out of range")
        return TwoStepState(self, [(int(chips), "wb".index(side), pending == "+")])

    def perft(self, depth: int, fen: str | None = None) -> int:
        raise NotImplementedError


class TwoStepState:
    def __init__(self, game: TwoStepGame, past: list[tuple[int, int, bool]]) -> None:
        self.game = game
        self._past = past  # chips, to_move, is_turn_open; now last

    @property
    def chips(self) -> int:
        return self._past[-1][0]

    @property
    def to_move(self) -> int:
        return self._past[-1][1]

    @property
    def is_turn_open(self) -> bool:
        return self._past[-1][2]

    @property
    def history(self) -> list[str]:
        taken = [before[0] - after[0] for before, after in zip(self._past, self._past[1:])]
        turns: list[str] = []
        for (_, _, is_open), number in zip(self._past, taken, strict=False):
            turns += [] if is_open and turns else [""]
            turns[-1] += str(number)
        return turns

    @property
    def occurrences(self) -> int:
        return 1

    @property
    def outcome(self) -> Outcome | None:
        if self.chips == 0:
            return Outcome(self._past[-2][1], Termination.NO_PIECES)
        if not self.is_turn_open and len(self.history) >= self.game.max_turns:
            return Outcome(None, Termination.MAX_TURNS)
        return None

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    def returns(self) -> tuple[float, float]:
        outcome = self.outcome
        if outcome is None or outcome.winner is None:
            return (0.0, 0.0)
        return (1.0, -1.0) if outcome.winner == 0 else (-1.0, 1.0)

    def legal_actions(self) -> NDArray[np.int32]:
        return np.arange(0 if self.is_over else min(2, self.chips), dtype=np.int32)

    def legal_action_mask(self) -> NDArray[np.bool_]:
        return np.isin(np.arange(2), self.legal_actions())

    def apply(self, action: int) -> None:
        if action not in self.legal_actions():
            raise IllegalActionError(f"action {action} is illegal")
        chips, to_move, is_turn_open = self._past[-1]
        chips -= action + 1
        turn_goes_on = not is_turn_open and chips > 0
        self._past.append((chips, to_move if turn_goes_on else 1 - to_move, turn_goes_on))

    def undo(self) -> None:
        if len(self._past) == 1:
            raise IllegalActionError("nothing to undo")
        self._past.pop()

    def copy(self) -> Self:
        return type(self)(self.game, self._past.copy())

    def observation(self, player: int | None = None) -> NDArray[np.float32]:
        planes = np.zeros(self.game.observation_shape, np.float32)
        planes[0, 0, self.chips] = 1
        planes[1] = self.is_turn_open
        return planes

    def fen(self) -> str:
        return f"{self.chips} {'wb'[self.to_move]} {'+' if self.is_turn_open else '-'}"

    def action_to_text(self, action: int) -> str:
        return str(action + 1)

    def action_from_text(self, text: str) -> int:
        return int(text) - 1

    def turns(self, limit: int | None = None) -> list[str]:
        raise NotImplementedError

    def push(self, turn: str) -> None:
        raise NotImplementedError

    def key(self) -> int:
        chips, to_move, is_turn_open = self._past[-1]
        return 4 * chips + 2 * to_move + is_turn_open

    def num_pieces(self, player: int) -> int:
        return self.chips

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TwoStepState) and self._past == other._past


@cache
def solve(chips: int, is_turn_open: bool) -> int:
    """Return the value of the game for the player to move, 1 or -1."""
    values = []
    for rest in range(max(0, chips - 2), chips):
        if rest == 0:
            values.append(1)
        elif is_turn_open:
            values.append(-solve(rest, False))
        else:
            values.append(solve(rest, True))
    return max(values)
