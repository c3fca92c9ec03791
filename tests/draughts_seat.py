"""The draughts games seen by one player, so that every rule is tested for both.

Positions and moves are written for the player to move as player 0: we have the capitals. For
player 1 the board and all squares are turned by 180 degrees.
"""

import re
from dataclasses import dataclass
from typing import Any

import deskovky as dk
from deskovky.envs.protocol import Outcome, State, Termination

SQUARE = re.compile(r"([a-j])(10|[1-9])")


@dataclass(frozen=True)
class Seat:
    """One player, `us`, of the game `id` on a board of so many ranks and files."""

    id: str
    size: int
    us: int

    @property
    def them(self) -> int:
        return 1 - self.us

    def turned(self, text: str) -> str:
        """Return the squares in `text` as player 0 names them."""
        if self.us == 0:
            return text
        return SQUARE.sub(
            lambda name: (
                "abcdefghij"[self.size - 1 - (ord(name[1]) - ord("a"))]
                + str(self.size + 1 - int(name[2]))
            ),
            text,
        )

    def board(self, board: str) -> str:
        """Return a FEN board as player 0 writes it."""
        if self.us == 0:
            return board
        rows = [re.findall(r"[0-9]+|[A-Za-z]", row) for row in board.split("/")]
        return "/".join("".join(row[::-1]) for row in rows[::-1]).swapcase()

    def state(
        self,
        board: str,
        side: str = "w",
        pending: str = "-",
        quiet: int = 0,
        move: int = 1,
        **options: Any,
    ) -> State:
        """Return a position in which ``w`` means us."""
        side = "wb"["wb".index(side) ^ self.us]
        fen = f"{self.board(board)} {side} {self.turned(pending)} {quiet} {move}"
        state = dk.game(self.id, **options).state(fen)
        assert state.fen() == fen
        return state

    def play(self, state: State, *turns: str) -> None:
        for turn in turns:
            state.push(self.turned(turn))

    def step(self, state: State, *steps: str) -> None:
        for step in steps:
            state.apply(state.action_from_text(self.turned(step)))

    def turns(self, state: State) -> set[str]:
        return {self.turned(turn) for turn in state.turns()}

    def steps(self, state: State) -> set[str]:
        return {
            self.turned(state.action_to_text(action)) for action in state.legal_actions().tolist()
        }

    def fields(self, state: State) -> list[str]:
        """Return board and pending square as we see them, and the quiet count."""
        board, _, pending, quiet, _ = state.fen().split(" ")
        return [self.board(board), self.turned(pending), quiet]

    def wins(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.us, Termination(termination))

    def loses(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.them, Termination(termination))


def draws(state: State, termination: str) -> bool:
    return state.outcome == Outcome(None, Termination(termination))


def must_pass(state: State) -> bool:
    """Return whether the last action, `pass`, is the only one."""
    actions: list[int] = state.legal_actions().tolist()
    is_last = actions == [state.game.num_actions - 1]
    assert is_last == (state.turns() == ["pass"])
    return is_last
