"""How Medieval battle looks."""

from deskovky.envs.drawing import Style
from deskovky.envs.emblems import banner, crown, disc, horse, shield

FIGURES = {"F": shield, "N": horse, "C": banner, "K": crown}


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a disc with the figure: shield, horse, banner (commander) or crown."""
    player = int(letter.islower())
    return disc(player) + FIGURES[letter.upper()](player)


STYLE = Style(draw_piece=draw_piece)
