"""Write the table of trained agents in README.md from their cards in agents/pretrained.

    python tools/strength_table.py

The cards hold the measurements, by `deskovky train pretrained`; this only puts them together.
"""

import re
from pathlib import Path

import deskovky as dk

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BEGIN = "<!-- strength: written by tools/strength_table.py -->"
END = "<!-- end of the strength -->"

OPPONENTS = ("random", "greedy", *(f"minimax:depth={depth}" for depth in (1, 2, 3, 6)))


def row(id: str, card: str) -> str:
    """Return the row of one agent, its numbers as they stand in its card."""
    scores = dict(re.findall(r"^\| `(\S+)` \| (\S+ %) \|", card, re.MULTILINE))
    core_hours = re.search(r"\| ([\d.]+) core-hours", card)
    elo = re.search(r"^\| Elo \| (-?\d+)", card, re.MULTILINE)
    cells = [
        f"[`{id}`](agents/pretrained/{id}.md)",
        core_hours[1] if core_hours else "",
        *(scores.get(opponent, "") for opponent in OPPONENTS),
        elo[1] if elo else "",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Rewrite the table."""
    headings = ("game", "core-hours", *(f"`{opponent}`" for opponent in OPPONENTS), "Elo")
    cards = {id: ROOT / "agents" / "pretrained" / f"{id}.md" for id in dk.games()}
    lines = [
        f"| {' | '.join(headings)} |",
        "|---" * len(headings) + "|",
        *(row(id, path.read_text("utf-8")) for id, path in cards.items() if path.exists()),
    ]
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    text = "\n".join([head + BEGIN, "", *lines, "", END + tail])
    README.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
