"""Dobutsu shogi, rules DS-1 to DS-7: the slow reference.

Everything is worked out on the board as the mover sees it: own pieces are capitals and move up,
``square = rank * 3 + file`` with the mover's rank 1 first.

Actions, ``plane * 12 + square``: planes 0-7 a step from `square` in `DIRECTIONS`, planes 8-10 a
drop of G, E, C on `square`.
"""

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, Moment, Position, PythonGame
from deskovky.errors import FenError

# (ranks, files) of N, NE, E, SE, S, SW, W, NW. A piece of the enemy that moves in direction d as it
# sees the board comes from direction d as the mover sees it.
DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
PIECE_DIRECTIONS = {
    "L": (0, 1, 2, 3, 4, 5, 6, 7),
    "G": (0, 2, 4, 6),
    "E": (1, 3, 5, 7),
    "C": (0,),
    "H": (0, 1, 2, 4, 6, 7),
}
DROPS = "GEC"
FIRST_DROP_PLANE = len(DIRECTIONS)
HAND_ORDER = "LGCE"  # a captured lion is shown once the game has ended


def target(square: int, direction: int) -> int | None:
    """Return the square one step away; None off the board."""
    rank, file = square // 3 + DIRECTIONS[direction][0], square % 3 + DIRECTIONS[direction][1]
    return rank * 3 + file if 0 <= rank < 4 and 0 <= file < 3 else None


TARGETS = [[target(square, direction) for direction in range(8)] for square in range(12)]


def is_attacked(seen: tuple[str, ...], square: int) -> bool:
    """True if an enemy piece (a small letter) could step onto `square`."""
    for direction, origin in enumerate(TARGETS[square]):
        if origin is not None:
            piece = seen[origin]
            if piece.islower() and direction in PIECE_DIRECTIONS[piece.upper()]:
                return True
    return False


def turned(seen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the board as the other player sees it."""
    return tuple(piece.swapcase() for piece in reversed(seen))


def has_tried(seen: tuple[str, ...]) -> bool:
    """True if the lion of the player who sees this board stands on the farthest rank."""
    return "L" in seen[9:]


def has_safely_tried(seen: tuple[str, ...]) -> bool:
    """True if it stands there and no enemy piece attacks it."""
    return has_tried(seen) and not is_attacked(seen, seen.index("L"))


class Dobutsu(PythonGame):
    id = "dobutsu_v0"
    rulesets = ("standard", "fairy", "delayed_try")
    start_fens = {"default": "gle/1c1/1C1/ELG[-] w - - 0 1"}
    default_max_turns = 256
    action_shape = (11, 4, 3)
    num_planes = 17
    pieces = "LGECH"
    piece_aliases = {"+C": "H"}
    fields = ("side", "dash", "dash", "quiet", "move")
    has_repetition = True  # DS-7
    mirror_planes = (0, 7, 6, 5, 4, 3, 2, 1, 8, 9, 10)

    def legal_actions(self, position: Position) -> list[int]:
        seen = self.seen_board(position.board, position.to_move)
        actions = []
        for square, piece in enumerate(seen):
            if piece.isupper():  # DS-1; leaving the lion to be captured is legal (DS-4)
                for direction in PIECE_DIRECTIONS[piece]:
                    to = TARGETS[square][direction]
                    if to is not None and not seen[to].isupper():
                        actions.append(direction * 12 + square)
            elif piece == EMPTY:  # DS-2
                for drop, dropped in enumerate(DROPS):
                    if dropped in position.hands[position.to_move]:
                        actions.append((FIRST_DROP_PLANE + drop) * 12 + square)
        return actions

    def step(self, position: Position, action: int) -> Position:
        plane, square = divmod(action, 12)
        player = position.to_move
        board = list(self.seen_board(position.board, player))
        hand = position.hands[player]
        if plane >= FIRST_DROP_PLANE:
            board[square] = DROPS[plane - FIRST_DROP_PLANE]
            hand = hand.replace(board[square], "", 1)
            resets_quiet = True
        else:
            to = TARGETS[square][plane]
            assert to is not None
            promotes = self._promotes(board[square], to)
            captured = board[to]
            if captured != EMPTY:
                hand += "C" if captured == "h" else captured.upper()  # DS-1
            board[to] = "H" if promotes else board[square]
            board[square] = EMPTY
            resets_quiet = promotes or captured != EMPTY
        hands = list(position.hands)
        hands[player] = "".join(sorted(hand, key=HAND_ORDER.index))
        return position.finish_turn(
            resets_quiet=resets_quiet,
            board=self.seen_board(board, player),
            hands=(hands[0], hands[1]),
        )

    def _promotes(self, piece: str, to: int) -> bool:
        return piece == "C" and to >= 9  # DS-3

    def end_by_rule(self, position: Position) -> Outcome | None:
        mover, opponent = position.to_move, 1 - position.to_move
        seen = self.seen_board(position.board, mover)
        if "L" not in seen:  # DS-4
            return Outcome(opponent, Termination.LION_CAPTURED)

        # DS-5. When a turn begins, an enemy lion on its farthest rank has come there just now, and
        # an own one was there before the enemy's turn and has survived it.
        if self.ruleset == "fairy":
            mover_wins, opponent_wins = has_safely_tried(seen), has_safely_tried(turned(seen))
            if mover_wins and opponent_wins:
                return Outcome(None, Termination.MUTUAL_TRY)
        else:
            mover_wins = has_tried(seen)
            opponent_wins = self.ruleset == "standard" and has_safely_tried(turned(seen))
        if opponent_wins:  # a try that ends the game comes before the lion's survival
            return Outcome(opponent, Termination.TRY)
        if mover_wins:
            return Outcome(mover, Termination.TRY)

        if self.ruleset == "standard" and self._is_mated(position, seen):
            return Outcome(opponent, Termination.CHECKMATE)
        if not self.legal_actions(position):  # DS-7
            return Outcome(opponent, Termination.NO_LEGAL_TURN)
        return None

    def _is_mated(self, position: Position, seen: tuple[str, ...]) -> bool:
        """DS-6: the mover's lion is attacked, and no turn wins or makes it safe.

        An unattacked arrival makes the lion safe as well, so that only the capture of the enemy
        lion has to be looked at beside safety.
        """
        if not is_attacked(seen, seen.index("L")):
            return False
        for action in self.legal_actions(position):
            after = self.seen_board(self.step(position, action).board, position.to_move)
            if "l" not in after or not is_attacked(after, after.index("L")):
                return False
        return True

    def planes(self, moment: Moment, player: int) -> list[NDArray[np.float32]]:
        seen = self.seen_board(moment.position.board, player)
        own, enemy = moment.position.hands[player], moment.position.hands[1 - player]
        return [
            *(self.piece_plane(seen, piece) for piece in self.pieces),
            *(self.piece_plane(seen, piece.lower()) for piece in self.pieces),
            *(self.plane(hand.count(piece) / 2) for hand in (own, enemy) for piece in DROPS),
            self.plane((moment.occurrences - 1) / 2),
        ]

    def step_text(self, position: Position, action: int) -> str:
        """A step off the board, which is never legal, has ``--`` for its target."""
        plane, square = divmod(action, 12)
        name = self.square_name(self.seen_square(square, position.to_move))
        if plane >= FIRST_DROP_PLANE:
            return f"{DROPS[plane - FIRST_DROP_PLANE]}@{name}"
        to = TARGETS[square][plane]
        if to is None:
            return f"{name}--"
        piece = self.seen_board(position.board, position.to_move)[square]
        text = name + self.square_name(self.seen_square(to, position.to_move))
        return text + "+" if self._promotes(piece, to) else text

    # --- FEN: the hands stand in brackets behind the board ----------------------------------------

    def field_names(self, num_values: int) -> tuple[str, ...]:
        return ("side", "quiet", "move") if num_values == 3 else super().field_names(num_values)

    def read_board(self, text: str) -> Position:
        match = re.fullmatch(r"([^\[\]]*)\[(-|[GECgec]*)\]", text)
        if match is None:
            raise FenError(f"hand: expected [-] or pieces in brackets at the end of {text!r}")
        hands = []
        for letters in (DROPS, DROPS.lower()):
            hand = [piece.upper() for piece in match[2] if piece in letters]
            hands.append("".join(sorted(hand, key=HAND_ORDER.index)))
        return replace(super().read_board(match[1]), hands=(hands[0], hands[1]))

    def write_board(self, position: Position) -> str:
        hands = position.hands[0] + position.hands[1].lower()
        return f"{super().write_board(position)}[{hands or '-'}]"

    def check(self, position: Position) -> None:
        for lion in "Ll":
            if position.board.count(lion) != 1:
                raise FenError(f"board: expected one {lion}, found {position.board.count(lion)}")
        pieces = "".join((*position.board, *position.hands)).upper().replace("H", "C")
        for piece in DROPS:
            if pieces.count(piece) > 2:
                raise FenError(f"board: more than two {piece} on the board and in the hands")
