"""Measure the speed of every layer beside its peers: `make bench`, or `python benchmarks/run.py`.

Every measurement is a process of its own (workloads.py). A round runs all of them once, so that
ours and a peer's share the machine's moods; a ratio is the median of the ratios of the rounds.
Rates are per CPU-second of the process, with one thread, unless a row says otherwise. Results go to
benchmarks/results.json and into the tables of benchmarks/README.md. A peer that is not installed
is left out.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BEGIN = "<!-- results: written by benchmarks/run.py -->"
END = "<!-- end of the results -->"


@dataclass
class Row:
    """One line of the table: ours, beside a peer or a floor."""

    what: str
    ours: str
    peer: str | None
    unit: str
    target: str
    peer_name: str = ""
    is_wall: bool = False
    """Per second of the clock instead of CPU-second."""

    is_time: bool = False
    """The figure is seconds per unit, not units per second."""

    figures: dict[str, list[float]] = field(default_factory=dict)


DRAUGHTS = (
    ("Gothic draughts", "gothic_draughts_v0"),
    ("Ossetian draughts", "ossetian_draughts_v0"),
    ("Knight draughts", "knight_draughts_v0"),
    ("Medieval battle", "medieval_battle_v0"),
)
GAMES = (
    ("Dobutsu", "dobutsu_v0"),
    ("Xiangqi", "xiangqi_v0"),
    ("Drakoburg", "drakoburg_v0"),
    *DRAUGHTS,
)

ROWS = [
    Row(
        "vector env: 1,024 games, random legal play, observations and masks, autoreset",
        "vector", "vector_pgx", "steps/s", "100 times", "Pgx `animal_shogi`",
    ),
    Row(
        "the same on 2 threads, by the clock",
        "vector_2_threads", "vector", "steps/s", "scales", "1 thread", is_wall=True,
    ),
    Row(
        "AEC loop with `action_space.sample(mask)`",
        "aec_sampled", "aec_nothing_sampled", "steps/s", "0.5 times", "an env that does nothing",
    ),
    Row(
        "AEC loop with a quicker choice",
        "aec", "aec_nothing", "steps/s", "0.5 times", "an env that does nothing",
    ),
    Row(
        "AEC loop with `action_space.sample(mask)`",
        "aec_sampled", "aec_connect_four_sampled", "steps/s", "10 times",
        "PettingZoo `connect_four_v3`",
    ),
    Row(
        "AEC loop with a quicker choice",
        "aec", "aec_connect_four", "steps/s", "10 times", "PettingZoo `connect_four_v3`",
    ),
    Row("random play through `State`, no observations", "state_api", None, "steps/s", ""),
    Row(
        "perft, ruleset `fairy`, depth 8",
        "perft:dobutsu_v0", "perft_fairy_stockfish:dobutsu_v0", "nodes/s", "5 times",
        "Fairy-Stockfish `dobutsu`",
    ),
    Row(
        "MCTS with random rollouts, from the start",
        "mcts:dobutsu_v0", None, "simulations/s", "200,000",
    ),
    Row(
        "AlphaZero search, batch 64, 32 simulations, network included",
        "alphazero", "alphazero_mctx", "simulations/s", "3 times", "mctx + Pgx, same network size",
    ),
    Row("Dobutsu: the complete solution", "solve", None, "s", "90 s", is_time=True),
    Row("Dobutsu: perfect values of positions", "oracle_values", None, "positions/s", "1,000,000"),
    Row(
        "Dobutsu: perfect values of all actions",
        "oracle_action_values", None, "positions/s", "250,000",
    ),
    Row("Dobutsu: opening the solution", "oracle_open", None, "s", "0.05 s", is_time=True),
    Row(
        "import deskovky, and gymnasium and pettingzoo",
        "import_deskovky", "import_peers", "s", "+0.15 s", "gymnasium and pettingzoo alone",
        is_time=True,
    ),
    Row(
        "make, reset and first step in a fresh process",
        "first_step", None, "s", "0.005 s", is_time=True,
    ),
    Row(
        "Xiangqi: perft, ruleset `axf`, depth 4",
        "perft:xiangqi_v0", "perft_fairy_stockfish:xiangqi_v0", "nodes/s", "5 times",
        "Fairy-Stockfish `xiangqi`, large boards",
    ),
    Row(
        "Xiangqi: random play through `State`, no observations",
        "state_api:xiangqi_v0", "state_openspiel:xiangqi", "steps/s", "5 times",
        "OpenSpiel `xiangqi`",
    ),
    Row(
        "Dobutsu: AlphaZero self-play of two workers on Ray, by the clock",
        "selfplay_ray", "selfplay_processes", "positions/s", "scales",
        "two processes without Ray", is_wall=True,
    ),
    Row(
        "Dobutsu: AlphaZero self-play in two processes, by the clock",
        "selfplay_processes", "selfplay:dobutsu_v0", "positions/s", "scales", "one process",
        is_wall=True,
    ),
    *(
        Row(
            f"{name}: AlphaZero self-play, 256 games at once, 32 simulations",
            f"selfplay:{game}", None, "positions/s", "",
        )
        for name, game in GAMES
    ),
    Row("Drakoburg: perft", "perft:drakoburg_v0", None, "nodes/s", "20,000,000"),
    Row("Gothic draughts: perft", "perft:gothic_draughts_v0", None, "turns/s", "10,000,000"),
    Row("Ossetian draughts: perft", "perft:ossetian_draughts_v0", None, "turns/s", "20,000,000"),
    Row("Knight draughts: perft", "perft:knight_draughts_v0", None, "turns/s", "10,000,000"),
    Row("Medieval battle: perft", "perft:medieval_battle_v0", None, "turns/s", "20,000,000"),
    *(
        Row(
            f"{name}: vector env",
            f"vector:{game}", peer, "steps/s", target, peer_name,
        )
        for name, game, peer, target, peer_name in (
            ("Xiangqi", "xiangqi_v0", None, "300,000", ""),
            ("Drakoburg", "drakoburg_v0", None, "300,000", ""),
            *(
                (name, game, "state_openspiel_observed:checkers", "300,000 and 5 times",
                 "OpenSpiel `checkers`, one game in Python, observed")
                for name, game in DRAUGHTS
            ),
        )
    ),
    *(
        Row(
            f"{name}: minimax, the start and middle games",
            f"minimax:{game}", None, "nodes/s", "1,500,000",
        )
        for name, game in GAMES
    ),
    *(
        Row(
            f"{name}: MCTS with random rollouts",
            f"mcts:{game}", "mcts_openspiel:checkers", "simulations/s", "10 times",
            "OpenSpiel's C++ bot on `checkers`",
        )
        for name, game in DRAUGHTS
    ),
]  # fmt: skip


def measure(workload: str, seconds: float) -> dict[str, float] | None:
    """Run a workload in a process of its own; None if what it needs is not there."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        "PYGAME_HIDE_SUPPORT_PROMPT": "1",
    }
    done = subprocess.run(
        [sys.executable, str(FOLDER / "workloads.py"), workload, str(seconds)],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        print(f"  {workload}: left out ({last[0]})", file=sys.stderr)
        return None
    result: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def figure(result: dict[str, float], row: Row) -> float:
    """Return what a row shows of a measurement."""
    seconds = result["wall_s"] if row.is_wall else result["cpu_s"]
    return seconds / result["units"] if row.is_time else result["units"] / seconds


def run(rows: list[Row], rounds: int, seconds: float) -> None:
    """Measure and keep the figures of each round in the rows."""
    workloads = list(dict.fromkeys(name for row in rows for name in (row.ours, row.peer) if name))
    for number in range(1, rounds + 1):
        results: dict[str, dict[str, float]] = {}
        for workload in list(workloads):
            print(f"round {number} of {rounds}: {workload}", file=sys.stderr)
            result = measure(workload, seconds)
            if result is None:
                workloads.remove(workload)
            else:
                results[workload] = result
        for row in rows:
            for name in (row.ours, row.peer):
                if name in results:
                    row.figures.setdefault(name, []).append(figure(results[name], row))


def text(value: float, row: Row) -> str:
    return f"{value:.4f}" if row.is_time else f"{value:,.0f}"


def table(rows: list[Row]) -> str:
    """Return the Markdown table."""
    lines = [
        "| what | deskovky | beside | its figure | ratio | target |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ours = row.figures.get(row.ours)
        theirs = row.figures.get(row.peer) if row.peer else None
        if not ours:
            continue
        cells = [row.what, f"{text(statistics.median(ours), row)} {row.unit}"]
        if row.peer and theirs:
            if row.is_time:
                ratio = (
                    f"+{statistics.median(a - b for a, b in zip(ours, theirs, strict=True)):.3f} s"
                )
            else:
                ratio = f"{statistics.median(a / b for a, b in zip(ours, theirs, strict=True)):.2f}"
            cells += [row.peer_name, text(statistics.median(theirs), row), ratio]
        else:
            cells += [f"{row.peer_name} (not installed)" if row.peer else "", "", ""]
        lines.append("| " + " | ".join([*cells, row.target]) + " |")
    return "\n".join(lines)


def machine() -> dict[str, str]:
    """Say what this was measured on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].partition(": ")[2] if models else cpu
    packages = ("deskovky", "numpy", "gymnasium", "pettingzoo", "torch", "pgx", "mctx", "jax")
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "cpu": f"{cpu}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        **versions,
        "date": datetime.date.today().isoformat(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU-seconds a measurement")
    parser.add_argument("--only", nargs="*", default=[], help="workloads; nothing is written")
    arguments = parser.parse_args()
    only = set(arguments.only)
    rows = [row for row in ROWS if not only or only & {row.ours, row.peer}]
    run(rows, arguments.rounds, arguments.seconds)
    print(table(rows))
    if only:
        return
    about = machine()
    results = {"machine": about, "rounds": arguments.rounds, "rows": [asdict(row) for row in rows]}
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    readme = FOLDER / "README.md"
    head, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    tail = rest.partition(END)[2]
    caption = f"Medians of {arguments.rounds} rounds on {', '.join(map(' '.join, about.items()))}."
    readme.write_text(
        f"{head}{BEGIN}\n\n{caption}\n\n{table(rows)}\n\n{END}{tail}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
