"""How Xiangqi looks: pieces with Chinese characters on the crossings of lines."""

from deskovky.envs.drawing import Layout, Style
from deskovky.envs.svg import EDGE, FILL, INK, LIGHT_WOOD, LINE, circle, group, moved, path, rect

RED, RIVER_LINE = "#b3261e", "#a98a60"

STARTS = [
    *((file, y) for y in (200, 700) for file in (1, 7)),  # of the cannons
    *((file, y) for y in (300, 600) for file in range(0, 9, 2)),  # of the soldiers
]

# The strokes of each character in a box 100 wide and high, in the order of writing.
STROKES = {
    "K": "M12 22V56M30 6V48Q30 76 8 94M46 28V78M46 28H89V66Q89 76 78 71M67 6V97",
    "A": "M30 5Q22 30 4 48M20 34V95M36 40H97M66 8V86M43 86H91",
    "B": "M5 34H47M27 6V96M26 37Q20 58 4 72M29 42L45 58M57 14H91V90H57ZM57 39H91M57 64H91",
    "R": "M24 5Q17 28 3 44M15 32V96M34 19H96M42 33H88V62H42ZM42 47H88M32 77H98M65 5V98",
    "N": (
        "M24 5Q17 28 3 44M15 32V96M41 10V58M41 10H92M41 26H88M41 42H88M64 10V58"
        "M41 58H95Q96 80 90 91Q87 97 77 91M36 70Q34 80 29 88M49 71L51 82M61 70L65 80M73 68L79 77"
    ),
    "C": (
        "M9 32L16 47M46 27Q42 39 35 46M28 7Q29 52 5 92M28 54Q35 74 47 84M62 5Q56 26 46 40"
        "M59 21H93Q93 50 88 62Q84 68 76 61M57 39H77V55H57M57 39V82Q57 93 68 93H87Q96 93 96 78"
    ),
    "P": "M66 5Q48 13 29 16M30 16V58M31 36H76M64 36V58M6 58H94M37 68Q29 84 13 95M62 68Q76 80 87 95",
    "k": (
        "M9 24L19 35M7 62L27 50M28 5V97M58 5Q52 22 38 34M55 17H85Q76 39 43 52M57 29L67 37"
        "M36 62H95M77 51V90Q77 98 65 92M47 71L58 81"
    ),
    "a": "M8 38H92M50 6V88M20 88H80",
    "b": (
        "M40 3Q32 14 15 24M36 12H65Q61 19 54 25M22 25V44M22 25H78V44M22 44H78M50 25Q48 44 10 60"
        "M46 50Q66 64 63 84Q60 99 44 92M55 60Q40 72 10 78M61 73Q45 88 10 97M84 51Q76 59 65 63"
        "M63 60Q74 80 95 92"
    ),
    "r": "M14 18H86M24 32H76V62H24ZM24 47H76M6 77H94M50 4V98",
    "n": (
        "M24 9V58M24 9H82M24 25H77M24 41H77M51 9V58M24 58H87Q89 80 82 91Q78 98 66 91"
        "M17 70Q15 81 8 90M34 71L36 83M48 70L52 81M62 68L68 78"
    ),
    "c": (
        "M4 15H47M25 15Q21 46 3 68M16 51H41V84H16ZM62 5Q56 26 46 40"
        "M59 21H93Q93 50 88 62Q84 68 76 61M57 39H77V55H57M57 39V82Q57 93 68 93H87Q96 93 96 78"
    ),
    "p": (
        "M50 3L54 14M12 20H88M33 24Q29 43 12 58M32 40L44 53M68 24Q64 43 49 58M67 40L86 57M6 68H94"
        "M50 56V98"
    ),
}

RIVER = (
    (
        125,
        "M8 20H46M27 6V54M26 22Q18 38 6 48M29 24L44 40M54 20H94M74 6V54M73 22Q66 38 54 48"
        "M76 24L94 44M16 59H84Q81 67 73 70M50 59V93M50 75H76M32 66Q28 84 10 97M26 79Q42 95 93 95",
    ),
    (225, "M14 10L25 19M8 35L20 44M8 93Q18 78 26 60M36 20H97M80 20V87Q80 97 67 91M44 40H66V68H44Z"),
    (
        525,
        "M14 10L25 19M8 35L20 44M8 93Q18 78 26 60M36 16H97M54 5V26M80 5V26M44 31H90V50H44Z"
        "M40 61H94M34 75H98M67 31V61Q65 85 36 97M69 76Q79 90 97 96",
    ),
    (
        625,
        "M26 7H74V48H26ZM26 28H74M50 7V48M48 50Q36 66 8 75M52 50Q66 66 94 73M38 68Q36 86 22 97"
        "M62 68V98",
    ),
)
"""The characters in the river: where, and their strokes."""


def draw_piece(letter: str, is_facing_up: bool) -> str:
    """Return a disc with the character: red on ivory, ivory on dark."""
    player = int(letter.islower())
    ink = INK[1] if player else RED
    disc = circle(0, 0, 43, fill=FILL[player], stroke=EDGE[player], stroke_width=4)
    ring = circle(0, 0, 36, fill="none", stroke=ink, stroke_width=2.5)
    strokes = path(STROKES[letter], "none", ink, 9)
    return disc + ring + group([strokes], "translate(-25 -25.5) scale(.5)")


def draw_board(layout: Layout) -> str:
    """Return the lines, interrupted by the river, the palaces and the marks of start points."""
    left, top = layout.board.x + 50, layout.board.y + 50  # the same from both sides
    lines = [f"M{left:g} {top + 100 * rank:g}h800" for rank in range(10)]
    lines += [f"M{left + 100 * file:g} {top:g}v400m0 100v400" for file in range(9)]
    for y in (top, top + 700):
        lines.append(f"M{left + 300:g} {y:g}l200 200m0 -200l-200 200")
    marks = []
    for file, y in STARTS:
        for side in (-1, 1):
            if 0 <= file + side <= 8:
                for way in (-1, 1):
                    x = left + 100 * file + 7 * side
                    marks.append(f"M{x:g} {top + y + 20 * way:g}v{-13 * way}h{13 * side}")
    return group(
        [
            rect(*layout.board, fill=LIGHT_WOOD),
            rect(left - 8, top - 8, 816, 916, fill="none", stroke=LINE, stroke_width=4),
            path(
                "".join(lines) + f"M{left:g} {top:g}v900M{left + 800:g} {top:g}v900",
                "none",
                LINE,
                2.5,
            ),
            path("".join(marks), "none", LINE, 2),
            *(
                moved(path(strokes, "none", RIVER_LINE, 8), left + x, top + 425, 0.5)
                for x, strokes in RIVER
            ),
        ]
    )


STYLE = Style(draw_board, draw_piece)
