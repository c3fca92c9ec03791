"""Let any agents play each other and rate them: `deskovky arena`.

    deskovky arena --game dobutsu_v0 --agents random greedy minimax:depth=2 mcts:simulations=100 \
        --games 200 --processes 2 --out results/first
    deskovky arena --agents "alphazero:new.pt" "alphazero:old.pt" --games 2000 --sprt 0,30

The first is a round robin: every two agents meet, with every opening played from both sides. It
prints the ratings (see `deskovky.train.rating`) and the scores of all against all. The second is a
sequential test of whether the first agent is stronger, which stops as soon as it knows.

The folder `--out` holds

    games.jsonl      every game, a record (see `deskovky.envs.records`) in each line
    arena.json       what was asked for, and what came of it
    elo.svg          with --plot, the ratings as a picture

A tournament is played in jobs: some openings between two agents, whose random streams start anew
with each job. What comes of a job depends on the seed, its openings and the names of its agents,
not on the process that plays it nor on what was played before. So the same seed gives the same
games with any number of processes, whether a tournament was stopped and resumed or not, and more
games and agents can be added to one that has ended. (Agents under a wall-clock limit excepted.)
"""

import itertools
import json
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro
from rich import box
from rich.console import Console
from rich.table import Table

from deskovky.agents.protocol import Agent
from deskovky.envs.protocol import Game, State
from deskovky.envs.records import Record, read_records
from deskovky.envs.support import as_game, check_integer, write_text
from deskovky.errors import (
    CheckpointError,
    ConfigurationError,
    RecordError,
    WorkerError,
)
from deskovky.train.evaluate import (
    DEFAULT_OPENING_TURNS,
    Match,
    as_agent,
    check_numbers,
    game_options,
    games_progress,
    outcome_of,
    play_pairs,
    points,
    random_openings,
    summary,
    versions,
)
from deskovky.train.rating import Rating, Sprt, check_connected, pair_table, pentanomial, rate

FORMAT = "deskovky-arena"
FORMAT_VERSION = 1
MAX_PROCESSES = 256

_SUMMARY = {
    **dict.fromkeys(("game", "ruleset", "setup"), str),
    **dict.fromkeys(("max_turns", "seed", "opening_turns", "num_parallel"), int),
    **dict.fromkeys(("agents", "pairings"), list),
}
"""What an arena.json holds at least, and of which type."""

Pairing = tuple[str, str]
"""The names of two agents that meet, in the order in which they were given."""


# --- Jobs -----------------------------------------------------------------------------------------


class Job(NamedTuple):
    """Some consecutive pairs of games between two agents, played together in one process."""

    pairing: Pairing
    first_pair: int
    num_pairs: int
    seed: int
    """Of the tournament."""

    @property
    def games(self) -> range:
        """The numbers of its games; in game i the first agent is player i % 2."""
        return range(2 * self.first_pair, 2 * (self.first_pair + self.num_pairs))


class Task(NamedTuple):
    """A job and the states that its pairs start from."""

    job: Job
    openings: list[State]


def play(task: Task, agents: Mapping[str, Agent]) -> list[Record]:
    """Play the games of a task and return their records in order.

    Raises IllegalActionError, naming the agent, for one that does not play by the rules.
    """
    job = task.job
    keys = [zlib.crc32(name.encode()) for name in job.pairing]
    seeds = np.random.SeedSequence([job.seed, job.first_pair, *keys]).generate_state(2)
    first, second = (agents[name] for name in job.pairing)
    for agent, seed in zip((first, second), seeds, strict=True):
        agent.reset(int(seed))
    with one_torch_thread():
        states = play_pairs((first, second), task.openings, num_parallel=len(job.games))
    records = []
    for game, state in zip(job.games, states, strict=True):
        players = job.pairing[:: 1 if game % 2 == 0 else -1]
        records.append(Record.from_state(state, Player0=players[0], Player1=players[1], Round=game))
    return records


def one_torch_thread() -> AbstractContextManager[None]:
    """Let PyTorch, if an agent has loaded it, use one thread: results depend on their number."""
    if "torch" not in sys.modules:
        return nullcontext()
    from deskovky.agents.network import one_thread

    return one_thread()


# --- Processes ------------------------------------------------------------------------------------


class Worker:
    """A process that plays one task after the other."""

    def __init__(self, agents: Mapping[str, Agent | str]) -> None:
        context = multiprocessing.get_context("spawn")  # forks of PyTorch may hang
        self.connection, theirs = context.Pipe()
        blob = pickle.dumps(dict(agents))  # it is the worker who says if it cannot be read
        self.process = context.Process(target=_work, args=(theirs, blob), daemon=True)
        self.process.start()
        theirs.close()

    def begin(self, task: Task) -> None:
        """Send a task."""
        self.job = task.job
        try:
            self.connection.send(task)
        except OSError:
            raise self._death() from None

    def end(self) -> list[Record] | Exception:
        """Return the games of the task, or what went wrong: WorkerError if the process died."""
        try:
            answer: list[Record] | Exception = self.connection.recv()
        except (EOFError, OSError):
            return self._death()
        return answer

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self.process.terminate()
        self.process.join()
        self.connection.close()

    def _death(self) -> WorkerError:
        self.process.join()
        code = self.process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerError(f"the process that played {' against '.join(self.job.pairing)} {how}")


def _work(connection: Connection, blob: bytes) -> None:
    """Play what comes until nothing more can: the main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business: it ends us
    os.environ["OMP_NUM_THREADS"] = "1"  # before anything imports PyTorch
    agents: dict[str, Agent] = {}
    while True:
        try:
            message = connection.recv_bytes()
        except EOFError:  # the parent is no more
            return
        answer: list[Record] | Exception
        try:
            agents = agents or _made(blob)
            answer = play(pickle.loads(message), agents)
        except Exception as error:
            answer = _sendable(error)
        try:
            connection.send(answer)
        except OSError:
            return


def _made(blob: bytes) -> dict[str, Agent]:
    """Return the agents of a worker. Raises ConfigurationError if their code is not found."""
    try:
        return {name: as_agent(spec) for name, spec in pickle.loads(blob).items()}
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"agents cannot be made in another process: {error}; define them in a module that can "
            "be imported, or use processes=1"
        ) from None


def _sendable(error: Exception) -> Exception:
    """Return the exception, or one that can be pickled; its note tells where it arose."""
    note = "".join(traceback.format_exception(error))
    try:
        error = pickle.loads(pickle.dumps(error))
    except Exception:
        error = WorkerError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


def play_all(
    tasks: Iterable[Task], agents: Mapping[str, Agent | str], processes: int
) -> Generator[tuple[Job, list[Record]], None, None]:
    """Play the tasks and yield each job with its games as it ends.

    agents: by name; specs, or agents that can be pickled. Every process makes or copies its own.
    processes: how many play; with 1, this one does.

    What has ended is yielded before an error is raised: that of an agent, or WorkerError if a
    process died.
    """
    if processes == 1:
        made = {name: as_agent(spec) for name, spec in agents.items()}
        for task in tasks:
            yield task.job, play(task, made)
        return
    tasks = iter(tasks)
    busy: dict[object, Worker] = {}  # by connection
    workers: list[Worker] = []
    try:
        for task in itertools.islice(tasks, processes):
            workers.append(Worker(agents))
            workers[-1].begin(task)
            busy[workers[-1].connection] = workers[-1]
        while busy:
            errors = []
            ready = wait([worker.connection for worker in busy.values()])
            for worker in [busy.pop(connection) for connection in ready]:
                answer = worker.end()
                if isinstance(answer, Exception):
                    errors.append(answer)
                    continue
                yield worker.job, answer
                if following := next(tasks, None):
                    worker.begin(following)
                    busy[worker.connection] = worker
            if errors:
                raise errors[0]
    finally:
        for worker in workers:
            worker.stop()


# --- The folder of a tournament -------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What a tournament is: everything that its games depend on."""

    game: Game
    pairings: Mapping[Pairing, int]
    """The number of games of each; its keys are all pairs of agents that meet."""
    agents: tuple[str, ...]
    """The names, in the order in which they were given."""
    seed: int
    opening_turns: int
    num_parallel: int
    sprt: Sprt | None

    @property
    def jobs(self) -> list[Job]:
        """All jobs in the order in which they begin: all pairings advance together."""
        size = self.num_parallel // 2
        jobs = [
            Job(pairing, first, min(size, games // 2 - first), self.seed)
            for pairing, games in self.pairings.items()
            for first in range(0, games // 2, size)
        ]
        return sorted(jobs, key=lambda job: job.first_pair)  # stable

    @property
    def anchor(self) -> int:
        """The agent whose rating is 0: ``"random"``, or without it the last one."""
        return self.agents.index("random") if "random" in self.agents else len(self.agents) - 1

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            **game_options(self.game),
            "seed": self.seed,
            "opening_turns": self.opening_turns,
            "num_parallel": self.num_parallel,
            "agents": list(self.agents),
            "pairings": [[*pairing, games] for pairing, games in self.pairings.items()],
            "sprt": asdict(self.sprt) if self.sprt else None,
        }


class Folder:
    """Where a tournament is written down as it goes on."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.games = path / "games.jsonl"
        self.summary = path / "arena.json"
        self.settings = settings

    def create(self) -> None:
        """Make the folder. Raises ConfigurationError if there is something in it."""
        path = self.games.parent
        if path.is_file() or (path.exists() and any(path.iterdir())):
            raise ConfigurationError(
                f"{path} is no empty folder: choose another, or go on with --resume"
            )
        self.write_summary(None)

    def resume(self) -> dict[Job, list[Record]]:
        """Return the jobs that have ended, and write down that these settings are in force now.

        Raises CheckpointError for a folder that is none of a tournament or damaged, and
        ConfigurationError if its tournament is not the beginning of this one.
        """
        self._check_summary()
        records: dict[tuple[Pairing, int], Record] = {}
        try:
            for record in read_records(self._lines()):
                game = int(record.headers["Round"])
                first, second = [record.headers[name] for name in ("Player0", "Player1")][
                    :: 1 if game % 2 == 0 else -1
                ]
                if game_options(record.game()) != game_options(
                    self.settings.game
                ) or game not in range(self.settings.pairings.get((first, second), 0)):
                    raise RecordError(
                        f"round {game} of {first} against {second} in {record.game_id} is no game "
                        "of this tournament"
                    )
                records[(first, second), game] = record
        except (RecordError, KeyError, ValueError) as error:
            raise CheckpointError(f"{self.games}: {error}") from None
        finished = {}
        for job in self.settings.jobs:
            keys = [(job.pairing, game) for game in job.games]
            if all(key in records for key in keys):
                finished[job] = [records[key] for key in keys]
            # Else its writing was cut off, or it has grown: it is played again.
        self.write_games(finished.values())
        self.write_summary(None)
        return finished

    def add(self, records: Sequence[Record]) -> None:
        """Write down games that have ended, at once and for good."""
        with self.games.open("a", encoding="utf-8") as file:
            file.write(lines(records))
            file.flush()
            os.fsync(file.fileno())

    def write_games(self, jobs: Iterable[Sequence[Record]]) -> None:
        """Replace the games."""
        write_text(self.games, "".join(map(lines, jobs)))

    def write_summary(self, tournament: "Tournament | None") -> None:
        """Write what was asked for and, once it is known, what came of it."""
        report = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            **self.settings.to_json(),
            "versions": versions(),
            "results": tournament.to_json() if tournament else None,
        }
        write_text(self.summary, json.dumps(report, indent=2) + "\n")

    def _lines(self) -> list[str]:
        """Return the lines of the games; the last is left out if its writing was cut off."""
        try:
            text = self.games.read_text(encoding="utf-8")
        except FileNotFoundError:  # stopped before the first game had ended
            return []
        except UnicodeDecodeError as error:
            raise CheckpointError(f"{self.games}: damaged: {error}") from None
        return text.split("\n")[:-1]

    def _check_summary(self) -> None:
        stored = read_summary(self.summary)
        wanted = self.settings.to_json()
        for name in (
            "game",
            "ruleset",
            "setup",
            "max_turns",
            "seed",
            "opening_turns",
            "num_parallel",
        ):
            if stored[name] != wanted[name]:
                raise ConfigurationError(
                    f"{name} = {wanted[name]}: the tournament in {self.summary.parent} has "
                    f"{stored[name]}, and --resume cannot change it"
                )
        if wanted["agents"][: len(stored["agents"])] != stored["agents"]:
            raise ConfigurationError(
                f"the tournament in {self.summary.parent} has the agents "
                f"{' '.join(stored['agents'])}: others can only be added after them"
            )
        for first, second, games in stored["pairings"]:
            if self.settings.pairings.get((first, second), 0) < games:
                raise ConfigurationError(
                    f"the tournament in {self.summary.parent} has {games} games of {first} against "
                    f"{second}: there can only be more of them"
                )


def lines(records: Iterable[Record]) -> str:
    """Return the records as JSON lines."""
    return "".join(f"{record.to_json()}\n" for record in records)


def read_summary(path: Path) -> dict[str, Any]:
    """Return the contents of an arena.json. Raises CheckpointError, naming it, if it is none."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        raise CheckpointError(f"{path}: not a tournament of `deskovky arena`")
    if report.get("version") != FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: format version {report.get('version')}, but this program reads "
            f"{FORMAT_VERSION}"
        )
    for name, kind in _SUMMARY.items():
        if type(report.get(name)) is not kind:  # True is no number
            raise CheckpointError(f"{path}: damaged: {name} is no {kind.__name__}")
    pairings, agents, sprt = report["pairings"], report["agents"], report.get("sprt")
    is_whole = bool(pairings) and {type(agent) for agent in agents} == {str}
    for pairing in pairings:
        is_whole &= type(pairing) is list and [type(part) for part in pairing] == [str, str, int]
    if sprt is not None:
        elos = [sprt.get(name) for name in ("elo0", "elo1")] if type(sprt) is dict else [None]
        is_whole &= {type(elo) for elo in elos} <= {int, float}
    if not is_whole:
        raise CheckpointError(f"{path}: damaged: its agents, pairings or sprt cannot be read")
    return report


# --- Tournaments ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SprtResult:
    """Where a sequential test ended."""

    test: Sprt
    llr: float
    accepted: float | None
    """elo0 or elo1; None if the games were over before either was certain enough."""

    def __str__(self) -> str:
        low, high = self.test.bounds
        verdict = "undecided" if self.accepted is None else f"accepts {self.accepted:g}"
        return (
            f"SPRT of {self.test.elo0:g} against {self.test.elo1:g} Elo {verdict}: "
            f"LLR {self.llr:+.2f}, bounds {low:+.2f} and {high:+.2f}"
        )


@dataclass(frozen=True)
class Tournament:
    """What came of a tournament."""

    game: Game
    matches: list[Match]
    """Of every two agents that met, as seen by the one that was given first."""
    ratings: list[Rating]
    """The strongest first."""
    sprt: SprtResult | None

    def to_json(self) -> dict[str, Any]:
        """Return everything but the game as JSON values."""
        return {
            "ratings": [asdict(rating) for rating in self.ratings],
            "matches": [match.to_json() for match in self.matches],
            "sprt": asdict(self.sprt) if self.sprt else None,
        }


class SprtRun:
    """An SPRT in progress. It takes jobs in the order of the schedule, whatever ended first."""

    def __init__(self, test: Sprt, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.num_taken = 0
        self.counts = pentanomial([])
        self.result = SprtResult(test, 0.0, None)

    def advance(self, finished: Mapping[Job, Sequence[Record]]) -> bool:
        """Take the jobs that have ended by now; return whether the test has ended."""
        test = self.result.test
        while self.result.accepted is None and self.num_taken < len(self.jobs):
            records = finished.get(self.jobs[self.num_taken])
            if records is None:
                break
            self.num_taken += 1
            outcomes = enumerate(map(outcome_of, records))
            self.counts += pentanomial([points(outcome, i) for i, outcome in outcomes])
            llr = test.llr(self.counts)
            self.result = SprtResult(test, llr, test.accepted(llr))
        return self.result.accepted is not None


def arena(
    game: Game | str,
    agents: Sequence[Agent | str] | Mapping[str, Agent | str],
    games: int | Mapping[Pairing, int] = 200,
    *,
    seed: int = 0,
    opening_turns: int = DEFAULT_OPENING_TURNS,
    num_parallel: int = 16,
    processes: int = 1,
    sprt: Sprt | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    on_job: Callable[[int, SprtResult | None], object] | None = None,
) -> Tournament:
    """Let agents play each other and return what came of it.

    agents: specs such as ``"minimax:depth=2"``, or agents, whose names must differ; or either by a
        name of your choice.
    games: of every two agents, an even number; or the games of those that are to meet, by their
        names in the order of `agents`.
    seed: of the openings and of all agents.
    opening_turns: the random legal turns that open each game, as in `evaluate`; the same openings
        for all pairings.
    num_parallel: how many games a process plays at once, an even number. Networks are faster with
        more; what a process is at is lost when the tournament is stopped.
    processes: how many play at once. With more than one, agents must be specs or picklable.
    sprt: stop as soon as this test of two agents, the first being the new one, has ended.
    out: the folder to write to; new or empty unless `resume`.
    resume: go on with the tournament in `out`. Games and, behind the others, agents may be added.
    on_job: called after each job with the number of games finished and the state of the SPRT.

    Raises ConfigurationError, AgentSpecError or the error of an agent that does not play `game`
    before anything is played; then the error of an agent, or WorkerError if a process died.
    Whatever ended before is in `out` then.
    """
    game = as_game(game, {})
    specs = named_agents(agents, game)
    settings = Settings(
        game, _pairings(tuple(specs), games), tuple(specs), seed, opening_turns, num_parallel, sprt
    )
    _check(settings, specs, processes)
    folder = Folder(Path(out), settings) if out is not None else None
    finished: dict[Job, list[Record]] = {}
    if folder and resume:
        finished = folder.resume()
    elif folder:
        folder.create()

    jobs = settings.jobs
    test = SprtRun(sprt, jobs) if sprt else None

    def is_over() -> bool:
        is_decided = test is not None and test.advance(finished)
        if on_job:
            on_job(sum(map(len, finished.values())), test.result if test else None)
        return is_decided

    if not is_over():
        todo = [job for job in jobs if job not in finished]
        with closing(play_all(_tasks(settings, todo), specs, processes)) as played:
            for job, records in played:
                finished[job] = records
                if folder:
                    folder.add(records)
                if is_over():
                    break
    used = jobs[: test.num_taken] if test else jobs  # others may have ended before the test did
    results = {job: finished[job] for job in used}
    tournament = _tournament(settings, results, test.result if test else None)
    if folder:
        folder.write_games(results.values())
        folder.write_summary(tournament)
    return tournament


def named_agents(
    agents: Sequence[Agent | str] | Mapping[str, Agent | str], game: Game
) -> dict[str, Agent | str]:
    """Return the agents by name, in their order.

    Raises as `as_agent` does, and ConfigurationError for names that are not different.
    """
    if isinstance(agents, Mapping):
        for agent in agents.values():
            as_agent(agent, game)
        return dict(agents)
    named: dict[str, Agent | str] = {}
    for agent in agents:
        name = as_agent(agent, game).name
        if name in named:
            raise ConfigurationError(f"two agents are named {name}: give each a name of its own")
        named[name] = agent
    return named


def _pairings(agents: Sequence[str], games: int | Mapping[Pairing, int]) -> dict[Pairing, int]:
    """Return the games of each pairing, in the order of the agents."""
    every_pairing = list(itertools.combinations(agents, 2))
    if not isinstance(games, Mapping):
        return dict.fromkeys(every_pairing, games)
    if unknown := set(games) - set(every_pairing):
        raise ConfigurationError(
            f"no such pairing: {', '.join(' against '.join(pairing) for pairing in unknown)}"
        )
    return {pairing: games[pairing] for pairing in every_pairing if pairing in games}


def _check(settings: Settings, specs: Mapping[str, Agent | str], processes: int) -> None:
    """Raise ConfigurationError for what cannot be played."""
    if len(settings.agents) < 2:
        raise ConfigurationError(f"it takes at least two agents, not {len(settings.agents)}")
    if settings.sprt and len(settings.agents) != 2:
        raise ConfigurationError(
            f"an SPRT is between two agents, the new and the old one, not {len(settings.agents)}"
        )
    for games in settings.pairings.values():
        check_numbers(games, settings.opening_turns, settings.num_parallel, settings.seed)
    if settings.num_parallel % 2:
        raise ConfigurationError(f"num_parallel must be even, not {settings.num_parallel}")
    check_integer("processes", processes, 1, MAX_PROCESSES)
    number = {name: i for i, name in enumerate(settings.agents)}
    met = np.zeros((len(number), len(number)), np.bool_)
    for first, second in settings.pairings:
        met[number[first], number[second]] = met[number[second], number[first]] = True
    check_connected(settings.agents, met)
    for name, spec in specs.items() if processes > 1 else ():
        try:
            pickle.dumps(spec)
        except Exception as error:
            raise ConfigurationError(
                f"agent {name} cannot be sent to another process: {error}; use processes=1"
            ) from None


def _tasks(settings: Settings, jobs: Iterable[Job]) -> Iterator[Task]:
    """Yield the jobs with their openings, which are drawn as far as they are needed."""
    upcoming = random_openings(
        settings.game, settings.opening_turns, np.random.default_rng(settings.seed)
    )
    openings: list[State] = []
    for job in jobs:
        end = job.first_pair + job.num_pairs
        openings.extend(itertools.islice(upcoming, max(0, end - len(openings))))
        yield Task(job, openings[job.first_pair : end])


def _tournament(
    settings: Settings, results: Mapping[Job, Sequence[Record]], sprt: SprtResult | None
) -> Tournament:
    """Count the games."""
    records: dict[Pairing, list[Record]] = {pairing: [] for pairing in settings.pairings}
    for job, games in results.items():  # of each pairing in their order
        records[job.pairing].extend(games)
    matches = [
        summary(
            *pairing, settings.opening_turns, [(outcome_of(game), game.turns) for game in games]
        )
        for pairing, games in records.items()
    ]
    number = {name: i for i, name in enumerate(settings.agents)}
    pairs = pair_table(
        len(number), [(number[m.agent], number[m.opponent], m.pairs) for m in matches]
    )
    ratings = rate(settings.agents, pairs, {settings.anchor: 0.0}, settings.seed)
    ratings.sort(key=lambda rating: -rating.elo)
    return Tournament(settings.game, matches, ratings, sprt)


def read_ladder(path: Path | str, game: Game) -> dict[str, float]:
    """Return the Elo of each agent of a finished tournament.

    path: an arena.json, such as those in results/ladder.

    Raises CheckpointError, naming the file, if it is none, unfinished, or of another game.
    """
    report = read_summary(Path(path))
    try:
        options = {name: report[name] for name in ("game", "ruleset", "setup")}
        ladder = {rating["agent"]: float(rating["elo"]) for rating in report["results"]["ratings"]}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: unfinished or damaged: {error}") from None
    wanted = game_options(game)
    for name, value in options.items():
        if value != wanted[name]:
            raise CheckpointError(f"{path}: of {name} {value}, not {wanted[name]}")
    return ladder


def elo_on_ladder(ladder: Mapping[str, float], matches: Iterable[Match]) -> Rating | None:
    """Return the rating of an agent from its matches against agents whose Elo is known.

    matches: as seen by the agent; those against others are left out. None if there are no more.

    The interval takes the Elo of the others as exact.
    """
    known = [match for match in matches if match.opponent in ladder]
    if not known:
        return None
    agents = [known[0].agent, *(match.opponent for match in known)]
    pairs = pair_table(len(agents), [(0, i, match.pairs) for i, match in enumerate(known, 1)])
    return rate(agents, pairs, {i: ladder[match.opponent] for i, match in enumerate(known, 1)})[0]


# --- The command ----------------------------------------------------------------------------------


def ratings_table(tournament: Tournament) -> Table:
    """Return the ratings as a table."""
    game = tournament.game
    table = Table(
        title=f"{game.id}, {game.ruleset} rules",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    table.add_column("", justify="right")
    table.add_column("agent", overflow="fold")
    for heading in ("Elo", "95 %", "games", "score"):
        table.add_column(heading, justify="right", no_wrap=True)
    for place, rating in enumerate(tournament.ratings, 1):
        table.add_row(
            str(place),
            rating.agent,
            f"{rating.elo:.0f}",
            f"{rating.low:.0f} to {rating.high:.0f}",
            str(rating.games),
            f"{rating.score:.1%}",
        )
    return table


def cross_table(tournament: Tournament) -> Table:
    """Return the scores of all against all, in per cent, the strongest first."""
    scores = {(match.agent, match.opponent): match.score for match in tournament.matches}
    scores |= {(second, first): 1 - score for (first, second), score in scores.items()}
    names = [rating.agent for rating in tournament.ratings]
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column("", justify="right")
    table.add_column("score in %", overflow="fold")
    for place in range(1, len(names) + 1):
        table.add_column(str(place), justify="right", no_wrap=True)
    for place, name in enumerate(names, 1):
        cells = [scores.get((name, opponent)) for opponent in names]
        shown = ["" if score is None else f"{100 * score:.1f}" for score in cells]
        table.add_row(str(place), name, *shown)
    return table


def write_plot(tournament: Tournament, path: Path) -> None:
    """Draw the ratings with their intervals. Raises ConfigurationError without matplotlib."""
    figure_class = load_matplotlib()
    ratings = tournament.ratings[::-1]
    elo = np.array([rating.elo for rating in ratings])
    intervals = np.array([(rating.low, rating.high) for rating in ratings])
    figure = figure_class(figsize=(8, 1 + 0.35 * len(ratings)), layout="constrained")
    axes = figure.subplots()
    # The interval of a rating at its edge may lie beside it.
    widths = np.abs(np.maximum((intervals - elo[:, None]) * (-1, 1), 0)).T
    axes.errorbar(elo, range(len(ratings)), xerr=widths, fmt="o", capsize=3)
    axes.set_yticks(range(len(ratings)), [rating.agent for rating in ratings])
    axes.set_xlabel("Elo, with 95 % interval")
    axes.set_title(f"{tournament.game.id}, {tournament.game.ruleset} rules")
    axes.grid(axis="x", alpha=0.3)
    temporary = path.with_name(f"{path.stem}.tmp{path.suffix}")
    figure.savefig(temporary)
    os.replace(temporary, path)


def load_matplotlib() -> Any:
    """Return matplotlib's Figure. Raises ConfigurationError if it is not installed."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ConfigurationError(
            "a plot needs the package 'matplotlib': pip install 'deskovky[notebook]'"
        ) from None
    return Figure


@dataclass
class Args:
    """Let agents play each other and rate them."""

    agents: tuple[str, ...] = ()
    """agent specs, such as random, minimax:depth=4, alphazero:runs/az/best.pt"""
    game: str = "dobutsu_v0"
    """id of the game, see `deskovky games`"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    max_turns: int | None = None
    """turns after which a game is cut off (a draw); by default the game's own cap"""
    games: int = 200
    """games of every two agents, an even number: every opening is played from both sides; with
    --sprt the most games"""
    seed: int = 0
    """seed of openings and agents; the same seed gives the same games"""
    opening_turns: int = DEFAULT_OPENING_TURNS
    """random turns that open each game, with nobody far ahead"""
    num_parallel: int = 16
    """games that a process plays at once, an even number"""
    processes: int = 1
    """processes that play"""
    sprt: str | None = None
    """elo0,elo1: test whether the first agent is stronger than the second by elo1 rather than elo0
    and stop when it is clear; errors of either kind happen in 5 % of such tests at most"""
    out: Path | None = None
    """folder to write to: new or empty, or with --resume that of an earlier start"""
    resume: bool = False
    """go on with the tournament in `out`; its options are kept, those given here replace them"""
    plot: bool = False
    """draw the ratings into elo.svg in `out`; needs matplotlib"""


def run(args: Args) -> Tournament:
    """Play the tournament that `args` ask for and print what came of it."""
    from deskovky.envs import game as registered_game

    if (args.resume or args.plot) and args.out is None:
        raise ConfigurationError(f"--{'resume' if args.resume else 'plot'} needs --out")
    if args.plot:
        load_matplotlib()  # before hours of play
    game = registered_game(
        args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns
    )
    num_games = args.games * len(args.agents) * (len(args.agents) - 1) // 2
    with progress_bar(num_games) as show:
        tournament = arena(
            game,
            args.agents,
            args.games,
            seed=args.seed,
            opening_turns=args.opening_turns,
            num_parallel=args.num_parallel,
            processes=args.processes,
            sprt=None if args.sprt is None else parse_sprt(args.sprt),
            out=args.out,
            resume=args.resume,
            on_job=show,
        )
    console = Console(markup=False, emoji=False)  # specs are no markup
    console.print(ratings_table(tournament))
    if len(args.agents) > 2:
        console.print(cross_table(tournament))
    if tournament.sprt:
        console.print(str(tournament.sprt))
    if args.out and args.plot:
        write_plot(tournament, args.out / "elo.svg")
    return tournament


@contextmanager
def progress_bar(num_games: int) -> Iterator[Callable[[int, SprtResult | None], None]]:
    """Show how far a tournament is, by what the context gives to `arena` as `on_job`.

    It appears with the first call: bad input leaves nothing on the screen but its message.
    """
    progress = games_progress()
    task = progress.add_task("games", total=num_games)
    with ExitStack() as shown:

        def show(finished: int, sprt: SprtResult | None) -> None:
            if not progress.live.is_started:
                shown.enter_context(progress)
            text = f"LLR {sprt.llr:+.2f}" if sprt else "games"
            progress.update(task, completed=finished, description=text)

        yield show


def parse_sprt(text: str) -> Sprt:
    """Return the test of ``"elo0,elo1"``. Raises ConfigurationError."""
    try:
        elo0, elo1 = map(float, text.split(","))
    except ValueError:
        raise ConfigurationError(
            f"sprt = {text}: expected two Elo differences with a comma between, such as 0,30"
        ) from None
    return Sprt(elo0, elo1)


def stored_args(out: Path) -> Args:
    """Return the options of the tournament in a folder. Raises CheckpointError."""
    stored = read_summary(out / "arena.json")
    sprt = stored.get("sprt")
    return Args(
        agents=tuple(stored["agents"]),
        game=stored["game"],
        ruleset=stored["ruleset"],
        setup=stored["setup"],
        max_turns=stored["max_turns"],
        games=max(games for *_, games in stored["pairings"]),
        seed=stored["seed"],
        opening_turns=stored["opening_turns"],
        num_parallel=stored["num_parallel"],
        sprt=f"{sprt['elo0']:g},{sprt['elo1']:g}" if sprt else None,
        out=out,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky arena`."""
    prog = "deskovky arena"
    args = tyro.cli(Args, prog=prog, args=argv)
    if args.resume and args.out:  # the tournament's own options are the defaults
        args = tyro.cli(Args, prog=prog, args=argv, default=stored_args(args.out))
    run(args)


if __name__ == "__main__":
    main()
