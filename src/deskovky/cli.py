"""The command line: `deskovky games|play|show|perft|train|eval|arena|solve|bench`.

Each command is a dataclass that tyro turns into options. What a command needs is imported when it
runs, so that torch is loaded only by those that train or play with networks.
"""

import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import tyro
from rich import box
from rich.console import Console
from rich.table import Table

import deskovky as dk
from deskovky.envs import canonical_id
from deskovky.envs.protocol import Game, Termination
from deskovky.envs.support import check_integer, what_there_is
from deskovky.envs.vector import MAX_NUM_ENVS
from deskovky.errors import ConfigurationError, DeskovkyError

MAX_BENCH_SECONDS, MAX_BENCH_RUNS = 3600, 1000

USAGE = """\
usage: deskovky COMMAND [OPTIONS]

  games             list the games: ids, sizes, rulesets, start positions
  play GAME         play against an agent or a friend, or watch agents play
  show FILE         show a recorded game as text, picture or animation
  perft GAME DEPTH  count the sequences of DEPTH turns, and how fast
  train alphazero   train a network by self-play with search
  train ppo         train a network with MaskablePPO against its past selves
  train pretrained  train and measure an agent that comes with the package
  eval              play agents against each other: scores with 95 % intervals
  arena             play all against all: Elo ratings, or a sequential test
  solve GAME        make the complete solution of a game, for the agent `oracle`
  bench             measure the speed of this installation

`deskovky COMMAND --help` shows the options of a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    0 after success, 2 after bad input (one line on stderr says what), 130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    return exit_code(lambda: run(words))


def exit_code(command: Callable[[], object]) -> int:
    """Run `command` and return its exit code; errors that are the user's become one line."""
    try:
        command()
    except (DeskovkyError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # `deskovky games | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"deskovky: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("deskovky: interrupted", file=sys.stderr)
        return 130
    return 0


def run(words: list[str]) -> None:
    """Run the command that `words` begin with. Raises DeskovkyError."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE, end="")
        return
    if words[0] == "--version":
        print(f"deskovky {dk.__version__}")
        return
    command, options = words[0], words[1:]
    if command == "train":
        train(options)
    elif command == "eval":
        from deskovky.train import evaluate

        evaluate.main(options)
    elif command == "arena":
        from deskovky.train import arena

        arena.main(options)
    elif command == "solve":
        from deskovky import solve

        solve.main(options)
    elif command == "games":
        tyro.cli(Games, args=options, prog="deskovky games").run()
    elif command == "play":
        from deskovky.play import Play

        tyro.cli(Play, args=options, prog="deskovky play").run()
    elif command == "show":
        from deskovky.show import Show

        tyro.cli(Show, args=options, prog="deskovky show").run()
    elif command == "perft":
        tyro.cli(Perft, args=options, prog="deskovky perft").run()
    elif command == "bench":
        tyro.cli(Bench, args=options, prog="deskovky bench").run()
    else:
        commands = ["games", "play", "show", "perft", "train", "eval", "arena", "solve", "bench"]
        raise unknown("command", command, commands)


def train(words: list[str]) -> None:
    """Run a training script."""
    scripts = {
        "alphazero": "deskovky.train.alphazero",
        "ppo": "deskovky.train.ppo_selfplay",
        "pretrained": "deskovky.train.pretrained",
    }
    if not words or words[0] in ("-h", "--help"):
        print(f"usage: deskovky train {'|'.join(scripts)} [OPTIONS]")
        return
    if words[0] not in scripts:
        raise unknown("training script", words[0], scripts)
    try:
        script = importlib.import_module(scripts[words[0]])
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("deskovky"):
            raise
        raise ConfigurationError(
            f"training needs the package {error.name!r}: pip install 'deskovky[train]'"
        ) from None
    script.main(words[1:])


def unknown(what: str, word: str, known: Sequence[str] | dict[str, str]) -> ConfigurationError:
    """Return the error for a word that is none of `known`."""
    return ConfigurationError(f"no {what} {word!r}; {what_there_is(word, known)}")


@dataclass
class Games:
    """List the games: ids, sizes, rulesets and start positions, the defaults first."""

    def run(self) -> None:
        """Print the table."""
        table = Table(box=box.SIMPLE_HEAD, padding=0)
        table.add_column("id", no_wrap=True)
        for heading in ("ranks x files", "actions", "planes"):
            table.add_column(heading, justify="right")
        for heading in ("rulesets", "setups"):
            table.add_column(heading)
        for id in dk.games():
            game = dk.game(id)
            planes, ranks, files = game.observation_shape
            table.add_row(
                id,
                f"{ranks} x {files}",
                str(game.num_actions),
                str(planes),
                "\n".join(game.rulesets),
                "\n".join(game.setups),
            )
        Console().print(table)


@dataclass
class Perft:
    """Count the sequences of exactly DEPTH complete turns."""

    game: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME")]
    """id of the game, see `deskovky games`"""
    depth: Annotated[int, tyro.conf.Positional, tyro.conf.arg(metavar="DEPTH")]
    """number of turns"""
    fen: str | None = None
    """position to start from; by default that of the setup"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    divide: bool = False
    """print the count behind each first turn"""

    def run(self) -> None:
        """Print the count and how fast it was counted."""
        game = dk.game(self.game, ruleset=self.ruleset, setup=self.setup)
        start = time.perf_counter()
        if self.divide:
            nodes = 0
            for turn, count in divide(game, self.depth, self.fen):
                print(f"{turn} {count}", flush=True)
                nodes += count
        else:
            nodes = game.perft(self.depth, self.fen)
        seconds = time.perf_counter() - start
        print(f"{nodes} nodes, {seconds:.3f} s, {nodes / seconds:,.0f} nodes/s")


def divide(game: Game, depth: int, fen: str | None) -> list[tuple[str, int]]:
    """Return each legal turn with the number of sequences of `depth` turns that it begins."""
    if depth < 1:
        raise ConfigurationError(f"depth = {depth}: there is nothing to divide below 1")
    # Perft ignores these, so that a game they end is counted on.
    limits = (
        Termination.REPETITION,
        Termination.QUIET_LIMIT,
        Termination.LENGTH_LIMIT,
        Termination.MAX_TURNS,
    )
    state = game.state(fen)
    counts = []
    for turn in state.turns():
        child = state.copy()
        child.push(turn)
        if depth == 1:
            count = 1
        elif child.outcome and child.outcome.termination not in limits:
            count = 0
        else:
            count = game.perft(depth - 1, child.fen())
        counts.append((turn, count))
    return counts


@dataclass
class Bench:
    """Measure the speed of this installation, one thread, median of several runs."""

    game: str = "dobutsu_v0"
    """id of the game, see `deskovky games`"""
    seconds: float = 0.5
    """length of each run"""
    runs: int = 5
    """runs of each measurement"""
    num_envs: int = 1024
    """games at once in the vector environment"""

    def run(self) -> None:
        """Print the table."""
        if not 0 < self.seconds <= MAX_BENCH_SECONDS:  # false for NaN too
            raise ConfigurationError(
                f"seconds = {self.seconds}: expected more than 0, up to {MAX_BENCH_SECONDS}"
            )
        check_integer("runs", self.runs, 1, MAX_BENCH_RUNS)
        check_integer("num_envs", self.num_envs, 1, MAX_NUM_ENVS)
        table = Table(
            title=f"{canonical_id(self.game)}, deskovky {dk.__version__}",
            title_justify="left",
            box=box.SIMPLE_HEAD,
        )
        for heading in ("measured", "per CPU second", "slowest run", "fastest run"):
            table.add_column(heading, justify="left" if heading == "measured" else "right")
        for name, measured in self.benchmarks():
            rates = [self.rate(measured) for _ in range(self.runs)]
            median = statistics.median(rates)
            table.add_row(name, *(f"{rate:,.0f}" for rate in (median, min(rates), max(rates))))
        Console().print(table)

    def rate(self, measured: Callable[[], int]) -> float:
        """Return how much of its unit `measured` does in a second of this process's CPU time."""
        start, done = time.process_time(), 0
        while (elapsed := time.process_time() - start) < self.seconds:
            done += measured()
        return done / elapsed

    def benchmarks(self) -> list[tuple[str, Callable[[], int]]]:
        """Return what is measured: a name, and a function that does some of it and counts it."""
        import numpy as np

        games = dk.make_vec(self.game, num_envs=self.num_envs, seed=0)
        games.reset(seed=0)
        env = dk.make(self.game)
        env.reset(seed=0)
        game = dk.game(self.game)
        rng = np.random.default_rng(0)
        depth = 1
        while game.perft(depth) < 100_000:
            depth += 1

        def vector_steps() -> int:
            for _ in range(10):
                games.step(games.sample_actions())
            return 10 * games.num_envs

        def aec_steps() -> int:
            for _ in range(100):
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.reset()
                else:
                    assert observation is not None
                    legal = observation["action_mask"].nonzero()[0]
                    env.step(legal[int(len(legal) * rng.random())])
            return 100

        def perft_nodes() -> int:
            return game.perft(depth)

        def state_steps() -> int:
            state, steps = game.state(), 0
            while not state.is_over:
                legal = state.legal_actions()
                state.apply(legal[int(len(legal) * rng.random())])
                steps += 1
            return steps

        return [
            (f"vector env of {self.num_envs}: steps", vector_steps),
            ("PettingZoo env: last, step", aec_steps),
            ("State: legal_actions, apply", state_steps),
            (f"perft {depth}: nodes", perft_nodes),
        ]


if __name__ == "__main__":
    sys.exit(main())
