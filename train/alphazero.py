"""Train AlphaZero by self-play: a network, a Gumbel search and many games at once.

    deskovky train alphazero --game dobutsu_v0 --out runs/demo --minutes 3
    deskovky train alphazero --out runs/demo --minutes 30 --resume

One iteration is: self-play goes on with the averaged network for some steps of every game; in the
meantime the network learns from the games finished before; then everything is written down. The
folder holds

    last.pt          after the last iteration: the network and all that is needed to go on
    best.pt          the averaged network that no later one has beaten; play with
                     "alphazero:runs/demo/best.pt?simulations=64"
    replay/          the finished games, a file for each iteration
    tensorboard/     losses, speed and strength

What an iteration does depends on the options, its number and what the one before left, on nothing
else: a run that is killed and resumed ends with the same weights, bit by bit, as one that went
through, on the same machine and with the same threads.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import torch
import tyro
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
from deskovky.agents.replay import Batch, GameRecord, Replay, pack, unpack
from deskovky.envs.protocol import Game
from deskovky.errors import CheckpointError, ConfigurationError


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
    0 is one for each core, up to 8"""

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
    max_considered_actions: int = 16
    """actions that a search considers at its root"""
    c_visit: float = 50.0
    """how much the improved policy trusts values: (c_visit + most visits) * c_scale"""
    c_scale: float = 1.0
    """the other factor of it"""
    opening_steps: int = 6
    """games begin with a random number of random steps, up to this one, so that they differ"""

    replay_positions: int = 300_000
    """how many of the latest positions are kept to learn from"""
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
    search_value_weight: float = 0.25
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
    eval_opponents: tuple[str, ...] = ("random",)
    """agent specs to measure strength against, besides the best network so far"""
    tensorboard: bool = True
    """write curves for TensorBoard"""


BUDGET_OPTIONS = {"out", "minutes", "iterations", "resume"}
"""Options of a start, not of its run."""

FREE_OPTIONS = {
    "device", "eval_every", "eval_games", "eval_simulations", "eval_opening_turns",
    "eval_opponents", "tensorboard",
}  # fmt: skip
"""Options that a resumed run may change: no weights depend on them."""


def check_args(args: Args) -> None:
    """Raise ConfigurationError for a number that cannot be used."""
    least: dict[str, float] = {
        "num_workers": 0, "num_games": 1, "steps_per_iteration": 1, "num_simulations": 1,
        "max_considered_actions": 1, "opening_steps": 0, "replay_positions": 1, "replay_ratio": 0,
        "batch_size": 1, "learning_rate": 0, "weight_decay": 0, "average_decay": 0,
        "value_loss_weight": 0, "search_value_weight": 0, "c_visit": 0, "c_scale": 0, "seed": 0,
        "eval_every": 0, "eval_games": 2, "eval_simulations": 0, "width": 0, "num_blocks": -1,
    }  # fmt: skip
    most = {"average_decay": 1.0, "search_value_weight": 1.0}
    for name, low in least.items():
        value = getattr(args, name)
        high = most.get(name, float("inf"))
        if not low <= value <= high or value == float("inf"):
            raise ConfigurationError(f"{name} = {value}: expected a number from {low} to {high}")
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
    seed: tuple[int, ...]


class Played(NamedTuple):
    """What came of a job."""

    finished: list[GameRecord]
    going_on: list[GameRecord]
    seconds: float


def play(job: Job) -> Played:
    """Play on. The same job gives the same result in any process."""
    started = time.perf_counter()
    args = job.args
    random = np.random.default_rng(job.seed)
    network = PolicyValueNetwork(job.config)
    network.load_state_dict(job.weights)
    network.eval().to(choose_device(args.device))
    search = GumbelSearch(
        args.num_simulations,
        max_considered_actions=args.max_considered_actions,
        c_visit=args.c_visit,
        c_scale=args.c_scale,
    )
    records = list(job.games)
    states = [record.replay(job.game) for record in records]
    while len(records) < args.num_games:
        records.append(begin_game(job.game, args.opening_steps, random))
        states.append(records[-1].replay(job.game))
    finished = []
    for _ in range(args.steps_per_iteration):
        result = run_search(search, network.evaluate, states, seed=int(random.integers(2**63)))
        for i, (state, record) in enumerate(zip(states, records, strict=True)):
            policy = result.action_weights[i, state.legal_actions()]
            record.policies.append(policy.astype(np.float16))
            record.values.append(float(result.root_values[i]))
            record.actions.append(int(result.actions[i]))
            state.apply(record.actions[-1])
            if state.is_over:
                record.result = int(state.returns()[0])
                finished.append(record)
                records[i] = begin_game(job.game, args.opening_steps, random)
                states[i] = records[i].replay(job.game)
    return Played(finished, records, time.perf_counter() - started)


def begin_game(game: Game, opening_steps: int, random: np.random.Generator) -> GameRecord:
    """Return a new game after 0 to `opening_steps` random steps; it is not over."""
    while True:
        state = game.state()
        actions: list[int] = []
        for _ in range(random.integers(opening_steps + 1)):
            if state.is_over:
                break
            actions.append(int(random.choice(state.legal_actions())))
            state.apply(actions[-1])
        if not state.is_over:
            return GameRecord(actions=actions, num_opening=len(actions))


class Workers:
    """Plays jobs: one in this process, several in a process each."""

    def __init__(self, num_workers: int) -> None:
        self._pool: ProcessPoolExecutor | None = None
        if num_workers > 1:
            self._pool = ProcessPoolExecutor(
                num_workers,
                mp_context=multiprocessing.get_context("spawn"),  # forks of PyTorch may hang
                initializer=_begin_worker,
            )

    def submit(self, jobs: Sequence[Job]) -> list["Future[Played]"]:
        """Begin all jobs; without processes of its own, this also finishes them."""
        if self._pool is not None:
            return [self._pool.submit(play, job) for job in jobs]
        futures: list[Future[Played]] = []
        for job in jobs:
            futures.append(Future())
            futures[-1].set_result(play(job))
        return futures

    def close(self) -> None:
        """End the processes, once what they are at is done."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


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

    def save(self, finished: Sequence[GameRecord]) -> None:
        """Write down the iteration just done. Only renaming last.pt, at the end, makes it count."""
        path = self.replay_file(self.iteration)
        temporary = path.with_suffix(".tmp")
        with temporary.open("wb") as file:
            np.savez(file, **pack(finished))  # type: ignore[arg-type]
        os.replace(temporary, path)
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
                "num_replay_files": self.replay.num_groups,
                "games": [
                    {name: torch.from_numpy(array) for name, array in packed.items()}
                    for packed in packed_games
                ],
            },
        )
        for old in path.parent.glob("*.npz"):
            if old < self.replay_file(self.iteration - self.replay.num_groups + 1):
                old.unlink()
        if not self.best.exists() or not self.args.eval_every:
            self.publish()

    def publish(self) -> None:
        """Make the network of last.pt the best one."""
        write_checkpoint(self.best, agent_part(read_checkpoint(self.last)))


def make_game(args: Args) -> Game:
    """Return the game that `args` name. Raises UnknownGameError or ConfigurationError."""
    from deskovky.envs import game

    return game(args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns)


def start_run(args: Args) -> Run:
    """Return a new run; its folder, which must be new or empty, is made last of all."""
    if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
        raise ConfigurationError(
            f"{args.out} exists and is not empty: use --resume to go on with the run in it, or "
            "another folder"
        )
    game = make_game(args)
    if args.num_workers == 0:
        args = replace(args, num_workers=min(os.cpu_count() or 1, 8))
    run = Run(
        args=args,
        game=game,
        learner=Learner(args, network_config(game, args.width, args.num_blocks)),
        replay=make_replay(args, game),
        games=[[] for _ in range(args.num_workers)],
    )
    (args.out / "replay").mkdir(parents=True)
    return run


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
            games=[
                unpack({name: tensor.numpy() for name, tensor in packed.items()})
                for packed in checkpoint["games"]
            ],
        )
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
    return run


def merge_args(args: Args, saved: dict[str, Any]) -> Args:
    """Return the options of a resumed run: those given, else those saved.

    Raises ConfigurationError for a given option that the run cannot change.
    """
    merged = {}
    for option in fields(Args):
        if option.name in BUDGET_OPTIONS:
            continue
        given, old = getattr(args, option.name), saved[option.name]
        if given == option.default:
            merged[option.name] = old
        elif given != old and option.name not in FREE_OPTIONS:
            raise ConfigurationError(
                f"{option.name} = {given}: the run in {args.out} has {old}, and --resume cannot "
                "change it"
            )
    return replace(args, **merged)


def make_replay(args: Args, game: Game) -> Replay:
    """Return an empty replay."""
    return Replay(
        game,
        capacity=args.replay_positions,
        search_value_weight=args.search_value_weight,
        use_mirror=args.mirror,
    )


# --- The loop -------------------------------------------------------------------------------------


def train(args: Args, console: Console | None = None) -> Path:
    """Train as `args` say and return the path of best.pt.

    Raises ConfigurationError for options that cannot be used, UnknownGameError for an unknown game,
    AgentSpecError for an unknown opponent, CheckpointError for a damaged run to resume; the folder
    of the run is then left as it was. The first Ctrl-C ends training after the current iteration;
    KeyboardInterrupt is raised once all is written.
    """
    check_args(args)
    console = console or Console(stderr=True)
    opponents = [make_agent(spec) for spec in args.eval_opponents] if args.eval_every else []
    run = resume_run(args) if args.resume else start_run(args)
    args = run.args
    writer = make_writer(args, run.iteration)
    workers = Workers(args.num_workers)
    clock = Clock(args)
    size = sum(parameter.numel() for parameter in run.learner.network.parameters())
    console.print(
        f"{run.game!r}: a network of {size:,} weights, {args.num_games} games in each worker, "
        f"into {args.out}",
        soft_wrap=True,
    )
    with (
        one_thread(),
        closing(workers),
        stop_on_interrupt(console) as is_stopped,
        progress_bar(console) as progress,
    ):
        bar = Bar(args, progress)
        while not clock.is_over(run.iteration) and not is_stopped():
            started = time.perf_counter()
            futures = workers.submit(make_jobs(run))
            if args.eval_every and run.iteration and run.iteration % args.eval_every == 0:
                measure(run, opponents, writer, console)
            losses = learn(run)
            played = [future.result() for future in futures]
            finished = [record for result in played for record in result.finished]
            run.games = [result.going_on for result in played]
            run.replay.add(finished)
            run.iteration += 1
            run.save(finished)
            scalars = describe(run, played, losses, time.perf_counter() - started)
            if writer is not None:
                for name, value in scalars.items():
                    writer.add_scalar(name, value, run.iteration)
            bar.show(run.iteration, scalars, clock.minutes)
        if args.eval_every and run.iteration:
            measure(run, opponents, writer, console)
    if writer is not None:
        writer.close()
    console.print(f"{run.iteration} iterations, the best network is {run.best}", soft_wrap=True)
    if is_stopped():
        raise KeyboardInterrupt
    return run.best


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
            seed=(run.args.seed, run.iteration, worker),
        )
        for worker, games in enumerate(run.games)
    ]


def learn(run: Run) -> list[tuple[float, float]]:
    """Make the gradient steps of one iteration; return their losses."""
    args = run.args
    if run.replay.num_positions < args.batch_size:
        return []
    num_positions = args.num_workers * args.num_games * args.steps_per_iteration
    num_batches = max(1, round(num_positions * args.replay_ratio / args.batch_size))
    random = np.random.default_rng((args.seed, run.iteration))
    return [
        run.learner.learn(batch)
        for batch in run.replay.batches(num_batches, args.batch_size, random)
    ]


def describe(
    run: Run, played: Sequence[Played], losses: Sequence[tuple[float, float]], seconds: float
) -> dict[str, float]:
    """Return the numbers of one iteration, for TensorBoard."""
    args = run.args
    num_positions = args.num_workers * args.num_games * args.steps_per_iteration
    play_seconds = sum(result.seconds for result in played) / args.num_workers
    scalars: dict[str, float] = {
        "speed/positions_per_second": num_positions / seconds,
        "speed/simulations_per_second_of_play": num_positions * args.num_simulations / play_seconds,
        "speed/iteration_seconds": seconds,
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


def make_agent(spec: str) -> Any:
    """Return the agent of a spec. Raises AgentSpecError."""
    from deskovky.agents import agent

    return agent(spec)


def measure(run: Run, opponents: Sequence[Any], writer: Any, console: Console) -> None:
    """Play last.pt against best.pt, which it replaces unless it loses, and against opponents."""
    from deskovky.train.evaluate import evaluate

    args = run.args

    def load(path: Path) -> AlphaZeroAgent:
        return AlphaZeroAgent(path, simulations=args.eval_simulations, device=args.device)

    candidate, best = load(run.last), load(run.best)
    shown = []
    for opponent in (best, *opponents):
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
