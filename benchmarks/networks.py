"""Compare forms of AlphaZero's network: how fast they are, and what they learn in the same time.

    python benchmarks/networks.py --game ossetian_draughts_v0

Speed is positions per CPU-second on one thread, in batches as self-play asks for. A slower network
plays fewer games in the same time, so that each is trained on as many positions as it could have
played itself: in `--seconds` of CPU with 32 simulations a step and four passes over each position.
The positions are those of games between minimax players that err now and then, the targets the
action of minimax and the result of the game; the losses are those on games left out. Results go to
stdout as a Markdown table; those in benchmarks/networks.md were made so.
"""

import argparse
import itertools
import time

import numpy as np
import torch
from torch.nn import functional

import deskovky as dk
from deskovky._core import encode_positions
from deskovky.agents.network import NetworkConfig, PolicyValueNetwork, network_config
from deskovky.envs.protocol import Game

FORMS = {
    "mlp 128 x 2": ("mlp", 128, 2),
    "mlp 256 x 2": ("mlp", 256, 2),
    "conv 16 x 2": ("conv", 16, 2),
    "conv 48 x 4": ("conv", 48, 4),
}
BATCHES = (64, 128, 256, 512)
EVALUATIONS_A_POSITION = 33 + 4 * 3  # the search, and four passes of learning, each of three
VALIDATION_POSITIONS = 6000
BATCH_SIZE = 512

Record = tuple[list[int], list[int], int]  # actions, targets (-1: none), result for player 0


def play(game: Game, num_positions: int) -> list[Record]:
    """Return games of minimax against itself that hold so many positions."""
    rng = np.random.default_rng(0)
    agent = dk.agent("minimax:depth=2", seed=0)
    records: list[Record] = []
    while num_positions > 0:
        state, actions, targets = game.state(), [], []
        num_opening = rng.integers(2, 10)
        while not state.is_over:
            target = -1 if len(actions) < num_opening else agent.act(state)
            is_error = target < 0 or rng.random() < 0.15
            actions.append(int(rng.choice(state.legal_actions())) if is_error else target)
            targets.append(target)
            state.apply(actions[-1])
        records.append((actions, targets, int(state.returns()[0])))
        num_positions -= len(actions)
    return records


def encode(game: Game, records: list[Record]) -> list[torch.Tensor]:
    """Return observations, masks, target actions and results of all positions with a target."""
    parts = []
    for actions, targets, result in records:
        observations, mask, to_move = encode_positions(game.state(), actions, 0)
        kept = np.array(targets) >= 0
        results = np.where(to_move == 0, result, -result).astype(np.float32)
        target_actions = np.array(targets, np.int64)
        parts.append([array[kept] for array in (observations, mask, target_actions, results)])
    return [torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*parts, strict=True)]


def losses(network: PolicyValueNetwork, batch: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the cross entropy of the policy and the squared error of the value."""
    observations, mask, targets, results = batch
    logits, values = network(observations)
    logits = logits.masked_fill(~mask, -1e9)
    return functional.cross_entropy(logits, targets), functional.mse_loss(values, results)


def train(
    config: NetworkConfig, game: Game, records: list[Record], num_positions: int
) -> PolicyValueNetwork:
    """Return a network that saw so many positions of the records four times each."""
    lengths = np.cumsum([len(actions) for actions, _, _ in records])
    records = records[: int(np.searchsorted(lengths, num_positions)) + 1]
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = PolicyValueNetwork(config)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-4)
    num_steps, step = 4 * num_positions // BATCH_SIZE, 0
    while step < num_steps:
        chunk = encode(game, [records[i] for i in rng.integers(len(records), size=64)])
        order = torch.from_numpy(rng.permutation(len(chunk[3])))
        for indices in itertools.takewhile(lambda i: len(i) == BATCH_SIZE, order.split(BATCH_SIZE)):
            optimizer.param_groups[0]["lr"] = 1e-3 * (1 - 0.9 * min(1.0, step / num_steps))
            optimizer.zero_grad()
            sum(losses(network, [tensor[indices] for tensor in chunk])).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimizer.step()
            step += 1
    return network


def rate(network: PolicyValueNetwork, batch: int) -> float:
    """Return evaluations per CPU-second, the best of several measurements."""
    observations = np.random.default_rng(0).random(
        (batch, *network.config.observation_shape), np.float32
    )
    network.evaluate(observations)
    best = 0.0
    for _ in range(10):
        start = time.process_time()
        network.evaluate(observations)
        best = max(best, batch / (time.process_time() - start))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="ossetian_draughts_v0")
    parser.add_argument("--seconds", type=float, default=60.0, help="0: measure speed only")
    parser.add_argument("--forms", nargs="*", default=list(FORMS), choices=list(FORMS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    game = dk.game(options.game)
    configs = {name: network_config(game, *FORMS[name]) for name in options.forms}
    rates = {
        name: [rate(PolicyValueNetwork(config), batch) for batch in BATCHES]
        for name, config in configs.items()
    }
    columns = [f"{batch}" for batch in BATCHES]
    print(f"| {game.id} | weights | " + " | ".join(columns), end=" |")
    print(" positions | policy loss | value loss |\n" + "|---" * (len(columns) + 5) + "|")
    numbers = {
        name: int(options.seconds * max(speeds) / EVALUATIONS_A_POSITION)
        for name, speeds in rates.items()
    }
    records = play(game, max(numbers.values()) + VALIDATION_POSITIONS)
    lengths = np.cumsum([len(actions) for actions, _, _ in records])
    num_left_out = int(np.searchsorted(lengths, VALIDATION_POSITIONS)) + 1
    left_out = encode(game, records[:num_left_out])
    for name, config in configs.items():
        network = PolicyValueNetwork(config)
        cells = [name, f"{sum(parameter.numel() for parameter in network.parameters()):,}"]
        cells += [f"{speed:,.0f}" for speed in rates[name]]
        if options.seconds:
            network = train(config, game, records[num_left_out:], numbers[name])
            with torch.inference_mode():
                found = losses(network, left_out)
            cells += [f"{numbers[name]:,}", *(f"{loss.item():.3f}" for loss in found)]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
