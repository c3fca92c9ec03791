"""Testing a rule for both players: positions are written for us as player 0, our pieces in
capitals, and a seat as player 1 turns board and text around."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deskovky.envs.protocol import Game, Outcome, State, Termination


@dataclass(frozen=True)
class Seat:
    make: Callable[..., Game]
    us: int
    turned_board: Callable[[str], str]
    """The board field of a FEN with the players exchanged."""
    turned_text: Callable[[str], str]
    """The text of a turn with the players exchanged."""

    @property
    def them(self) -> int:
        return 1 - self.us

    def fen(self, fen: str) -> str:
        """Turn a FEN, or its first fields; ``w`` means that we are to move."""
        board, side, *rest = fen.split(" ")
        if not self.us:
            return fen
        return " ".join([self.turned_board(board), "bw"["wb".index(side)], *rest])

    def text(self, turn: str) -> str:
        return self.turned_text(turn) if self.us else turn

    def state(self, fen: str, **options: Any) -> State:
        return self.make(**options).state(self.fen(fen if " " in fen else f"{fen} w"))

    def play(self, state: State, turns: str) -> None:
        """Make turns, parted by blanks."""
        for turn in turns.split():
            state.push(self.text(turn))

    def turns(self, state: State) -> list[str]:
        return [self.text(turn) for turn in state.turns()]

    def targets(self, state: State, origin: str) -> str:
        """Return where the piece on `origin` can move, sorted, parted by blanks."""
        turns = {turn.split(",")[0] for turn in self.turns(state)}
        return " ".join(sorted(t.removeprefix(origin) for t in turns if is_from(t, origin)))

    def board(self, state: State) -> str:
        return self.fen(state.fen()).split(" ")[0]

    def wins(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.us, Termination(termination))

    def loses(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.them, Termination(termination))


def is_from(turn: str, origin: str) -> bool:
    return turn.startswith(origin) and not turn[len(origin)].isdigit()


def is_draw(state: State, termination: str) -> bool:
    return state.outcome == Outcome(None, Termination(termination))


def seats(
    makes: Sequence[Callable[..., Game]],
    turned_board: Callable[[str], str],
    turned_text: Callable[[str], str],
) -> list[Seat]:
    return [Seat(make, us, turned_board, turned_text) for make in makes for us in (0, 1)]
