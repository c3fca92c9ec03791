"""From clicks to actions.

A *spot* is what can be clicked: a square, named ``b2``, or a piece in hand, named ``C@`` for player
0 and ``c@`` for player 1. The spots of an action come from its move text: ``b2b3`` is origin and
target, ``C@b2`` the hand and the target, ``P@c2`` of a game without hands the target alone. An
action whose text names no square (``pass``) is chosen by a button.
"""

from deskovky.envs.drawing import dropped_piece, layout, turn_squares
from deskovky.envs.protocol import Game, State


def square_spot(game: Game, square: int) -> str:
    """Return the spot of a square, ``rank * files + file`` as player 0 sees the board."""
    rank, file = divmod(square, game.action_shape[2])
    return f"{chr(ord('a') + file)}{rank + 1}"


def hand_spot(player: int, piece: str) -> str:
    """Return the spot of the pieces `piece` in the hand of `player`."""
    return f"{piece.lower() if player else piece}@"


def spots_of(state: State, action: int) -> tuple[str, ...]:
    """Return the spots to click, one after the other, to make a step."""
    text = state.action_to_text(action)
    squares = tuple(square_spot(state.game, square) for square in turn_squares(state.game, text))
    piece = dropped_piece(text)
    if piece is not None and piece in layout(state.game).hand:
        return (hand_spot(state.to_move, piece), *squares)
    return squares


class Selection:
    """What a player has clicked of the next step, and what can be clicked next."""

    def __init__(self, state: State) -> None:
        self._spots = {int(action): spots_of(state, action) for action in state.legal_actions()}
        self._fixed = self._pending_spots() if state.is_turn_open else ()
        self.clicked: tuple[str, ...] = self._fixed
        """The spots of the next step clicked so far, that of a piece that must go on included."""

    def _pending_spots(self) -> tuple[str, ...]:
        """Return the spot of the piece that must go on: all steps begin there."""
        origins = {spots[0] for spots in self._spots.values() if len(spots) > 1}
        return tuple(origins) if len(origins) == 1 else ()

    def click(self, spot: str) -> int | None:
        """Take a click; return the action if that decides it.

        A spot that leads nowhere begins the step anew, or clears what was clicked.
        """
        if self._following((*self.clicked, spot)):
            self.clicked = (*self.clicked, spot)
        elif self.clicked != (spot,) and self._following((spot,)):
            self.clicked = (spot,)
        else:
            self.clicked = self._fixed
            return None
        actions = self._following(self.clicked)
        is_decided = len(actions) == 1 and self._spots[actions[0]] == self.clicked
        return actions[0] if is_decided else None

    @property
    def is_begun(self) -> bool:
        """True if the player has clicked something of the next step."""
        return self.clicked != self._fixed

    @property
    def next_spots(self) -> set[str]:
        """The spots that go on with the step, or begin another one."""
        depth = len(self.clicked)
        spots = {self._spots[a][depth] for a in self.targets}
        if not self._fixed:
            spots |= {spots[0] for spots in self._spots.values() if spots}
        return spots

    @property
    def targets(self) -> list[int]:
        """The actions that go on from what was clicked by at least one more spot."""
        following = self._following(self.clicked)
        return [a for a in following if len(self._spots[a]) > len(self.clicked)]

    @property
    def choices(self) -> list[int]:
        """The actions to choose among by buttons: no further click would tell them apart."""
        return [action for action, spots in self._spots.items() if spots == self.clicked]

    def _following(self, spots: tuple[str, ...]) -> list[int]:
        """Return the actions that begin with `spots`."""
        return [a for a, of_action in self._spots.items() if of_action[: len(spots)] == spots]
