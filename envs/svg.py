"""The small change of SVG: elements, colours, and text as strokes, so that no font is needed.

Positions and lengths are in user units; in pictures of boards a square is 100 wide.
"""

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

# The players are told apart by lightness first, so that pictures can be read in grey as well.
INK = ("#2b2118", "#f4ead2")
"""What is drawn on a piece of player 0, of player 1."""

FILL = ("#fbf3df", "#3a4453")
"""The pieces of player 0, of player 1."""

EDGE = ("#5c4630", "#161b22")
"""The outlines of the pieces of player 0, of player 1."""

LIGHT_WOOD, DARK_WOOD, LINE = "#f1e0bd", "#cfa972", "#7a5c38"
PAPER, LABEL = "#fffaf0", "#6e5f4b"
BLUE, ORANGE, GREEN = "#0a6ebd", "#d1490c", "#0d7d5b"
"""Last move; the piece that must go on; where it may go. Told apart by the colour-blind as well."""


def number(value: float) -> str:
    """Return `value` with at most two decimals.

    >>> number(3.0), number(0.12345), number(-0.001)
    ('3', '0.12', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """Return an element; ``stroke_width=2`` is the attribute ``stroke-width``, None is left out.

    >>> element("circle", r=4.5, fill=None, stroke_width=2)
    '<circle r="4.5" stroke-width="2"/>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            text = number(value) if isinstance(value, int | float) else str(value)
            parts.append(f"{key.rstrip('_').replace('_', '-')}={quoteattr(text)}")
    head = " ".join(parts)
    return f"<{head}>{content}</{name}>" if content else f"<{head}/>"


def path(d: str, fill: str = "none", stroke: str | None = None, width: float = 4) -> str:
    """Return a path with round joints; `width` is that of the stroke, if there is one."""
    return element(
        "path",
        d=d,
        fill=fill,
        stroke=stroke,
        stroke_width=width if stroke else None,
        stroke_linecap="round" if stroke else None,
        stroke_linejoin="round" if stroke else None,
    )


def circle(x: float, y: float, radius: float, **attributes: object) -> str:
    """Return a circle."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def group(parts: Iterable[str], transform: str | None = None, **attributes: object) -> str:
    """Return `parts` in one group."""
    return element("g", "".join(parts), transform=transform, **attributes)


def moved(content: str, x: float, y: float, scale: float = 1.0, turn: float = 0.0) -> str:
    """Return `content` turned by `turn` degrees, scaled, then moved to (x, y)."""
    transform = f"translate({number(x)} {number(y)})"
    if turn:
        transform += f" rotate({number(turn)})"
    if scale != 1:
        transform += f" scale({round(scale, 4):g})"
    return group([content], transform)


def label(text: str, x: float, y: float, height: float, color: str, weight: float = 0.13) -> str:
    """Return `text` drawn in strokes, its middle at (x, y).

    height: of a capital. weight: of the strokes, as a part of the height. Characters without a
    glyph are left out.
    """
    glyphs = [GLYPHS[character] for character in text if character in GLYPHS]
    step = height * 0.85  # a glyph is 0.6 wide
    start = x - (step * (len(glyphs) - 1) + height * 0.6) / 2
    parts = [
        moved(element("path", d=glyph), start + i * step, y - height / 2, height / 10)
        for i, glyph in enumerate(glyphs)
        if glyph
    ]
    return group(
        parts,
        fill="none",
        stroke=color,
        stroke_width=10 * weight,
        stroke_linecap="round",
        stroke_linejoin="round",
    )


GLYPHS = {
    "A": "M0 10L3 0L6 10M1.1 6.5H4.9",
    "B": "M0 5H3.5Q6 5 6 7.5T3.5 10H0V0H3Q5.5 0 5.5 2.5T3 5",
    "C": "M6 1.5Q5 0 3 0Q0 0 0 5T3 10Q5 10 6 8.5",
    "D": "M0 0V10H2.5Q6 10 6 5T2.5 0Z",
    "E": "M6 0H0V10H6M0 5H5",
    "F": "M6 0H0V10M0 5H5",
    "G": "M6 1.5Q5 0 3 0Q0 0 0 5T3 10Q6 10 6 7V5.5H3.5",
    "H": "M0 0V10M6 0V10M0 5H6",
    "I": "M3 0V10M1 0H5M1 10H5",
    "J": "M6 0V7Q6 10 3 10T0 7",
    "K": "M0 0V10M6 0L0 6M2 4L6 10",
    "L": "M0 0V10H6",
    "M": "M0 10V0L3 6L6 0V10",
    "N": "M0 10V0L6 10V0",
    "O": "M3 0Q6 0 6 5T3 10T0 5T3 0Z",
    "P": "M0 10V0H3.5Q6 0 6 2.8T3.5 5.6H0",
    "Q": "M3 0Q6 0 6 5T3 10T0 5T3 0ZM3.6 7L6.2 10.4",
    "R": "M0 10V0H3.5Q6 0 6 2.8T3.5 5.6H0M3 5.6L6 10",
    "S": "M6 1.5Q5 0 3 0Q.3 0 .3 2.5T3 5T6 7.5T3 10Q1 10 0 8.5",
    "T": "M0 0H6M3 0V10",
    "U": "M0 0V6.5Q0 10 3 10T6 6.5V0",
    "V": "M0 0L3 10L6 0",
    "W": "M0 0L1.5 10L3 3L4.5 10L6 0",
    "X": "M0 0L6 10M6 0L0 10",
    "Y": "M0 0L3 5L6 0M3 5V10",
    "Z": "M0 0H6L0 10H6",
    "a": "M5 7Q5 4 2.6 4T.2 7T2.6 10T5 7M5 4V10",
    "b": "M.5 0V10M.5 7Q.5 4 3 4T5.5 7T3 10T.5 7",
    "c": "M5 5Q4.3 4 3 4Q.3 4 .3 7T3 10Q4.3 10 5 9",
    "d": "M5.5 0V10M5.5 7Q5.5 4 3 4T.5 7T3 10T5.5 7",
    "e": "M.4 7H5.4Q5.4 4 2.9 4T.4 7T3 10Q4.5 10 5.2 8.8",
    "f": "M5 .2Q2.5 -.4 2.5 2.5V10M.5 4.2H4.5",
    "g": "M5.5 4V10.5Q5.5 13 3 13Q1.5 13 .8 12M5.5 7Q5.5 4 3 4T.5 7T3 10T5.5 7",
    "h": "M.5 0V10M.5 7Q.5 4 3 4T5.3 6.5V10",
    "i": "M3 4V10M3 1V1.2",
    "j": "M3.5 4V11Q3.5 13 1 13M3.5 1V1.2",
    "k": "M.5 0V10M5 4L.5 8M2 6.6L5.3 10",
    "l": "M3 0V10",
    "m": "M0 4V10M0 6Q.2 4 1.6 4T3 6V10M3 6Q3.2 4 4.6 4T6 6V10",
    "n": "M.5 4V10M.5 7Q.5 4 3 4T5.3 6.5V10",
    "o": "M3 4Q5.6 4 5.6 7T3 10T.4 7T3 4Z",
    "p": "M.5 4V13M.5 7Q.5 4 3 4T5.5 7T3 10T.5 7",
    "q": "M5.5 4V13M5.5 7Q5.5 4 3 4T.5 7T3 10T5.5 7",
    "r": "M1.5 4V10M1.5 7Q1.7 4 4.8 4.2",
    "s": "M5 5Q4.3 4 3 4Q.8 4 .8 5.5T3 7T5.2 8.5T3 10Q1.3 10 .6 9",
    "t": "M2.5 1V8Q2.5 10 4.8 10M.6 4.2H4.6",
    "u": "M.5 4V7.5Q.5 10 3 10T5.5 7.5M5.5 4V10",
    "v": "M.5 4L3 10L5.5 4",
    "w": "M0 4L1.5 10L3 5L4.5 10L6 4",
    "x": "M.7 4L5.3 10M5.3 4L.7 10",
    "y": "M.5 4L3.2 9.8M5.5 4L3.2 9.8Q2 13 .5 12.8",
    "z": "M.8 4H5.2L.8 10H5.2",
    "0": "M3 0Q5.6 0 5.6 5T3 10T.4 5T3 0Z",
    "1": "M1 2L3.2 0V10",
    "2": "M.4 2.6Q.6 0 3 0T5.6 2.7Q5.6 4.6 .4 10H5.8",
    "3": "M.6 1.4Q1.5 0 3 0Q5.3 0 5.3 2.4T2.5 4.8Q5.7 4.8 5.7 7.4T3 10Q1.2 10 .3 8.5",
    "4": "M4.3 10V0L0 7H6",
    "5": "M5.3 0H1L.6 4.5Q1.5 3.8 3 3.8Q5.7 3.8 5.7 6.8T3 10Q1.2 10 .3 8.8",
    "6": "M5 1Q4.3 0 3.2 0Q.4 0 .4 5.5Q.4 10 3 10T5.6 7T3 4Q.8 4 .5 6.5",
    "7": "M.3 0H5.8L2.2 10",
    "8": "M3 4.7Q.8 4.7 .8 2.35T3 0T5.2 2.35T3 4.7Q5.7 4.7 5.7 7.35T3 10T.3 7.35T3 4.7Z",
    "9": "M1 9Q1.7 10 2.8 10Q5.6 10 5.6 4.5Q5.6 0 3 0T.4 3T3 6Q5.2 6 5.5 3.5",
    " ": "",
    "½": "M0 1.2L1.4 0V4.2M6 0L0 10M3.6 6.8Q3.8 5.8 4.9 5.8T6.2 7Q6.2 8 3.6 10H6.4",
    ":": "M3 4.5V4.7M3 9.8V10",
    "×": "M1 4L5.5 8.5M5.5 4L1 8.5",
}
"""Each in a box 6 wide and 10 high, y down, the baseline at 10."""
