"""AlphaZero: networks, replay, checkpoints, the agent and the training script."""

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from reference.dobutsu import Dobutsu
from rich.console import Console
from toy_game import StripDraughts
from two_step_game import TwoStepGame, num_chips, solve

import deskovky as dk
from deskovky._core import encode_positions
from deskovky.agents.alphazero import AlphaZeroAgent
from deskovky.agents.checkpoint import (
    FORMAT,
    load_network,
    make_checkpoint,
    read_checkpoint,
    write_checkpoint,
    write_weights,
)
from deskovky.agents.network import (
    NetworkConfig,
    PolicyValueNetwork,
    choose_device,
    network_config,
)
from deskovky.agents.replay import GameRecord, Replay, pack, unpack
from deskovky.envs import GAMES, register_game
from deskovky.errors import (
    AgentSpecError,
    CheckpointError,
    ConfigurationError,
    IllegalActionError,
    UnknownGameError,
)
from deskovky.train.alphazero import Args, Job, Learner, play, simulations_at, train
from deskovky.train.arena import arena

QUIET = Console(file=io.StringIO())


def small_args(out, **options):
    """Return options of a run whose iterations take some ten milliseconds."""
    return replace(
        Args(
            out=out,
            width=16,
            num_blocks=1,
            num_workers=1,
            num_games=16,
            steps_per_iteration=8,
            num_simulations=4,
            batch_size=32,
            replay_ratio=1.0,
            replay_positions=400,
            eval_every=0,
            eval_games=2,
            eval_simulations=2,
            tensorboard=False,
        ),
        **options,
    )


def small_network(game, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return PolicyValueNetwork(network_config(game, width=16, num_blocks=1)).eval()


@pytest.fixture
def dobutsu():
    return dk.game("dobutsu_v0")


# --- Networks -------------------------------------------------------------------------------------


class WideStrip(StripDraughts):
    """A larger board, with a `pass` beyond the whole action planes."""

    action_shape = (3, 11, 11)
    num_planes = 2


class ManyActions(StripDraughts):
    action_shape = (100, 5, 5)
    num_planes = 2


@pytest.mark.parametrize(
    ("game", "kind", "policy_width"),
    [(Dobutsu(), "mlp", 0), (ManyActions(), "mlp", 32), (WideStrip(), "conv", 0)],
)
def test_network_shapes(game, kind, policy_width):
    config = network_config(game, width=8, num_blocks=2)
    assert (config.kind, config.policy_width) == (kind, policy_width)
    network = PolicyValueNetwork(config)
    observations = np.random.default_rng(0).random((5, *game.observation_shape), np.float32)
    logits, values = network.evaluate(observations)
    assert logits.shape == (5, game.num_actions) and logits.dtype == np.float32
    assert values.shape == (5,) and values.dtype == np.float32 and (np.abs(values) < 1).all()
    assert logits.std() > 0 and values.std() > 0


def test_convolutional_logits_belong_to_their_squares():
    """action = plane * squares + square: what happens on one corner does not touch the other."""
    game = WideStrip()
    network = PolicyValueNetwork(network_config(game, width=8, num_blocks=0))
    observations = torch.zeros(2, *game.observation_shape)
    observations[1, 0, 0, 0] = 1.0
    before, after = network(observations)[0]
    changed = (before - after).abs() > 1e-5  # the kernels round by where a square lies
    changed = changed[: 3 * 121].reshape(3, 11, 11)
    assert changed[:, :2, :2].any() and not changed[:, 2:].any() and not changed[:, :, 2:].any()


@pytest.mark.parametrize(
    "changes",
    [
        dict(kind="transformer"),
        dict(width=0),
        dict(width=10**9),
        dict(num_blocks=-1),
        dict(num_actions="many"),
        dict(observation_shape=(1, 2)),
    ],
)
def test_bad_network_config(dobutsu, changes):
    with pytest.raises(ConfigurationError, match="no network has this shape"):
        NetworkConfig(**(asdict(network_config(dobutsu)) | changes))


@pytest.mark.parametrize("id", dk.games())
def test_networks_fit_into_a_megabyte(id):
    network = PolicyValueNetwork(network_config(dk.game(id)))
    assert 2 * sum(parameter.numel() for parameter in network.parameters()) < 1e6


def test_bad_device():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in ("cpu", "cuda")
    for name in ("gpu", "cuda:99"):
        with pytest.raises(ConfigurationError, match=name):
            choose_device(name)


def test_learner_fits_a_batch_and_ignores_illegal_actions(tmp_path, dobutsu):
    args = small_args(tmp_path, learning_rate=1e-2, average_decay=0.5)
    records = random_records(dobutsu, 10)
    replay = Replay(dobutsu, 10**6)
    replay.add(records)
    batch = next(replay.batches(1, 64, np.random.default_rng(0)))
    learner = Learner(args, network_config(dobutsu, width=64, num_blocks=1))
    entropy = -(batch.policies * np.log(np.maximum(batch.policies, 1e-9))).sum(1).mean()
    first = learner.learn(batch)
    last = [learner.learn(batch) for _ in range(150)][-1]
    assert entropy - 1e-4 < last[0] < entropy + 0.05 < first[0] and last[1] < 0.01 < first[1]
    # Actions that are illegal in the whole batch never had a gradient.
    never_legal = ~batch.legal_action_mask.any(0)
    head = learner.network.body.policy
    gradient = head.weight.grad
    assert gradient is not None
    assert never_legal.any() and not gradient[torch.from_numpy(never_legal)].any()
    for average, current in zip(
        learner.average.parameters(), learner.network.parameters(), strict=True
    ):
        torch.testing.assert_close(average, current, atol=0.05, rtol=0)


# --- Replay ---------------------------------------------------------------------------------------


def random_records(game, count, seed=0, num_opening=3):
    """Return finished random games with made-up policies and values."""
    random = np.random.default_rng(seed)
    records = []
    while len(records) < count:
        record, state = GameRecord(num_opening=num_opening), game.state()
        while not state.is_over:
            legal = state.legal_actions()
            if len(record.actions) >= num_opening:
                record.policies.append(random.dirichlet(np.ones(len(legal))).astype(np.float16))
                record.values.append(float(np.float32(random.uniform(-1, 1))))
            record.actions.append(int(random.choice(legal)))
            state.apply(record.actions[-1])
        record.result = int(state.returns()[0])
        if len(record.actions) > num_opening:
            records.append(record)
    return records


def assert_same_records(records, expected):
    assert len(records) == len(expected)
    for a, b in zip(records, expected, strict=True):
        assert (a.actions, a.num_opening, a.values, a.result) == (
            b.actions,
            b.num_opening,
            b.values,
            b.result,
        )
        for own, other in zip(a.policies, b.policies, strict=True):
            np.testing.assert_array_equal(own, other)


def test_pack_and_unpack(dobutsu):
    records = random_records(dobutsu, 7)
    records.insert(3, GameRecord(actions=records[0].actions[:2], num_opening=2))
    assert_same_records(unpack(pack(records)), records)
    assert unpack(pack([])) == []
    packed = pack(records)
    for name in packed:
        with pytest.raises((KeyError, ValueError)):
            unpack({other: array for other, array in packed.items() if other != name})
    with pytest.raises(ValueError, match="do not fit"):
        unpack(packed | {"policies": packed["policies"][:-1]})


def expected_positions(game, records, weight, mirror):
    """Return all that may be drawn: observation bytes -> mask, policy and values."""
    expected = {}
    for record in records:
        state = game.state()
        for step, action in enumerate(record.actions):
            i = step - record.num_opening
            if i >= 0:
                legal = state.legal_actions()
                result = record.result * (1 if state.to_move == 0 else -1)
                value = (1 - weight) * result + weight * record.values[i]
                for observation, actions in [
                    (state.observation(), legal),
                    (state.observation()[:, :, ::-1], game.mirror_actions[legal]),
                ][: 2 if mirror else 1]:
                    policy = np.zeros(game.num_actions, np.float32)
                    policy[actions] = record.policies[i]
                    expected.setdefault(observation.tobytes(), []).append((policy, value, actions))
            state.apply(action)
    return expected


@pytest.mark.parametrize(("weight", "mirror"), [(0.0, False), (1.0, True), (0.25, True)])
def test_batches_hold_what_was_played(dobutsu, weight, mirror):
    records = random_records(dobutsu, 12)
    replay = Replay(dobutsu, 10**6, search_value_weight=weight, use_mirror=mirror)
    replay.add(records[:5])
    replay.add(records[5:])
    assert replay.num_positions == sum(record.num_positions for record in records)
    expected = expected_positions(dobutsu, records, weight, mirror)
    drawn = set()
    for batch in replay.batches(20, 64, np.random.default_rng(1)):
        assert batch.observations.shape == (64, *dobutsu.observation_shape)
        for observation, mask, policy, value in zip(*batch, strict=True):
            drawn.add(observation.tobytes())
            assert any(
                np.array_equal(policy, own_policy)
                and value == pytest.approx(own_value, abs=1e-6)
                and np.array_equal(np.flatnonzero(mask), np.sort(actions))
                for own_policy, own_value, actions in expected[observation.tobytes()]
            )
    assert len(drawn) > 0.9 * len(expected)


@pytest.mark.parametrize("game", [dk.game("dobutsu_v0"), TwoStepGame()], ids=["native", "python"])
def test_encode_positions(game):
    state = game.state()
    states = []
    while not state.is_over:
        states.append(state.copy())
        state.apply(int(state.legal_actions()[-1]))
    actions = [int(before.legal_actions()[-1]) for before in states]
    for first in (0, 2, len(actions)):
        observations, mask, to_move = encode_positions(game.state(), actions, first)
        assert observations.shape == (len(actions) - first, *game.observation_shape)
        for i, expected in enumerate(states[first:]):
            np.testing.assert_array_equal(observations[i], expected.observation())
            np.testing.assert_array_equal(mask[i], expected.legal_action_mask())
            assert to_move[i] == expected.to_move
    for bad in ([*actions, 0], [*actions[:-1], -1], [10**6], [game.num_actions]):
        with pytest.raises(IllegalActionError, match="not legal"):
            encode_positions(game.state(), bad)
    with pytest.raises(ConfigurationError, match="first"):
        encode_positions(game.state(), actions, len(actions) + 1)


def test_replay_drops_the_oldest_groups(dobutsu):
    records = random_records(dobutsu, 30)
    replay = Replay(dobutsu, capacity=100)
    for i in range(0, 30, 3):
        replay.add(records[i : i + 3])
    kept = records[30 - 3 * replay.num_groups :]
    assert replay.num_positions == sum(record.num_positions for record in kept) >= 100
    assert sum(record.num_positions for record in kept[3:]) < 100


# --- Checkpoints ----------------------------------------------------------------------------------


def write_network(path, game, seed=0):
    write_checkpoint(path, make_checkpoint(small_network(game, seed), game, iteration=3))
    return path


def test_checkpoint_round_trip(tmp_path, dobutsu):
    path = write_network(tmp_path / "best.pt", dobutsu)
    checkpoint = read_checkpoint(path)
    assert checkpoint["format"] == FORMAT and checkpoint["iteration"] == 3
    assert checkpoint["game"]["ruleset"] == "standard"
    observations = dobutsu.state().observation()[None]
    for own, other in zip(
        load_network(path, checkpoint).evaluate(observations),
        small_network(dobutsu).evaluate(observations),
        strict=True,
    ):
        np.testing.assert_array_equal(own, other)
    assert [file.name for file in tmp_path.iterdir()] == ["best.pt"]


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_bad_checkpoints(tmp_path, dobutsu, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good = write_network(tmp_path / "good.pt", dobutsu)
    content = good.read_bytes()
    checkpoint = read_checkpoint(good)
    weights = checkpoint["weights"]
    name = "body.stem.weight"
    bad = tmp_path / "bad.pt"

    def write_bytes(data):
        bad.write_bytes(data)

    cases = [
        *(lambda size=size: write_bytes(content[:size]) for size in (0, 1, 100, 2000)),
        lambda: write_bytes(content[:-1]),
        lambda: write_bytes(b"not a checkpoint"),
        lambda: write_bytes(pickle.dumps(Bomb())),
        lambda: torch.save(checkpoint | {"x": Bomb()}, bad),
        lambda: torch.save(weights, bad),
        lambda: torch.save([1, 2], bad),
        lambda: write_checkpoint(bad, checkpoint | {"format_version": 99}),
        lambda: torch.save(checkpoint | {"iteration": 4}, bad),  # not what the digest says
        lambda: write_checkpoint(bad, checkpoint | {"network": {"kind": "mlp"}}),
        lambda: write_checkpoint(bad, checkpoint | {"network": None}),
        lambda: write_checkpoint(bad, checkpoint | {"weights": 5}),
        lambda: write_checkpoint(bad, checkpoint | {"weights": {}}),
        lambda: write_checkpoint(bad, checkpoint | {"weights": weights | {name: torch.ones(2)}}),
        lambda: write_checkpoint(
            bad, checkpoint | {"weights": weights | {name: torch.full_like(weights[name], np.nan)}}
        ),
        lambda: write_checkpoint(
            bad, checkpoint | {"weights": weights | {name: weights[name].double()}}
        ),
        lambda: write_checkpoint(
            bad, checkpoint | {"weights": weights | {name: weights[name].bfloat16()}}
        ),
        lambda: bad.unlink(),
        lambda: bad.mkdir(),
    ]
    for case in cases:
        case()
        with pytest.raises(CheckpointError, match=r"bad\.pt"):
            AlphaZeroAgent(bad)
        with pytest.raises(CheckpointError, match=r"bad\.pt"):
            dk.agent("alphazero:bad.pt?simulations=4")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("path", ["x" * 5000, "x/" * 2500, "a\0b", "."])
@pytest.mark.parametrize("agent", ["alphazero", "ppo"])
def test_paths_that_cannot_be_read(agent, path):
    with pytest.raises(CheckpointError, match="read|not a file|no such file"):
        dk.agent(f"{agent}:{path}")


def test_weights_round_trip(tmp_path, dobutsu):
    """Half the size; the numbers are those of float16."""
    checkpoint = read_checkpoint(write_network(tmp_path / "best.pt", dobutsu))
    path = tmp_path / "best.safetensors"
    write_weights(path, checkpoint)
    assert path.stat().st_size < 0.7 * (tmp_path / "best.pt").stat().st_size
    again = read_checkpoint(path)
    assert again["game"] == checkpoint["game"] and again["iteration"] == 3
    for name, tensor in checkpoint["weights"].items():
        assert torch.equal(again["weights"][name], tensor.half().float())
    assert AlphaZeroAgent(path, simulations=2).act(dobutsu.state()) >= 0
    assert not list(tmp_path.glob("*.tmp"))

    content = path.read_bytes()
    for damaged in (b"", content[:7], content[:100], content[:-1], content[:-2] + b"\1\1"):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"best\.safetensors"):
            read_checkpoint(path)
    path.write_bytes(safetensors.torch.save({"x": torch.zeros(1)}))
    with pytest.raises(CheckpointError, match=r"best\.safetensors: not a file of weights"):
        read_checkpoint(path)


def test_a_changed_byte_is_noticed(tmp_path, dobutsu):
    path = write_network(tmp_path / "best.pt", dobutsu)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle] ^= 0x40
    path.write_bytes(content)
    with pytest.raises(CheckpointError):
        AlphaZeroAgent(path)


# --- The agent ------------------------------------------------------------------------------------


def some_states(game, count, seed=0):
    random = np.random.default_rng(seed)
    states = []
    while len(states) < count:
        state = game.state()
        for _ in range(random.integers(20)):
            if not state.is_over:
                state.apply(int(random.choice(state.legal_actions())))
        if not state.is_over:
            states.append(state)
    return states


def test_agent_plays_legally_and_the_same_again(tmp_path, dobutsu):
    path = write_network(tmp_path / "best.pt", dobutsu)
    agent = dk.agent(f"alphazero:{path}?simulations=8")
    assert agent.name == f"alphazero:{path}?simulations=8"
    states = some_states(dobutsu, 30)
    actions = agent.act_batch(states)
    assert actions.dtype == np.int32
    assert all(
        action in state.legal_actions() for action, state in zip(actions, states, strict=True)
    )
    np.testing.assert_array_equal(actions, agent.act_batch(states))
    assert [agent.act(state) for state in states] == actions.tolist()
    assert agent.act_batch([]).shape == (0,)


def test_agent_with_noise_depends_on_its_seed(tmp_path, dobutsu):
    path = write_network(tmp_path / "best.pt", dobutsu)
    agent = dk.agent(f"alphazero:{path}?simulations=0,gumbel_scale=1", seed=1)
    states = [dobutsu.state()] * 40
    first = agent.act_batch(states)
    assert (first != agent.act_batch(states)).any()
    agent.reset(1)
    np.testing.assert_array_equal(first, agent.act_batch(states))


def test_agent_refuses_other_games(tmp_path, dobutsu):
    agent = AlphaZeroAgent(write_network(tmp_path / "best.pt", dobutsu), simulations=2)
    over = dobutsu.state("3/1l1/1L1/3[-] w - - 0 1")
    over.push("b2b3")
    with pytest.raises(IllegalActionError, match="over"):
        agent.act(over)
    for other, what in [
        (dk.game("dobutsu_v0", ruleset="fairy"), "ruleset"),
        (dk.game("dobutsu_v0", view="absolute"), "view"),
        (TwoStepGame(), "game"),
    ]:
        with pytest.raises(CheckpointError, match=rf"best\.pt: the {what} of this network is"):
            agent.act_batch([dobutsu.state(), other.state()])
        with pytest.raises(CheckpointError, match=rf"best\.pt: the {what} of this network is"):
            agent.check_game(other)
    assert agent.act(dk.game("dobutsu_v0", max_turns=20).state()) >= 0


def test_agent_plays_python_games(tmp_path, dobutsu):
    """The reference rules are the same game, so that the same network plays it the same way."""
    path = write_network(tmp_path / "best.pt", dobutsu)
    agent = AlphaZeroAgent(path, simulations=8)
    native, python = dobutsu.state(), Dobutsu().state()
    for _ in range(4):
        action = agent.act(native)
        assert agent.act(python) == action
        native.apply(action)
        python.apply(action)


def test_bad_agent_options(tmp_path, dobutsu):
    path = write_network(tmp_path / "best.pt", dobutsu)
    for option in (
        *("simulations=-1", "simulations=x", "simulations=10000000000"),
        *("max_considered_actions=10000000000", "gumbel_scale=-1", "device=gpu", "device=meta"),
        "depth=2",
    ):
        with pytest.raises(AgentSpecError, match=option.split("=")[0]):
            dk.agent(f"alphazero:{path}?{option}")


# --- Self-play ------------------------------------------------------------------------------------


def test_self_play_records_games_that_can_be_replayed(tmp_path, dobutsu):
    args = small_args(tmp_path, steps_per_iteration=60)
    network = small_network(dobutsu)
    job = Job(args, dobutsu, network.config, network.state_dict(), [], 8, (1, 2, 3))
    played = play(job)
    assert len(played.going_on) == args.num_games and len(played.finished) > 5
    for record in played.finished + played.going_on:
        state = record.replay(dobutsu)
        assert state.is_over == any(record is other for other in played.finished)
        assert record.result == state.returns()[0]
        assert len(record.actions) == record.num_opening + record.num_positions
        assert all(policy.sum() == pytest.approx(1, abs=0.01) for policy in record.policies)
    distinct = {tuple(record.actions) for record in played.finished}
    assert len(distinct) > len(played.finished) / 2
    assert 0 < max(record.num_opening for record in played.going_on) <= args.opening_steps
    again = play(job)
    assert_same_records(again.finished + again.going_on, played.finished + played.going_on)


def test_a_teacher_is_learned_from_while_other_actions_are_played_as_well(tmp_path, dobutsu):
    args = small_args(tmp_path, steps_per_iteration=60, teacher_random_steps=0.25)
    config = small_network(dobutsu).config
    job = Job(args, dobutsu, config, {}, [], 0, (1, 2, 3), teacher="minimax:depth=1")
    played = play(job)
    num_steps = num_others = 0
    for record in played.finished:
        state = dobutsu.state()
        for i, action in enumerate(record.actions):
            if i >= record.num_opening:
                policy, value = (
                    record.policies[i - record.num_opening],
                    record.values[i - record.num_opening],
                )
                assert sorted(policy)[-2:] in ([0, 1], [1])  # a single action
                taught = state.legal_actions()[policy.argmax()]
                if any(is_won(state, other) for other in state.legal_actions()):
                    assert is_won(state, taught) and value == 1
                num_steps += 1
                num_others += action != taught
            state.apply(action)
        assert record.result == state.returns()[0]
    # A random action is the teacher's in some of the cases.
    assert num_steps > 300 and 0.1 < num_others / num_steps < 0.25
    again = play(job)
    assert_same_records(again.finished + again.going_on, played.finished + played.going_on)


def test_a_teacher_chooses_at_random_among_actions_that_it_finds_equal(tmp_path, dobutsu):
    args = small_args(tmp_path, opening_steps=0, teacher_random_steps=0.0)
    config = small_network(dobutsu).config
    played = play(Job(args, dobutsu, config, {}, [], 0, (1, 2, 3), teacher="random"))
    records = played.finished + played.going_on
    first = {record.actions[0] for record in records if record.actions}
    assert first == set(dobutsu.state().legal_actions().tolist())


def is_won(state, action):
    """True if the action wins at once."""
    state = state.copy()
    mover = state.to_move
    state.apply(action)
    return state.is_over and state.outcome.winner == mover


# --- Training -------------------------------------------------------------------------------------


def assert_same_checkpoint(path, other):
    own, others = read_checkpoint(path), read_checkpoint(other)

    def compare(a, b, where):
        assert type(a) is type(b), where
        if isinstance(a, dict):
            assert a.keys() == b.keys(), where
            for key in a:
                compare(a[key], b[key], f"{where}.{key}")
        elif isinstance(a, list | tuple):
            assert len(a) == len(b), where
            for i, pair in enumerate(zip(a, b, strict=True)):
                compare(*pair, f"{where}.{i}")
        elif isinstance(a, torch.Tensor):
            assert torch.equal(a, b), where
        else:
            assert a == b, where

    compare(own, others, "last.pt")


def test_training_resumes_bit_by_bit(tmp_path):
    growth = dict(first_simulations=2, growth_iterations=6)
    growth |= dict(teacher="minimax:depth=1", teacher_iterations=5)
    straight = small_args(tmp_path / "straight", iterations=8, **growth)
    assert train(straight, QUIET) == tmp_path / "straight" / "best.pt"
    assert train(small_args(tmp_path / "halves", iterations=4, **growth), QUIET).exists()
    # What a run killed in its fifth iteration may leave behind does not count.
    (tmp_path / "halves" / "replay" / "000005.npz").write_bytes(b"unfinished")
    (tmp_path / "halves" / "last.pt.tmp").write_bytes(b"unfinished")
    train(Args(out=tmp_path / "halves", resume=True, iterations=8, tensorboard=False), QUIET)
    assert_same_checkpoint(tmp_path / "straight" / "last.pt", tmp_path / "halves" / "last.pt")
    names = [
        sorted(file.name for file in (tmp_path / run / "replay").glob("*.npz"))
        for run in ("straight", "halves")
    ]
    assert names[0] == names[1] and 1 < len(names[0]) < 8  # the oldest are gone
    first = torch.load(tmp_path / "straight" / "best.pt", weights_only=True)
    train(small_args(tmp_path / "other_seed", iterations=8, seed=1, **growth), QUIET)
    other = torch.load(tmp_path / "other_seed" / "best.pt", weights_only=True)
    assert "learner" not in first
    assert not torch.equal(*(c["weights"]["body.stem.weight"] for c in (first, other)))


def test_a_run_resumes_from_its_very_start(tmp_path, monkeypatch):
    """The first iteration may take long; what is killed before its end is a run all the same."""
    out = tmp_path / "run"
    out.mkdir()
    (out / "last.pt.tmp").write_bytes(b"a start that was killed at once")

    def killed(job):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("deskovky.train.alphazero.play", killed)
        with pytest.raises(MemoryError):
            train(small_args(out, iterations=2), QUIET)
    assert iterations_done(out) == 0 and (out / "last.pt").exists()
    train(Args(out=out, resume=True, iterations=2, tensorboard=False), QUIET)
    train(small_args(tmp_path / "straight", iterations=2), QUIET)
    assert_same_checkpoint(tmp_path / "straight" / "last.pt", out / "last.pt")


def test_convolutions_can_be_asked_for(tmp_path):
    out = tmp_path / "run"
    args = small_args(out, iterations=4, network="conv", width=4, num_blocks=1)
    train(args, QUIET)
    checkpoint = read_checkpoint(out / "last.pt")
    assert checkpoint["network"]["kind"] == "conv" and checkpoint["num_batches"] > 0
    with pytest.raises(ConfigurationError, match="network = mlp.*cannot change"):
        train(replace(args, resume=True, network="mlp"), QUIET)


def test_simulations_grow(tmp_path):
    args = Args(tmp_path, num_simulations=64, first_simulations=4, growth_iterations=10)
    grown = [simulations_at(args, iteration) for iteration in range(13)]
    assert (grown[0], grown[5], grown[10], grown[12]) == (4, 16, 64, 64)
    assert grown == sorted(grown)
    assert simulations_at(replace(args, first_simulations=0), 0) == 64
    taught = replace(args, teacher="greedy", teacher_iterations=3)
    assert [simulations_at(taught, iteration) for iteration in (0, 2, 3, 8)] == [0, 0, 4, 16]


def test_each_iteration_has_a_line_in_the_log(tmp_path):
    out, log = tmp_path / "run", tmp_path / "run" / "log.jsonl"

    def iterations():
        return [json.loads(line)["iteration"] for line in log.read_text().splitlines()]

    train(small_args(out, iterations=3), QUIET)
    assert iterations() == [1, 2, 3]
    # A line of an iteration that did not count, and one cut short.
    log.write_text(log.read_text() + '{"iteration": 4}\n{"itera')
    train(Args(out=out, resume=True, iterations=5, tensorboard=False), QUIET)
    assert iterations() == [1, 2, 3, 4, 5]
    last = json.loads(log.read_text().splitlines()[-1])
    assert 0 < last["speed/cpu_seconds"] < 60 and 0 < last["speed/network_share_of_play"] < 1


def test_positions_are_learned_from_as_often_as_asked(tmp_path):
    out = tmp_path / "run"
    train(small_args(out, iterations=6, replay_ratio=3.0, replay_positions=10**6), QUIET)
    checkpoint = read_checkpoint(out / "last.pt")
    assert checkpoint["num_positions"] > 100
    # The games finished in the last iteration are learned from in the next.
    with np.load(out / "replay" / "000006.npz") as packed:
        latest = sum(record.num_positions for record in unpack(dict(packed)))
    learned = (checkpoint["num_positions"] - latest) * 3.0
    assert 0 <= learned - checkpoint["num_batches"] * 32 < 32


def wait_for(condition, process):
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.05)


def iterations_done(out):
    """Return the iteration of last.pt; it must be whole at any moment."""
    return read_checkpoint(out / "last.pt")["iteration"] if (out / "last.pt").exists() else 0


def test_killed_and_interrupted_runs_lose_nothing(tmp_path):
    out = tmp_path / "run"
    command = [
        *(sys.executable, "-m", "deskovky", "train", "alphazero", "--out", str(out)),
        *(
            "--width=16",
            "--num-blocks=1",
            "--num-games=16",
            "--steps-per-iteration=8",
            "--num-simulations=4",
        ),
        *(
            "--num-workers=1",
            "--batch-size=32",
            "--replay-ratio=1",
            "--replay-positions=400",
            "--eval-every=0",
        ),
        *("--eval-games=2", "--eval-simulations=2", "--no-tensorboard"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    wait_for(lambda: iterations_done(out) >= 3, process)
    process.kill()
    process.communicate()
    killed_at = iterations_done(out)
    process = subprocess.Popen([*command, "--resume"], stderr=subprocess.PIPE)
    wait_for(lambda: iterations_done(out) > killed_at, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and b"finishing this iteration" in errors
    done = iterations_done(out)
    assert (out / "best.pt").exists() and done > killed_at
    train(small_args(tmp_path / "straight", iterations=done), QUIET)
    assert_same_checkpoint(tmp_path / "straight" / "last.pt", out / "last.pt")


def folder(path):
    """Return name -> content and time of all files."""
    return {
        str(file.relative_to(path)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in path.rglob("*")
        if file.is_file()
    }


def test_a_resumed_run_meets_its_own_opponents(tmp_path):
    out = tmp_path / "run"
    train(small_args(out, iterations=1, eval_every=1, eval_opponents=("greedy",)), QUIET)
    shown = io.StringIO()
    train(Args(out, resume=True, iterations=2), Console(file=shown, width=200))
    assert "against greedy" in shown.getvalue() and "against random" not in shown.getvalue()


def test_a_teacher_that_is_gone_is_missed_only_while_it_plays(tmp_path):
    out, teacher = tmp_path / "run", tmp_path / "teacher.pt"
    train(small_args(tmp_path / "other", iterations=1), QUIET).rename(teacher)
    taught = dict(teacher=f"alphazero:{teacher}?simulations=0", teacher_iterations=2)
    train(small_args(out, iterations=1, **taught), QUIET)
    hidden = teacher.rename(tmp_path / "hidden.pt")
    before = folder(out)
    with pytest.raises(CheckpointError, match=r"teacher\.pt: no such file"):
        train(Args(out, resume=True, iterations=2), QUIET)
    assert folder(out) == before
    hidden.rename(teacher)
    train(Args(out, resume=True, iterations=2), QUIET)
    teacher.unlink()
    train(Args(out, resume=True, iterations=3), QUIET)


def test_bad_runs_are_refused_and_left_alone(tmp_path):
    out = tmp_path / "run"
    good = small_args(out, iterations=2)
    for bad in [
        dict(num_games=0),
        dict(batch_size=0),
        dict(learning_rate=-1.0),
        dict(learning_rate=float("nan")),
        dict(average_decay=1.5),
        dict(eval_games=3),
        dict(minutes=0.0),
        dict(iterations=0),
        dict(first_simulations=5),
        dict(replay_fraction=2.0),
        dict(ray_actors=-1),
        dict(teacher_iterations=-1),
        dict(teacher_random_steps=1.5),
        dict(eval_opening_turns=-1),
        dict(width=-1),
        dict(device="gpu"),
    ]:
        with pytest.raises(ConfigurationError, match=next(iter(bad))):
            train(replace(good, **bad), QUIET)
    with pytest.raises(UnknownGameError):
        train(replace(good, game="chess"), QUIET)
    with pytest.raises(AgentSpecError):
        train(replace(good, eval_every=1, eval_opponents=("nobody",)), QUIET)
    with pytest.raises(AgentSpecError):
        train(replace(good, teacher="nobody"), QUIET)
    xiangqi = replace(good, game="xiangqi_v0")
    for other in (
        dict(teacher="pretrained:dobutsu_v0"),
        dict(eval_every=1, eval_opponents=("random", "pretrained:dobutsu_v0")),
    ):
        with pytest.raises(CheckpointError, match="network is dobutsu_v0, not xiangqi_v0"):
            train(replace(xiangqi, **other), QUIET)
    with pytest.raises(CheckpointError, match=r"last\.pt: no such file"):
        train(replace(good, resume=True), QUIET)
    assert not out.exists()

    out.mkdir()
    (out / "diary.txt").write_text("not a run")
    with pytest.raises(ConfigurationError, match="not empty"):
        train(good, QUIET)
    with pytest.raises(CheckpointError, match=r"last\.pt: no such file"):
        train(replace(good, resume=True), QUIET)
    assert list(folder(out)) == ["diary.txt"]
    (out / "diary.txt").unlink()

    train(good, QUIET)  # into the empty folder
    before = folder(out)
    with pytest.raises(ConfigurationError, match="not empty"):
        train(good, QUIET)
    for changed in (dict(width=32), dict(ruleset="fairy"), dict(num_simulations=8)):
        with pytest.raises(ConfigurationError, match=f"{next(iter(changed))} = .*cannot change"):
            train(replace(good, resume=True, **changed), QUIET)
    assert folder(out) == before


def test_damaged_runs_are_refused_by_name(tmp_path):
    out = tmp_path / "run"
    train(small_args(out, iterations=3), QUIET)
    last, shard = out / "last.pt", out / "replay" / "000002.npz"
    checkpoint, games = torch.load(last, weights_only=True), shard.read_bytes()

    def refuses(name):
        before = folder(out)
        with pytest.raises(CheckpointError, match=name):
            train(Args(out=out, resume=True, iterations=9, tensorboard=False), QUIET)
        assert folder(out) == before

    for damaged in (games[:-10], games[: len(games) // 2], b""):
        shard.write_bytes(damaged)
        refuses(r"000002\.npz")
    shard.unlink()
    refuses(r"000002\.npz")
    shard.write_bytes(games)
    for key in ("learner", "optimizer", "games", "args", "num_replay_files"):
        write_checkpoint(last, {k: v for k, v in checkpoint.items() if k != key})
        refuses(r"last\.pt: damaged")
    write_checkpoint(last, checkpoint | {"optimizer": {"state": 1}})
    refuses(r"last\.pt: damaged")
    last.write_bytes((out / "best.pt").read_bytes())  # a network alone is no run
    refuses(r"last\.pt: damaged")


def test_training_measures_strength_and_writes_curves(tmp_path):
    shown = io.StringIO()
    ladder = tmp_path / "ladder"
    arena("dobutsu_v0", ["random", "greedy"], 20, out=ladder)
    args = small_args(
        tmp_path / "run",
        iterations=3,
        eval_every=1,
        tensorboard=True,
        ladder=str(ladder / "arena.json"),
    )
    best = train(args, Console(file=shown, width=200))
    assert "against best.pt" in shown.getvalue() and "against random" in shown.getvalue()
    assert "iteration 3" in shown.getvalue() and ", Elo " in shown.getvalue()
    assert dk.agent(f"alphazero:{best}?simulations=2").act(dk.game("dobutsu").state()) >= 0
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    events.Reload()
    names = {"loss/policy", "loss/value", "speed/positions_per_second", "score/random", "score/elo"}
    assert names <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("replay/positions")] == [1, 2, 3]


@pytest.fixture
def two_step_game():
    def make(**options):
        return TwoStepGame(**{name: value for name, value in options.items() if value is not None})

    register_game("two_step_v0", make)
    yield
    del GAMES["two_step_v0"]


def test_training_solves_a_python_game_with_turns_of_two_steps(tmp_path, two_step_game):
    """Wrong signs inside a turn, in search or targets, would teach the opposite."""
    args = small_args(
        tmp_path,
        game="two_step_v0",
        iterations=12,
        num_games=32,
        num_simulations=6,
        replay_ratio=8.0,
        replay_positions=2000,
        learning_rate=1e-2,
        average_decay=0.9,
        opening_steps=3,
    )
    agent = AlphaZeroAgent(train(args, QUIET), simulations=0)
    game = TwoStepGame()
    won = right = 0
    for board in ("P" * chips + str(10 - chips) for chips in range(2, 10)):
        for side in "wb":
            state = game.state(f"{board} {side} - 0 1")
            if solve(num_chips(state._position), False) < 0:
                continue
            won += 1
            state.apply(agent.act(state))
            right += state.is_over or solve(num_chips(state._position), True) == 1
    assert won >= 8 and right >= won - 1


@pytest.mark.long  # each process takes seconds to start
def test_workers_are_deterministic_too(tmp_path):
    for run in ("first", "second"):
        train(small_args(tmp_path / run, iterations=4, num_workers=2), QUIET)
    assert_same_checkpoint(tmp_path / "first" / "last.pt", tmp_path / "second" / "last.pt")
    train(small_args(tmp_path / "halves", iterations=2, num_workers=2), QUIET)
    train(Args(out=tmp_path / "halves", iterations=4, resume=True, tensorboard=False), QUIET)
    assert_same_checkpoint(tmp_path / "first" / "last.pt", tmp_path / "halves" / "last.pt")
