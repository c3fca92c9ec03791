"""What the tests of rules share: every implementation of a game, played as either player."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from deskovky.envs.protocol import Game, Outcome, State, Termination
from deskovky.envs.python_game import EMPTY, FILES, PythonGame

Make = Callable[..., Game]
"""Makes a game; takes the keywords ruleset, setup, max_turns and view."""


def implementations(reference: type[PythonGame]) -> list[Any]:
    """Return the makers of a game as pytest parameters: the slow reference, the native game.

    The native one is skipped where no game of that id is registered.
    """
    return [
        pytest.param(reference, id="reference"),
        pytest.param(
            native_maker(reference.id),
            id="native",
            marks=pytest.mark.skipif(
                not is_registered(reference.id), reason=f"{reference.id} is not registered"
            ),
        ),
    ]


def native_maker(id: str) -> Make:
    def make(**options: Any) -> Game:
        import deskovky

        return deskovky.game(id, **options)

    return make


def is_registered(id: str) -> bool:
    try:
        from deskovky import games
    except ImportError:  # the native module is not built
        return False
    return id in games()


@dataclass(frozen=True)
class PlayerSeat:
    """One player of one implementation: `us`, to move first in each test position.

    Positions and turns are written for player 0 and turned for player 1 as the game does it.
    """

    make: Make
    us: int

    def turned_fen(self, fen: str) -> str:
        """Return the same position with the players exchanged."""
        raise NotImplementedError

    def turned_text(self, text: str) -> str:
        """Return the same turn made by the other player; the same function leads back."""
        raise NotImplementedError

    @property
    def them(self) -> int:
        return 1 - self.us

    def fen(self, fen: str) -> str:
        return self.turned_fen(fen) if self.us else fen

    def state(
        self, board: str, ruleset: str = "standard", side: str = "w", **options: Any
    ) -> State:
        """Return the position `board`, in which we have the capitals.

        `side` is the side to move, ``w`` being us; the FEN's other fields may follow it.
        """
        return self.make(ruleset=ruleset, **options).state(self.fen(f"{board} {side}"))

    def play(self, state: State, *turns: str) -> None:
        for turn in turns:
            state.push(self.turned_text(turn) if self.us else turn)

    def turns(self, state: State) -> set[str]:
        return {self.turned_text(turn) if self.us else turn for turn in state.turns()}

    def board(self, state: State) -> str:
        return self.fen(state.fen()).split(" ")[0]

    def wins(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.us, Termination(termination))

    def loses(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(self.them, Termination(termination))

    def draws(self, state: State, termination: str) -> bool:
        return state.outcome == Outcome(None, Termination(termination))


@dataclass(frozen=True)
class BoardSeat(PlayerSeat):
    """A seat at a board that the players see turned by 180 degrees.

    Positions may be lists of pieces such as ``"Md4 me5"``.
    """

    size: int
    """The number of files."""

    num_ranks: int = 0  # as many as files

    keeps_files: bool = False
    """True if the players see the board mirrored top to bottom instead."""

    def turned_fen(self, fen: str) -> str:
        board, side, *rest = fen.split(" ")
        order = 1 if self.keeps_files else -1
        ranks = [re.findall("10|.", rank)[::order] for rank in board.split("/")[::-1]]
        board = "/".join("".join(rank) for rank in ranks).swapcase()
        return " ".join(
            [board, "bw"["wb".index(side)], *map(self.turned_text, rest[:1]), *rest[1:]]
        )

    def turned_text(self, text: str) -> str:
        def turned_name(name: re.Match[str]) -> str:
            files = FILES[: self.size]
            file = name[1] if self.keeps_files else files[::-1][files.index(name[1])]
            return file + str((self.num_ranks or self.size) + 1 - int(name[2]))

        return re.sub("([a-j])([0-9]+)", turned_name, text)

    def state(
        self, board: str, ruleset: str = "standard", side: str = "w", **options: Any
    ) -> State:
        if "/" not in board:
            board = board_of(board, self.size, self.num_ranks)
        return super().state(board, ruleset, side, **options)

    def pieces(self, state: State) -> set[str]:
        """Return what stands on the board, as in ``{"Md4", "me5"}``; the capitals are ours."""
        pieces = set()
        for rank, row in enumerate(reversed(self.board(state).split("/")), start=1):
            squares = "".join(
                EMPTY * int(x) if x.isdecimal() else x for x in re.findall("10|.", row)
            )
            for file, piece in zip(FILES[: self.size], squares, strict=True):
                if piece != EMPTY:
                    pieces.add(f"{piece}{file}{rank}")
        return pieces

    def targets(self, state: State, origin: str) -> set[str]:
        """Return where the piece on `origin` can move."""
        steps = (re.match("([a-j][0-9]+)([a-j][0-9]+)", turn) for turn in self.turns(state))
        return {step[2] for step in steps if step is not None and step[1] == origin}


class DraughtsSeat(BoardSeat):
    """A seat at a square board that the players see turned by 180 degrees."""


def board_of(pieces: str, num_files: int, num_ranks: int = 0) -> str:
    """Return the first field of a FEN; the board is square if only the files are given.

    >>> board_of("Md1 me2 mf3", 7)
    '7/7/7/7/5m1/4m2/3M3'
    """
    rows = [[EMPTY] * num_files for _ in range(num_ranks or num_files)]
    for piece in pieces.split():
        rows[int(piece[2:]) - 1][FILES.index(piece[1])] = piece[0]
    ranks = ["".join(row) for row in reversed(rows)]
    return re.sub(r"\.+", lambda run: str(len(run[0])), "/".join(ranks))
