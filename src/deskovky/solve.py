"""The command `deskovky solve`: make the complete solution of a game, and check it."""

import importlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import deskovky as dk
from deskovky.agents.oracle import SOLUTIONS
from deskovky.envs import canonical_id
from deskovky.errors import ConfigurationError

STAGES = {
    "count": "counting turns",
    "solve": "solving, turn by turn",
    "verify": "verifying every position",
    "reach": "walking all that can be reached",
}


@dataclass
class Args:
    """Make the complete solution of a game, which the agent `oracle` and `dk.oracle` look up."""

    game: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]
    """id of a solved game: dobutsu_v0"""
    threads: int = 0
    """threads to work with; 0 is one for each core"""
    verify: bool = False
    """check the checksum, and every entry against the turns that the rules allow"""
    count: bool = False
    """count the positions that can be reached from the start, by what perfect play leads to"""
    force: bool = False
    """make the table anew, even if there is a good one"""
    cache_dir: Path | None = None
    """folder of the table; by default $DESKOVKY_CACHE, or else the platform's cache folder"""


def run(args: Args) -> None:
    """Do what `args` say and print it. Raises ConfigurationError and TableError."""
    game = canonical_id(args.game)
    if game not in SOLUTIONS:
        raise ConfigurationError(f"no way to solve {game}; there is one for {', '.join(SOLUTIONS)}")
    if not 0 <= args.threads <= 1024:
        raise ConfigurationError(f"threads = {args.threads}: expected a number from 0 to 1024")
    solution = importlib.import_module(SOLUTIONS[game])
    threads = args.threads or os.cpu_count() or 1
    path = solution.table_path(args.cache_dir)
    if args.force or not path.exists():
        with stages() as progress:
            solution.make_table(path, threads, progress)
    table = solution.open_table(path)
    print(f"{path}: {path.stat().st_size:,} bytes")
    if args.verify:
        with stages() as progress:
            solution.check_table(path, threads, progress)
        print("every position agrees with all that it leads to")
    start = dk.game(game).state()
    oracle = dk.oracle(game, cache_dir=args.cache_dir)
    value = {1: "wins", 0: "draws", -1: "loses"}[oracle.value(start)]
    distance = oracle.distance(start)
    print(f"the first player {value}" + (f" in {distance} turns" if distance is not None else ""))
    values, distances = oracle.action_values([start])
    for action in start.legal_actions().tolist():
        result = {1: "win", 0: "draw", -1: "loss"}[int(values[0, action])]
        print(f"  {start.action_to_text(action)}: {result} in {distances[0, action]}")
    if args.count:
        with stages() as progress:
            counts = table.count_reachable(threads, progress)
        for line in describe(counts):
            print(line)


def describe(counts: dict[str, int]) -> Iterator[str]:
    """Yield the counts as Tanaka (2009) gives them."""
    open_positions = counts["won"] + counts["lost"] + counts["drawn"]
    total = open_positions + counts["capturable"] + counts["arrived"]
    yield f"{total:,} positions can be reached, mirror images and sides apart"
    yield f"  {counts['capturable']:,} where the lion can be captured"
    yield f"  {counts['arrived']:,} where the enemy lion has arrived"
    yield f"  {open_positions:,} others"
    yield f"won {counts['won'] + counts['capturable']:,}"
    yield f"lost {counts['lost'] + counts['arrived']:,}"
    yield f"drawn {counts['drawn']:,}"
    yield f"the longest win takes {counts['longest_win']} turns"


@contextmanager
def stages() -> Iterator["Stages"]:
    """Show a bar for each stage of long work, and what each took once it is over."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        shown = Stages(progress)
        yield shown
        shown.end()


class Stages:
    """Called with stage, done and total; a bar for each stage, and a line once it is over."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = ""
        self._task: TaskID | None = None
        self._started = (0.0, 0.0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.end()
            self._stage = stage
            self._started = (time.perf_counter(), time.process_time())
            self._task = self._progress.add_task(STAGES[stage])
        assert self._task is not None
        self._progress.update(self._task, completed=done, total=total)

    def end(self) -> None:
        """Finish the stage that is going on."""
        if self._task is None:
            return
        self._progress.remove_task(self._task)
        wall, cpu = time.perf_counter() - self._started[0], time.process_time() - self._started[1]
        self._progress.console.print(
            f"{STAGES[self._stage]}: {wall:.1f} s, {cpu:.1f} CPU seconds", highlight=False
        )
        self._task = None


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky solve`."""
    run(tyro.cli(Args, prog="deskovky solve", args=argv))
