"""Pieces and figures that several games share, each drawn around (0, 0)."""

from deskovky.envs.svg import EDGE, FILL, INK, circle, group, moved, path

GOLD = ("#b8860b", "#f0c454")
"""What is precious on a piece of player 0, of player 1."""


def disc(player: int) -> str:
    """Return the round piece that figures stand on."""
    edge = circle(0, 0, 40, fill=FILL[player], stroke=EDGE[player], stroke_width=4)
    return edge + circle(
        0, 0, 34, fill="none", stroke=INK[player], stroke_width=1.5, stroke_opacity=0.45
    )


def man(player: int) -> str:
    """Return a draughts man: a disc with rings."""
    rings = [
        circle(0, 0, radius, fill="none", stroke=INK[player], stroke_width=2.5, stroke_opacity=0.55)
        for radius in (28, 17)
    ]
    return circle(0, 0, 40, fill=FILL[player], stroke=EDGE[player], stroke_width=4) + group(rings)


def crown(player: int) -> str:
    """Return a crown, about 60 wide."""
    points = path("M-24 20L-29 -11L-13 3L0 -21L13 3L29 -11L24 20Z", GOLD[player], INK[player], 4)
    pearls = [circle(x, y, 4.5, fill=INK[player]) for x, y in ((-29, -13), (0, -24), (29, -13))]
    return group([points, *pearls, path("M-20 12H20", "none", INK[player], 3)])


def horse(player: int) -> str:
    """Return the head of a horse looking left."""
    ink = INK[player]
    head = (
        "M-13 30C-13 20 -1 15 1 4C-3 9 -8 9 -13 9L-19 15Q-25 16 -28 9C-24 -2 -17 -10 -13 -18"
        "L-13 -30L-4 -23C15 -21 27 -4 24 30Z"
    )
    hair = path("M3 -15C13 -8 17 6 16 22", "none", FILL[player], 3)
    return group([path(head, ink, ink, 3), hair, circle(-10, -9, 2.6, fill=FILL[player])])


def banner(player: int) -> str:
    """Return a swallow-tailed flag on its pole."""
    ink = INK[player]
    flag = path("M-17 -25H28L17 -11L28 3H-17Z", GOLD[player], ink, 4)
    return group([path("M-17 32V-28", "none", ink, 6), flag, circle(-17, -31, 5, fill=ink)])


def shield(player: int) -> str:
    """Return a shield with a cross."""
    ink = INK[player]
    edge = path("M-22 -24H22V0C22 14 12 23 0 29C-12 23 -22 14 -22 0Z", "none", ink, 5)
    return group([edge, path("M0 -22V26M-20 -5H20", "none", ink, 5)])


def crossed_swords(player: int) -> str:
    """Return two swords."""
    ink, fill = INK[player], FILL[player]
    sword = path("M-4 10V-30L0 -37L4 -30V10Z", ink, fill, 2) + path(
        "M-12 12H12M0 12V27", "none", ink, 6
    )
    return moved(sword, 0, 0, turn=-42) + moved(sword, 0, 0, turn=42)
