"""How Knight draughts looks."""

from deskovky.envs.drawing import Style
from deskovky.envs.emblems import crown, disc, horse

FIGURES = {"M": horse, "Q": crown}


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a disc with a horse for a man, with a crown for a queen."""
    player = int(letter.islower())
    return disc(player) + FIGURES[letter.upper()](player)


STYLE = Style(draw_piece=draw_piece)
