"""Show where self-play spends its time: in the network, or in search and environment.

    python tools/profile_selfplay.py
    python tools/profile_selfplay.py --game xiangqi_v0 --num-games 64 256 512

plays with the network that `deskovky train alphazero` begins with, on one thread, as its workers
do: `play` is the function that they run.
"""

from dataclasses import dataclass
from pathlib import Path

import tyro
from rich import box
from rich.console import Console
from rich.table import Table

import deskovky as dk
from deskovky.agents.network import PolicyValueNetwork, network_config, one_thread
from deskovky.train.alphazero import Args, Job, Played, play


@dataclass
class Options:
    """Show where self-play spends its time."""

    game: tuple[str, ...] = ()
    """ids of games; by default all"""
    num_games: tuple[int, ...] = (256,)
    """games at once"""
    steps: int = 4
    """steps of each game"""
    simulations: int = 32
    """simulations of each search"""


def measure(id: str, num_games: int, steps: int, simulations: int) -> Played:
    """Play some steps of new games and return what came of them."""
    game = dk.game(id)
    args = Args(Path(), game=id, num_games=num_games, steps_per_iteration=steps, device="cpu")
    network = PolicyValueNetwork(network_config(game))
    job = Job(args, game, network.config, network.state_dict(), [], simulations, (0,))
    with one_thread():
        play(job._replace(args=Args(Path(), game=id, num_games=num_games, steps_per_iteration=1)))
        return play(job)


def main() -> None:
    options = tyro.cli(Options, prog="profile_selfplay.py")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("game")
    for heading in ("games at once", "positions/s", "evaluations/s", "network", "search and rules"):
        table.add_column(heading, justify="right")
    for id in options.game or dk.games():
        for num_games in options.num_games:
            played = measure(id, num_games, options.steps, options.simulations)
            share = played.network_seconds / played.seconds
            positions = num_games * options.steps / played.cpu_seconds
            table.add_row(
                id,
                str(num_games),
                f"{positions:,.0f}",
                f"{positions * (1 + options.simulations):,.0f}",
                f"{share:.1%}",
                f"{1 - share:.1%}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
