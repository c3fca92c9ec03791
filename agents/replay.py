"""What AlphaZero learns from: games kept as actions, encoded again whenever they are sampled.

A position of Dobutsu takes about 50 bytes in this form and 800 as an observation; on larger boards
the difference is larger still.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deskovky._core import encode_positions
from deskovky.envs.protocol import Game, State

# Sampled games are encoded whole, and so many positions are shuffled together.
CHUNK_POSITIONS = 8192
CHUNK_BYTES = 100_000_000


@dataclass
class GameRecord:
    """One game of self-play, finished or going on: random steps first, then searched ones."""

    actions: list[int] = field(default_factory=list)
    """All steps since the start of the game."""
    num_opening: int = 0
    """How many of them, the first ones, were random: nothing is learned from their positions."""
    policies: list[NDArray[np.float16]] = field(default_factory=list)
    """For each searched step the improved policy over the legal actions, ascending, `[k]`."""
    values: list[float] = field(default_factory=list)
    """For each searched step the value that the search found, for the player to move."""
    result: int = 0
    """1 if player 0 won, -1 if player 1 did, 0 for a draw or a game that was cut off or goes on."""

    @property
    def num_positions(self) -> int:
        """The number of positions to learn from."""
        return len(self.policies)

    def replay(self, game: Game) -> State:
        """Return the state after all actions."""
        state = game.state()
        for action in self.actions:
            state.apply(action)
        return state


Packed = dict[str, NDArray[Any]]


def pack(records: Sequence[GameRecord]) -> Packed:
    """Return games as a few arrays, to be written to a file."""
    policies = [policy for record in records for policy in record.policies]
    return {
        "num_actions": np.array([len(record.actions) for record in records], np.int32),
        "num_opening": np.array([record.num_opening for record in records], np.int32),
        "results": np.array([record.result for record in records], np.int8),
        "actions": np.array([action for record in records for action in record.actions], np.int32),
        "values": np.array([value for record in records for value in record.values], np.float32),
        "policy_sizes": np.array([len(policy) for policy in policies], np.int32),
        "policies": np.concatenate([np.zeros(0, np.float16), *policies]),
    }


def unpack(packed: Packed) -> list[GameRecord]:
    """Return the games of `pack`. Raises KeyError or ValueError for anything else."""
    num_actions, num_opening = packed["num_actions"], packed["num_opening"]
    num_searched = num_actions - num_opening
    actions = np.split(packed["actions"], np.cumsum(num_actions)[:-1])
    values = np.split(packed["values"], np.cumsum(num_searched)[:-1])
    policies = np.split(packed["policies"], np.cumsum(packed["policy_sizes"])[:-1])
    if len(packed["policies"]) != packed["policy_sizes"].sum() or len(policies) < sum(num_searched):
        raise ValueError("policies do not fit the games")
    upcoming = iter(policies)
    return [
        GameRecord(
            actions=actions[i].tolist(),
            num_opening=int(num_opening[i]),
            policies=[next(upcoming) for _ in range(num_searched[i])],
            values=values[i].tolist(),
            result=int(packed["results"][i]),
        )
        for i in range(len(num_actions))
    ]


class Batch(NamedTuple):
    """Positions to learn from, each seen by its player to move."""

    observations: NDArray[np.float32]
    """`[B, C, H, W]`"""
    legal_action_mask: NDArray[np.bool_]
    """`[B, A]`"""
    policies: NDArray[np.float32]
    """`[B, A]`, the improved policies of the searches; zero where illegal."""
    values: NDArray[np.float32]
    """`[B]`, in [-1, 1]."""


class Replay:
    """The latest finished games, up to about `capacity` positions.

    game: of all records.
    search_value_weight: of the search's value in the value to learn; the rest is the game's result.
    use_mirror: also learn from left-right mirrored positions, where the rules allow it.
    """

    def __init__(
        self,
        game: Game,
        capacity: int,
        search_value_weight: float = 0.0,
        use_mirror: bool = True,
    ) -> None:
        self._start = game.state()
        self._position_bytes = 4 * int(np.prod(game.observation_shape)) + 5 * game.num_actions
        self.capacity = capacity
        self._search_value_weight = search_value_weight
        self._mirror_actions = game.mirror_actions if use_mirror else None
        self._groups: deque[list[GameRecord]] = deque()
        self._records: list[GameRecord] = []
        self.num_positions = 0

    @property
    def num_groups(self) -> int:
        """The number of `add` calls whose games are still here."""
        return len(self._groups)

    def add(self, records: Iterable[GameRecord]) -> None:
        """Add finished games as one group; the oldest groups beyond the capacity are dropped."""
        self._groups.append(list(records))
        self.num_positions += _num_positions(self._groups[-1])
        while self.num_positions - _num_positions(self._groups[0]) >= self.capacity:
            self.num_positions -= _num_positions(self._groups.popleft())
        self._records = [record for group in self._groups for record in group]

    def batches(
        self, num_batches: int, batch_size: int, random: np.random.Generator
    ) -> Iterator[Batch]:
        """Yield batches of positions, each of all positions equally likely to be drawn."""
        chunk_size = max(batch_size, min(CHUNK_BYTES // self._position_bytes, CHUNK_POSITIONS))
        num_left = num_batches
        while num_left > 0:
            chunk = self._chunk(min(num_left * batch_size, chunk_size), random)
            order = random.permutation(len(chunk.values))
            for start in range(0, len(order) - batch_size + 1, batch_size):
                if num_left > 0:
                    num_left -= 1
                    indices = order[start : start + batch_size]
                    yield Batch(*(array[indices] for array in chunk))  # type: ignore[arg-type]

    def _chunk(self, num_positions: int, random: np.random.Generator) -> Batch:
        """Encode random games, each whole, until there are that many positions or more."""
        records = []
        while num_positions > 0:
            records.append(self._records[random.integers(len(self._records))])
            num_positions -= records[-1].num_positions
        encoded = [
            encode_positions(self._start, record.actions, record.num_opening) for record in records
        ]
        observations, mask, to_move = (
            np.concatenate(arrays) for arrays in zip(*encoded, strict=True)
        )
        policies = np.zeros(mask.shape, np.float32)
        policies[mask] = np.concatenate([p for record in records for p in record.policies])
        results = np.repeat(
            np.array([record.result for record in records], np.float32),
            [record.num_positions for record in records],
        )
        results[to_move == 1] *= -1
        searched = np.array([value for record in records for value in record.values], np.float32)
        values = results + self._search_value_weight * (searched - results)
        if self._mirror_actions is not None:
            # The mirrored board has at action a what this one has at the mirrored a.
            mirrored = random.random(len(mask)) < 0.5
            observations[mirrored] = observations[mirrored, :, :, ::-1]
            mask[mirrored] = mask[mirrored][:, self._mirror_actions]
            policies[mirrored] = policies[mirrored][:, self._mirror_actions]
        return Batch(observations, mask, policies, values.astype(np.float32))


def _num_positions(records: Sequence[GameRecord]) -> int:
    return sum(record.num_positions for record in records)
