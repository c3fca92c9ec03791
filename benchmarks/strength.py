"""Train by the documented recipes, measure the agents, and write the README's table of strength.

    python benchmarks/strength.py --runs runs/strength

A recipe whose folder holds a finished run already is only measured. With both, count on half an
hour for training and a few minutes for the games.
"""

import argparse
import datetime
import os
import platform
from pathlib import Path

import deskovky as dk
from deskovky.train import alphazero
from deskovky.train.evaluate import DEFAULT_OPENING_TURNS, Match, evaluate

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN = "<!-- strength: written by benchmarks/strength.py -->"
END = "<!-- end of the strength -->"

MINUTES = {"demo": 3.0, "half_hour": 30.0}
"""The recipes: `deskovky train alphazero --game dobutsu_v0 --minutes ...`, all else by default."""

OPPONENTS = ("random", "greedy", "minimax:depth=2", "minimax:depth=4", "minimax:depth=6")
SIMULATIONS = 64
GAMES = 400


def measure(run: Path, minutes: float) -> list[Match]:
    """Train unless it is done, then play."""
    if not (run / "best.pt").exists():
        alphazero.train(alphazero.Args(out=run, game="dobutsu_v0", minutes=minutes))
    agent = dk.agent(f"alphazero:{run / 'best.pt'}?simulations={SIMULATIONS}", seed=0)
    game = dk.game("dobutsu_v0")
    return [
        evaluate(game, agent, dk.agent(opponent, seed=0), games=GAMES, seed=0)
        for opponent in OPPONENTS
    ]


def table(results: dict[str, list[Match]]) -> str:
    """Return the Markdown table."""
    lines = [
        f"| minutes of training | {' | '.join(f'`{opponent}`' for opponent in OPPONENTS)} |",
        "|---|" + "---|" * len(OPPONENTS),
    ]
    for name, matches in results.items():
        cells = [
            f"{100 * match.score:.1f} % ({100 * low:.1f}–{100 * high:.1f})"
            for match in matches
            for low, high in [match.interval]
        ]
        lines.append(f"| {MINUTES[name]:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("runs/strength"))
    runs = parser.parse_args().runs
    results = {name: measure(runs / name, minutes) for name, minutes in MINUTES.items()}
    caption = (
        f"Score (wins plus half the draws, with its 95 % interval) over {GAMES} colour-swapped "
        f"games from even openings of {DEFAULT_OPENING_TURNS} random turns, {SIMULATIONS} "
        "simulations a step; "
        f"trained and measured on {os.cpu_count()} cores of a shared {platform.machine()} machine "
        f"without a GPU, {datetime.date.today().isoformat()}."
    )
    head, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    text = f"{head}{BEGIN}\n\n{table(results)}\n\n{caption}\n\n{END}{tail}"
    README.write_text(text, encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
