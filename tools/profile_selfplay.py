"""Show where self-play spends its time: in the network, or in search and environment.

    python tools/profile_selfplay.py
    python tools/profile_selfplay.py --game xiangqi_v0 --num-games 64 256 512
    python tools/profile_selfplay.py --markdown benchmarks/self_play.md

plays with the network that `deskovky train alphazero` begins with, on one thread, as its workers
do: `play` is the function that they run. Rates are per CPU-second.
"""

import os
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

import tyro
from rich import box
from rich.console import Console
from rich.table import Table

import deskovky as dk
from deskovky.agents.network import PolicyValueNetwork, network_config, one_thread
from deskovky.train.alphazero import Args, Job, Played, play

COLUMNS = (
    "game",
    "games at once",
    "positions/s",
    "evaluations/s",
    "network",
    "search and rules",
)


@dataclass
class Options:
    """Show where self-play spends its time."""

    game: tuple[str, ...] = ()
    """ids of games; by default all"""
    num_games: tuple[int, ...] = (256,)
    """games at once"""
    steps: int = 16
    """steps of each game"""
    simulations: int = 32
    """simulations of each search"""
    rounds: int = 5
    """measurements of each row, which shows their medians"""
    markdown: Path | None = None
    """file to write the table to, as Markdown"""


def measure(id: str, num_games: int, options: Options) -> list[Played]:
    """Play some steps of new games in each round and return what came of them."""
    game = dk.game(id)
    args = Args(
        Path(), game=id, num_games=num_games, steps_per_iteration=options.steps, device="cpu"
    )
    network = PolicyValueNetwork(network_config(game))
    job = Job(args, game, network.config, network.state_dict(), [], options.simulations, (0,))
    with one_thread():
        play(job._replace(args=Args(Path(), game=id, num_games=num_games, steps_per_iteration=1)))
        return [play(job) for _ in range(options.rounds)]


def row(id: str, num_games: int, options: Options) -> list[str]:
    """Return the cells of one row of the table."""
    rounds = measure(id, num_games, options)
    share = median(played.network_seconds / played.seconds for played in rounds)
    positions = num_games * options.steps / median(played.cpu_seconds for played in rounds)
    return [
        id,
        str(num_games),
        f"{positions:,.0f}",
        f"{positions * (1 + options.simulations):,.0f}",
        f"{share:.1%}",
        f"{1 - share:.1%}",
    ]


def markdown(rows: Sequence[Sequence[str]], options: Options) -> str:
    """Return the table as a page, with what printed it."""
    lines = [
        "# Self-play",
        "",
        f"Printed by `{shlex.join(['python', *sys.argv])}`",
        f"on one thread of a {os.cpu_count()}-core {platform.machine()} machine, {date.today()}: "
        f"{options.steps} steps of each game with",
        f"{options.simulations} simulations each; medians of {options.rounds} rounds. Rates are "
        "per CPU-second, shares of the time that `play` takes.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---" * len(COLUMNS) + "|",
        *("| " + " | ".join(cells) + " |" for cells in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = tyro.cli(Options, prog="profile_selfplay.py")
    table = Table(COLUMNS[0], box=box.SIMPLE_HEAD)
    for column in COLUMNS[1:]:
        table.add_column(column, justify="right")
    rows = [
        row(id, num_games, options)
        for id in options.game or dk.games()
        for num_games in options.num_games
    ]
    for cells in rows:
        table.add_row(*cells)
    Console().print(table)
    if options.markdown:
        options.markdown.write_text(markdown(rows, options), encoding="utf-8")


if __name__ == "__main__":
    main()
