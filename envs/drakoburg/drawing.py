"""How Drakoburg looks: figures on shields, castles, and what a pikeman becomes on each file."""

from deskovky.envs.drawing import Layout, Style, draw_chequered_board
from deskovky.envs.emblems import GOLD, banner, crossed_swords, horse
from deskovky.envs.svg import (
    EDGE,
    FILL,
    INK,
    circle,
    group,
    moved,
    path,
)

PROMOTIONS = "ZSSTAAU"  # by file
CASTLE_FILES = (0, 3, 6)
STONE, MORTAR = "#b9b4a8", "#6f6a60"
SHIELD = "M-37 -40Q0 -45 37 -40V-4C37 20 20 36 0 45C-20 36 -37 20 -37 -4Z"
CASTLE = "M-40 40V-20H-40V-40H-24V-28H-8V-40H8V-28H24V-40H40V40H14V22Q14 8 0 8T-14 22V40Z"


def pike(player: int) -> str:
    """Return a pike."""
    ink = INK[player]
    shaft = path("M0 34V-10M-11 2H11", "none", ink, 7)
    return shaft + path("M0 -35L10 -17L0 -4L-10 -17Z", ink, ink, 3)


def bow(player: int) -> str:
    """Return a bow with an arrow on the string."""
    ink = INK[player]
    wood = path("M-26 8Q-20 -20 0 -22Q20 -20 26 8", "none", ink, 7)
    string = path("M-26 8L0 20L26 8", "none", ink, 3)
    arrow = path("M0 28V-22", "none", ink, 6)
    return wood + string + arrow + path("M0 -38L10 -20H-10Z", ink, ink, 2)


def helmet(player: int) -> str:
    """Return a great helm."""
    ink, fill = INK[player], FILL[player]
    bowl = path("M-21 -12Q-21 -29 0 -30Q21 -29 21 -12L19 20Q10 29 0 30Q-10 29 -19 20Z", ink)
    slits = path("M-15 -7H-4M15 -7H4M0 -24V24", "none", fill, 4)
    holes = [circle(x, y, 2.2, fill=fill) for x in (-10, 10) for y in (8, 16)]
    return group([bowl, slits, *holes])


FIGURES = {
    "P": pike,
    "S": bow,
    "Z": crossed_swords,
    "A": helmet,
    "U": horse,
    "T": banner,
}


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a shield with the figure of the piece; the banneret's has a golden rim."""
    player, piece = int(letter.islower()), letter.upper()
    parts = [path(SHIELD, FILL[player], EDGE[player], 4)]
    if piece == "T":
        parts.append(moved(path(SHIELD, "none", GOLD[player], 5), 0, 0, 0.87))
    parts.append(moved(FIGURES[piece](player), 0, -3, 0.88))
    return group(parts)


def draw_board(layout: Layout) -> str:
    """Return the board: chequered, castles on the last ranks, promotions on the pikemen's rows."""
    parts = [draw_chequered_board(layout)]
    for rank in (0, layout.ranks - 1):
        for file in CASTLE_FILES:
            center = layout.square_center(rank * layout.files + file)
            parts.append(moved(path(CASTLE, STONE, MORTAR, 3), *center))
    for rank in (1, layout.ranks - 2):
        for file, piece in enumerate(PROMOTIONS):
            center = layout.square_center(rank * layout.files + file)
            parts.append(group([moved(FIGURES[piece](0), *center, 0.55)], opacity=0.18))
    return group(parts)


STYLE = Style(draw_board, draw_piece)
