"""Rate the baselines of every game against each other and write results/ladder.

    python tools/ladder.py
    python tools/ladder.py --games dobutsu_v0 --num-games 20 --runs look --out look   # a look

On two cores count on up to ten minutes for each game. Those whose games are slow play fewer of
them, see `NUM_GAMES`; a second call with more --num-games adds to what was played.

For each game a tournament (see `deskovky.train.arena`) between random, greedy, minimax at depths 1
to 6 and MCTS with 100, 1,000 and 10,000 simulations. Not all meet: every agent plays `ANCHORS` and
those at most `NEIGHBOURS` places from it in `LADDER`, since a match between agents far apart says
next to nothing about either; the ratings connect the rest. The slow ones play fewer games, see
`SHARES`, and MCTS with 10,000 simulations where a game takes it minutes few opponents, see
`WITH_LONG_ROLLOUTS`.

Each game's tournament is kept in a folder below --runs. A second call goes on with it, and plays
nothing twice. What is written to --out is a file for each game, the tournament's arena.json, which
`deskovky train ppo --ladder` reads, and README.md with the tables of all of them.
"""

import argparse
import itertools
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

import deskovky as dk
from deskovky.envs.support import write_text
from deskovky.train.arena import (
    Pairing,
    Tournament,
    arena,
    cross_table,
    progress_bar,
    ratings_table,
    read_summary,
)

ROOT = Path(__file__).resolve().parents[1]

LADDER = (
    "random",
    "greedy",
    "minimax:depth=1",
    "mcts:simulations=100",
    "minimax:depth=2",
    "minimax:depth=3",
    "mcts:simulations=1000",
    "minimax:depth=4",
    "minimax:depth=5",
    "mcts:simulations=10000",
    "minimax:depth=6",
)
"""The agents, the weakest first as far as that is the same in every game."""

ANCHORS = ("random", "minimax:depth=2")
"""Fast agents that everyone plays."""

NEIGHBOURS = 3
"""Everyone plays those at most so many places away."""

SHARES = {"minimax:depth=5": 0.5, "minimax:depth=6": 0.25, "mcts:simulations=10000": 0.1}
"""What part of the games the pairings of slow agents have; that of the slower one counts."""


NUM_GAMES = {
    "xiangqi_v0": 10,
    "drakoburg_v0": 10,
    "gothic_draughts_v0": 40,
    "knight_draughts_v0": 20,
    "medieval_battle_v0": 20,
}
"""Games of each full pairing where they are slow; elsewhere 200."""

WITH_LONG_ROLLOUTS = ("xiangqi_v0", "drakoburg_v0")
LONGEST = "mcts:simulations=10000"
OPPONENTS_OF_LONGEST = ("mcts:simulations=1000", "minimax:depth=2")


def pairings(game_id: str, num_games: int) -> dict[Pairing, int]:
    """Return who meets whom in how many games, an even number, at least 2."""
    games = {}
    for first, second in itertools.combinations(LADDER, 2):
        distance = LADDER.index(second) - LADDER.index(first)
        if game_id in WITH_LONG_ROLLOUTS and LONGEST in (first, second):
            meet = first in OPPONENTS_OF_LONGEST or second in OPPONENTS_OF_LONGEST
        else:
            meet = distance <= NEIGHBOURS or first in ANCHORS or second in ANCHORS
        if meet:
            share = min(SHARES.get(first, 1.0), SHARES.get(second, 1.0))
            games[first, second] = max(2, 2 * round(num_games * share / 2))
    return games


def play(game_id: str, args: argparse.Namespace) -> Tournament:
    """Play the tournament of one game, or go on with it."""
    folder = args.runs / game_id
    games = pairings(game_id, args.num_games or NUM_GAMES.get(game_id, 200))
    started = time.perf_counter()
    with progress_bar(sum(games.values())) as show:
        tournament = arena(
            game_id,
            LADDER,
            games,
            num_parallel=2,  # none of these agents is faster with more
            processes=args.processes,
            out=folder,
            resume=(folder / "arena.json").exists(),
            on_job=show,
        )
    console = Console()
    console.print(ratings_table(tournament), cross_table(tournament))
    console.print(f"{game_id}: {(time.perf_counter() - started) / 60:.1f} minutes in this call")
    return tournament


def table(path: Path) -> str:
    """Return one game's ratings in Markdown."""
    report = read_summary(path)
    lines = [
        f"## `{report['game']}`",
        "",
        f"{report['ruleset']} rules, even openings of {report['opening_turns']} random turns, "
        f"seed {report['seed']}, deskovky {report['versions']['deskovky']}.",
        "",
        "| agent | Elo | 95 % | games | score |",
        "|---|---|---|---|---|",
    ]
    for rating in report["results"]["ratings"]:
        lines.append(
            f"| `{rating['agent']}` | {rating['elo']:.0f} | {rating['low']:.0f} to "
            f"{rating['high']:.0f} | {rating['games']} | {100 * rating['score']:.1f} % |"
        )
    return "\n".join([*lines, ""])


INTRODUCTION = """\
# The ladder

How strong the baselines are in each game: Elo ratings with `random` at 0, written by
`tools/ladder.py`, which also says who played whom. 400 points more mean 10 points won for 1 lost.
An agent that lost no game has a finite rating only by a draw that it is given.

"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", nargs="+", default=dk.games(), help="ids of the games")
    parser.add_argument("--num-games", type=int, help="of each full pairing")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=Path, default=Path("runs/ladder"))
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "ladder")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    for game_id in args.games:
        play(game_id, args)
        shutil.copyfile(args.runs / game_id / "arena.json", args.out / f"{game_id}.json")
        tables = [table(path) for path in sorted(args.out.glob("*.json"))]
        write_text(args.out / "README.md", INTRODUCTION + "\n".join(tables))


if __name__ == "__main__":
    main()
