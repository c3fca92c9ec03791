"""The command `deskovky show`: a recorded game as text, as a picture or as an animation."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console

from deskovky.envs.drawing import animate, draw
from deskovky.envs.protocol import State
from deskovky.envs.records import Record, read_record
from deskovky.envs.support import check_choice, write_text
from deskovky.errors import ConfigurationError, IllegalActionError
from deskovky.terminal import SIDES, board_view, outcome_text


@dataclass
class Show:
    """Show a recorded game: its headers, turns and final board, or its picture."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """file of records, text or JSON lines"""
    number: int = 1
    """which game of the file, from 1"""
    turn: int | None = None
    """show the position after so many turns, 0 the start; by default the last one"""
    svg: Path | None = None
    """write a picture to this file instead"""
    animate: bool = False
    """let the picture play the turns up to that one"""
    seconds_per_turn: float = 1.0
    """pace of the animation"""
    size: int = 600
    """longer side of the picture, in pixels"""
    perspective: int = 0
    """the player at the bottom, 0 or 1"""
    analysis: bool = False
    """draw what was noted beside the turn to come: policy as arrows, value as a bar"""

    def run(self) -> None:
        """Print the game or write the picture. Raises DeskovkyError, OSError."""
        check_choice("perspective", self.perspective, [0, 1])
        if self.svg is None and (self.animate or self.analysis):
            raise ConfigurationError("--animate and --analysis need --svg FILE")
        if self.animate and self.analysis:
            raise ConfigurationError("--analysis is for one position, without --animate")
        if self.svg is not None and self.svg.suffix.lower() != ".svg":
            raise ConfigurationError(f"--svg {self.svg}: the picture is SVG, name it so: *.svg")
        record = read_record(self.file, self.number)
        state = record.state(self.turn)
        if self.svg is None:
            self.print(record, state)
        else:
            write_text(self.svg, self.picture(record, state))

    def print(self, record: Record, state: State) -> None:
        """Print headers and turns, then the board at the turn asked for."""
        console = Console(highlight=False, markup=False, emoji=False)
        console.print(record.to_text(), soft_wrap=True)
        console.print(board_view(state, self.perspective))
        number = len(record.turns) if self.turn is None else self.turn
        first, second = (record.headers.get(f"Player{i}", f"player_{i}") for i in (0, 1))
        if number == len(record.turns) and record.outcome is not None:
            console.print(outcome_text(record.outcome, (first, second)))
        else:
            console.print(f"after turn {number}: {SIDES[state.to_move]} to move")

    def picture(self, record: Record, state: State) -> str:
        """Return the SVG text."""
        if self.animate:
            return animate(
                list(islice(record.states(), None if self.turn is None else self.turn + 1)),
                seconds_per_turn=self.seconds_per_turn,
                size=self.size,
                perspective=self.perspective,
            )
        is_end = self.turn in (None, len(record.turns))
        policy, value = noted(record, state, self.turn) if self.analysis else (None, None)
        return draw(
            state,
            size=self.size,
            perspective=self.perspective,
            policy=policy,
            value=value,
            outcome=record.outcome if is_end else None,
        )


def noted(record: Record, state: State, turn: int | None) -> tuple[np.ndarray | None, float | None]:
    """Return the policy, `[num_actions]`, and the value noted beside the turn after `turn`.

    Raises ConfigurationError if nothing was.
    """
    index = len(record.turns) if turn is None else turn
    note = record.annotations[index] if index < len(record.annotations) else None
    if note is None or (note.policy is None and note.value is None):
        raise ConfigurationError(f"nothing is noted beside turn {index + 1}; choose --turn")
    if note.policy is None:
        return None, note.value
    policy = np.zeros(state.game.num_actions)
    for text, probability in note.policy.items():
        try:
            policy[state.action_from_text(text)] = probability
        except IllegalActionError as error:
            raise ConfigurationError(f"the policy beside turn {index + 1}: {error}") from error
    return policy, note.value
