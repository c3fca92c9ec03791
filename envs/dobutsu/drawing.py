"""How Dobutsu shogi looks: animals on tiles that point to the enemy, with dots where they go."""

import math

from deskovky.envs.drawing import Layout, Style
from deskovky.envs.svg import EDGE, FILL, circle, element, group, moved, number, path, rect

SKY, MEADOW, FOREST = "#bfdcef", "#f1e6c4", "#bcd9a0"
LINES = "#6d6146"
DOT = ("#c2410c", "#ffb067")
TILE = "M0 -47L39 -35L45 44H-45L-39 -35Z"
DARK = "#3b2a1a"  # outlines of the animals

ORTHOGONAL = ((0, -1), (1, 0), (0, 1), (-1, 0))
DIAGONAL = ((1, -1), (1, 1), (-1, 1), (-1, -1))
STEPS = {
    "L": ORTHOGONAL + DIAGONAL,
    "G": ORTHOGONAL,
    "E": DIAGONAL,
    "C": ((0, -1),),
    "H": (*ORTHOGONAL, (1, -1), (-1, -1)),
}


def ellipse(x: float, y: float, rx: float, ry: float, fill: str, stroke: str = DARK) -> str:
    """Return an ellipse with the outline of the animals."""
    return element("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill=fill, stroke=stroke, stroke_width=2)


def eyes(x: float, y: float, radius: float = 2.8) -> str:
    """Return two eyes."""
    return circle(-x, y, radius, fill=DARK) + circle(x, y, radius, fill=DARK)


def lion() -> str:
    """Return the head of a lion."""
    hair = "".join(
        circle(21 * math.cos(a), 21 * math.sin(a), 8.5, fill="#c46a12", stroke=DARK, stroke_width=2)
        for a in (2 * math.pi * i / 11 - math.pi / 2 for i in range(11))
    )
    face = circle(0, 0, 20, fill="#f7cf7a", stroke=DARK, stroke_width=2)
    mouth = path("M-6 11Q-3 14 0 10Q3 14 6 11M0 6V10", "none", DARK, 2)
    nose = path("M-4 3H4L0 7Z", DARK, DARK, 1)
    return hair + face + eyes(8, -4) + nose + mouth


def giraffe() -> str:
    """Return the head of a giraffe."""
    horns = path("M-7 -18L-9 -29M7 -18L9 -29", "none", DARK, 5)
    knobs = circle(-9, -30, 4, fill="#8a4b14") + circle(9, -30, 4, fill="#8a4b14")
    ears = ellipse(-21, -13, 9, 5, "#f4c95d") + ellipse(21, -13, 9, 5, "#f4c95d")
    head = path(
        "M-15 -18Q0 -26 15 -18Q17 0 11 18Q8 30 0 30T-11 18Q-17 0 -15 -18Z", "#f4c95d", DARK, 2
    )
    spots = "".join(
        ellipse(x, y, rx, ry, "#a8641f", "none")
        for x, y, rx, ry in ((0, -17, 5, 4), (-10, 2, 3, 4.5), (10, 2, 3, 4.5), (0, 3, 3, 3))
    )
    muzzle = ellipse(0, 21, 11, 9, "#fbe7b5")
    nostrils = circle(-4, 20, 1.6, fill=DARK) + circle(4, 20, 1.6, fill=DARK)
    return horns + knobs + ears + head + spots + muzzle + nostrils + eyes(8, -9)


def elephant() -> str:
    """Return the head of an elephant."""
    skin = "#a9bccb"
    ears = ellipse(-22, -4, 13, 17, skin) + ellipse(22, -4, 13, 17, skin)
    inside = ellipse(-23, -3, 7, 10, "#e6b8b7", "none") + ellipse(23, -3, 7, 10, "#e6b8b7", "none")
    head = ellipse(0, -7, 18, 18, skin)
    tusks = path("M-11 7L-14 18L-7 12ZM11 7L14 18L7 12Z", "#ffffff", DARK, 2)
    trunk = path("M-7 2Q-8 22 -2 27Q6 33 12 26Q13 21 8 21Q5 24 4 20Q6 12 7 2", skin, DARK, 2)
    return ears + inside + tusks + head + trunk + eyes(8, -9)


def chick() -> str:
    """Return a chick."""
    body = circle(0, 3, 23, fill="#ffdc4a", stroke=DARK, stroke_width=2)
    tuft = path("M0 -20Q-6 -27 -1 -31M0 -20Q3 -27 7 -28", "none", DARK, 2.5)
    beak = path("M-6 3L0 -1L6 3L0 9Z", "#f08a24", DARK, 2)
    feet = path("M-8 25V31M-12 32H-4M8 25V31M4 32H12", "none", "#d9771a", 3)
    wings = path("M-23 4Q-31 12 -22 15M23 4Q31 12 22 15", "none", DARK, 2.5)
    return feet + wings + tuft + body + eyes(9, -4) + beak


def hen() -> str:
    """Return the head of a hen, with comb and wattles."""
    comb = path(
        "M-13 -14Q-18 -29 -8 -26Q-5 -36 1 -29Q9 -35 10 -26Q19 -27 13 -14Z", "#d62f2f", DARK, 2
    )
    body = path("M-19 -2Q-18 -20 0 -20T19 -2Q20 12 27 30H-27Q-20 12 -19 -2Z", "#ffffff", DARK, 2)
    wattles = ellipse(-4, 12, 4, 7, "#d62f2f") + ellipse(4, 12, 4, 7, "#d62f2f")
    beak = path("M-8 0L0 -4L8 0L0 8Z", "#f08a24", DARK, 2)
    return comb + body + wattles + beak + eyes(10, -8)


ANIMALS = {"L": lion, "G": giraffe, "E": elephant, "C": chick, "H": hen}


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a tile that points to the enemy, with the animal upright and dots where it steps."""
    player, piece = int(letter.islower()), letter.upper()
    dots = [
        circle(33 * x, 35 * y + 3 * (y < 0) * (x != 0), 4, fill=DOT[player])
        for x, y in STEPS[piece]
    ]
    tile = path(TILE, FILL[player], EDGE[player], 4) + group(dots)
    animal = moved(ANIMALS[piece](), 0, 3 if is_facing_up else -3, 0.93)
    return moved(tile, 0, 0, turn=0 if is_facing_up else 180) + animal


def draw_board(layout: Layout) -> str:
    """Return the board: each player's home is forest or sky, as on the original."""
    home = layout.files * (layout.ranks - 1)
    parts = [rect(*layout.board, fill=MEADOW)]
    for first, color in ((0, FOREST), (home, SKY)):
        for square in range(first, first + layout.files):
            parts.append(rect(*layout.square_rect(square), fill=color))
    x, y, width, height = layout.board
    lines = [f"M{number(x)} {number(y + 100 * i)}h{number(width)}" for i in range(layout.ranks + 1)]
    lines += [
        f"M{number(x + 100 * i)} {number(y)}v{number(height)}" for i in range(layout.files + 1)
    ]
    return "".join(parts) + path("".join(lines), "none", LINES, 3)


STYLE = Style(draw_board, draw_piece, hand="GECL")
