"""Agents, AlphaZero, PPO and evaluation run on every registered game; turns of several steps and
forced passes are searched as one player's turn."""

from pathlib import Path

import pytest

import deskovky as dk
from deskovky.envs.protocol import State

pytest.importorskip("sb3_contrib")

from deskovky.train import alphazero, evaluate, ppo_selfplay

# Built around what the draughts games make hard. Each is won by the player to move in one turn.
MULTI_JUMP_WINS = {
    # Two jumps take both enemy men; the second lands behind the first.
    "ossetian_draughts_v0": ("7/7/7/3m3/7/1m5/M6 w", "a1c3e5"),
    "gothic_draughts_v0": ("8/8/8/8/3m4/8/1m6/M7 w", "a1c3e5"),
    "medieval_battle_v0": ("10/10/10/10/10/10/3f6/10/1f8/F9 w", "a1c3e5"),
}


@pytest.mark.parametrize("id", dk.games())
@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=2", "mcts:simulations=50"])
def test_agents_play_legally(id: str, spec: str) -> None:
    agent = dk.agent(spec, seed=0)
    state = dk.game(id, max_turns=12).state()
    while not state.is_over:
        state.apply(agent.act(state))
    assert state.history


@pytest.mark.parametrize("id", dk.games())
def test_alphazero_trains_and_plays(id: str, tmp_path: Path) -> None:
    args = alphazero.Args(
        out=tmp_path / "run", game=id, max_turns=10, iterations=2, num_workers=1, num_games=4,
        steps_per_iteration=12, num_simulations=4, batch_size=16, width=16, num_blocks=1,
        eval_every=0, tensorboard=False,
    )  # fmt: skip
    path = alphazero.train(args)
    game = dk.game(id, max_turns=10)
    agent = dk.agent(f"alphazero:{path}?simulations=4", seed=0)
    match = evaluate.evaluate(game, agent, dk.agent("random", seed=0), games=4, seed=0)
    assert match.total.games == 4


@pytest.mark.parametrize("id", dk.games())
def test_ppo_trains_and_plays(id: str, tmp_path: Path) -> None:
    args = ppo_selfplay.Args(
        out=tmp_path / "run", game=id, max_turns=30, timesteps=128, num_envs=8, num_steps=8,
        batch_size=32, hidden=(16,), channels=4, eval_steps=10**9,
    )  # fmt: skip
    path = ppo_selfplay.train(args)
    agent = dk.agent(f"ppo:{path}", seed=0)
    state = dk.game(id, max_turns=30).state()
    while not state.is_over:
        state.apply(agent.act(state))


def play_one_turn(state: State, spec: str) -> str:
    """Let one agent make all steps of a turn; return its text."""
    agent = dk.agent(spec, seed=0)
    player = state.to_move
    while not state.is_over and state.to_move == player:
        state.apply(agent.act(state))
        if not state.is_turn_open:
            break
    return state.history[-1]


@pytest.mark.parametrize("spec", ["minimax:depth=1", "minimax:depth=3", "mcts:simulations=300"])
@pytest.mark.parametrize("id", MULTI_JUMP_WINS)
def test_a_win_of_several_jumps_is_found(id: str, spec: str) -> None:
    fen, turn = MULTI_JUMP_WINS[id]
    state = dk.game(id).state(fen)
    assert play_one_turn(state, spec) == turn
    assert state.outcome == dk.Outcome(0, dk.Termination.NO_PIECES)


def test_the_score_of_a_jump_chain_is_the_jumpers() -> None:
    """In mid-turn, with the same player to jump again, the value keeps its sign."""
    from deskovky import _core

    for id, (fen, _) in MULTI_JUMP_WINS.items():
        state = dk.game(id).state(fen)
        before = _core.minimax(state, depth=2)
        state.apply(before.action)
        assert state.is_turn_open and state.to_move == 0
        after = _core.minimax(state, depth=2)
        assert before.score > 10_000 and after.score > 10_000


@pytest.mark.parametrize("spec", ["minimax:depth=4", "mcts:simulations=2000"])
def test_forced_passes_are_the_other_players_gain(spec: str) -> None:
    """Ossetian draughts: White's blocked man must pass while Black's man walks on; the value that
    a search gives White does not flip with each of its passes."""
    from deskovky import _core

    # White's man on a7 can never move; Black's two men stand far from everything.
    state = dk.game("ossetian_draughts_v0").state("M6/6m/6m/7/7/7/7 w")
    assert state.turns() == ["pass"]
    agent = dk.agent(spec, seed=0)
    assert state.action_to_text(agent.act(state)) == "pass"
    assert _core.minimax(state, depth=6).score < 0
    state.push("pass")
    assert _core.minimax(state, depth=6).score > 0
    while not state.is_over:
        state.apply(agent.act(state))
    assert state.outcome == dk.Outcome(1, dk.Termination.BLOCKED)
    assert "pass" in state.history[2:]
