"""Boards as coloured text.

Each square has its own background, so that dark and light terminals show the same. Without colours
(`NO_COLOR`, a pipe) capitals, brackets and dots say all of it.
"""

from rich.text import Text

from deskovky.envs.drawing import turn_squares
from deskovky.envs.protocol import Outcome, State
from deskovky.envs.support import placement
from deskovky.envs.svg import BLUE, DARK_WOOD, FILL, INK, ORANGE

SIDES = ("white", "black")
"""What the options of player 0 and player 1 are called, in every game."""

WOODS = (DARK_WOOD, "#b48a56")
"""Darker than in pictures: the letters of the pieces stand on small fields of their own."""

FILES = "abcdefghijklmnopqrstuvwxyz"


def board_view(state: State, perspective: int = 0) -> Text:
    """Return the board with the pieces in hand; player `perspective` is at the bottom.

    The squares of the last turn stand in square brackets, the piece that must go on in round ones.
    """
    position = placement(state)
    _, ranks, files = state.game.action_shape
    last = turn_squares(state.game, state.history[-1]) if state.history else []
    pending = turn_squares(state.game, position.pending)
    view = Text()

    def add_hand(player: int) -> None:
        if position.hands is not None:
            held = position.hands[player]
            view.append(f"    {SIDES[player]} holds {' '.join(held) or 'nothing'}\n")

    def add_files() -> None:
        names = FILES[:files] if perspective == 0 else FILES[:files][::-1]
        view.append("    " + "".join(f" {name} " for name in names) + "\n", "dim")

    order = range(ranks) if perspective else reversed(range(ranks))
    add_hand(1 - perspective)
    add_files()
    for rank in order:
        view.append(f"{rank + 1:3} ", "dim")
        squares = range(rank * files, (rank + 1) * files)
        for square in reversed(squares) if perspective else squares:
            wood = WOODS[(rank + square % files + 1) % 2]
            letter = position.board[square]
            left, right = " ", " "
            mark = BLUE
            if square in last:
                left, right = "[", "]"
            if square in pending:
                left, right, mark = "(", ")", ORANGE
            view.append(left, f"bold {mark} on {wood}")
            if letter:
                player = int(letter.islower())
                view.append(letter, f"bold {INK[player]} on {FILL[player]}")
            else:
                view.append(".", f"{INK[0]} on {wood}")
            view.append(right, f"bold {mark} on {wood}")
        view.append(f" {rank + 1}\n", "dim")
    add_files()
    add_hand(perspective)
    view.rstrip()
    return view


def outcome_text(outcome: Outcome, names: tuple[str, str]) -> str:
    """Say who won, and by which rule.

    >>> from deskovky import Termination
    >>> outcome_text(Outcome(1, Termination.PERPETUAL_CHECK), ("human", "greedy"))
    'black (greedy) won: perpetual check'
    """
    reason = outcome.termination.replace("_", " ")
    if outcome.winner is None:
        return f"{'stopped' if outcome.is_truncation else 'draw'}: {reason}"
    return f"{SIDES[outcome.winner]} ({names[outcome.winner]}) won: {reason}"
