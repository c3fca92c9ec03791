"""What agents think of a state."""

from pathlib import Path

import numpy as np
import pytest

import deskovky as dk
from deskovky.agents import Agent, analyse
from deskovky.envs.protocol import State
from deskovky.errors import IllegalActionError

WON = "3/1l1/1L1/3[-] w"  # b2b3 takes the lion, nothing else wins
SPECS = ["random", "greedy", "minimax:depth=3", "mcts:simulations=200"]


class LastAction(Agent):
    """An agent that knows only how to act."""

    def act(self, state: State) -> int:
        return int(state.legal_actions()[-1])


def trained(name: str, folder: Path) -> str:
    """Return the spec of a network for Dobutsu that has hardly been trained."""
    pytest.importorskip("sb3_contrib")
    from deskovky.train import alphazero, ppo_selfplay

    if name == "alphazero":
        path = alphazero.train(
            alphazero.Args(
                out=folder / "run", iterations=1, num_workers=1, num_games=4, steps_per_iteration=8,
                num_simulations=4, batch_size=8, width=16, num_blocks=1, eval_every=0,
                tensorboard=False,
            )
        )  # fmt: skip
        return f"alphazero:{path}?simulations=16"
    path = ppo_selfplay.train(
        ppo_selfplay.Args(
            out=folder / "run", game="dobutsu_v0", timesteps=64, num_envs=4, num_steps=8,
            batch_size=16, hidden=(16,), channels=4, eval_steps=10**9,
        )
    )  # fmt: skip
    return f"ppo:{path}?deterministic=true"


@pytest.mark.parametrize("name", [*SPECS, "last action", "alphazero", "ppo"])
def test_policy_is_a_distribution_over_legal_actions(name: str, tmp_path: Path) -> None:
    if name == "last action":
        agent: Agent = LastAction()
    else:
        agent = dk.agent(name if name in SPECS else trained(name, tmp_path), seed=0)
    for fen in (None, WON):
        state = dk.game("dobutsu_v0").state(fen)
        before = state.copy()
        policy, value = analyse(agent, state)
        assert state == before
        assert policy.shape == (132,) and policy.dtype == np.float32
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert not policy[~state.legal_action_mask()].any() and (policy >= 0).all()
        assert value is None or -1 <= value <= 1


@pytest.mark.parametrize("spec", SPECS[1:])
def test_policy_prefers_a_win(spec: str) -> None:
    state = dk.game("dobutsu_v0").state(WON)
    policy, value = analyse(dk.agent(spec, seed=0), state)
    assert state.action_to_text(int(policy.argmax())) == "b2b3"
    assert value == (None if spec == "greedy" else 1.0)


def test_an_agent_that_only_acts_has_one_choice() -> None:
    state = dk.game("dobutsu_v0").state()
    policy, value = analyse(LastAction(), state)
    assert policy.nonzero()[0].tolist() == [state.legal_actions()[-1]] and value is None


@pytest.mark.parametrize("name", [*SPECS, "last action"])
def test_nothing_to_think_about_after_the_end(name: str) -> None:
    state = dk.game("dobutsu_v0").state(WON)
    state.push("b2b3")
    agent = LastAction() if name == "last action" else dk.agent(name, seed=0)
    with pytest.raises(IllegalActionError, match="over"):
        analyse(agent, state)
