"""Train an agent that comes with the package, by the recipe of its game.

    deskovky train pretrained --game dobutsu_v0

trains with AlphaZero, measures the best network against the ladder and writes the weights and the
card of the game into agents/pretrained. A run that was interrupted goes on where it ended; one that
has ended is measured again and its card written anew.
"""

import datetime
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

import deskovky as dk
from deskovky.agents.checkpoint import (
    WEIGHTS_SUFFIX,
    load_network,
    read_checkpoint,
    write_weights,
)
from deskovky.envs.support import write_text
from deskovky.errors import ConfigurationError
from deskovky.train import alphazero, meter
from deskovky.train.arena import elo_on_ladder, read_ladder
from deskovky.train.evaluate import DEFAULT_OPENING_TURNS, Match, as_agent, evaluate
from deskovky.train.rating import Rating

SIMULATIONS = 64


@dataclass(frozen=True)
class Recipe:
    """How the agent of a game is trained and measured."""

    minutes: float = 60.0
    """of training, by the clock"""
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    """of `deskovky train alphazero`, where they are not its defaults"""
    opponents: tuple[str, ...] = (
        "random",
        "greedy",
        *(f"minimax:depth={depth}" for depth in range(1, 4)),
    )
    """to measure it against"""


def taught(depth: int, minutes: float, *, deepest: int = 3, **options: Any) -> Recipe:
    """Return the recipe that begins with games of minimax and goes on with self-play.

    depth: of the minimax that shows how to play.
    deepest: how deep the minimax is that the agent is measured against.
    """
    return Recipe(
        minutes=minutes,
        options={
            "num_workers": 1,
            "opening_steps": 10,
            "teacher": f"minimax:depth={depth}",
            "teacher_iterations": 60,
            "eval_every": 20,
            **options,
        },
        opponents=("random", "greedy", *(f"minimax:depth={d}" for d in range(1, deepest + 1))),
    )


RECIPES: dict[str, Recipe] = {
    "dobutsu_v0": taught(5, 44, deepest=6, opening_steps=6, teacher_iterations=30),
    "xiangqi_v0": taught(2, 40),
    "drakoburg_v0": taught(2, 30),
    "gothic_draughts_v0": taught(3, 20),
    "ossetian_draughts_v0": taught(4, 27),
    "knight_draughts_v0": taught(3, 20),
    "medieval_battle_v0": taught(3, 33),
}
"""The recipes of single games; all others are trained by the default one."""


@dataclass
class Args:
    """Train, measure and write down the agent of a game that comes with the package."""

    game: str
    """id of the game, see `deskovky games`"""
    out: Path | None = None
    """folder of the training run; by default runs/pretrained/GAME"""
    to: Path = Path("agents/pretrained")
    """folder that the weights and the card are written to"""
    ladder: Path = Path("results/ladder")
    """folder of ladders, written by tools/ladder.py; without GAME.json in it the card has no Elo"""
    minutes: float | None = None
    """minutes of training in all, those of an interrupted run included; by default the recipe's"""
    games: int = 200
    """games of each match that measures the agent, an even number"""
    num_workers: int = 0
    """processes that play; 0 is as many as the recipe says, or else one for each core, up to 8. A
    run that goes on keeps its own"""
    ray_address: str | None = None
    """play on a Ray cluster, as for `deskovky train alphazero`"""


def run(args: Args, console: Console | None = None) -> Path:
    """Do what `args` say and return the path of the weights.

    Raises what alphazero.train raises, and ConfigurationError for a folder that is not there and
    for a run by another recipe.
    """
    console = console or Console(stderr=True)
    game = dk.game(args.game)
    if not args.to.is_dir():
        raise ConfigurationError(
            f"--to {args.to}: no such folder; call it in the root of the repository or name another"
        )
    if args.games < 2 or args.games % 2:
        raise ConfigurationError(f"games = {args.games}: expected an even number from 2")
    if args.minutes is not None and not args.minutes > 0:
        raise ConfigurationError(f"minutes = {args.minutes}: expected more than 0")
    ladder = args.ladder / f"{game.id}.json"
    elos = read_ladder(ladder, game) if ladder.exists() else {}
    recipe = RECIPES.get(game.id, Recipe())
    recipe = replace(recipe, minutes=args.minutes or recipe.minutes)
    out = args.out or Path("runs/pretrained") / game.id
    best = train(game.id, recipe, args, out, console)
    spec = f"alphazero:{best}?simulations={SIMULATIONS}"
    matches = []
    for opponent in recipe.opponents:
        matches.append(evaluate(game, spec, opponent, args.games, seed=0))
        console.print(f"{matches[-1].score:.1%} against {opponent}")
    weights = args.to / f"{game.id}{WEIGHTS_SUFFIX}"
    write_weights(weights, read_checkpoint(best))
    rating = elo_on_ladder(elos, matches)
    elo = "" if rating is None else on_ladder(rating, ladder)
    text = card(game.id, recipe, out, matches, elo) + meter.section(game, as_agent(spec, game))
    write_text(args.to / f"{game.id}.md", text)
    return weights


def train(id: str, recipe: Recipe, args: Args, out: Path, console: Console) -> Path:
    """Train for what is left of the recipe's minutes and return the path of the best network."""
    is_resumed = (out / "last.pt").exists()
    took = spent(out) if is_resumed else dict.fromkeys(("iterations", "seconds"), 0.0)
    minutes = recipe.minutes - took["seconds"] / 60
    # The log ends with the last iteration; what came after it is less than one more.
    is_done = minutes * 60 * took["iterations"] < took["seconds"]
    options = alphazero.Args(
        out=out,
        game=id,
        minutes=max(minutes, 0.01),
        seed=recipe.seed,
        resume=is_resumed,
        ray_address=args.ray_address,
    )
    options = replace(options, **recipe.options)
    # A run keeps its workers: what is learnt depends on their number.
    num_workers = 0 if is_resumed else args.num_workers or options.num_workers
    options = replace(options, num_workers=num_workers)
    if is_resumed:
        check_recipe(options)
    if is_done and (out / "best.pt").exists():
        return out / "best.pt"
    return alphazero.train(options, console)


def check_recipe(options: alphazero.Args) -> None:
    """Raise ConfigurationError if the run was trained by others: the card will tell these."""
    saved = read_checkpoint(options.out / "last.pt")["args"]
    for name, old in {**asdict(alphazero.Args(options.out)), **saved}.items():
        if name in {"num_workers", *alphazero.BUDGET_OPTIONS, *alphazero.FREE_OPTIONS}:
            continue
        wanted = getattr(options, name, old)
        if wanted != old:
            raise ConfigurationError(
                f"{name} = {wanted}: the run in {options.out} has {old}; train anew, with another "
                "--out or without that folder"
            )


def spent(out: Path) -> dict[str, float]:
    """Return what a run took so far: iterations, seconds by the clock, seconds of processors."""
    totals = {"iterations": 0.0, "seconds": 0.0, "cpu_seconds": 0.0}
    log = out / "log.jsonl"
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
        numbers = json.loads(line)
        totals["iterations"] += 1
        totals["seconds"] += numbers["speed/iteration_seconds"]
        totals["cpu_seconds"] += numbers["speed/cpu_seconds"]
    return totals


def on_ladder(rating: Rating, ladder: Path) -> str:
    """Say in words how strong an agent is.

    ladder: the file that it was rated by.
    """
    return (
        f"{rating.elo:.0f}, where `random` is at 0; 95 % interval {rating.low:.0f} to "
        f"{rating.high:.0f}, by bootstrap over pairs of games. Rated by the matches below on "
        f"`{ladder.as_posix()}`, which is taken as exact"
    )


def card(id: str, recipe: Recipe, out: Path, matches: Sequence[Match], elo: str) -> str:
    """Return the card of a trained agent, in Markdown.

    elo: its strength in words; empty where there is no ladder.
    """
    best, last = (read_checkpoint(out / name) for name in ("best.pt", "last.pt"))
    config = best["network"]
    network = load_network(out / "best.pt", best)
    num_weights = sum(parameter.numel() for parameter in network.parameters())
    took = spent(out)
    num_workers = last["args"]["num_workers"]
    command = f"deskovky train pretrained --game {id}"
    if recipe.minutes != RECIPES.get(id, Recipe()).minutes:
        command += f" --minutes {recipe.minutes:g}"
    if num_workers != recipe.options.get("num_workers"):
        command += f" --num-workers {num_workers}"
    if matches[0].total.games != Args.games:
        command += f" --games {matches[0].total.games}"
    options = "".join(
        f" --{key.replace('_', '-')} {value}"
        for key, value in {**recipe.options, "num_workers": num_workers}.items()
    )
    rows = [
        *([("Elo", elo)] if elo else []),
        ("command", f"`{command}`"),
        (
            "recipe",
            f"`deskovky train alphazero --game {id} --minutes {recipe.minutes:g} "
            f"--seed {recipe.seed}{options}`",
        ),
        (
            "network",
            f"{config['kind']}, width {config['width']}, {config['num_blocks']} residual blocks, "
            f"{num_weights:,} weights, stored as float16",
        ),
        (
            "training",
            f"{took['iterations']:,.0f} iterations, {last['num_positions']:,} positions of "
            f"finished games; the network of iteration {best['iteration']:,} was the best",
        ),
        (
            "compute",
            f"{took['cpu_seconds'] / 3600:.2f} core-hours in {took['seconds'] / 60:.0f} minutes, "
            f"on {machine()}",
        ),
        ("versions", f"deskovky {dk.__version__}, torch {metadata.version('torch')}"),
        ("date", datetime.date.today().isoformat()),
    ]
    lines = [
        f"# {id}",
        "",
        "Written by `deskovky train pretrained`; play it with "
        f'`dk.agent("pretrained:{id}?simulations={SIMULATIONS}")`.',
        "",
        "| | |",
        "|---|---|",
        *(f"| {name} | {text} |" for name, text in rows),
        "",
        "| opponent | score | 95 % interval | won | drawn | lost | mean turns |",
        "|---|---|---|---|---|---|---|",
    ]
    for match in matches:
        low, high = match.interval
        total = match.total
        lines.append(
            f"| `{match.opponent}` | {100 * match.score:.1f} % | {100 * low:.1f}–{100 * high:.1f} "
            f"| {total.wins} | {total.draws} | {total.losses} | {match.mean_turns:.1f} |"
        )
    lines += [
        "",
        f"Score: wins plus half the draws, over {matches[0].total.games} colour-swapped games with "
        f"each opponent from even openings of {DEFAULT_OPENING_TURNS} random turns, {SIMULATIONS} "
        "simulations a step. The intervals are Wilson's.",
        "",
    ]
    return "\n".join(lines)


def machine() -> str:
    """Say in words what this runs on."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    return f"{os.cpu_count()} cores of a {platform.machine()} machine, {gpu}"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky train pretrained`."""
    run(tyro.cli(Args, prog="deskovky train pretrained", args=argv))


if __name__ == "__main__":
    main()
