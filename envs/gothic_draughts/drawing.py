"""How Gothic draughts looks."""

from deskovky.envs.drawing import Style
from deskovky.envs.emblems import crown, disc, man


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a man with rings, or a king with a crown."""
    player = int(letter.islower())
    return disc(player) + crown(player) if letter in "Kk" else man(player)


STYLE = Style(draw_piece=draw_piece)
