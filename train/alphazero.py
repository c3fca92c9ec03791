"""Train AlphaZero by self-play: a network, a Gumbel search and many games at once.

    deskovky train alphazero --game dobutsu_v0 --out runs/demo --minutes 3
    deskovky train alphazero --out runs/demo --minutes 30 --resume
    deskovky train alphazero --game xiangqi_v0 --out runs/big --ray-address auto

One iteration is: self-play goes on with the averaged network for some steps of every game; in the
meantime the network learns from the games finished before; then everything is written down. The
folder holds

    last.pt          after the last iteration: the network and all that is needed to go on; it is
                     there from the very start
    best.pt          the averaged network that no later one has beaten; play with
                     "alphazero:runs/demo/best.pt?simulations=64"
    replay/          the finished games, a file for each iteration
    log.jsonl        a line for each iteration: losses, speed and the processor time it took
    tensorboard/     the same as curves, and strength

What an iteration does depends on the options, its number and what the one before left, on nothing
else: a run that is killed and resumed ends with the same weights, bit by bit, as one that went
through, on the same machine and with the same threads. Nor does it matter where the games are
played: in this process, in others beside it or on a Ray cluster.
"""

import json
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol
from zipfile import BadZipFile

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from torch.nn import functional

from deskovky._core import GumbelSearch
from deskovky.agents.alphazero import AlphaZeroAgent, run_search
from deskovky.agents.analysis import analyse_batch
from deskovky.agents.checkpoint import (
    agent_part,
    check_game,
    load_network,
    make_checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from deskovky.agents.network import (
    NetworkConfig,
    PolicyValueNetwork,
    choose_device,
    network_config,
    one_thread,
)
from deskovky.agents.protocol import Agent
from deskovky.agents.replay import Batch, GameRecord, Packed, Replay, pack, unpack
from deskovky.envs.protocol import Game, State
from deskovky.errors import CheckpointError, ConfigurationError
from deskovky.train.evaluate import as_agent, evaluate


@dataclass(frozen=True)
class Args:
    """Train AlphaZero by self-play."""

    out: Path
    """folder of the run; must be new or empty, unless --resume"""
    game: str = "dobutsu_v0"
    """id of the game, see `deskovky games`"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    max_turns: int | None = None
    """turns after which a game is cut off (a draw); by default the game's own cap"""

    minutes: float | None = None
    """train for so long, counted from this start; by default until --iterations or Ctrl-C"""
    iterations: int | None = None
    """train until so many iterations are done, those before --resume included"""
    resume: bool = False
    """go on with the run in --out; options not given are those of the run"""
    seed: int = 0
    """seed of everything: the first weights, self-play and learning"""
    device: str = "auto"
    """where networks run: cpu, cuda, ...; auto takes the GPU if there is one"""
    num_workers: int = 0
    """processes that play while this one learns; 1 plays in this process, in turn with learning;
    0 is one for each core, up to 8, or one for each Ray actor"""
    ray_address: str | None = None
    """play on a Ray cluster: auto finds a running one, local starts one on this machine for the
    run, HOST:PORT names one; needs the extra `ray`, here and on its machines"""
    ray_actors: int = 0
    """Ray actors that play the games of the workers; 0 is one for each processor of the cluster"""

    network: Literal["auto", "mlp", "conv"] = "auto"
    """kind of the network: perceptron or convolutions; auto is what suits the board"""
    width: int = 0
    """units or channels of each layer of the network; 0 is what suits the board"""
    num_blocks: int = -1
    """residual blocks of the network; -1 is what suits the board"""

    num_games: int = 256
    """games that each worker plays at once"""
    steps_per_iteration: int = 16
    """steps of each game in one iteration"""
    num_simulations: int = 32
    """simulations of each search"""
    first_simulations: int = 0
    """simulations in the first iteration, to grow to num_simulations; 0: no growth"""
    growth_iterations: int = 100
    """iterations that the growth takes"""
    max_considered_actions: int = 16
    """actions that a search considers at its root"""
    c_visit: float = 50.0
    """how much the improved policy trusts values: (c_visit + most visits) * c_scale"""
    c_scale: float = 1.0
    """the other factor of it"""
    contempt: float = 0.0
    """how much less than 0 the search thinks a drawn game worth, for the player who searches: where
    self-play ends in repetitions, a little keeps the games going"""
    opening_steps: int = 6
    """games begin with a random number of random steps, up to this one, so that they differ"""
    teacher: str | None = None
    """agent, such as minimax:depth=2, that plays the games of the first iterations: the network
    begins with what it shows; by default there is none, and all is learned from self-play"""
    teacher_iterations: int = 60
    """how many iterations are the teacher's"""
    teacher_random_steps: float = 0.1
    """how often a random action is played instead of the teacher's, which is still learned, so that
    positions come up that the teacher avoids"""

    replay_fraction: float = 0.35
    """how many of the positions played so far, the latest ones, are learned from; 20,000 at least
    as long as there are so many"""
    replay_positions: int = 500_000
    """how many positions are kept at most"""
    replay_ratio: float = 4.0
    """how often each position is learned from, on average"""
    batch_size: int = 512
    """positions of each gradient step"""
    learning_rate: float = 1e-3
    """of AdamW"""
    weight_decay: float = 1e-4
    """of AdamW"""
    average_decay: float = 0.99
    """self-play and agents use a running average of the weights: its part kept at each step"""
    value_loss_weight: float = 1.0
    """of the squared error of the value, beside the cross entropy of the policy"""
    search_value_weight: float = 0.5
    """of the search's value in the value to learn; the rest is the game's result"""
    mirror: bool = True
    """learn from mirrored positions too, if the rules do not tell left from right"""

    eval_every: int = 10
    """iterations between matches; 0: none, and best.pt is the last network"""
    eval_games: int = 64
    """games of each match, an even number"""
    eval_simulations: int = 32
    """simulations of the network's searches in matches"""
    eval_opening_turns: int = 4
    """random turns that open each game of a match"""
    eval_opponents: tuple[str, ...] = ("random", "greedy", "minimax:depth=2")
    """agent specs to measure strength against, besides the best network so far"""
    ladder: str | None = None
    """ratings of such agents, a file of `deskovky arena` such as results/ladder/dobutsu_v0.json:
    the network is rated on their scale"""
    tensorboard: bool = True
    """write curves for TensorBoard"""


BUDGET_OPTIONS = {"out", "minutes", "iterations", "resume", "ray_address", "ray_actors"}
"""Options of a start, not of its run."""

FREE_OPTIONS = {
    "device", "eval_every", "eval_games", "eval_simulations", "eval_opening_turns",
    "eval_opponents", "ladder", "tensorboard",
}  # fmt: skip
"""Options that a resumed run may change: no weights depend on them."""

LEAST_REPLAY_POSITIONS = 20_000


def check_args(args: Args) -> None:
    """Raise ConfigurationError for a number that cannot be used."""
    least: dict[str, float] = {
        "num_workers": 0, "num_games": 1, "steps_per_iteration": 1, "num_simulations": 1,
        "first_simulations": 0, "growth_iterations": 1, "max_considered_actions": 1,
        "opening_steps": 0, "replay_positions": 1, "replay_fraction": 0, "replay_ratio": 0,
        "ray_actors": 0, "teacher_iterations": 0, "teacher_random_steps": 0,
        "batch_size": 1, "learning_rate": 0, "weight_decay": 0, "average_decay": 0,
        "value_loss_weight": 0, "search_value_weight": 0, "c_visit": 0, "c_scale": 0, "contempt": 0,
        "seed": 0, "eval_every": 0, "eval_games": 2, "eval_simulations": 0,
        "eval_opening_turns": 0, "width": 0, "num_blocks": -1,
    }  # fmt: skip
    shares = {
        "contempt",
        "average_decay",
        "search_value_weight",
        "replay_fraction",
        "teacher_random_steps",
    }
    for name, low in least.items():
        value = getattr(args, name)
        high = 1.0 if name in shares else float("inf")
        if not low <= value <= high or value == float("inf"):
            raise ConfigurationError(f"{name} = {value}: expected a number from {low} to {high}")
    if args.first_simulations > args.num_simulations:
        raise ConfigurationError(
            f"first_simulations = {args.first_simulations}: more than num_simulations"
        )
    if args.eval_games % 2:
        raise ConfigurationError(f"eval_games = {args.eval_games}: expected an even number")
    for name in ("minutes", "iterations"):
        value = getattr(args, name)
        if value is not None and not value > 0:
            raise ConfigurationError(f"{name} = {value}: expected more than 0")


# --- Self-play ------------------------------------------------------------------------------------


class Job(NamedTuple):
    """Some steps of many games: all that a worker needs to know."""

    args: Args
    game: Game
    config: NetworkConfig
    weights: dict[str, torch.Tensor]
    games: list[GameRecord]
    """The games to go on with; missing ones are started."""
    num_simulations: int
    seed: tuple[int, ...]
    teacher: str | None = None
    """Spec of the agent that plays; None: the search does, with the network."""


class Played(NamedTuple):
    """What came of a job."""

    finished: list[GameRecord]
    going_on: list[GameRecord]
    seconds: float
    network_seconds: float
    """How much of it the network took."""
    cpu_seconds: float
    """Processor time."""
    process: int
    """The id of the process that played."""


def play(job: Job) -> Played:
    """Play on. The same job gives the same games in any process."""
    started, cpu_started = time.perf_counter(), time.process_time()
    args = job.args
    random = np.random.default_rng(job.seed)
    decide: Student | Teacher = (
        Student(job, random) if job.teacher is None else Teacher(job, random)
    )
    records = list(job.games)
    states = [record.replay(job.game) for record in records]
    while len(records) < args.num_games:
        records.append(begin_game(job.game, args.opening_steps, random))
        states.append(records[-1].replay(job.game))
    finished = []
    for _ in range(args.steps_per_iteration):
        policies, values, actions = decide(states)
        for i, (state, record) in enumerate(zip(states, records, strict=True)):
            policy = policies[i][state.legal_actions()]
            record.policies.append(policy.astype(np.float16))
            record.values.append(float(values[i]))
            record.actions.append(int(actions[i]))
            state.apply(record.actions[-1])
            if state.is_over:
                record.result = int(state.returns()[0])
                finished.append(record)
                records[i] = begin_game(job.game, args.opening_steps, random)
                states[i] = records[i].replay(job.game)
    return Played(
        finished,
        records,
        seconds=time.perf_counter() - started,
        network_seconds=decide.network_seconds,
        cpu_seconds=time.process_time() - cpu_started,
        process=os.getpid(),
    )


class Decisions(NamedTuple):
    """What to learn from B states, and what to play there."""

    policies: NDArray[np.float32]
    """`[B, A]`"""
    values: NDArray[np.float32]
    """`[B]`, for the player to move."""
    actions: NDArray[np.int32]
    """`[B]`"""


class Student:
    """Decides by search with the network."""

    def __init__(self, job: Job, random: np.random.Generator) -> None:
        self.network_seconds = 0.0
        self._random = random
        self._network = PolicyValueNetwork(job.config)
        self._network.load_state_dict(job.weights)
        self._network.eval().to(choose_device(job.args.device))
        self._search = GumbelSearch(
            job.num_simulations,
            max_considered_actions=job.args.max_considered_actions,
            c_visit=job.args.c_visit,
            c_scale=job.args.c_scale,
            contempt=job.args.contempt,
        )

    def __call__(self, states: Sequence[State]) -> Decisions:
        seed = int(self._random.integers(2**63))
        result = run_search(self._search, self._evaluate, states, seed=seed)
        return Decisions(result.action_weights, result.root_values, result.actions)

    def _evaluate(
        self, observations: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        before = time.perf_counter()
        evaluated = self._network.evaluate(observations)
        self.network_seconds += time.perf_counter() - before
        return evaluated


class Teacher:
    """Decides as the agent does, and plays something else now and then."""

    network_seconds = 0.0

    def __init__(self, job: Job, random: np.random.Generator) -> None:
        self._random = random
        self._random_steps = job.args.teacher_random_steps
        assert job.teacher is not None
        self._agent: Any = as_agent(job.teacher, job.game)
        self._agent.reset(int(random.integers(2**63)))

    def __call__(self, states: Sequence[State]) -> Decisions:
        analyses = analyse_batch(self._agent, states)
        policies = np.stack([analysis.policy for analysis in analyses])
        # An agent that has no idea of the value is taken for undecided.
        values = np.array([analysis.value or 0.0 for analysis in analyses], np.float32)
        actions = policies.argmax(1).astype(np.int32)
        for i in np.flatnonzero((policies == policies.max(1, keepdims=True)).sum(1) > 1).tolist():
            likeliest = np.flatnonzero(policies[i] == policies[i].max())
            actions[i] = likeliest[self._random.integers(len(likeliest))]
        for i in np.flatnonzero(self._random.random(len(states)) < self._random_steps).tolist():
            legal = states[i].legal_actions()
            actions[i] = legal[self._random.integers(len(legal))]
        return Decisions(policies, values, actions)


def begin_game(game: Game, opening_steps: int, random: np.random.Generator) -> GameRecord:
    """Return a new game after 0 to `opening_steps` random steps; it is not over."""
    while True:
        state = game.state()
        actions: list[int] = []
        for _ in range(random.integers(opening_steps + 1)):
            if state.is_over:
                break
            legal = state.legal_actions()
            actions.append(int(legal[random.integers(len(legal))]))  # `choice` is slow
            state.apply(actions[-1])
        if not state.is_over:
            return GameRecord(actions=actions, num_opening=len(actions))


class Workers(Protocol):
    """What plays jobs."""

    size: int
    """How many jobs it likes to have at once."""

    def submit(self, jobs: Sequence[Job]) -> Sequence["Future[Played]"]:
        """Begin all jobs."""
        ...

    def close(self) -> None:
        """End what was started for them, once the jobs at hand are done."""
        ...


class LocalWorkers:
    """Plays jobs on this machine: one in this process, several in processes of their own."""

    def __init__(self) -> None:
        self.size = min(os.cpu_count() or 1, 8)
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, jobs: Sequence[Job]) -> list["Future[Played]"]:
        """Begin all jobs; one alone is also finished."""
        if len(jobs) == 1:
            future: Future[Played] = Future()
            future.set_result(play(jobs[0]))
            return [future]
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                min(len(jobs), os.cpu_count() or 1),
                mp_context=multiprocessing.get_context("spawn"),  # forks of PyTorch may hang
                initializer=_begin_worker,
            )
        return [self._pool.submit(play, job) for job in jobs]

    def close(self) -> None:
        """End the processes, once what they are at is done."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def make_workers(args: Args) -> Workers:
    """Return what plays the games, where `args` say."""
    if args.ray_address is None:
        return LocalWorkers()
    from deskovky.train.ray_workers import RayWorkers

    return RayWorkers(play, args.ray_address, args.ray_actors)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the learner's business
    torch.set_num_threads(1)


# --- Learning -------------------------------------------------------------------------------------


class Learner:
    """The network, its running average and its optimizer."""

    def __init__(self, args: Args, config: NetworkConfig) -> None:
        self.args = args
        self.device = choose_device(args.device)
        with torch.random.fork_rng():
            torch.manual_seed(args.seed)
            self.network = PolicyValueNetwork(config).to(self.device)
        self.average = PolicyValueNetwork(config).to(self.device).requires_grad_(False)
        self.average.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=args.learning_rate, weight_decay=args.weight_decay
        )

    def learn(self, batch: Batch) -> tuple[float, float]:
        """Make one gradient step; return the losses of policy and value."""
        observations, mask, policies, values = (
            torch.from_numpy(array).to(self.device) for array in batch
        )
        logits, predicted = self.network(observations)
        log_policy = functional.log_softmax(logits.masked_fill(~mask, -1e9), 1)
        policy_loss = -(policies * log_policy).sum(1).mean()
        value_loss = functional.mse_loss(predicted, values)
        self.optimizer.zero_grad()
        loss = policy_loss + self.args.value_loss_weight * value_loss
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimizer.step()
        with torch.no_grad():
            for average, current in zip(
                self.average.parameters(), self.network.parameters(), strict=True
            ):
                average.lerp_(current, 1.0 - self.args.average_decay)
        return policy_loss.item(), value_loss.item()


# --- The folder of a run --------------------------------------------------------------------------


@dataclass
class Run:
    """All that one iteration hands to the next."""

    args: Args
    game: Game
    learner: Learner
    replay: Replay
    iteration: int = 0
    """Iterations done."""
    games: list[list[GameRecord]] = field(default_factory=list)
    """Of each worker, the games that go on."""
    num_positions: int = 0
    """Positions of all games finished so far."""
    num_batches: int = 0
    """Gradient steps made so far."""
    ladder: Mapping[str, float] = field(default_factory=dict)
    """The Elo of agents, to measure strength by."""
    opponents: Sequence[Agent] = ()
    """What to measure strength against, besides the best network so far."""

    @property
    def last(self) -> Path:
        """The file of the last iteration."""
        return self.args.out / "last.pt"

    @property
    def best(self) -> Path:
        """The file of the best network."""
        return self.args.out / "best.pt"

    def replay_file(self, iteration: int) -> Path:
        """The file of the games that were finished in an iteration."""
        return self.args.out / "replay" / f"{iteration:06}.npz"

    @property
    def log(self) -> Path:
        """The file with a line of numbers for each iteration."""
        return self.args.out / "log.jsonl"

    def add(self, packed: Packed) -> None:
        """Add the games that were finished in an iteration.

        Their arrays are views of a few large ones: thousands of small ones that stay, made between
        large ones that go, would break up the memory for good.
        """
        finished = unpack(packed)
        self.num_positions += sum(record.num_positions for record in finished)
        self.replay.capacity = replay_capacity(self.args, self.num_positions)
        self.replay.add(finished)

    def save(self, packed: Packed) -> None:
        """Write down the iteration just done. Only renaming last.pt, at the end, makes it count."""
        path = self.replay_file(self.iteration)
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            np.savez(file, **packed)  # type: ignore[arg-type]
        os.replace(temporary, path)
        self.save_last()
        for old in path.parent.glob("*.npz"):
            if old < self.replay_file(self.iteration - self.replay.num_groups + 1):
                old.unlink()
        if not self.best.exists() or not self.args.eval_every:
            self.publish()

    def save_last(self) -> None:
        """Write last.pt."""
        learner = self.learner
        packed_games = [pack(records) for records in self.games]
        write_checkpoint(
            self.last,
            {
                **make_checkpoint(learner.average, self.game, self.iteration),
                "args": {
                    name: value
                    for name, value in asdict(self.args).items()
                    if name not in BUDGET_OPTIONS
                },
                "learner": learner.network.state_dict(),
                "optimizer": learner.optimizer.state_dict(),
                "num_positions": self.num_positions,
                "num_batches": self.num_batches,
                "num_replay_files": self.replay.num_groups,
                "games": [
                    {name: torch.from_numpy(array) for name, array in packed.items()}
                    for packed in packed_games
                ],
            },
        )

    def publish(self) -> None:
        """Make the network of last.pt the best one."""
        write_checkpoint(self.best, agent_part(read_checkpoint(self.last)))


def make_game(args: Args) -> Game:
    """Return the game that `args` name. Raises UnknownGameError or ConfigurationError."""
    from deskovky.envs import game

    return game(args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns)


def start_run(args: Args, num_workers: int) -> Run:
    """Return a new run, of so many workers unless `args` say how many.

    Its folder, which must be new or empty, is made last of all.
    """
    if args.out.exists() and (not args.out.is_dir() or not is_unused(args.out)):
        raise ConfigurationError(
            f"{args.out} exists and is not empty: use --resume to go on with the run in it, or "
            "another folder"
        )
    game = make_game(args)
    if args.num_workers == 0:
        args = replace(args, num_workers=num_workers)
    run = Run(
        args=args,
        game=game,
        learner=Learner(args, network_config(game, args.network, args.width, args.num_blocks)),
        replay=make_replay(args, game),
        games=[[] for _ in range(args.num_workers)],
        ladder=make_ladder(args, game),
        opponents=make_opponents(args, game),
    )
    check_teacher(run)
    args.out.mkdir(parents=True, exist_ok=True)
    run.save_last()
    return run


def is_unused(folder: Path) -> bool:
    """True if a folder holds nothing, or what a start leaves that was killed at once."""
    return {path.name for path in folder.iterdir()} <= {"last.pt.tmp"}


def resume_run(args: Args) -> Run:
    """Return the run in `args.out` as its last iteration left it.

    Raises CheckpointError, naming the file, if it is no run or a damaged one, and
    ConfigurationError if `args` ask for what the run is not.
    """
    path = args.out / "last.pt"
    checkpoint = read_checkpoint(path)
    try:
        args = merge_args(args, checkpoint["args"])
        check_args(args)
        game = make_game(args)
        check_game(path, checkpoint, game)
        average = load_network(path, checkpoint)
        learner = Learner(args, average.config)
        learner.average.load_state_dict(average.state_dict())
        learner.network.load_state_dict(checkpoint["learner"])
        learner.optimizer.load_state_dict(checkpoint["optimizer"])
        run = Run(
            args=args,
            game=game,
            learner=learner,
            replay=make_replay(args, game),
            iteration=checkpoint["iteration"],
            num_positions=checkpoint["num_positions"],
            num_batches=checkpoint["num_batches"],
            games=[
                unpack({name: tensor.numpy() for name, tensor in packed.items()})
                for packed in checkpoint["games"]
            ],
            ladder=make_ladder(args, game),
        )
        run.replay.capacity = replay_capacity(args, run.num_positions)
        first = run.iteration - checkpoint["num_replay_files"] + 1
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        if isinstance(error, CheckpointError | ConfigurationError):
            raise
        raise CheckpointError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
    for iteration in range(first, run.iteration + 1):
        path = run.replay_file(iteration)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as packed:
                run.replay.add(unpack(dict(packed)))
        except (OSError, KeyError, ValueError, EOFError, BadZipFile) as error:
            raise CheckpointError(f"{path}: missing or damaged: {error}") from None
    run.opponents = make_opponents(args, game)
    check_teacher(run)
    return run


def merge_args(args: Args, saved: dict[str, Any]) -> Args:
    """Return the options of a resumed run: those given, else those saved.

    Raises ConfigurationError for a given option that the run cannot change.
    """
    merged = {}
    for option in fields(Args):
        if option.name in BUDGET_OPTIONS:
            continue
        if option.name not in saved and option.name in FREE_OPTIONS:
            continue
        if option.name not in saved:
            raise ConfigurationError(
                f"the run in {args.out} is of another version: it knows no {option.name}"
            )
        given, old = getattr(args, option.name), saved[option.name]
        if given == option.default:
            merged[option.name] = old
        elif given != old and option.name not in FREE_OPTIONS:
            raise ConfigurationError(
                f"{option.name} = {given}: the run in {args.out} has {old}, and --resume cannot "
                "change it"
            )
    return replace(args, **merged)


def make_ladder(args: Args, game: Game) -> Mapping[str, float]:
    """Return the ratings to measure strength by. Raises CheckpointError."""
    from deskovky.train.arena import read_ladder

    return read_ladder(args.ladder, game) if args.ladder else {}


def make_opponents(args: Args, game: Game) -> list[Agent]:
    """Return the agents to measure strength against.

    Raises AgentSpecError, or the error of one that does not play `game`.
    """
    return [as_agent(spec, game) for spec in args.eval_opponents] if args.eval_every else []


def check_teacher(run: Run) -> None:
    """Raise as `make_opponents` does for a teacher that is still to play."""
    if run.args.teacher is not None and is_taught(run.args, run.iteration):
        as_agent(run.args.teacher, run.game)


def make_replay(args: Args, game: Game) -> Replay:
    """Return an empty replay."""
    return Replay(
        game,
        capacity=replay_capacity(args, 0),
        search_value_weight=args.search_value_weight,
        use_mirror=args.mirror,
    )


def replay_capacity(args: Args, num_positions: int) -> int:
    """Return how many positions to learn from once so many were played."""
    latest = max(LEAST_REPLAY_POSITIONS, round(args.replay_fraction * num_positions))
    return min(latest, args.replay_positions)


# --- The loop -------------------------------------------------------------------------------------


def train(args: Args, console: Console | None = None) -> Path:
    """Train as `args` say and return the path of best.pt.

    Raises ConfigurationError for options that cannot be used, UnknownGameError for an unknown game,
    AgentSpecError for an unknown teacher or opponent, the error of one that does not play the game,
    CheckpointError for a damaged run to resume; the folder of the run is then left as it was. The
    first Ctrl-C ends training after the current iteration; KeyboardInterrupt is raised once all is
    written.
    """
    check_args(args)
    console = console or Console(stderr=True)
    with closing(make_workers(args)) as workers:
        run = resume_run(args) if args.resume else start_run(args, workers.size)
        go_on(run, workers, console)
    return run.best


def go_on(run: Run, workers: Workers, console: Console) -> None:
    """Make iterations until time is up. Raises KeyboardInterrupt if Ctrl-C ended them."""
    args = run.args
    cut_log(run)
    writer = make_writer(args, run.iteration)
    clock = Clock(args)
    size = sum(parameter.numel() for parameter in run.learner.network.parameters())
    console.print(
        f"{run.game!r}: a network of {size:,} weights, {args.num_games} games in each worker, "
        f"into {args.out}",
        soft_wrap=True,
    )
    with one_thread(), stop_on_interrupt(console) as is_stopped, progress_bar(console) as progress:
        bar = Bar(args, progress)
        started, cpu_started = time.perf_counter(), time.process_time()
        while not clock.is_over(run.iteration) and not is_stopped():
            futures = workers.submit(make_jobs(run))
            if args.eval_every and run.iteration and run.iteration % args.eval_every == 0:
                measure(run, writer, console)
            losses = learn(run)
            played = [future.result() for future in futures]
            packed = pack([record for result in played for record in result.finished])
            run.games = [result.going_on for result in played]
            run.add(packed)
            run.iteration += 1
            run.save(packed)
            now, cpu_now = time.perf_counter(), time.process_time()
            scalars = describe(run, played, losses, now - started, cpu_now - cpu_started)
            started, cpu_started = now, cpu_now
            write_log(run, scalars)
            if writer is not None:
                for name, value in scalars.items():
                    writer.add_scalar(name, value, run.iteration)
            bar.show(run.iteration, scalars, clock.minutes)
        if args.eval_every and run.iteration:
            measure(run, writer, console)
    if writer is not None:
        writer.close()
    console.print(f"{run.iteration} iterations, the best network is {run.best}", soft_wrap=True)
    if is_stopped():
        raise KeyboardInterrupt


def make_jobs(run: Run) -> list[Job]:
    """Return what each worker plays in the next iteration."""
    weights = {name: tensor.cpu() for name, tensor in run.learner.average.state_dict().items()}
    return [
        Job(
            args=run.args,
            game=run.game,
            config=run.learner.average.config,
            weights={name: tensor.clone() for name, tensor in weights.items()},
            games=games,
            num_simulations=simulations_at(run.args, run.iteration),
            seed=(run.args.seed, run.iteration, worker),
            teacher=run.args.teacher if is_taught(run.args, run.iteration) else None,
        )
        for worker, games in enumerate(run.games)
    ]


def is_taught(args: Args, iteration: int) -> bool:
    """True if the teacher plays the games after so many iterations."""
    return args.teacher is not None and iteration < args.teacher_iterations


def simulations_at(args: Args, iteration: int) -> int:
    """Return the simulations of the searches after so many iterations, 0 with a teacher.

    They grow by the same factor in each iteration.

    >>> args = Args(Path("x"), num_simulations=64, first_simulations=4, growth_iterations=10)
    >>> [simulations_at(args, iteration) for iteration in (0, 5, 10, 20)]
    [4, 16, 64, 64]
    """
    if is_taught(args, iteration):
        return 0
    if args.teacher is not None:
        iteration -= args.teacher_iterations
    first, last = args.first_simulations or args.num_simulations, args.num_simulations
    progress = min(1.0, iteration / args.growth_iterations)
    return round(first * math.pow(last / first, progress))


def learn(run: Run) -> list[tuple[float, float]]:
    """Make the gradient steps that are due after the games so far; return their losses."""
    args = run.args
    if run.replay.num_positions < args.batch_size:
        return []
    num_due = int(run.num_positions * args.replay_ratio / args.batch_size)
    num_batches, run.num_batches = num_due - run.num_batches, num_due
    random = np.random.default_rng((args.seed, run.iteration))
    return [
        run.learner.learn(batch)
        for batch in run.replay.batches(num_batches, args.batch_size, random)
    ]


def describe(
    run: Run,
    played: Sequence[Played],
    losses: Sequence[tuple[float, float]],
    seconds: float,
    cpu_seconds: float,
) -> dict[str, float]:
    """Return the numbers of one iteration; `seconds` are those of this process."""
    args = run.args
    num_positions = args.num_workers * args.num_games * args.steps_per_iteration
    num_simulations = num_positions * simulations_at(args, run.iteration - 1)
    play_seconds = sum(result.seconds for result in played)
    network_seconds = sum(result.network_seconds for result in played)
    cpu_seconds += sum(result.cpu_seconds for result in played if result.process != os.getpid())
    scalars: dict[str, float] = {
        "speed/positions_per_second": num_positions / seconds,
        "speed/simulations_per_second_of_play": num_simulations * args.num_workers / play_seconds,
        "speed/network_share_of_play": network_seconds / play_seconds,
        "speed/iteration_seconds": seconds,
        "speed/cpu_seconds": cpu_seconds,
        "replay/positions": run.replay.num_positions,
    }
    if losses:
        policy_loss, value_loss = np.mean(losses, 0)
        scalars |= {"loss/policy": float(policy_loss), "loss/value": float(value_loss)}
    finished = [record for result in played for record in result.finished]
    if finished:
        results = np.array([record.result for record in finished])
        scalars |= {
            "games/finished": len(finished),
            "games/steps": float(np.mean([len(record.actions) for record in finished])),
            "games/won_by_player_0": float(np.mean(results == 1)),
            "games/drawn": float(np.mean(results == 0)),
        }
    return scalars


def write_log(run: Run, scalars: dict[str, float]) -> None:
    """Add the line of the iteration just done."""
    with run.log.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"iteration": run.iteration, **scalars}) + "\n")


def cut_log(run: Run) -> None:
    """Remove lines of iterations that will be done again, and a last line that is half a line."""
    if not run.log.exists():
        return
    lines = run.log.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    temporary = run.log.with_suffix(".tmp")
    temporary.write_text(
        "".join(line for line in whole if json.loads(line)["iteration"] <= run.iteration),
        encoding="utf-8",
    )
    os.replace(temporary, run.log)


class Clock:
    """The budget of this start."""

    def __init__(self, args: Args) -> None:
        self._args = args
        self._started = time.monotonic()

    @property
    def minutes(self) -> float:
        """The minutes since the start."""
        return (time.monotonic() - self._started) / 60

    def is_over(self, iteration: int) -> bool:
        """True once the minutes are over or the iterations done."""
        minutes, iterations = self._args.minutes, self._args.iterations
        return (minutes is not None and self.minutes >= minutes) or (
            iterations is not None and iteration >= iterations
        )


@contextmanager
def stop_on_interrupt(console: Console) -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end the run after the current iteration; the second ends it at once."""
    is_stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # signals are not ours
        yield is_stopped.is_set
        return

    def stop(*_: object) -> None:
        if is_stopped.is_set():
            raise KeyboardInterrupt
        is_stopped.set()
        console.print("finishing this iteration; Ctrl-C again stops at once")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield is_stopped.is_set
    finally:
        signal.signal(signal.SIGINT, before)


# --- Strength -------------------------------------------------------------------------------------


def measure(run: Run, writer: Any, console: Console) -> None:
    """Play last.pt against best.pt, which it replaces unless it loses, and against opponents."""
    from deskovky.train.arena import elo_on_ladder
    from deskovky.train.meter import scalars

    args = run.args

    def load(path: Path) -> AlphaZeroAgent:
        return AlphaZeroAgent(path, simulations=args.eval_simulations, device=args.device)

    candidate, best = load(run.last), load(run.best)
    shown = []
    matches = []
    for opponent in (best, *run.opponents):
        name = "best.pt" if opponent is best else opponent.name
        match = evaluate(
            run.game,
            candidate,
            opponent,
            games=args.eval_games,
            seed=args.seed + run.iteration,
            opening_turns=args.eval_opening_turns,
        )
        if opponent is best and match.score >= 0.5:
            run.publish()
        shown.append(f"{match.score:.0%} against {name}")
        if writer is not None:
            writer.add_scalar(f"score/{name}", match.score, run.iteration)
        matches.append(match)
    rating = elo_on_ladder(run.ladder, matches)
    if rating is not None:
        shown.append(f"Elo {rating.elo:.0f}")
        if writer is not None:
            writer.add_scalar("score/elo", rating.elo, run.iteration)
    if writer is not None:
        for name, value in scalars(run.game, candidate).items():  # where perfect play is known
            writer.add_scalar(name, value, run.iteration)
    console.print(f"iteration {run.iteration}: {', '.join(shown)}")


# --- What the user sees ---------------------------------------------------------------------------


class Bar:
    """The progress bar: what is done of the budget, the rate and the remaining time."""

    def __init__(self, args: Args, progress: Progress) -> None:
        self._args = args
        self._progress = progress
        self._task = progress.add_task("self-play", total=args.minutes or args.iterations)

    def show(self, iteration: int, scalars: dict[str, float], minutes: float) -> None:
        """Show how far the run is."""
        loss = ""
        if "loss/policy" in scalars:
            loss = f"loss {scalars['loss/policy']:.2f} + {scalars['loss/value']:.2f}, "
        text = f"iteration {iteration}, {loss}"
        text += f"{scalars['speed/positions_per_second']:,.0f} positions/s"
        completed = iteration if self._args.minutes is None else minutes
        self._progress.update(self._task, completed=completed, description=text)
        if not self._progress.console.is_terminal:  # a log file shows no bar
            self._progress.console.print(text)


def make_writer(args: Args, iteration: int) -> Any:
    """Return a TensorBoard writer that goes on after `iteration`; None if not wanted."""
    if not args.tensorboard:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(args.out / "tensorboard", purge_step=iteration + 1)


@contextmanager
def progress_bar(console: Console) -> Iterator[Progress]:
    """Show a progress bar below what is printed."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        yield progress


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky train alphazero`."""
    train(tyro.cli(Args, prog="deskovky train alphazero", args=argv))


if __name__ == "__main__":
    main()
