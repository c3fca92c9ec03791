"""How Ossetian draughts looks."""

from deskovky.envs.drawing import Style
from deskovky.envs.emblems import man


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a man; there is nothing else."""
    return man(int(letter.islower()))


STYLE = Style(draw_piece=draw_piece)
