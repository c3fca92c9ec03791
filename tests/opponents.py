"""Small opponents and two small games, for tests of the environments."""

import os
import signal
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.drawing import Drawable
from deskovky.envs.protocol import Outcome, State, Termination
from deskovky.errors import IllegalActionError


class RandomOpponent:
    """Plays at random, from its own seed."""

    name = "test-random"

    def __init__(self, seed: int | None = 0) -> None:
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, state: State) -> int:
        return int(self.rng.choice(state.legal_actions()))

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        return np.array([self.act(state) for state in states], np.int32)


class HashOpponent(RandomOpponent):
    """Plays what the position alone decides, so that batches and single games can be compared."""

    name = "test-hash"

    def act(self, state: State) -> int:
        legal = state.legal_actions()
        return int(legal[zlib.crc32(state.fen().encode()) % len(legal)])


class ScriptOpponent(RandomOpponent):
    """Plays the turns of a given game."""

    name = "test-script"

    def __init__(self, turns: Sequence[str]) -> None:
        self.turns = turns

    def reset(self, seed: int | None = None) -> None:
        pass

    def act(self, state: State) -> int:
        return state.action_from_text(self.turns[len(state.history)])


class Fragile(RandomOpponent):
    """Ends its process, or plays an illegal action, once it was reset a second time."""

    def __init__(self, name: str, end: str) -> None:
        super().__init__()
        self.name, self.end, self.resets = name, end, 0

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.resets = getattr(self, "resets", 0) + 1

    def act(self, state: State) -> int:
        if self.resets >= 2 and self.end == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.resets >= 2 and self.end == "illegal":
            return -1
        return super().act(state)


class TwoStepGame:
    """A game in plain Python whose turns have two steps each, and a draw after `max_turns` turns.

    Action 0 or 1 is always legal, action 2 never.
    """

    id = "two_step_v0"
    ruleset, setup, view = "standard", "default", "relative"
    rulesets, setups = ("standard",), ("default",)
    num_actions = 3
    action_shape = (3, 1, 1)
    observation_shape = (2, 1, 1)
    mirror_actions = None

    def __init__(self, max_turns: int = 4) -> None:
        self.max_turns = max_turns

    def state(self, fen: str | None = None) -> "TwoStepState":
        return TwoStepState(self)

    def perft(self, depth: int, fen: str | None = None) -> int:
        return int(4**depth) if depth <= self.max_turns else 0


class TwoStepState(Drawable):
    """A state of `TwoStepGame`: the actions made so far."""

    def __init__(self, game: TwoStepGame, actions: tuple[int, ...] = ()) -> None:
        self.game = game
        self.actions = actions

    @property
    def history(self) -> list[str]:
        steps = [str(action) for action in self.actions]
        return ["".join(steps[i : i + 2]) for i in range(0, len(steps), 2)]

    @property
    def to_move(self) -> int:
        return len(self.actions) // 2 % 2

    @property
    def is_turn_open(self) -> bool:
        return len(self.actions) % 2 == 1

    @property
    def occurrences(self) -> int:
        return 1

    def num_pieces(self, player: int) -> int:
        return 1

    @property
    def is_over(self) -> bool:
        return len(self.actions) == 2 * self.game.max_turns

    @property
    def outcome(self) -> Outcome | None:
        return Outcome(None, Termination.LENGTH_LIMIT) if self.is_over else None

    def returns(self) -> tuple[float, float]:
        return (0.0, 0.0)

    def legal_actions(self) -> NDArray[np.int32]:
        return np.array([] if self.is_over else [0, 1], np.int32)

    def legal_action_mask(self) -> NDArray[np.bool_]:
        return np.array([not self.is_over, not self.is_over, False])

    def apply(self, action: int) -> None:
        if self.is_over or action not in (0, 1):
            raise IllegalActionError(f"action {action} is illegal")
        self.actions += (action,)

    def undo(self) -> None:
        if not self.actions:
            raise IllegalActionError("undo: there is no step to take back")
        self.actions = self.actions[:-1]

    def copy(self) -> Any:
        return type(self)(self.game, self.actions)

    def observation(self, player: int | None = None) -> NDArray[np.float32]:
        seen = self.to_move if player is None else player
        return np.array([seen, len(self.actions) % 2], np.float32).reshape(2, 1, 1)

    def fen(self) -> str:
        return f"{len(self.actions) // 2}M {'wb'[self.to_move]} - 0 1"

    def action_to_text(self, action: int) -> str:
        return str(action)

    def action_from_text(self, text: str) -> int:
        return int(text)

    def turns(self, limit: int | None = None) -> list[str]:
        return ["00", "01", "10", "11"][:limit]

    def push(self, turn: str) -> None:
        for step in turn:
            self.apply(int(step))

    def key(self) -> int:
        return len(self.actions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TwoStepState) and self.actions == other.actions


class InstantWinGame(TwoStepGame):
    """A game of one step a turn: action 0 wins at once, action 1 does nothing."""

    id = "instant_win_v0"

    def state(self, fen: str | None = None) -> "InstantWinState":
        return InstantWinState(self)


class InstantWinState(TwoStepState):
    """A state of `InstantWinGame`."""

    @property
    def history(self) -> list[str]:
        return [str(action) for action in self.actions]

    @property
    def to_move(self) -> int:
        return len(self.actions) % 2

    @property
    def is_turn_open(self) -> bool:
        return False

    @property
    def is_over(self) -> bool:
        return 0 in self.actions

    @property
    def outcome(self) -> Outcome | None:
        return Outcome(1 - self.to_move, Termination.LION_CAPTURED) if self.is_over else None

    def returns(self) -> tuple[float, float]:
        if not self.is_over:
            return (0.0, 0.0)
        return (-1.0, 1.0) if self.to_move == 0 else (1.0, -1.0)
