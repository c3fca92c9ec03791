"""A toy game with turns of several steps and forced passes, which Dobutsu does not have.

Strip draughts: two ranks of six. A piece steps one file forward on its rank or onto the other, or
jumps along its rank over an enemy piece, which it removes. After a jump the same piece goes on in
the same turn, if it can: it jumps again or ends the turn with a step. A player who cannot move
passes. A player without pieces has lost; when neither can move, the one with more pieces has won.
"""

from collections.abc import Iterator
from dataclasses import replace

from deskovky.envs.protocol import Outcome, Termination
from deskovky.envs.python_game import EMPTY, Position, PythonGame

STEP, CROSS, JUMP = range(3)


class StripDraughts(PythonGame):
    id = "strip_draughts_v0"
    start_fens = {"default": "PP2pp/PP2pp w - 0 1"}
    default_max_turns = 60
    action_shape = (3, 2, 6)
    pieces = "P"
    has_pass = True

    def moves(self, seen: tuple[str, ...], square: int) -> Iterator[tuple[int, int]]:
        """Yield plane and target of the steps of the piece on `square`, as its owner sees it."""
        room = 5 - square % 6
        if room >= 1 and seen[square + 1] == EMPTY:
            yield STEP, square + 1
        other = (square + 6) % 12 + 1
        if room >= 1 and seen[other] == EMPTY:
            yield CROSS, other
        if room >= 2 and seen[square + 1] == "p" and seen[square + 2] == EMPTY:
            yield JUMP, square + 2

    def board_actions(self, position: Position, player: int) -> list[int]:
        seen = self.seen_board(position.board, player)
        actions = [
            plane * 12 + square
            for square in range(12)
            if seen[square] == "P"
            for plane, _ in self.moves(seen, square)
        ]
        if position.is_turn_open:
            pending = self.seen_square(self.square_of(position.pending), player)
            actions = [action for action in actions if action % 12 == pending]
        return actions

    def legal_actions(self, position: Position) -> list[int]:
        return self.board_actions(position, position.to_move) or [self.num_actions - 1]

    def step(self, position: Position, action: int) -> Position:
        if action == self.num_actions - 1:
            return position.finish_turn(resets_quiet=False)
        plane, square = divmod(action, 12)
        player = position.to_move
        board = list(self.seen_board(position.board, player))
        target = dict(self.moves(tuple(board), square))[plane]
        board[square], board[target] = EMPTY, "P"
        if plane == JUMP:
            board[square + 1] = EMPTY
        seen = tuple(board)
        turned = self.seen_board(seen, player)
        if plane == JUMP and "p" in seen and any(self.moves(seen, target)):
            name = self.square_name(self.seen_square(target, player))
            return replace(position, board=turned, pending=name)
        return position.finish_turn(resets_quiet=plane == JUMP, board=turned)

    def end_by_rule(self, position: Position) -> Outcome | None:
        counts = [sum(piece == own for piece in position.board) for own in "Pp"]
        if 0 in counts:
            return Outcome(1 - counts.index(0), Termination.NO_PIECES)
        if not any(self.board_actions(position, player) for player in (0, 1)):
            winner = None if counts[0] == counts[1] else int(counts[1] > counts[0])
            return Outcome(winner, Termination.BLOCKED)
        return None

    def step_text(self, position: Position, action: int) -> str:
        plane, square = divmod(action, 12)
        player = position.to_move
        target = {STEP: square + 1, CROSS: (square + 6) % 12 + 1, JUMP: square + 2}[plane]
        return "".join(
            self.square_name(self.seen_square(end % 12, player)) for end in (square, target)
        )
