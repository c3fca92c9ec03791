"""The Stable-Baselines3 vector environment: MaskablePPO on it, masks, rewards, infos."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from opponents import HashOpponent, RandomOpponent, ScriptOpponent
from reference.dobutsu import Dobutsu
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

import deskovky
from deskovky.envs.aec import BoardGameEnv
from deskovky.envs.gymnasium_env import SinglePlayerEnv
from deskovky.envs.sb3 import SB3VecEnv
from deskovky.errors import ConfigurationError, IllegalActionError

torch.set_num_threads(1)

GAMES = {
    "white wins": "b2b3 a4a3 b3b4+".split(),
    "black wins": "c1c2 a4a3 b1a2 a3a2".split(),
    "draw": "c1c2 a4a3 c2c1 a3a4 c1c2 a4a3 c2c1 a3a4".split(),
}


def random_actions(env: SB3VecEnv, rng: np.random.Generator) -> np.ndarray:
    masks = env.action_masks()
    assert masks.any(1).all()  # the learner is never asked to act without a legal action
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


@pytest.mark.parametrize("id", [*deskovky.games(), "reference"])
def test_maskable_ppo_learns(id: str) -> None:
    game = Dobutsu() if id == "reference" else deskovky.game(id)
    env = SB3VecEnv(game, num_envs=4)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=2, seed=0)
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(384)
    after = list(model.policy.parameters())
    assert any(not torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert all(torch.isfinite(parameter).all() for parameter in after)


def test_same_seed_same_training() -> None:
    def train(seed: int) -> torch.Tensor:
        env = SB3VecEnv("dobutsu_v0", num_envs=8, side="random")
        model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=seed)
        model.learn(256)
        return torch.cat([parameter.detach().flatten() for parameter in model.policy.parameters()])

    assert torch.equal(train(1), train(1))
    assert not torch.equal(train(1), train(2))


def test_monitor_and_evaluation() -> None:
    env = VecMonitor(SB3VecEnv("dobutsu_v0", num_envs=2, seed=0))
    assert is_masking_supported(env)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, seed=0)
    returns, lengths = evaluate_policy(model, env, n_eval_episodes=10, return_episode_rewards=True)
    assert set(np.round(returns)) <= {-1, 0, 1}  # type: ignore[call-overload]
    assert min(lengths) >= 1  # type: ignore[type-var]


def test_masks_reach_sb3() -> None:
    env = SB3VecEnv("dobutsu_v0", num_envs=3, seed=0)
    env.reset()
    assert is_masking_supported(env) and env.has_attr("action_masks")
    masks = get_action_masks(env)
    assert masks.shape == (3, 132) and masks.dtype == np.bool_
    for i in range(3):
        assert np.array_equal(masks[i], env.env_method("state", indices=i)[0].legal_action_mask())
    assert np.array_equal(env.env_method("action_masks", indices=[2])[0], masks[2])
    assert not env.has_attr("no_such_attribute")
    with pytest.raises(AttributeError):
        env.env_method("no_such_method")
    assert env.env_is_wrapped(VecMonitor) == [False] * 3


@pytest.mark.parametrize("turns", GAMES.values(), ids=GAMES.keys())
@pytest.mark.parametrize("side", [0, 1])
def test_aec_gymnasium_and_sb3_agree_on_the_rewards(turns: list[str], side: int) -> None:
    aec = BoardGameEnv("dobutsu_v0")
    aec.reset()
    for turn in turns:
        aec.step(aec.state_object.action_from_text(turn))
    expected = aec.rewards[f"player_{side}"]

    opponent = ScriptOpponent(turns)
    single = SinglePlayerEnv("dobutsu_v0", opponent, side)
    single.reset()
    vector = SB3VecEnv("dobutsu_v0", 2, opponent, side)
    vector.reset()
    steps = []
    for turn in turns[side::2]:
        action = single.state_object.action_from_text(turn)
        observation, reward, terminated, _, _ = single.step(action)
        _, rewards, dones, infos = vector.step(np.array([action, action]))
        assert rewards.tolist() == [reward, reward] and dones.tolist() == [terminated] * 2
        steps.append((observation, reward, terminated, infos))
    observation, reward, terminated, infos = steps[-1]
    assert terminated and reward == expected
    assert expected == {3: 1, 4: -1, 8: 0}[len(turns)] * (1 - 2 * side)
    for info in infos:
        assert np.array_equal(info["terminal_observation"], observation)
        assert info["TimeLimit.truncated"] is False
        assert info["termination"] == aec.infos[f"player_{side}"]["termination"]


def test_returns_are_those_of_a_loop_without_autoreset() -> None:
    """SB3's view of two hundred steps against single games, restarted by hand."""
    n = 5
    vector = SB3VecEnv("dobutsu_v0", n, HashOpponent(), side=1, max_turns=10)
    singles = [SinglePlayerEnv("dobutsu_v0", HashOpponent(), 1, max_turns=10) for _ in range(n)]
    observations: Any = vector.reset()
    expected = [single.reset()[0] for single in singles]
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        assert np.array_equal(observations, np.stack(expected))
        actions = random_actions(vector, rng)
        observations, rewards, dones, infos = vector.step(actions)
        for i, single in enumerate(singles):
            expected[i], reward, terminated, truncated, info = single.step(actions[i])
            assert rewards[i] == reward and dones[i] == (terminated or truncated)
            if dones[i]:
                assert np.array_equal(infos[i]["terminal_observation"], expected[i])
                assert infos[i]["TimeLimit.truncated"] is truncated
                seen.add((reward, truncated))
                expected[i] = single.reset()[0]
            else:
                assert infos[i] == {}
    assert seen >= {(1, False), (-1, False), (0, True)}


def test_illegal_action_loses() -> None:
    env = SB3VecEnv("dobutsu_v0", 2, side=0, seed=0)
    env.reset()
    _, rewards, dones, infos = env.step(np.array([0, 4]))
    assert rewards[0] == -1 and dones[0] and infos[0]["termination"] == "illegal_action"
    assert env.action_masks().any(1).all()


def test_the_opponent_can_be_changed() -> None:
    env = SB3VecEnv("dobutsu_v0", 2, RandomOpponent(), side=0)
    env.reset()
    other = HashOpponent()
    env.set_attr("opponent", other)
    assert env.opponent is other and env.get_attr("opponent") == [other, other]
    state = env.env_method("state")[0]
    state.apply(4)
    env.step(np.array([4, 4]))
    state.apply(other.act(state))
    assert env.env_method("state") == [state, state]


def test_kept_observations_do_not_change() -> None:
    """SB3 stores the observation of the step before only after the next step."""
    env = SB3VecEnv("dobutsu_v0", 4, seed=0)
    kept: list[Any] = [env.reset()]
    copies = [kept[0].copy()]
    rng = np.random.default_rng(0)
    for _ in range(10):
        kept.append(env.step(random_actions(env, rng))[0])
        copies.append(kept[-1].copy())
    assert all(map(np.array_equal, kept, copies))


def test_import_is_lazy() -> None:
    code = (
        "import sys, deskovky; "
        "assert not {'torch', 'stable_baselines3', 'sb3_contrib', 'pygame'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_wrong_calls() -> None:
    with pytest.raises(ConfigurationError, match="num_envs"):
        SB3VecEnv("dobutsu_v0", num_envs=0)
    with pytest.raises(IllegalActionError, match="there is no game yet"):
        SB3VecEnv("dobutsu_v0", num_envs=2).step(np.zeros(2, np.int64))
