"""The networks of AlphaZero: from an observation to policy logits and a value.

Boards up to 10 x 10 get a residual multilayer perceptron, larger ones a residual convolutional
network: on one thread of a processor, a perceptron plays so many more games in the same time that
it learns more, see benchmarks/networks.py. Neither has normalisation layers: every residual branch
begins as zero, so that a new network is shallow and deepens as it learns (as in ReZero, Bachlechner
et al. 2020), and inference costs matrix products only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from deskovky.envs.protocol import Game
from deskovky.errors import ConfigurationError

Kind = Literal["mlp", "conv"]

MOST_SQUARES_OF_MLP = 100

MOST_ACTIONS_OF_A_WIDE_POLICY = 2000
NARROW_POLICY_WIDTH = 32


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network."""

    kind: Kind
    observation_shape: tuple[int, int, int]
    """``(planes, ranks, files)``"""
    num_actions: int
    width: int
    """Units of each layer, or channels of each convolution."""
    num_blocks: int
    """Residual blocks of two layers each."""
    policy_width: int = 0
    """Units of a perceptron's layer before the logits; 0: there is none. Fewer units than `width`
    make the largest layer of a game with thousands of actions smaller."""

    def __post_init__(self) -> None:
        # A config may come from a file: anything but sensible numbers is refused.
        sizes = (self.num_actions, self.width, self.num_blocks + 1, self.policy_width + 1)
        numbers = (*self.observation_shape, *sizes)
        if (
            self.kind not in ("mlp", "conv")
            or len(self.observation_shape) != 3
            or not all(type(number) is int and 1 <= number <= 2**16 for number in numbers)
        ):
            raise ConfigurationError(f"no network has this shape: {self}")


def network_config(
    game: Game, kind: Kind | Literal["auto"] = "auto", width: int = 0, num_blocks: int = -1
) -> NetworkConfig:
    """Return the network of a game; "auto", 0 and -1 stand for what suits its board."""
    _, ranks, files = game.observation_shape
    if kind == "auto":
        kind = "mlp" if ranks * files <= MOST_SQUARES_OF_MLP else "conv"
    default_width, default_blocks = {"mlp": (128, 2), "conv": (48, 4)}[kind]
    is_narrow = kind == "mlp" and game.num_actions > MOST_ACTIONS_OF_A_WIDE_POLICY
    return NetworkConfig(
        kind=kind,
        observation_shape=game.observation_shape,
        num_actions=game.num_actions,
        width=width or default_width,
        num_blocks=default_blocks if num_blocks < 0 else num_blocks,
        policy_width=NARROW_POLICY_WIDTH if is_narrow else 0,
    )


class PolicyValueNetwork(nn.Module):
    """Policy logits and value of positions, both for the player to move."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.body = _Perceptron(config) if config.kind == "mlp" else _Convolutions(config)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits `[B, num_actions]`, not masked, and values `[B]` in (-1, 1).

        observations: `[B, C, H, W]` float32.
        """
        logits, values = self.body(observations)
        return logits, torch.tanh(values.squeeze(1))

    @torch.inference_mode()
    def evaluate(
        self, observations: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits `[B, num_actions]` and values `[B]` of `[B, C, H, W]`, all float32."""
        device = next(self.parameters()).device
        logits, values = self(torch.from_numpy(observations).to(device))
        return logits.cpu().numpy(), values.cpu().numpy()


class _Block(nn.Module):
    """x + second(relu(first(x))), with a second layer of zeros at first."""

    def __init__(self, first: nn.Module, second: nn.Linear | nn.Conv2d) -> None:
        super().__init__()
        self.first = first
        self.second = second
        nn.init.zeros_(second.weight)
        assert second.bias is not None
        nn.init.zeros_(second.bias)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.second(functional.relu(self.first(x))))


class _Perceptron(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        planes, ranks, files = config.observation_shape
        width = config.width
        self.stem = nn.Linear(planes * ranks * files, width)
        self.blocks = nn.Sequential(
            *(
                _Block(nn.Linear(width, width), nn.Linear(width, width))
                for _ in range(config.num_blocks)
            )
        )
        self.narrow = nn.Linear(width, config.policy_width) if config.policy_width else None
        self.policy = nn.Linear(config.policy_width or width, config.num_actions)
        self.value = nn.Linear(width, 1)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        x = self.blocks(functional.relu(self.stem(observations.flatten(1))))
        y = x if self.narrow is None else functional.relu(self.narrow(x))
        return self.policy(y), self.value(x)


class _Convolutions(nn.Module):
    """An action is plane * squares + square, so that the policy head is a convolution.

    Actions beyond the whole planes (`pass`) get their logits from the pooled features.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        planes, ranks, files = config.observation_shape
        width = config.width
        action_planes, num_others = divmod(config.num_actions, ranks * files)

        def convolution(num_inputs: int) -> nn.Conv2d:
            return nn.Conv2d(num_inputs, width, kernel_size=3, padding=1)

        self.stem = convolution(planes)
        self.blocks = nn.Sequential(
            *(_Block(convolution(width), convolution(width)) for _ in range(config.num_blocks))
        )
        self.policy = nn.Conv2d(width, action_planes, kernel_size=1)
        self.other_actions = nn.Linear(2 * width, num_others) if num_others else None
        self.value = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        x = self.blocks(functional.relu(self.stem(observations)))
        pooled = torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)
        logits = self.policy(x).flatten(1)
        if self.other_actions is not None:
            logits = torch.cat([logits, self.other_actions(pooled)], 1)
        return logits, self.value(pooled)


def choose_device(name: str) -> torch.device:
    """Return the device of that name; ``"auto"`` is the GPU if there is one.

    Raises ConfigurationError for a device that this machine or its PyTorch lacks.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()  # the device "meta" has no numbers to give back
    except (RuntimeError, AssertionError, ImportError) as error:  # builds without CUDA assert
        reason = str(error).splitlines()[0]
        raise ConfigurationError(f"device {name!r} cannot be used: {reason}") from None
    return device


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread of the processor: small networks are slower with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
