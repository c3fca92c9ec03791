"""Reading the perft tables `tests/perft/<game>.perft`.

A table is a list of blocks parted by blank lines; ``#`` begins a comment line. A block names its
``ruleset``, ``fen`` and ``source``, one a line, and goes on with lines ``<depth> <nodes>``.
"""

from pathlib import Path
from typing import NamedTuple

PERFT_FOLDER = Path(__file__).parent / "perft"
KEYWORDS = ("ruleset", "fen", "source")


class PerftEntry(NamedTuple):
    ruleset: str
    fen: str
    source: str
    depth: int
    nodes: int

    def __str__(self) -> str:
        return f"{self.ruleset}-{self.fen.split(' ')[0]}-{self.depth}"


def read_perft(game: str, min_nodes: int = 0, max_nodes: int | None = None) -> list[PerftEntry]:
    """Return the entries of ``perft/<game>.perft`` with `min_nodes` <= nodes <= `max_nodes`.

    Raises ValueError for a line that is not understood, a block that lacks a keyword and a table
    without any number.
    """
    text = (PERFT_FOLDER / f"{game}.perft").read_text(encoding="utf-8")
    entries = parse_perft(text)
    if not entries:
        raise ValueError(f"{game}.perft has no entries")
    return [
        entry
        for entry in entries
        if min_nodes <= entry.nodes and (max_nodes is None or entry.nodes <= max_nodes)
    ]


def parse_perft(text: str) -> list[PerftEntry]:
    entries = []
    block: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if not line.strip():
            block = {}
        elif word in KEYWORDS and word not in block:
            block[word] = rest
        elif word.isdecimal() and rest.isdecimal() and len(block) == len(KEYWORDS):
            entries.append(PerftEntry(**block, depth=int(word), nodes=int(rest)))
        else:
            raise ValueError(f"line {number} of the perft table is out of place: {line!r}")
    return entries
