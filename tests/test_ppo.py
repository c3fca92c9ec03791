"""The PPO agent and its file, the pool, the self-play environment and the learner's numbers."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from opponents import RandomOpponent
from reference.dobutsu import Dobutsu
from safetensors.torch import load_file, save_file
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor

import deskovky as dk
from deskovky.agents.ppo import (
    NetworkConfig,
    PolicyNetwork,
    PolicyPlayer,
    PPOAgent,
    load_network,
    save_network,
)
from deskovky.envs.protocol import State
from deskovky.errors import CheckpointError, IllegalActionError
from deskovky.train.ppo_selfplay import (
    Args,
    Pool,
    Score,
    SelfPlayVecEnv,
    file_hash,
    frozen_copy,
    make_model,
    train,
)

GAME = dk.game("dobutsu_v0")
CONFIG = NetworkConfig.of(GAME, channels=8, num_layers=1, hidden=(16, 32))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Let torch use one thread, as the training script does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def make_network(seed: int = 0, config: NetworkConfig = CONFIG) -> PolicyNetwork:
    torch.manual_seed(seed)
    return PolicyNetwork(config).eval().requires_grad_(False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "agent.safetensors"
    save_network(make_network(), path)
    return path


def random_states(count: int, seed: int = 0) -> list[State]:
    rng = np.random.default_rng(seed)
    states: list[State] = []
    while len(states) < count:
        state = GAME.state()
        while not state.is_over:
            states.append(state.copy())
            state.apply(int(rng.choice(state.legal_actions())))
    return states[:count]


# --- The agent and its file ---


def test_the_file_holds_the_network(path: Path) -> None:
    network, loaded = make_network(), load_network(path)
    assert loaded.config == CONFIG
    observations = torch.rand(5, *GAME.observation_shape)
    for one, other in zip(network(observations), loaded(observations), strict=True):
        assert torch.equal(one, other)
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


def test_actions_are_legal_whatever_the_weights(path: Path) -> None:
    states = random_states(300)
    # Logits of +-1000 for everything: only the mask can keep illegal actions away.
    network = make_network()
    network.policy.weight *= 1e5
    for deterministic in (False, True):
        player = PolicyPlayer(network, deterministic=deterministic, seed=0)
        actions = player.act_batch(states)
        assert actions.dtype == np.int32 and actions.shape == (300,)
        assert all(s.legal_action_mask()[a] for s, a in zip(states, actions, strict=True))


def test_deterministic_play_is_the_likeliest_legal_action(path: Path) -> None:
    states = random_states(50)
    agent = PPOAgent(path, deterministic=True)
    for state, action in zip(states, agent.act_batch(states), strict=True):
        logits = agent.network(torch.from_numpy(state.observation()[None]))[0][0].numpy()
        legal = state.legal_actions()
        assert action == legal[logits[legal].argmax()]
        assert agent.act(state) == action


def test_sampling_follows_the_masked_softmax(path: Path) -> None:
    state = random_states(12)[-1]
    agent = PPOAgent(path, seed=0)
    legal = state.legal_actions()
    assert len(legal) > 2
    logits = agent.network(torch.from_numpy(state.observation()[None]))[0][0]
    expected = torch.softmax(logits[torch.from_numpy(legal).long()], 0).numpy()
    actions = agent.act_batch([state] * 20_000)
    frequencies = np.array([(actions == action).mean() for action in legal])
    # 5 standard deviations of a frequency near 0.2 are 0.014.
    np.testing.assert_allclose(frequencies, expected, atol=0.015)


def test_the_seed_decides(path: Path) -> None:
    states = random_states(100)
    agent = PPOAgent(path, seed=1)
    first = agent.act_batch(states)
    assert not np.array_equal(agent.act_batch(states), first)
    agent.reset(1)
    assert np.array_equal(agent.act_batch(states), first)
    assert np.array_equal(PPOAgent(path, seed=1).act_batch(states), first)


def test_no_states_no_actions(path: Path) -> None:
    assert PPOAgent(path).act_batch([]).shape == (0,)


def test_a_finished_game_is_refused(path: Path) -> None:
    state = GAME.state()
    while not state.is_over:
        state.apply(int(state.legal_actions()[-1]))
    with pytest.raises(IllegalActionError, match="none legal"):
        PPOAgent(path).act(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ruleset": "fairy"}, "the ruleset of this network is standard, not fairy"),
        ({"view": "absolute"}, "the view of this network is relative, not absolute"),
    ],
)
def test_another_ruleset_or_view_is_refused(
    path: Path, options: dict[str, str], message: str
) -> None:
    state = dk.game("dobutsu_v0", **options).state()  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match=message) as info:
        PPOAgent(path).act(state)
    assert str(path) in str(info.value)


def test_another_game_is_refused(path: Path) -> None:
    class Other(Dobutsu):
        id = "other_v0"

    for ask in (lambda agent: agent.act(Other().state()), lambda agent: agent.check_game(Other())):
        with pytest.raises(CheckpointError, match="this network is dobutsu_v0, not other"):
            ask(PPOAgent(path))


def test_another_setup_and_length_is_no_other_game(path: Path) -> None:
    PPOAgent(path).act(dk.game("dobutsu_v0", max_turns=10).state())


def test_plain_python_games_can_be_played(path: Path) -> None:
    native, plain = GAME.state(), Dobutsu().state()
    agent = PPOAgent(path, deterministic=True)
    assert agent.act(native) == agent.act(plain)


def write_header(path: Path, **changes: object) -> None:
    """Write the file anew with some entries of its header changed."""
    header = {"format": "deskovky-ppo", "version": 1, "config": asdict(CONFIG), **changes}
    save_file(load_file(path), path, metadata={"deskovky": json.dumps(header)})


def test_truncated_file(path: Path) -> None:
    whole = path.read_bytes()
    for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=path.name):
            load_network(path)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    for missing in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(CheckpointError, match="cannot be read"):
            load_network(missing)


def test_foreign_files(path: Path, tmp_path: Path) -> None:
    save_file(load_file(path), path, metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="not a network of"):
        load_network(path)
    save_file(load_file(path), path)
    with pytest.raises(CheckpointError, match="not a network of"):
        load_network(path)
    write_header(path, version=2)
    with pytest.raises(CheckpointError, match="deskovky-ppo of format version 2, but this"):
        load_network(path)
    write_header(path, format="deskovky-alphazero")
    with pytest.raises(CheckpointError, match="deskovky-alphazero of format version 1, but this"):
        load_network(path)
    for text in ("", "{", "[]", "{}"):
        save_file(load_file(path), path, metadata={"deskovky": text})
        with pytest.raises(CheckpointError, match=path.name):
            load_network(path)
    pickled = tmp_path / "pickled.pt"
    torch.save({"format": "deskovky-ppo"}, pickled)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_network(pickled)


@pytest.mark.parametrize(
    "changes",
    [
        {"num_actions": 131},
        {"hidden": [16, 33]},
        {"hidden": [2**40]},
        {"hidden": []},
        {"hidden": 16},
        {"num_layers": 10**9},
        {"num_layers": 2},
        {"channels": -1},
        {"channels": 8.0},
        {"observation_shape": [17, 4]},
        {"unknown": 1},
    ],
)
def test_a_description_that_does_not_fit_its_tensors(
    path: Path, changes: dict[str, object]
) -> None:
    write_header(path)
    load_network(path)
    write_header(path, config={**asdict(CONFIG), **changes})
    with pytest.raises(CheckpointError, match="damaged"):
        load_network(path)


def test_weights_that_are_no_numbers(path: Path) -> None:
    network = make_network()
    network.value.bias[0] = float("nan")
    save_network(network, path)
    with pytest.raises(CheckpointError, match="finite"):
        load_network(path)
    save_network(make_network().double(), path)
    with pytest.raises(CheckpointError, match="float32"):
        load_network(path)


def test_equal_networks_are_equal_files(path: Path, tmp_path: Path) -> None:
    for i in range(5):
        save_network(make_network(), tmp_path / f"{i}")
        assert (tmp_path / f"{i}").read_bytes() == path.read_bytes()


def test_a_file_is_replaced_as_a_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save_network(make_network(seed=1), path)
    assert path.read_bytes() == before


# --- Self-play ---


def make_learner(**options: object) -> tuple[SelfPlayVecEnv, Pool, MaskablePPO]:
    args = Args(num_envs=16, num_steps=32, batch_size=128, **options)  # type: ignore[arg-type]
    config = NetworkConfig.of(GAME, args.channels, args.num_layers, args.hidden)
    pool = Pool(args, [], seed=0)
    env = SelfPlayVecEnv(GAME, pool, args)
    model = make_model(VecMonitor(env), config, args, seed=0)
    pool.add(frozen_copy(model, config), "start")
    return env, pool, model


class Nothing(BaseCallback):
    """Does nothing at each step."""

    def _on_step(self) -> bool:
        return True


def test_the_learner_always_has_a_legal_action_and_the_side_it_is_told() -> None:
    env, _, _ = make_learner()
    env.seed(3)
    env.reset()
    sides = set()
    rng = np.random.default_rng(0)
    finished = 0
    for _ in range(300):
        masks = env.action_masks()
        assert masks.shape == (16, GAME.num_actions) and masks.any(axis=1).all()
        for i in range(16):
            state = env.games.state(i)
            assert state.to_move == env.reset_infos[i]["side"]
            assert np.array_equal(state.legal_action_mask(), masks[i])
            sides.add(state.to_move)
        _, rewards, dones, infos = env.step(
            np.array([rng.choice(mask.nonzero()[0]) for mask in masks])
        )
        assert not rewards[~dones].any()
        assert set(rewards[dones].tolist()) <= {-1.0, 0.0, 1.0}
        assert all(infos[i]["opponent"].name == "start" for i in dones.nonzero()[0])
        finished += int(dones.sum())
    assert sides == {0, 1}
    assert finished > 100


def test_ratio_is_one_before_the_first_update() -> None:
    _, _, model = make_learner()
    _, callback = model._setup_learn(10_000, Nothing())
    assert model.env
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, 32)
    buffer = model.rollout_buffer
    assert buffer.action_masks.reshape(32, 16, -1).any(axis=-1).all()
    # In the batches they were collected in the probabilities are the same to the last bit ...
    for step in range(32):
        with torch.no_grad():
            _, log_probs, _ = model.policy.evaluate_actions(
                torch.as_tensor(buffer.observations[step]),
                torch.as_tensor(buffer.actions[step]).flatten().long(),
                torch.as_tensor(buffer.action_masks[step]),
            )
        ratio = torch.exp(log_probs - torch.as_tensor(buffer.log_probs[step]))
        assert torch.equal(ratio, torch.ones(16))
    # ... and in those of the update up to the rounding of differently blocked matrix products.
    for batch in buffer.get(128):
        with torch.no_grad():
            _, log_probs, _ = model.policy.evaluate_actions(
                batch.observations, batch.actions.flatten().long(), batch.action_masks
            )
        ratio = torch.exp(log_probs - batch.old_log_prob)
        torch.testing.assert_close(ratio, torch.ones(128), rtol=0, atol=1e-5)


def test_members_never_change_while_the_learner_does(tmp_path: Path) -> None:
    _, pool, model = make_learner()

    def hash_of(network: PolicyNetwork) -> str:
        save_network(network, tmp_path / "network")  # equal networks are equal files
        return file_hash(tmp_path / "network")

    member = pool.members[0].network
    before = hash_of(member)
    weights = {name: tensor.clone() for name, tensor in member.state_dict().items()}
    model.learn(16 * 32 * 2, Nothing())
    assert hash_of(member) == before
    learned = frozen_copy(model, member.config)
    assert hash_of(learned) != before
    assert not any(torch.equal(t, weights[name]) for name, t in learned.state_dict().items())


def test_the_frozen_copy_plays_as_the_learner_does() -> None:
    _, pool, model = make_learner()
    states = random_states(64)
    observations = np.stack([state.observation() for state in states])
    masks = np.stack([state.legal_action_mask() for state in states])
    player = PolicyPlayer(pool.members[0].network, deterministic=True)
    learner, _ = model.predict(observations, action_masks=masks, deterministic=True)
    assert np.array_equal(player.act_batch(states), learner)
    values = model.policy.predict_values(torch.as_tensor(observations)).flatten()
    torch.testing.assert_close(player.network(torch.as_tensor(observations))[1], values.detach())


def make_pool(**options: object) -> Pool:
    pool = Pool(Args(pool_size=3, **options), [RandomOpponent()], seed=0)  # type: ignore[arg-type]
    for name in "abcd":
        pool.add(make_network(), name)
    return pool


def shares(pool: Pool) -> dict[str, float]:
    drawn = [pool.draw().name for _ in range(4000)]
    return {name: drawn.count(name) / 4000 for name in {*drawn}}


def test_opponents_are_drawn_for_each_game() -> None:
    pool = make_pool(newest_probability=0.5)
    assert [member.name for member in pool.members] == ["b", "c", "d"]  # the oldest has left
    # Half the time the newest; otherwise, nothing being known, it, two others and the baseline.
    assert shares(pool) == pytest.approx(
        {"b": 1 / 8, "c": 1 / 8, "d": 5 / 8, "test-random": 1 / 8}, abs=0.04
    )


def test_opponents_are_drawn_by_what_the_learner_scored_against_them() -> None:
    scores = {"b": 0.9, "c": 0.6, "d": 0.5, "test-random": 0.8}
    pool = make_pool(newest_probability=0.0)
    for name, score in scores.items():
        pool.scores[name] = Score(score, 100)
    # (1 - score)^2 is 0.01, 0.16, 0.25 and 0.04, together 0.46.
    assert shares(pool) == pytest.approx(
        {"b": 1 / 46, "c": 16 / 46, "d": 25 / 46, "test-random": 4 / 46}, abs=0.03
    )
    pool.args.matchmaking_power = 0.0
    assert shares(pool) == pytest.approx(dict.fromkeys(scores, 0.25), abs=0.03)
    # Even those that always lose are drawn, if there are no others.
    pool.args.matchmaking_power = 100.0
    pool.scores = {name: Score(1.0, 10**6) for name in scores}
    assert shares(pool) == pytest.approx(dict.fromkeys(scores, 0.25), abs=0.03)


def test_scores_follow_the_latest_games() -> None:
    pool = make_pool()
    opponent = pool.members[0]
    assert pool.score(opponent) == Score(0.5, 2)
    for points in (1.0, 1.0, 0.5, 0.0):
        pool.record(opponent, points)
    assert pool.score(opponent).mean == pytest.approx(3.5 / 6)  # with one won, one lost
    assert pool.score(opponent).games == 6
    assert pool.score(pool.members[1]) == Score(0.5, 2)
    for _ in range(1000):
        pool.record(opponent, 1.0)
    assert pool.score(opponent).mean > 0.99
    for _ in range(100):
        pool.record(opponent, 0.0)
    assert pool.score(opponent).mean == pytest.approx(0.99**100, abs=0.01)  # all but forgotten


def test_each_game_keeps_its_opponent_to_the_end_and_opponents_act_in_batches() -> None:
    class Counting(RandomOpponent):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name
            self.batches: list[int] = []

        def act_batch(self, states):  # type: ignore[no-untyped-def]
            self.batches.append(len(states))
            return super().act_batch(states)

    env, pool, _ = make_learner(newest_probability=0.0)
    one, other = Counting("one"), Counting("other")
    pool.members.clear()
    pool.baselines[:] = [one, other]
    env.seed(0)
    env.reset()
    rng = np.random.default_rng(0)
    met = set()
    for _ in range(100):
        before = dict(env.games.opponents)
        actions = np.array([rng.choice(mask.nonzero()[0]) for mask in env.action_masks()])
        _, _, dones, infos = env.step(actions)
        for i in range(16):
            if dones[i]:
                assert infos[i]["opponent"] is before[i]
                met.add(infos[i]["opponent"].name)
            else:
                assert env.games.opponents[i] is before[i]
    assert met == {"one", "other"}
    # One call for all games of an opponent: about 4 of the 8 that wait each time.
    assert np.mean(one.batches) > 3 and np.mean(other.batches) > 3


def test_copying_a_run_directory_file_is_enough(path: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.safetensors"
    shutil.copy(path, moved)
    agent = PPOAgent(moved, deterministic=True)
    assert agent.name == f"ppo:{moved}?deterministic=true"


def test_opponents_of_another_game_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    out = tmp_path / "run"
    for name in ("opponents", "eval_opponents"):
        players: dict[str, Any] = {name: ("random", "pretrained:dobutsu_v0")}
        with pytest.raises(CheckpointError, match="network is dobutsu_v0, not xiangqi_v0"):
            train(Args("xiangqi_v0", out=out, timesteps=64, **players))
        assert not out.exists()
