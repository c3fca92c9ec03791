"""The agent that `deskovky train ppo` trains: one small network, always masked.

    agent = PPOAgent("runs/ppo/latest.safetensors", deterministic=True)

or from text, ``"ppo:runs/ppo/latest.safetensors?deterministic=true"``. Needs the extra `train`.

The file is in the safetensors format, which holds tensors and text and nothing that could be
executed; a description of the network and of its game stands in its header.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save
from torch import nn

from deskovky.agents.analysis import Analysis
from deskovky.agents.protocol import check_ongoing
from deskovky.envs.protocol import Game, State
from deskovky.envs.support import check_seed
from deskovky.errors import CheckpointError, IllegalActionError

FORMAT = "deskovky-ppo"
FORMAT_VERSION = 1
HEADER = "deskovky"  # the entry of the file's metadata that is ours


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network, and the game whose observations and actions it knows."""

    game: str
    ruleset: str
    view: str
    observation_shape: tuple[int, int, int]
    num_actions: int
    channels: int
    """Channels of the convolutions."""
    num_layers: int
    """Number of 3x3 convolutions."""
    hidden: tuple[int, ...]
    """Units of the fully connected layers after them."""

    @classmethod
    def of(
        cls, game: Game, channels: int, num_layers: int, hidden: tuple[int, ...]
    ) -> "NetworkConfig":
        """Return the config of a network for `game`."""
        return cls(
            game=game.id,
            ruleset=game.ruleset,
            view=game.view,
            observation_shape=game.observation_shape,
            num_actions=game.num_actions,
            channels=channels,
            num_layers=num_layers,
            hidden=hidden,
        )

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "NetworkConfig":
        """Return the config that `asdict` and JSON made. Raises TypeError or ValueError."""
        config = cls(**values)
        config = replace(
            config,
            observation_shape=tuple(config.observation_shape),  # type: ignore[arg-type]
            hidden=tuple(config.hidden),
        )
        numbers = (*config.observation_shape, config.num_actions, config.channels, *config.hidden)
        if len(config.observation_shape) != 3 or not config.hidden:
            raise ValueError(f"shapes {config.observation_shape}, {config.hidden}")
        if not all(type(n) is int and 0 < n < 2**20 for n in numbers):
            raise ValueError(f"sizes {numbers}")
        if type(config.num_layers) is not int or not 0 <= config.num_layers <= 64:
            raise ValueError(f"num_layers {config.num_layers!r}")
        return config

    def check(self, game: Game, source: object) -> None:
        """Raise CheckpointError, naming `source`, unless the network plays `game`.

        Another setup or `max_turns` is no other game: the positions look the same.
        """
        for what, own, other in [
            ("game", self.game, game.id),
            ("ruleset", self.ruleset, game.ruleset),
            ("view", self.view, game.view),
            ("observation shape", self.observation_shape, game.observation_shape),
            ("number of actions", self.num_actions, game.num_actions),
        ]:
            if own != other:
                raise CheckpointError(f"{source}: the {what} of this network is {own}, not {other}")


def make_trunk(config: NetworkConfig) -> nn.Sequential:
    """Return the layers that policy and value share: `[B, C, H, W]` -> `[B, hidden[-1]]`."""
    planes, ranks, files = config.observation_shape
    layers: list[nn.Module] = []
    for _ in range(config.num_layers):
        layers += [nn.Conv2d(planes, config.channels, kernel_size=3, padding=1), nn.ReLU()]
        planes = config.channels
    layers.append(nn.Flatten())
    units = planes * ranks * files
    for hidden in config.hidden:
        layers += [nn.Linear(units, hidden), nn.ReLU()]
        units = hidden
    return nn.Sequential(*layers)


class PolicyNetwork(nn.Module):
    """Policy logits and value of positions."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.trunk = make_trunk(config)
        self.policy = nn.Linear(config.hidden[-1], config.num_actions)
        self.value = nn.Linear(config.hidden[-1], 1)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return unmasked logits `[B, num_actions]` and values `[B]` of `[B, C, H, W]` float32."""
        features = self.trunk(observations)
        return self.policy(features), self.value(features).squeeze(1)


def save_network(network: PolicyNetwork, path: Path) -> None:
    """Write the network to a temporary file and rename it, so that `path` is never half a file."""
    header = {"format": FORMAT, "version": FORMAT_VERSION, "config": asdict(network.config)}
    tensors = {name: tensor.contiguous() for name, tensor in network.state_dict().items()}
    temporary = path.with_name(f"{path.name}.tmp")
    # One entry: safetensors writes several in no particular order, and equal networks should be
    # equal files.
    temporary.write_bytes(save(tensors, metadata={HEADER: json.dumps(header)}))
    os.replace(temporary, path)


def load_network(path: Path | str) -> PolicyNetwork:
    """Return the network of a file, on the CPU and frozen.

    Raises CheckpointError if there is no such file, or if it is truncated, of another program, of
    another format version, or its tensors do not fit its description.
    """
    path = Path(path)
    try:
        with safetensors.safe_open(path, "pt") as file:
            text = (file.metadata() or {}).get(HEADER, "")
        tensors = load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None
    if not text:
        raise CheckpointError(f"{path}: not a network of `deskovky train ppo`")
    try:
        header = json.loads(text)
        if (header["format"], header["version"]) != (FORMAT, FORMAT_VERSION):
            raise CheckpointError(
                f"{path}: {header['format']} of format version {header['version']}, but this "
                f"program reads {FORMAT} of {FORMAT_VERSION}"
            )
        config = NetworkConfig.from_json(header["config"])
        with torch.device("meta"):  # no memory before the tensors are known to fit
            network = PolicyNetwork(config)
        network.load_state_dict(tensors, assign=True)
    except CheckpointError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path}: damaged: {error}") from None
    if not all(t.dtype == torch.float32 and t.isfinite().all() for t in tensors.values()):
        raise CheckpointError(f"{path}: damaged: weights must be finite and float32")
    return network.eval().requires_grad_(False)


class PolicyPlayer:
    """A player by a policy network alone; illegal actions are always masked out.

    deterministic: play the likeliest action; otherwise each with its probability.
    seed: of the random stream; None for a different one every time.
    """

    def __init__(
        self,
        network: PolicyNetwork,
        *,
        name: str = "ppo",
        deterministic: bool = False,
        seed: int | None = None,
    ) -> None:
        self.network = network
        self.name = name
        self.deterministic = deterministic
        self._game: Game | None = None  # the one checked last
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Start the random stream of `seed`."""
        check_seed(seed)
        self._rng = np.random.default_rng(seed)

    def check_game(self, game: Game) -> None:
        """Raise CheckpointError unless the network is for this game, ruleset and view."""
        if game is not self._game:
            self.network.config.check(game, self.name)
            self._game = game

    def act(self, state: State) -> int:
        """Return a legal action of `state.to_move`. Errors: as `act_batch`."""
        return int(self.act_batch([state])[0])

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        """Return one legal action for each state, ``[len(states)]`` int32.

        Raises CheckpointError for a state of another game or ruleset than the network was trained
        for, IllegalActionError for one that is over.
        """
        if not states:
            return np.zeros(0, np.int32)
        for state in states:
            self.check_game(state.game)
        return self.choose(
            np.stack([state.observation() for state in states]),
            np.stack([state.legal_action_mask() for state in states]),
        )

    def analyse(self, state: State) -> Analysis:
        """Return the policy that actions are drawn from, and the value. Raises as `act` does."""
        self.check_game(state.game)
        check_ongoing(state)
        with torch.no_grad():
            logits, value = self.network(torch.from_numpy(state.observation()[None]))
            is_illegal = torch.from_numpy(~state.legal_action_mask())
            policy = logits[0].masked_fill(is_illegal, -torch.inf).softmax(0)
        return Analysis(policy.numpy(), float(value[0].clamp(-1, 1)))

    def choose(
        self, observations: NDArray[np.float32], legal_action_mask: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """Return one legal action for each row, ``[B]`` int32.

        observations: `[B, planes, ranks, files]` float32, seen by the player to move.
        legal_action_mask: `[B, num_actions]` bool.

        Raises IllegalActionError if a row of the mask is all false.
        """
        if not legal_action_mask.any(axis=1).all():
            raise IllegalActionError(f"agent {self.name!r} was asked for an action with none legal")
        with torch.no_grad():
            logits: NDArray[Any] = self.network(torch.from_numpy(observations))[0].numpy()
        if not self.deterministic:
            # The largest of logits + Gumbel noise is a draw from their softmax.
            logits = logits + self._rng.gumbel(size=logits.shape).astype(np.float32)
        actions: NDArray[np.intp] = np.where(legal_action_mask, logits, -np.inf).argmax(axis=1)
        return actions.astype(np.int32)


class PPOAgent(PolicyPlayer):
    """The player of a file that `deskovky train ppo` wrote.

    Raises CheckpointError as `load_network` does.
    """

    def __init__(
        self, path: Path | str, *, deterministic: bool = False, seed: int | None = None
    ) -> None:
        super().__init__(
            load_network(path),
            name=f"ppo:{path}" + ("?deterministic=true" if deterministic else ""),
            deterministic=deterministic,
            seed=seed,
        )
