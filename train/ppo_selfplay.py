"""Train a player with MaskablePPO against a growing pool of its own frozen past selves.

    deskovky train ppo --game dobutsu_v0 --out runs/ppo --minutes 5
    deskovky eval --game dobutsu_v0 --agents ppo:runs/ppo/latest.safetensors random

The learner is one side of each of many games, player 0 in every second one. When a game starts, its
opponent is drawn: the newest member of the pool, or else a member or one of the agents given as
`opponents`, the more often the better it does against the learner (prioritised fictitious
self-play). From time to time a frozen copy of the learner joins the pool.

A run directory holds `latest.safetensors` (the agent), `pool/` (the past selves, never rewritten),
`checkpoint.pt` (what `--resume` needs) and the TensorBoard files. Ctrl-C saves before it ends.
A resumed run starts new games: it is reproducible, but not the run that was never stopped.
"""

import hashlib
import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Self

import numpy as np
import torch
import tyro
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecMonitor

from deskovky.agents import Agent, agent
from deskovky.agents.ppo import (
    NetworkConfig,
    PolicyNetwork,
    PolicyPlayer,
    load_network,
    make_trunk,
    save_network,
)
from deskovky.agents.protocol import check_plays
from deskovky.envs import game as registered_game
from deskovky.envs.protocol import Game
from deskovky.envs.sb3 import SB3VecEnv
from deskovky.envs.vector_gymnasium import SinglePlayerVectorEnv
from deskovky.errors import CheckpointError, ConfigurationError
from deskovky.train.arena import elo_on_ladder, read_ladder
from deskovky.train.evaluate import evaluate

FORMAT = "deskovky-ppo-run"
FORMAT_VERSION = 2  # of checkpoint.pt; 2 added the scores
MEMORY = 100
"""Games against an opponent that its score remembers: the learner changes."""


@dataclass
class Args:
    """Train a player with MaskablePPO against a pool of its own past selves."""

    game: str = "dobutsu_v0"
    """id of the game, see `deskovky games`"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    max_turns: int | None = None
    """turns after which a game is cut off; by default the game's own cap"""
    out: Path = Path("runs/ppo")
    """run directory: new or empty, or with --resume that of an earlier run"""
    resume: bool = False
    """go on with the run in `out`; its options are kept, those given here replace them"""
    timesteps: int | None = None
    """stop after so many steps of the learner, those before a resumption included; 1,000,000 if
    neither this nor --minutes is given"""
    minutes: float | None = None
    """stop after so many minutes of this call"""
    seed: int = 0
    """seed of the network, of the games and of all draws"""
    device: str = "cpu"
    """where the learner's network lives, cpu or cuda; small networks are fastest on cpu"""
    num_threads: int = 1
    """threads of torch; more than one seldom helps networks this small"""

    num_envs: int = 64
    """games played at once"""
    num_steps: int = 64
    """steps in each game between two updates"""
    opening_turns: int = 4
    """random turns that open each game: without them the learner sees little of the game"""
    opponents: tuple[str, ...] = ()
    """agent specs that are drawn as opponents beside the past selves, such as minimax:depth=2"""
    snapshot_steps: int = 20_000
    """steps after which a frozen copy of the learner joins the pool"""
    pool_size: int = 20
    """members of the pool; the oldest leaves it"""
    newest_probability: float = 0.5
    """how often the newest member is the opponent; otherwise any member or opponent is drawn by
    what the learner scored against it"""
    matchmaking_power: float = 2.0
    """members and opponents are drawn in proportion to (1 - score)^power; 0: all alike"""

    learning_rate: float = 3e-3
    """of Adam, constant"""
    batch_size: int = 1024
    """steps in each gradient step"""
    num_epochs: int = 4
    """passes over the steps in each update"""
    gamma: float = 0.99
    """discount per step of the learner"""
    gae_lambda: float = 0.95
    """of generalised advantage estimation"""
    clip_range: float = 0.2
    """how far the ratio of new to old probability counts"""
    entropy_coef: float = 0.01
    """weight of the entropy bonus"""
    value_coef: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """longest gradient"""

    channels: int = 64
    """channels of the convolutions"""
    num_layers: int = 0
    """3x3 convolutions; they pay on larger boards"""
    hidden: tuple[int, ...] = (256, 256)
    """units of the fully connected layers behind them"""

    eval_opponents: tuple[str, ...] = ("random", "greedy", "minimax:depth=2")
    """agents to be measured against now and then"""
    ladder: Path | None = None
    """ratings of such agents, a file of `deskovky arena` such as results/ladder/dobutsu_v0.json:
    the learner is rated on their scale"""
    eval_steps: int = 200_000
    """steps between two measurements"""
    eval_games: int = 100
    """games against each; an even number"""
    save_seconds: float = 60.0
    """seconds between two checkpoints"""


class Pool:
    """The opponents: frozen past selves, oldest first, and agents that were given."""

    def __init__(self, args: Args, baselines: Sequence[Agent], seed: int) -> None:
        self.args = args
        self.members: list[PolicyPlayer] = []
        self.baselines = list(baselines)
        self.scores: dict[str, Score] = {}
        self.rng = np.random.default_rng(seed)

    def add(self, network: PolicyNetwork, name: str) -> None:
        """Let a frozen network join; the oldest leaves if there are too many."""
        self.members.append(PolicyPlayer(network, name=name, seed=int(self.rng.integers(2**31))))
        del self.members[: -self.args.pool_size]

    def record(self, opponent: Agent, points: float) -> None:
        """Note what the learner won in a game: 0, 1/2 or 1 points."""
        self.scores[opponent.name] = self.score(opponent).after(points)

    def score(self, opponent: Agent) -> "Score":
        """Return what the learner has scored against an opponent of late."""
        return self.scores.get(opponent.name, Score())

    def draw(self) -> Agent:
        """Return the opponent of a new game.

        By the hard form of prioritised fictitious self-play (Vinyals et al. 2019, AlphaStar).
        """
        if self.rng.random() < self.args.newest_probability:
            return self.members[-1]
        choices = [*self.members, *self.baselines]
        losses = 1 - np.array([self.score(opponent).mean for opponent in choices])
        losses = np.maximum(losses, 1e-3)  # one that never wins may have its day
        weights = (losses / losses.max()) ** self.args.matchmaking_power
        return choices[self.rng.choice(len(choices), p=weights / weights.sum())]


class Score(NamedTuple):
    """The learner's mean points against one opponent; newer games count for more."""

    mean: float = 0.5
    games: int = 2
    """At first two games that stand for not knowing: one won, one lost."""

    def after(self, points: float) -> "Score":
        """Return the score after one more game: the mean of all, or about the last `MEMORY`."""
        games = self.games + 1
        return Score(self.mean + (points - self.mean) / min(games, MEMORY), games)


class SelfPlayGames(SinglePlayerVectorEnv):
    """N games of the learner, each against its own opponent from the pool."""

    def __init__(self, game: Game, pool: Pool, args: Args) -> None:
        super().__init__(
            game,
            args.num_envs,
            opening_turns=args.opening_turns,
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        self.pool = pool
        self.opponents: dict[int, Agent] = {}  # by game

    def _start_games(self, mask: NDArray[np.bool_], engine_seed: int | None = None) -> None:
        for i in np.flatnonzero(mask):
            self.opponents[int(i)] = self.pool.draw()
        super()._start_games(mask, engine_seed)

    def _play_opponents(self) -> None:
        """Let the opponents play wherever one is to move: each acts once for all its games."""
        engine = self._engine
        while (waiting := (engine.to_move != self._learner) & ~self._over).any():
            rows: dict[Agent, list[int]] = {}
            for i in np.flatnonzero(waiting):
                rows.setdefault(self.opponents[int(i)], []).append(int(i))
            actions = np.zeros(self.num_envs, np.int32)
            for opponent, theirs in rows.items():
                if isinstance(
                    opponent, PolicyPlayer
                ):  # reads the engine's arrays, no states needed
                    actions[theirs] = opponent.choose(
                        engine.observations[theirs], engine.legal_action_mask[theirs]
                    )
                else:
                    actions[theirs] = opponent.act_batch([self.state(i) for i in theirs])
            self._advance(actions, waiting)


class SelfPlayVecEnv(SB3VecEnv):
    """`SelfPlayGames` for Stable-Baselines3; the info of an ended game names the ``"opponent"``."""

    games: SelfPlayGames

    def __init__(self, game: Game, pool: Pool, args: Args) -> None:
        super().__init__(game, args.num_envs)
        self.games = SelfPlayGames(game, pool, args)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return ``[N, num_actions]`` bool; every row has a true element."""
        masks = super().action_masks()
        # MaskablePPO would not notice, and learn from illegal actions.
        assert masks.any(axis=1).all(), "a game without a legal action was shown to the learner"
        return masks

    def step_wait(self) -> Any:
        """Make the step, as `SB3VecEnv` does."""
        opponents = dict(self.games.opponents)  # a game that ends draws a new one
        observations, rewards, dones, infos = super().step_wait()
        for i in np.flatnonzero(dones):
            infos[i]["opponent"] = opponents[int(i)]
        return observations, rewards, dones, infos


class BoardFeatures(BaseFeaturesExtractor):
    """The trunk of `PolicyNetwork` where Stable-Baselines3 wants a features extractor."""

    def __init__(self, observation_space: spaces.Box, config: NetworkConfig) -> None:
        super().__init__(observation_space, config.hidden[-1])
        self.trunk = make_trunk(config)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return `[B, hidden]` of `[B, planes, ranks, files]`."""
        features: torch.Tensor = self.trunk(observations)
        return features


def make_model(env: VecMonitor, config: NetworkConfig, args: Args, seed: int) -> MaskablePPO:
    """Return the learner: policy and value are one linear layer each on `BoardFeatures`."""
    return MaskablePPO(
        MaskableActorCriticPolicy,
        env,
        policy_kwargs={
            "features_extractor_class": BoardFeatures,
            "features_extractor_kwargs": {"config": config},
            "net_arch": [],
            "normalize_images": False,
        },
        learning_rate=args.learning_rate,
        n_steps=args.num_steps,
        batch_size=args.batch_size,
        n_epochs=args.num_epochs,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        clip_range=args.clip_range,
        ent_coef=args.entropy_coef,
        vf_coef=args.value_coef,
        max_grad_norm=args.max_grad_norm,
        seed=seed,
        device=args.device,
    )


def frozen_copy(model: MaskablePPO, config: NetworkConfig) -> PolicyNetwork:
    """Return the learner's network as it is now, on the CPU; it never changes."""
    network = PolicyNetwork(config)
    parts: list[tuple[torch.nn.Module, Any]] = [
        (network.trunk, model.policy.features_extractor.trunk),
        (network.policy, model.policy.action_net),
        (network.value, model.policy.value_net),
    ]
    for part, learned in parts:
        part.load_state_dict(learned.state_dict())  # copies
    return network.eval().requires_grad_(False)


class Run:
    """The run directory: what is written to it, and read from it to go on."""

    def __init__(self, args: Args, config: NetworkConfig) -> None:
        self.args = args
        self.config = config
        self.pool_files: dict[str, str] = {}
        """The members' files, oldest first, and the hash of each as it was when it joined."""

    def add_to_pool(self, pool: Pool, model: MaskablePPO) -> None:
        """Put a frozen copy of the learner into the pool and into its directory."""
        network = frozen_copy(model, self.config)
        file = f"pool/{model.num_timesteps:012d}.safetensors"
        (self.args.out / "pool").mkdir(parents=True, exist_ok=True)
        save_network(network, self.args.out / file)
        self.pool_files[file] = file_hash(self.args.out / file)
        self._forget_the_oldest()
        pool.add(network, Path(file).stem)

    def _forget_the_oldest(self) -> None:
        for file in list(self.pool_files)[: -self.args.pool_size]:
            del self.pool_files[file]

    def save(self, pool: Pool, model: MaskablePPO) -> None:
        """Write the agent and the checkpoint, each to a temporary file that is then renamed."""
        out = self.args.out
        save_network(frozen_copy(model, self.config), out / "latest.safetensors")
        checkpoint = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "config": asdict(self.config),
            "args": {k: str(v) if isinstance(v, Path) else v for k, v in asdict(self.args).items()},
            "num_timesteps": model.num_timesteps,
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "pool": self.pool_files,
            "scores": {name: tuple(score) for name, score in pool.scores.items()},
        }
        temporary = out / "checkpoint.pt.tmp"
        torch.save(checkpoint, temporary)
        os.replace(temporary, out / "checkpoint.pt")

    def restore(self, checkpoint: dict[str, Any], pool: Pool, model: MaskablePPO) -> None:
        """Bring learner and pool to where `checkpoint` was. Raises CheckpointError."""
        out = self.args.out
        path = out / "checkpoint.pt"
        try:
            config = NetworkConfig(**checkpoint["config"])
            if config != self.config:
                raise CheckpointError(f"{path}: a run with {config}, not with {self.config}")
            model.policy.load_state_dict(checkpoint["policy"])
            model.policy.optimizer.load_state_dict(checkpoint["optimizer"])
            model.num_timesteps = int(checkpoint["num_timesteps"])
            members = list(checkpoint["pool"].items())[-self.args.pool_size :]
            pool.scores = {name: Score(*score) for name, score in checkpoint["scores"].items()}
        except (AttributeError, KeyError, TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(f"{path}: damaged: {error}") from None
        for file, digest in members:
            network = load_network(out / file)
            if network.config != self.config or file_hash(out / file) != digest:
                raise CheckpointError(f"{out / file}: not the pool member that the run wrote")
            self.pool_files[file] = digest
            pool.add(network, Path(file).stem)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load_checkpoint(out: Path) -> dict[str, Any]:
    """Return the checkpoint of a run directory, read without executing code.

    Raises CheckpointError if there is none, or if it is truncated or of another program or version.
    """
    path = out / "checkpoint.pt"
    try:
        checkpoint = torch.load(path, weights_only=True, map_location="cpu")
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None
    if not isinstance(checkpoint, dict) or checkpoint.get("format") != FORMAT:
        raise CheckpointError(f"{path}: not a checkpoint of `deskovky train ppo`")
    if checkpoint.get("version") != FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: format version {checkpoint.get('version')}, but this program reads "
            f"{FORMAT_VERSION}"
        )
    parts = {"config", "args", "num_timesteps", "policy", "optimizer", "pool", "scores"}
    if missing := parts - set(checkpoint):
        raise CheckpointError(f"{path}: damaged: no {', '.join(sorted(missing))} in it")
    return checkpoint


class SoftInterrupt:
    """Within this context the first Ctrl-C only sets `is_requested`; the second one interrupts."""

    def __init__(self) -> None:
        self.is_requested = False

    def __enter__(self) -> Self:
        self._previous: Any = None
        try:
            self._previous = signal.signal(signal.SIGINT, self._request)
        except ValueError:  # only the main thread may; elsewhere there is no Ctrl-C either
            pass
        return self

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.is_requested:
            raise KeyboardInterrupt
        self.is_requested = True


class Conductor(BaseCallback):
    """What happens between the steps: counting, snapshots, measurements, checkpoints, the end."""

    def __init__(
        self,
        args: Args,
        run: Run,
        game: Game,
        pool: Pool,
        learner: MaskablePPO,
        interrupt: SoftInterrupt,
        eval_opponents: Sequence[Agent],
        ladder: Mapping[str, float],
        progress: Progress,
    ) -> None:
        super().__init__()
        self.args = args
        self.run = run
        self.game = game
        self.pool = pool
        self.learner = learner
        self.interrupt = interrupt
        self.eval_opponents = eval_opponents
        self.ladder = ladder
        self.progress = progress
        self.results: dict[str, deque[float]] = {}  # of the last games, by kind of opponent
        self.started = self.saved = time.monotonic()
        self.task = progress.add_task("training", total=None, score="", rate="")

    def _init_callback(self) -> None:
        self.steps_at_start = self.last_snapshot = self.last_eval = self.learner.num_timesteps

    def _on_step(self) -> bool:
        for i in np.flatnonzero(self.locals["dones"]):
            opponent = self.locals["infos"][i]["opponent"]
            kind = "pool" if isinstance(opponent, PolicyPlayer) else opponent.name
            # The rewards of a game are its result, -1, 0 or 1; here losses count 0, draws 1/2.
            result = (float(self.locals["infos"][i]["episode"]["r"]) + 1) / 2
            self.results.setdefault(kind, deque(maxlen=500)).append(result)
            self.pool.record(opponent, result)
        minutes = (time.monotonic() - self.started) / 60
        if self.interrupt.is_requested:
            return False
        return self.args.minutes is None or minutes < self.args.minutes

    def _on_rollout_start(self) -> None:
        """Do what is due after an update."""
        steps = self.learner.num_timesteps
        if steps - self.last_snapshot >= self.args.snapshot_steps:
            self.run.add_to_pool(self.pool, self.learner)
            self.last_snapshot = steps
        if steps - self.last_eval >= self.args.eval_steps:
            self.measure()
            self.last_eval = steps
        if time.monotonic() - self.saved >= self.args.save_seconds:
            self.run.save(self.pool, self.learner)
            self.saved = time.monotonic()

    def _on_rollout_end(self) -> None:
        for kind, results in self.results.items():
            self.logger.record(f"selfplay/score_{kind}", float(np.mean(results)))
        opponents = [*self.pool.members, *self.pool.baselines]
        worst = min(self.pool.score(opponent).mean for opponent in opponents)
        self.logger.record("selfplay/score_against_the_strongest", worst)
        self.logger.record("selfplay/pool_size", len(self.pool.members))
        self.show()

    def measure(self) -> None:
        """Play against the evaluation opponents and log the scores and, on a ladder, the Elo."""
        if not self.eval_opponents:
            return
        player = PolicyPlayer(frozen_copy(self.learner, self.run.config))
        matches = [
            evaluate(self.game, player, opponent, self.args.eval_games, seed=self.args.seed)
            for opponent in self.eval_opponents
        ]
        for match in matches:
            self.logger.record(f"eval/score_{match.opponent}", match.score)
        shown = [f"{match.score:.1%} against {match.opponent}" for match in matches]
        rating = elo_on_ladder(self.ladder, matches)
        if rating is not None:
            self.logger.record("eval/elo", rating.elo)
            shown.append(f"Elo {rating.elo:.0f}")
        steps = f"{self.learner.num_timesteps:>10,} steps"
        self.progress.console.print(f"{steps}: {', '.join(shown)}", markup=False, soft_wrap=True)

    def show(self) -> None:
        """Bring the progress bar up to date."""
        elapsed = time.monotonic() - self.started
        steps = self.learner.num_timesteps
        done = [(steps, self.args.timesteps or 0), (elapsed, 60 * (self.args.minutes or 0))]
        completed, total = max(
            (pair for pair in done if pair[1]), key=lambda pair: pair[0] / pair[1]
        )
        pool = self.results.get("pool")
        self.progress.update(
            self.task,
            completed=completed,
            total=total,
            rate=f"{(steps - self.steps_at_start) / elapsed:,.0f} steps/s",
            score=f"{np.mean(pool):.0%} against the pool" if pool else "",
        )


def check_args(args: Args) -> None:
    """Raise ConfigurationError for values that cannot be used."""
    may_be_zero = {
        "seed", "opening_turns", "entropy_coef", "num_layers", "newest_probability",
        "matchmaking_power",
    }  # fmt: skip
    for field in fields(args):
        value = getattr(args, field.name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, bool) or not isinstance(number, int | float):
                continue
            if not (number > 0 or (number == 0 and field.name in may_be_zero)):
                raise ConfigurationError(f"{field.name} = {value} is too small")
    if not args.hidden:
        raise ConfigurationError("hidden is empty: expected the units of one layer or more")
    try:
        if torch.device(args.device).type == "cuda" and not torch.cuda.is_available():
            raise ConfigurationError(f"device = {args.device}: there is no such GPU")
    except RuntimeError as error:
        raise ConfigurationError(f"device = {args.device}: {error}") from None
    for name in ("newest_probability", "gamma", "gae_lambda"):
        if getattr(args, name) > 1:
            raise ConfigurationError(f"{name} = {getattr(args, name)}: expected at most 1")
    if args.num_envs * args.num_steps < args.batch_size:
        raise ConfigurationError(
            f"batch_size = {args.batch_size} is more than num_envs x num_steps = "
            f"{args.num_envs * args.num_steps}"
        )
    if args.eval_games % 2:
        raise ConfigurationError(f"eval_games = {args.eval_games} is odd")
    if not args.resume and args.out.exists() and (args.out.is_file() or any(args.out.iterdir())):
        raise ConfigurationError(
            f"{args.out} is not an empty directory: choose another, or --resume the run in it"
        )


def train(args: Args) -> Path:
    """Train as `args` ask and return the path of the agent.

    Raises ConfigurationError, UnknownGameError, AgentSpecError or CheckpointError before anything
    is written, and KeyboardInterrupt, after saving, if Ctrl-C was pressed.
    """
    check_args(args)
    if args.timesteps is None and args.minutes is None:
        args.timesteps = 1_000_000
    torch.set_num_threads(args.num_threads)
    game = registered_game(
        args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns
    )
    config = NetworkConfig.of(game, args.channels, args.num_layers, args.hidden)
    checkpoint = load_checkpoint(args.out) if args.resume else None
    # After a resumption other random numbers than at the start, but the same ones every time.
    entropy = [args.seed, checkpoint["num_timesteps"] if checkpoint else 0]
    pool_seed, model_seed = (int(n) for n in np.random.SeedSequence(entropy).generate_state(2) >> 1)
    pool = Pool(args, [agent(spec, seed=pool_seed) for spec in args.opponents], pool_seed)
    eval_opponents = [agent(spec, seed=args.seed) for spec in args.eval_opponents]
    for player in (*pool.baselines, *eval_opponents):
        check_plays(player, game)
    ladder = read_ladder(args.ladder, game) if args.ladder else {}

    run = Run(args, config)
    env = SelfPlayVecEnv(game, pool, args)
    model = make_model(VecMonitor(env), config, args, model_seed)  # seeds the games too
    if checkpoint:
        run.restore(checkpoint, pool, model)
    else:
        run.add_to_pool(pool, model)
    model.set_logger(configure(str(args.out), ["tensorboard"]))

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rate]}  {task.fields[score]}"),
    )
    with SoftInterrupt() as interrupt, Progress(*columns, console=console) as progress:
        conductor = Conductor(
            args, run, game, pool, model, interrupt, eval_opponents, ladder, progress
        )
        left = (args.timesteps or sys.maxsize) - model.num_timesteps
        if left > 0:
            model.learn(left, conductor, log_interval=1, reset_num_timesteps=False)
        run.save(pool, model)
    model.logger.close()
    path = args.out / "latest.safetensors"
    console.print(f"{model.num_timesteps:,} steps, saved as {path}", soft_wrap=True)
    if interrupt.is_requested:
        raise KeyboardInterrupt
    return path


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky train ppo`."""
    prog = "deskovky train ppo"
    args = tyro.cli(Args, prog=prog, args=argv)
    if args.resume:  # the run's own options are the defaults
        stored = load_checkpoint(args.out)["args"]
        known = {field.name for field in fields(Args)}
        if set(stored) != known:
            raise CheckpointError(
                f"{args.out}: its options are not those of this program: "
                + ", ".join(sorted(set(stored) ^ known))
            )
        stored |= {"out": args.out, "ladder": stored["ladder"] and Path(stored["ladder"])}
        args = tyro.cli(Args, prog=prog, args=argv, default=Args(**stored))
    train(args)


if __name__ == "__main__":
    main()
