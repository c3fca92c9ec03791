"""Checkpoints of AlphaZero: a network, the game it plays and, to go on training, everything else.

A checkpoint is a `torch.save` file of plain numbers, texts and tensors, and a digest of them all.
It is read with ``weights_only=True``: nothing in it is executed. What only plays, the weights, may
also be a safetensors file with the same digest, half as large since its numbers are. Either is
written to a temporary file which is then renamed, so that a file is never half a checkpoint,
whenever the program is killed.
"""

import hashlib
import io
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from deskovky.agents.network import NetworkConfig, PolicyValueNetwork
from deskovky.envs.protocol import Game
from deskovky.errors import CheckpointError

FORMAT = "deskovky-alphazero"
FORMAT_VERSION = 1
WEIGHTS_SUFFIX = ".safetensors"
HEADER = "deskovky"  # the entry of a weights file's metadata that is ours

Checkpoint = dict[str, Any]


def make_checkpoint(network: PolicyValueNetwork, game: Game, iteration: int) -> Checkpoint:
    """Return what an agent needs: the network and a description of its game."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": {
            "id": game.id,
            "ruleset": game.ruleset,
            "setup": game.setup,
            "max_turns": game.max_turns,
            "view": game.view,
        },
        "network": asdict(network.config),
        "weights": {name: tensor.cpu() for name, tensor in network.state_dict().items()},
        "iteration": iteration,
    }


def agent_part(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint without what only training needs."""
    names = ("format", "format_version", "game", "network", "weights", "iteration")
    return {name: checkpoint[name] for name in names}


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; `path` is replaced at once, when all is written."""
    temporary = path.with_name(path.name + ".tmp")
    torch.save(checkpoint | {"digest": digest(checkpoint)}, temporary)
    os.replace(temporary, path)


def write_weights(path: Path, checkpoint: Checkpoint) -> None:
    """Write what plays of a checkpoint as a safetensors file, its weights as float16."""
    part = agent_part(checkpoint)
    part["weights"] = {name: tensor.half() for name, tensor in part["weights"].items()}
    header = {name: value for name, value in part.items() if name != "weights"}
    header["digest"] = digest(part)
    temporary = path.with_name(path.name + ".tmp")
    # One entry: safetensors writes several in no particular order, and equal networks should be
    # equal files.
    content = safetensors.torch.save(part["weights"], metadata={HEADER: json.dumps(header)})
    temporary.write_bytes(content)
    os.replace(temporary, path)


def digest(checkpoint: Checkpoint) -> str:
    """Return the SHA-256 of all that a checkpoint holds, its digest aside."""
    sha256 = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, dict):
            add([(str(key), value[key]) for key in sorted(value, key=str)])
        elif isinstance(value, list | tuple):
            sha256.update(f"{len(value)} values:".encode())
            for item in value:
                add(item)
        elif isinstance(value, Tensor):
            sha256.update(f"{value.dtype}{list(value.shape)}".encode())
            content = value.cpu().clone(memory_format=torch.contiguous_format)
            sha256.update(content.reshape(-1).view(torch.uint8).numpy().tobytes())
        else:
            sha256.update(f"{value!r};".encode())

    add({key: value for key, value in checkpoint.items() if key != "digest"})
    return sha256.hexdigest()


def read_checkpoint(path: Path | str) -> Checkpoint:
    """Return the checkpoint of a file, weights as float32. Raises CheckpointError, naming it."""
    path = Path(path)
    checkpoint = (_read_weights if path.suffix == WEIGHTS_SUFFIX else _read_torch)(path)
    if not isinstance(checkpoint, dict) or checkpoint.get("format") != FORMAT:
        raise CheckpointError(f"{path}: not a checkpoint of `deskovky train alphazero`")
    version = checkpoint.get("format_version")
    if version != FORMAT_VERSION:
        raise CheckpointError(
            f"{path}: format version {version}, but this program reads {FORMAT_VERSION}"
        )
    if checkpoint.get("digest") != digest(checkpoint):
        raise CheckpointError(f"{path}: damaged: its digest is not that of its content")
    if path.suffix == WEIGHTS_SUFFIX:
        weights = {name: tensor.float() for name, tensor in checkpoint["weights"].items()}
        checkpoint["weights"] = weights
    return checkpoint


def _read_torch(path: Path) -> Any:
    content = _read(path)
    try:
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # torch has no exception of its own for a bad file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(f"{path}: not a checkpoint, or a truncated one: {reason}") from None


def _read_weights(path: Path) -> Any:
    content = _read(path)
    try:
        weights = safetensors.torch.load(content)
        size = int.from_bytes(content[:8], "little")  # of the header, which `load` has checked
        header = json.loads(content[8 : 8 + size])["__metadata__"][HEADER]
        return {**json.loads(header), "weights": weights}
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        reason = f"not a file of weights, or a truncated one: {error}"
        raise CheckpointError(f"{path}: {reason}") from None


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise CheckpointError(f"{path}: not a file")
        return path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # a null character in a path
        raise CheckpointError(f"{path}: cannot be read: {error}") from None


def load_network(path: Path | str, checkpoint: Checkpoint) -> PolicyValueNetwork:
    """Return the network of a checkpoint read from `path`, on the CPU and frozen.

    Raises CheckpointError, naming the file, if its weights do not fit its description.
    """
    try:
        shape = dict(checkpoint["network"])
        shape["observation_shape"] = tuple(shape["observation_shape"])
        with torch.device("meta"):  # no memory before the weights are known to fit
            network = PolicyValueNetwork(NetworkConfig(**shape))
        weights = checkpoint["weights"]
        network.load_state_dict(weights, assign=True)
        fits = all(w.dtype == torch.float32 and w.isfinite().all() for w in weights.values())
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise CheckpointError(f"{path}: damaged: {str(error).splitlines()[0]}") from None
    if not fits:
        raise CheckpointError(f"{path}: damaged: weights that are not finite float32 numbers")
    return network.eval().requires_grad_(False)


def check_game(path: Path | str, checkpoint: Checkpoint, game: Game) -> None:
    """Raise CheckpointError, naming the file, unless its network plays `game`.

    Another setup or `max_turns` is no other game: the positions look the same.
    """
    try:
        trained = checkpoint["game"]
        shapes = checkpoint["network"]
        pairs = [
            ("game", trained["id"], game.id),
            ("ruleset", trained["ruleset"], game.ruleset),
            ("view", trained["view"], game.view),
            ("observation shape", tuple(shapes["observation_shape"]), game.observation_shape),
            ("number of actions", shapes["num_actions"], game.num_actions),
        ]
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{path}: damaged: no {error} in it") from None
    for what, own, other in pairs:
        if own != other:
            raise CheckpointError(f"{path}: the {what} of this network is {own}, not {other}")
