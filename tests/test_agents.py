"""Agents from text, and the searches against plain ones on the State protocol."""

import os
import pickle
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.dobutsu import Dobutsu
from toy_game import StripDraughts

import deskovky as dk
from deskovky import _core, cli
from deskovky.agents import Agent, agent, agents, register_agent, spec_text
from deskovky.agents.mcts import MctsAgent
from deskovky.agents.minimax import MinimaxAgent
from deskovky.agents.random_agent import RandomAgent
from deskovky.agents.registry import AGENTS
from deskovky.envs.protocol import Game, State, Termination
from deskovky.notebook.controller import Controller
from deskovky.train.arena import arena
from deskovky.train.evaluate import evaluate

RULESETS = ("standard", "fairy", "delayed_try")
SPECS = (
    "random",
    "greedy",
    "minimax:depth=2",
    "minimax:nodes=300",
    "mcts:simulations=60",
    "mcts:simulations=60,exploration=0.5",
)
WIN = 1_000_000
SEEN_WIN = WIN - 1000  # only quiescence sees it
PASS = StripDraughts().num_actions - 1


def step_back(state: State) -> int | None:
    """Return the step that takes back the mover's last one (of Dobutsu), None if not legal."""
    texts = state.history[-2:]
    if len(texts) == 2 and "@" not in texts[0]:
        for action in state.legal_actions().tolist():
            if state.action_to_text(action) == texts[0][2:4] + texts[0][:2]:
                return int(action)
    return None


def random_walk(state: State, rng: random.Random, num_steps: int, going_back: float) -> None:
    """Make random steps, none that ends the game.

    going_back: how likely a player is to take back its last step, so that positions recur.
    """
    for _ in range(num_steps):
        actions = state.legal_actions().tolist()
        rng.shuffle(actions)
        if rng.random() < going_back and (back := step_back(state)) is not None:
            actions.insert(0, back)
        for action in actions:
            state.apply(action)
            if not state.is_over:
                break
            state.undo()
        else:
            return


def positions(
    game: dk.Game, count: int, seed: int, most_steps: int = 20, going_back: float = 0.0
) -> Iterator[State]:
    """Yield ongoing states after random steps."""
    rng = random.Random(seed)
    for _ in range(count):
        state = game.state()
        random_walk(state, rng, rng.randint(0, most_steps), going_back)
        yield state


def toy_positions(count: int, seed: int, most_pieces: int = 6) -> Iterator[State]:
    """Yield ongoing states of the toy game: random boards, some of them in mid-turn."""
    rng = random.Random(seed)
    while count > 0:
        most = most_pieces // 2
        board = list("P" * rng.randint(1, most) + "p" * rng.randint(1, most))
        board += "." * (12 - len(board))
        rng.shuffle(board)
        text = "".join("1" if piece == "." else piece for piece in board)
        text = re.sub("1+", lambda run: str(len(run[0])), f"{text[:6]}/{text[6:]}")
        state = StripDraughts().state(f"{text} {rng.choice('wb')}")
        if state.is_over:
            continue
        jumps = [a for a in state.legal_actions().tolist() if 24 <= a < 36]
        if jumps and rng.random() < 0.8:
            state.apply(jumps[0])
            if state.is_over:
                continue
        count -= 1
        yield state


def guess_for_player_0(state: State, num_turns: int) -> int:
    """What the leaves of a search score: wins that only quiescence sees count from the root."""
    guess = _core.quiescence(state)
    if abs(guess) > SEEN_WIN - 1000:
        guess -= num_turns if guess > 0 else -num_turns
    return guess * (1 if state.to_move == 0 else -1)


def score_for_player_0(state: State, depth: int, num_turns: int = 0) -> int:
    """Full-width search without any change of sign: player 0 maximises, player 1 minimises."""
    if state.is_over:
        return int(state.returns()[0]) * (WIN - num_turns)
    if depth == 0 and not state.is_turn_open:
        return guess_for_player_0(state, num_turns)
    best = max if state.to_move == 0 else min
    return best(scores_for_player_0(state, depth, num_turns).values())


def scores_for_player_0(state: State, depth: int, num_turns: int = 0) -> dict[int, int]:
    """The score of each action."""
    scores = {}
    for action in state.legal_actions().tolist():
        state.apply(action)
        done = 0 if state.is_turn_open else 1
        scores[action] = score_for_player_0(state, depth - done, num_turns + done)
        state.undo()
    return scores


def check_minimax(
    state: State, depth: int, seed: int = 0, table_mb: int = 16
) -> _core.MinimaxResult:
    """Compare score, action and line of play with the full-width search."""
    sign = 1 if state.to_move == 0 else -1
    scores = {action: sign * s for action, s in scores_for_player_0(state, depth).items()}
    result = _core.minimax(state, depth=depth, seed=seed, table_mb=table_mb)
    assert result.score == max(scores.values())
    assert scores[result.action] == result.score

    # Played out, the principal variation ends at that score.
    line = result.principal_variation
    assert line[0] == result.action
    end = state.copy()
    for action in line:
        end.apply(action)
    if result.turns_to_end is not None:
        assert end.is_over
        assert result.score == sign * int(end.returns()[0]) * (WIN - result.turns_to_end)
        assert result.value == (1.0 if result.score > 0 else -1.0)
    else:
        assert result.depth == depth
        assert -1 < result.value < 1 and np.sign(result.value) == np.sign(result.score)
        if not end.is_over:
            assert result.score == sign * _core.evaluate(end) * (1 if end.to_move == 0 else -1)
    return result


# --- Specs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_name_is_the_spec_and_makes_an_equal_agent(spec: str) -> None:
    first = agent(spec, seed=3)
    assert isinstance(first, Agent)
    assert first.name == spec
    again = agent(first.name, seed=3)
    states = list(positions(dk.game("dobutsu"), 8, seed=1))
    assert first.act_batch(states).tolist() == again.act_batch(states).tolist()


def test_defaults_and_canonical_names() -> None:
    assert agent("minimax").name == "minimax:depth=4"
    assert agent("minimax:time_ms=20").name == "minimax:time_ms=20"
    assert agent("minimax:nodes=10,depth=03").name == "minimax:depth=3,nodes=10"
    assert agent("minimax:table_mb=16").name == "minimax:depth=4"
    assert agent("minimax:table_mb=1").name == "minimax:depth=4,table_mb=1"
    assert agent("mcts").name == "mcts:simulations=800"
    assert agent("mcts:exploration=2").name == "mcts:simulations=800,exploration=2"
    assert spec_text("alphazero", "a/b.pt", simulations=64, c=1.5) == (
        "alphazero:a/b.pt?simulations=64&c=1.5"
    )


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("", ["''", "random", "minimax"]),
        ("minmax:depth=2", ["'minmax'", "did you mean 'minimax'", "random", "mcts", "ppo"]),
        ("random:depth=2", ["'depth'", "there are: none"]),
        ("minimax:dept=2", ["'dept'", "did you mean 'depth'", "nodes", "time_ms", "table_mb"]),
        ("minimax:seed=2", ["'seed'", "depth"]),
        ("minimax:depth", ["depth = ''", "whole number"]),
        ("minimax:depth=", ["depth = ''", "whole number"]),
        ("minimax:depth=two", ["depth = 'two'", "whole number"]),
        ("minimax:depth=2.5", ["depth = '2.5'", "whole number"]),
        ("minimax:depth=0", ["depth = 0", "1 to 63"]),
        ("minimax:depth=64", ["depth = 64", "1 to 63"]),
        ("minimax:depth=99999999999999999999", ["depth", "whole number"]),
        ("minimax:nodes=-1", ["nodes = -1"]),
        ("minimax:time_ms=nan", ["time_ms = nan"]),
        ("minimax:depth=2,depth=3", ["'depth'", "twice"]),
        ("minimax:depth=2,", ["''", "depth"]),
        ("mcts:simulations=0", ["simulations = 0"]),
        ("mcts:exploration=-1", ["exploration = -1"]),
        ("mcts:exploration=inf", ["exploration = inf"]),
    ],
)
def test_bad_spec_names_what_is_wrong_and_what_there_is(spec: str, names: list[str]) -> None:
    with pytest.raises(dk.AgentSpecError) as error:
        agent(spec)
    for name in names:
        assert name in str(error.value)


def test_a_spec_is_a_text() -> None:
    with pytest.raises(dk.AgentSpecError):
        agent(4)  # type: ignore[arg-type]


class FileAgent(RandomAgent):
    """Stands for agents that are loaded from a file."""

    def __init__(
        self, path: str, *, simulations: int = 8, is_calm: bool = False, seed: int | None = None
    ) -> None:
        super().__init__(seed=seed)
        self.path, self.simulations, self.is_calm = path, simulations, is_calm


def test_registering_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskovky.agents.registry.AGENTS", dict(AGENTS))
    register_agent("file", FileAgent)
    assert "file" in agents()
    made = agent("file:C:/a b/best.pt?simulations=64&is_calm=true", seed=1)
    assert isinstance(made, FileAgent)
    assert (made.path, made.simulations, made.is_calm) == ("C:/a b/best.pt", 64, True)
    for spec, name in [
        ("file", "path"),
        ("file:?simulations=1", "path"),
        ("file:x?is_calm=perhaps", "true or false"),
        ("file:x?calm=true", "simulations, is_calm"),
    ]:
        with pytest.raises(dk.AgentSpecError, match=name):
            agent(spec)
    for taken in ("file", "random", "", "a:b", "a b"):
        with pytest.raises(dk.AgentSpecError):
            register_agent(taken, FileAgent)
    register_agent("lost", "no_such_package.of_ours:Agent")
    with pytest.raises(dk.AgentSpecError, match="no_such_package"):
        agent("lost")


def test_importing_and_making_agents_loads_no_torch() -> None:
    code = (
        "import sys; from deskovky.agents import agent\n"
        "import deskovky as dk; s = dk.game('dobutsu').state()\n"
        f"for spec in {SPECS}: agent(spec, seed=1).act(s)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# --- What all agents share ------------------------------------------------------------------------


@pytest.mark.parametrize("make_game", [lambda: dk.game("dobutsu"), Dobutsu, StripDraughts])
@pytest.mark.parametrize("spec", SPECS)
def test_acts_legally_and_leaves_the_state_alone(spec: str, make_game: type) -> None:
    game = make_game()
    player = agent("mcts:simulations=10" if "mcts" in spec else spec, seed=1)
    for state in positions(game, 6, seed=5):
        before = state.copy()
        action = player.act(state)
        assert type(action) is int and action in state.legal_actions()
        assert state == before
    states = list(positions(game, 3, seed=6))
    actions = player.act_batch(states)
    assert actions.dtype == np.int32 and actions.shape == (3,)
    assert player.act_batch([]).shape == (0,)


@pytest.mark.parametrize("spec", SPECS)
def test_same_seed_same_actions(spec: str) -> None:
    player, twin = agent(spec, seed=7), agent(spec, seed=7)
    states = list(positions(dk.game("dobutsu"), 20, seed=2))
    actions = [player.act(state) for state in states]
    assert actions == twin.act_batch(states).tolist()
    player.reset(7)
    assert actions == [player.act(state) for state in states]
    player.reset(np.int64(7))  # type: ignore[arg-type]  # seeds often come from NumPy
    revived = pickle.loads(pickle.dumps(player))
    assert actions == [player.act(state) for state in states]
    assert actions == [revived.act(state) for state in states]


@pytest.mark.parametrize("spec", ["minimax:nodes=500", "mcts:simulations=50"])
def test_same_actions_in_another_process(spec: str) -> None:
    """Also for a Python game, whatever the seed of Python's own hashes."""
    code = (
        "import sys; sys.path[:0] = ['tests']\n"
        "from toy_game import StripDraughts; from deskovky.agents import agent\n"
        "state = StripDraughts().state(); player = agent(sys.argv[1], seed=4)\n"
        "for _ in range(4): state.apply(player.act(state))\n"
        "print(state.fen())"
    )
    fens = {
        subprocess.run(
            [sys.executable, "-c", code, spec],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).parents[1],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(fens) == 1


@pytest.mark.parametrize("spec", SPECS)
def test_no_action_once_the_game_is_over(spec: str) -> None:
    player = agent(spec, seed=1)
    for game in (dk.game("dobutsu", max_turns=1), Dobutsu(max_turns=1)):
        state = game.state()
        state.push("b2b3")
        assert state.is_over
        with pytest.raises(dk.IllegalActionError, match="over"):
            player.act(state)


def test_seeds_differ_and_none_is_random() -> None:
    state = dk.game("dobutsu").state()
    assert len({agent("random", seed=seed).act(state) for seed in range(40)}) == 4
    assert len({agent("random").act(state) for _ in range(40)}) > 1


# --- Random and greedy ----------------------------------------------------------------------------


def test_random_is_uniform() -> None:
    state = dk.game("dobutsu").state()
    player = agent("random", seed=11)
    counts = Counter(player.act(state) for _ in range(4000))
    assert sorted(counts) == state.legal_actions().tolist()
    chi_squared = sum((count - 1000) ** 2 / 1000 for count in counts.values())
    assert chi_squared < 16.3  # 3 degrees of freedom: exceeded once in a thousand


def greedy_by_hand(state: State) -> list[int]:
    wins, captures = [], []
    enemy = 1 - state.to_move
    for action in state.legal_actions().tolist():
        after = state.copy()
        after.apply(action)
        if after.outcome is not None and after.outcome.winner == state.to_move:
            wins.append(action)
        if after.num_pieces(enemy) < state.num_pieces(enemy):
            captures.append(action)
    return wins or captures or state.legal_actions().tolist()


@pytest.mark.parametrize("game", [*(dk.game("dobutsu", ruleset=r) for r in RULESETS), Dobutsu()])
def test_greedy_wins_else_captures(game: dk.Game) -> None:
    player = agent("greedy", seed=1)
    kinds: Counter[str] = Counter()
    for state in positions(game, 60, seed=8, most_steps=16):
        expected = greedy_by_hand(state)
        assert _core.greedy_actions(state).tolist() == expected
        assert player.act(state) in expected
        state.apply(expected[0])
        kinds["win" if any(state.returns()) else "other"] += 1
    assert kinds["win"] > 3 and kinds["other"] > 3


def test_greedy_captures_step_by_step_in_a_turn_of_several() -> None:
    player = agent("greedy", seed=1)
    state = StripDraughts().state("6/Pp1p2 w")  # two jumps in one turn take all
    state.apply(player.act(state))
    assert state.is_turn_open and state.to_move == 0
    state.apply(player.act(state))
    assert state.outcome == (0, Termination.NO_PIECES)


def test_toy_positions_hold_turns_of_several_steps_and_passes() -> None:
    states = list(toy_positions(20, seed=2))
    assert sum(state.is_turn_open for state in states) >= 2
    assert sum(state.legal_actions().tolist() == [PASS] for state in states) >= 1
    assert {state.to_move for state in states} == {0, 1}


# --- Minimax --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize(("depth", "count"), [(1, 60), (2, 40), (3, 16), (4, 5)])
def test_minimax_is_exact(ruleset: str, depth: int, count: int) -> None:
    game = dk.game("dobutsu", ruleset=ruleset)
    for i, state in enumerate(positions(game, count, seed=depth)):
        check_minimax(state, depth, seed=i)
        check_minimax(state, depth, seed=i, table_mb=0)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_minimax_is_exact_where_the_past_ends_games(ruleset: str) -> None:
    """Positions that have occurred before, and a cap of turns within reach."""
    num_repetitions = 0
    for max_turns in (256, 13):
        game = dk.game("dobutsu", ruleset=ruleset, max_turns=max_turns)
        for i, state in enumerate(positions(game, 14, 5, most_steps=11, going_back=0.9)):
            for depth in (2, 3):
                check_minimax(state, depth, seed=i)
            for action in state.legal_actions().tolist():
                state.apply(action)
                num_repetitions += state.occurrences > 1
                state.undo()
    assert num_repetitions > 10


@pytest.mark.parametrize("steps", [0, 1])
def test_minimax_without_a_depth_avoids_draws(steps: int) -> None:
    state = dk.game("dobutsu_v0", max_turns=steps + 2).state()
    for _ in range(steps):
        state.apply(int(state.legal_actions()[0]))
    assert _core.minimax(state, depth=4).score == 0  # the game is cut off
    limits: list[dict[str, Any]] = [dict(nodes=1000), dict(time_ms=20.0)]
    for limit in limits:
        result = _core.minimax(state, **limit)
        assert result.score == -30 and result.turns_to_end is None


def test_minimax_keeps_its_score_when_it_is_stopped_between_two_depths() -> None:
    """Then no action of the new depth is known, and what is returned is all of the one before."""
    state = dk.game("dobutsu_v0", max_turns=1).state()
    for nodes in range(1, 30):  # every fifth one ends with a depth
        result = _core.minimax(state, nodes=nodes)
        assert result.score == -30, nodes
    state = dk.game("dobutsu_v0").state("gl1/1c1/1C1/ELG[E] w")
    assert _core.minimax(state, nodes=1).score > 0  # an elephant ahead


@pytest.mark.parametrize("ruleset", RULESETS)
def test_minimax_table_never_changes_the_score(ruleset: str) -> None:
    """Up to depth 7 (see minimax.hpp), in positions with a past."""
    num_nodes: Counter[str] = Counter()
    for max_turns in (256, 16):
        game = dk.game("dobutsu", ruleset=ruleset, max_turns=max_turns)
        for i, state in enumerate(positions(game, 40, 9, most_steps=13, going_back=0.9)):
            plain = _core.minimax(state, depth=6 + i % 2, table_mb=0, seed=i)
            tabled = _core.minimax(state, depth=6 + i % 2, seed=i)
            assert (tabled.score, tabled.depth) == (plain.score, plain.depth)
            num_nodes.update(plain=plain.nodes, tabled=tabled.nodes)
    assert num_nodes["tabled"] < 0.8 * num_nodes["plain"]


@pytest.mark.parametrize(
    ("ruleset", "depth", "fen", "turns", "score"),
    [
        ("fairy", 6, "3/3/3/1Ll[-] w", "b1b2 c1c2 b2b1 c2c1 b1b2 c1c2 b2b1 c2c3 b1b2 c3b3 b2b1", 0),
        (
            *("fairy", 7, "el1/2g/1C1/hL1[-] b"),
            *("c3c4 b1a1 c4c3 a1b1 c3c4 b1a1 c4c3 a1b1 c3c4 C@a2 c4c3", -330),
        ),
        ("delayed_try", 6, "3/3/2l/1L1[-] b", "c2c3 b1c2 c3b3 c2b1", 0),
        ("delayed_try", 5, "1l1/2g/C2/1L1[-] b", "c3b3 b1c2 b3c3 c2b2 c3b3", -210),
        ("fairy", 7, "lL1/3/3/3[-] w", "b4a3 a4b4 a3b2 b4a4 b2a3 a4b4 a3b3 b4a4 b3a2 a4b4", 0),
    ],
)
def test_minimax_table_and_repetition(
    ruleset: str, depth: int, fen: str, turns: str, score: int
) -> None:
    """Positions where a table that forgets the past gives another score (found by trying)."""
    state = dk.game("dobutsu", ruleset=ruleset).state(fen)
    for turn in turns.split():
        state.push(turn)
    assert _core.minimax(state, depth=depth, table_mb=0).score == score
    assert _core.minimax(state, depth=depth).score == score


@pytest.mark.parametrize("id", dk.games())
def test_minimax_is_exact_in_every_game(id: str) -> None:
    for ruleset in dk.game(id).rulesets:
        game = dk.game(id, ruleset=ruleset)
        for i, state in enumerate(positions(game, 12, seed=6, most_steps=60)):
            check_minimax(state, 2 if i < 2 else 1, seed=i)
            plain = _core.minimax(state, depth=3, table_mb=0, seed=i)
            assert _core.minimax(state, depth=3, seed=i).score == plain.score


def test_minimax_is_exact_on_a_python_game() -> None:
    for state in positions(Dobutsu(), 6, seed=3):
        check_minimax(state, 2)


def quiescence_by_hand(state: State, num_turns: int = 0) -> int:
    """For player 0, of games where the mover is never in check: the score, captures followed."""
    if state.is_over:
        return int(state.returns()[0]) * (SEEN_WIN - num_turns)
    is_open, enemy = state.is_turn_open, 1 - state.to_move
    before = state.num_pieces(enemy)
    scores = []
    may_stand = False
    for action in state.legal_actions().tolist():
        state.apply(action)
        if is_open or state.num_pieces(enemy) < before:
            scores.append(quiescence_by_hand(state, num_turns + (not state.is_turn_open)))
        else:
            may_stand = True
        state.undo()
    if may_stand:
        scores.append(_core.evaluate(state) * (1 if state.to_move == 0 else -1))
    return max(scores) if state.to_move == 0 else min(scores)


QUIESCENT_GAMES = tuple(id for id in dk.games() if "draughts" in id or "medieval" in id)


@pytest.mark.parametrize("id", QUIESCENT_GAMES)
def test_quiescence_follows_compulsory_captures(id: str) -> None:
    num_forced = 0
    for ruleset in dk.game(id).rulesets:
        for state in positions(dk.game(id, ruleset=ruleset), 60, seed=12, most_steps=60):
            sign = 1 if state.to_move == 0 else -1
            score = _core.quiescence(state)
            assert score == sign * quiescence_by_hand(state)
            num_forced += score != _core.evaluate(state)
    assert num_forced > 5


def test_quiescence_of_python_games() -> None:
    states = [*toy_positions(40, seed=3), *positions(Dobutsu(), 12, seed=3)]
    for state in states:
        sign = 1 if state.to_move == 0 else -1
        assert _core.quiescence(state) == sign * quiescence_by_hand(state)


@pytest.mark.parametrize(
    ("id", "fen", "least", "most"),
    [
        # A chariot may take a protected soldier, but need not.
        ("xiangqi_v0", "4k4/9/9/4p4/4p4/9/9/9/4R4/4K4 w", 700, 900),
        # In check nobody stands still: the only answers lose the chariot or end the game.
        ("xiangqi_v0", "3k5/9/9/9/9/9/9/4r4/9/R3K4 w", -100, 100),
        # The lion gets home.
        ("dobutsu_v0", "3/L2/2l/3[-] w", 998_000, 999_000),
    ],
)
def test_quiescence_of_games_where_captures_are_free(
    id: str, fen: str, least: int, most: int
) -> None:
    assert least <= _core.quiescence(dk.game(id).state(fen)) <= most


@pytest.mark.parametrize("id", dk.games())
def test_evaluation_is_the_sum_of_its_terms(id: str) -> None:
    for state in positions(dk.game(id), 30, seed=15, most_steps=60):
        weights = _core.evaluation_weights(state)
        features = _core.evaluation_features(state)
        assert features.dtype == np.int32 and features.shape == (len(weights),)
        assert _core.evaluate(state) == int(features @ list(weights.values()))
        # The same seen by the other player.
        if not state.is_turn_open and id not in ("xiangqi_v0", "dobutsu_v0", "drakoburg_v0"):
            fen = state.fen().split()
            fen[1] = "b" if fen[1] == "w" else "w"
            assert _core.evaluate(dk.game(id).state(" ".join(fen))) == -_core.evaluate(state)


def test_evaluation_may_be_replaced() -> None:
    state = dk.game("dobutsu").state("1le/1g1/1E1/1LG[Cc] b - - 2 7")
    weights = list(_core.evaluation_weights(state).values())
    usual = _core.minimax(state, depth=3, seed=1)
    assert _core.minimax(state, depth=3, seed=1, weights=weights).score == usual.score
    doubled = _core.minimax(state, depth=3, seed=1, weights=[2 * weight for weight in weights])
    assert doubled.score == 2 * usual.score
    with pytest.raises(dk.ConfigurationError, match="weights"):
        _core.minimax(state, depth=3, weights=weights[1:])
    with pytest.raises(dk.ConfigurationError, match="chick"):
        _core.minimax(state, depth=3, weights=[10**6 if w == 100 else w for w in weights])


def test_a_python_game_may_bring_its_own_evaluation() -> None:
    state = StripDraughts().state()
    assert _core.evaluate(state) == 0 and _core.evaluation_weights(state) == {"piece": 100}

    class Evaluated(type(state)):  # type: ignore[misc]
        def evaluate(self) -> int:
            return 17 if self.to_move == 0 else -17

    state.__class__ = Evaluated
    assert _core.evaluate(state) == 17
    assert _core.minimax(state, depth=2).score == 17


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_minimax_sign_follows_the_player_to_move(depth: int) -> None:
    """Turns of several steps and passes: not every step changes the sign."""
    num_unlike = 0
    for i, state in enumerate(toy_positions(50 if depth < 5 else 20, seed=2)):
        result = check_minimax(state, depth, seed=i)
        num_unlike += score_by_ply(state, depth) != result.score
    assert num_unlike > 0  # a search that changes the sign at every step fails here


def score_by_ply(state: State, depth: int, num_turns: int = 0) -> int:
    """The mistake: negamax that changes the sign after every step."""
    if state.is_over:
        return int(state.returns()[state.to_move]) * (WIN - num_turns)
    if depth == 0 and not state.is_turn_open:
        return guess_for_player_0(state, num_turns) * (1 if state.to_move == 0 else -1)
    best = -WIN
    for action in state.legal_actions().tolist():
        state.apply(action)
        done = 0 if state.is_turn_open else 1
        best = max(best, -score_by_ply(state, depth - done, num_turns + done))
        state.undo()
    return best


def test_minimax_finds_wins_and_losses_at_their_distance() -> None:
    found: Counter[tuple[int, int]] = Counter()  # (player who wins, turns)
    for ruleset in RULESETS:
        game = dk.game("dobutsu", ruleset=ruleset)
        for state in positions(game, 150, seed=21, most_steps=24):
            result = _core.minimax(state, depth=7)
            if result.turns_to_end is None:
                continue
            turns = result.turns_to_end
            assert result.depth == turns == len(result.principal_variation)
            winner = state.to_move if result.score > 0 else 1 - state.to_move
            found[winner, turns] += 1
            if turns <= 3:
                check_minimax(state, turns)
                if turns > 1:  # not earlier
                    assert check_minimax(state, turns - 1).turns_to_end is None
            # Against the best defence each turn brings the end one turn nearer.
            while not state.is_over:
                result = _core.minimax(state, depth=7)
                assert result.turns_to_end == turns
                state.apply(result.action)
                turns -= 1
            assert turns == 0 and state.returns()[winner] == 1
    for player in (0, 1):
        for turns in (1, 2, 3, 4, 5):
            assert found[player, turns] > 0, (player, turns)


def test_minimax_breaks_ties_at_random_among_the_best() -> None:
    several = 0
    for state in positions(dk.game("dobutsu"), 40, seed=4, most_steps=12):
        sign = 1 if state.to_move == 0 else -1
        scores = {a: sign * s for a, s in scores_for_player_0(state, 1).items()}
        best = {a for a, score in scores.items() if score == max(scores.values())}
        chosen = {_core.minimax(state, depth=1, seed=seed).action for seed in range(80)}
        assert chosen == best
        several += len(best) > 1
    assert several > 2


def test_minimax_limits() -> None:
    state = dk.game("dobutsu").state()
    for nodes in (1, 100, 5000):
        result = _core.minimax(state, nodes=nodes)
        assert result.depth >= 1
        assert result.nodes <= max(nodes, 10)  # depth 1 is always completed
        again = _core.minimax(state, nodes=nodes)
        assert (result.score, result.action, result.nodes) == (
            *(again.score, again.action, again.nodes),
        )
    assert _core.minimax(state, nodes=100).depth < _core.minimax(state, nodes=20000).depth
    assert _core.minimax(state, depth=2, nodes=10**6).depth == 2
    assert _core.minimax(state, time_ms=0).depth == 1
    quick, slow = _core.minimax(state, time_ms=2), _core.minimax(state, time_ms=60)
    assert 1 < quick.depth <= slow.depth
    with pytest.raises(dk.ConfigurationError, match="limit"):
        _core.minimax(state)
    with pytest.raises(dk.ConfigurationError, match="table_mb"):
        _core.minimax(state, depth=1, table_mb=-1)


@pytest.mark.parametrize("id", dk.games())
def test_minimax_keeps_its_limits_in_every_game(id: str) -> None:
    """Also where one turn has a hundred thousand ways to go on."""
    states = list(positions(dk.game(id), 3, seed=8, most_steps=50))
    if id == "medieval_battle_v0":
        fen = "5c4/6F3/4FN3F/7F1N/7kF1/6N3/2F2FN3/10/4F5/N7F1 b - 2 29"
        states.append(dk.game(id).state(fen))
    for state in states:
        least = 20 * len(state.legal_actions())  # depth 1 is always completed
        for nodes in (1, 2000, 20_000):
            for depth in (None, 63):
                result = _core.minimax(state, nodes=nodes, depth=depth)
                assert result.nodes <= nodes + least and result.depth >= 1
        small = _core.minimax(state, nodes=200_000, table_mb=1)
        assert 0 < small.table_bytes <= 1 << 20
        assert _core.minimax(state, nodes=2000, table_mb=0).table_bytes == 0


def test_minimax_small_table_overflows_safely() -> None:
    """The smallest table, 65,536 entries, under a search that fills it."""
    state = dk.game("dobutsu").state()
    small = _core.minimax(state, depth=13, table_mb=1)
    large = _core.minimax(state, depth=13, table_mb=256)
    assert small.score == large.score
    assert small.nodes > large.nodes


# --- Monte Carlo tree search ----------------------------------------------------------------------


def test_mcts_result() -> None:
    state = dk.game("dobutsu").state()
    result = MctsAgent(simulations=500, seed=1).search(state)
    assert result.simulations == 500
    assert result.visit_counts.shape == (state.game.num_actions,)
    assert result.visit_counts.dtype == np.int32
    assert result.visit_counts.sum() == 500
    assert set(np.flatnonzero(result.visit_counts)) == set(state.legal_actions().tolist())
    assert result.action == np.argmax(result.visit_counts)
    assert -1 < result.value < 1 and not result.is_proven
    assert result.value == result.node_values[0]  # player 0 is to move


def test_mcts_tree_adds_up() -> None:
    for state in positions(dk.game("dobutsu"), 4, seed=2, most_steps=8):
        result = _core.mcts(state, simulations=3000, exploration=1.4, seed=5)
        visits, parents = result.node_visits, result.node_parents
        assert parents[0] == -1 and (parents[1:] >= 0).all()
        assert visits[0] == result.simulations
        below = np.zeros_like(visits)
        np.add.at(below, parents[1:], visits[1:])
        is_inner = (below > 0) & ~result.node_is_proven  # a proven node is not looked into again
        assert below[0] == visits[0]
        # Every node but the root was first reached by a rollout of its own.
        assert (below[1:][is_inner[1:]] == visits[1:][is_inner[1:]] - 1).all()
        assert (np.abs(result.node_values) <= 1).all()


# Of the toy game: the result for the player to move, where changing the sign at every step would
# find another one.
TOY_RESULTS = {
    "pp4/Pp4 b - 0 1": 1,
    "3PpP/3P2 b - 0 1": -1,
    "4Pp/p3P1 b - 0 1": 1,
    "p5/3PPp w d1 0 1": -1,
    "2Pp2/p3P1 w c2 0 1": 1,
    "p1PP2/p3pP w - 0 1": 0,
    "2Pp1P/2p3 w c2 0 1": 1,
    "2PP2/p3p1 w - 0 1": 0,
    "3p2/Pp3P b - 0 1": 0,
    "p3P1/Pp1p1P b - 0 1": -1,
    "Pp2P1/1p4 b b1 0 1": -1,
    "3PPp/p1p1P1 b - 0 1": 1,
    "pPp1p1/6 w - 0 1": 0,
}


# Of the toy game: jumps are near.
TOY_STARTS = ("PPp1pp/PP2pp w", "PPp1p1/P2p1p w", "P1Ppp1/1P1Ppp b", "PP1Ppp/1PPp1p b")


def solve(state: State, known: dict[int, int]) -> int:
    """The result for player 0 under perfect play, without any change of sign."""
    if state.is_over:
        return int(state.returns()[0])
    key = state.key()
    if key not in known:
        values = []
        for action in state.legal_actions().tolist():
            state.apply(action)
            values.append(solve(state, known))
            state.undo()
        known[key] = max(values) if state.to_move == 0 else min(values)
    return known[key]


@pytest.mark.parametrize(("fen", "value"), TOY_RESULTS.items())
def test_searches_solve_a_game_with_turns_of_several_steps_and_passes(fen: str, value: int) -> None:
    state = StripDraughts().state(fen)
    known: dict[int, int] = {}
    for_player_0 = value if state.to_move == 0 else -value
    assert solve(state, known) == for_player_0
    by_mcts = _core.mcts(state, simulations=300, exploration=1.4, seed=1)
    assert by_mcts.is_proven or value == 0  # that all else loses takes long to prove
    for result in (by_mcts, _core.minimax(state, depth=14, seed=1)):
        assert result.value == value or (result is by_mcts and not by_mcts.is_proven)
        after = state.copy()
        after.apply(result.action)
        assert solve(after, known) == for_player_0


def test_mcts_prefers_what_is_good_for_the_player_to_move() -> None:
    """In every well visited node, whoever moves there."""
    checked: Counter[tuple[int, bool]] = Counter()
    dobutsu = positions(dk.game("dobutsu"), 8, seed=17, most_steps=8)
    toy = [StripDraughts().state(fen) for fen in TOY_STARTS]
    for starts, simulations, enough in ((dobutsu, 4000, 60), (toy, 300, 25)):
        for i, start in enumerate(starts):
            result = _core.mcts(start, simulations=simulations, exploration=0.7, seed=i)
            values, visits = result.node_values, result.node_visits
            children: dict[int, list[int]] = {}
            for node, parent in enumerate(result.node_parents.tolist()):
                children.setdefault(parent, []).append(node)
            waiting = [(0, start.copy())]
            while waiting:
                node, state = waiting.pop()
                some = [c for c in children.get(node, []) if not result.node_is_proven[c]]
                if visits[node] < enough or len(some) < 2:
                    continue
                sign = 1 if state.to_move == 0 else -1
                most, least = max(some, key=visits.__getitem__), min(some, key=visits.__getitem__)
                if visits[most] > 2 * visits[least]:
                    assert sign * values[most] > sign * values[least]
                    checked[state.to_move, state.is_turn_open] += 1
                for child in some:
                    after = state.copy()
                    after.apply(int(result.node_actions[child]))
                    waiting.append((child, after))
    assert min(checked[0, False], checked[1, False]) > 20, checked
    assert checked[0, True] + checked[1, True] > 1, checked


def test_mcts_stops_at_a_proof() -> None:
    for state in positions(dk.game("dobutsu"), 200, seed=21, most_steps=24):
        exact = _core.minimax(state, depth=3)
        if exact.turns_to_end is None:
            continue
        result = _core.mcts(state, simulations=20000, exploration=1.4, seed=1)
        assert result.is_proven and result.value == exact.value
        assert result.simulations < 20000
        if exact.score > 0:
            after = state.copy()
            after.apply(result.action)
            assert after.is_over or _core.minimax(after, depth=20).value == -1


def test_mcts_bad_options() -> None:
    state = dk.game("dobutsu").state()
    for simulations, exploration in [(0, 1.0), (10**9, 1.0), (10, -0.1), (10, float("nan"))]:
        with pytest.raises(dk.ConfigurationError):
            _core.mcts(state, simulations=simulations, exploration=exploration)
        with pytest.raises(dk.ConfigurationError):
            MctsAgent(simulations=simulations, exploration=exploration)


# --- Around the searches --------------------------------------------------------------------------


def test_searches_run_side_by_side() -> None:
    """Native searches release the interpreter lock; Python games take it step by step."""
    starts = [dk.game("dobutsu").state(), StripDraughts().state()]
    expected = [_core.minimax(s, depth=5, seed=1).score for s in starts]
    scores: dict[int, int] = {}

    def search(i: int) -> None:
        scores[i] = _core.minimax(starts[i % 2], depth=5, seed=1).score

    threads = [threading.Thread(target=search, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scores == {i: expected[i % 2] for i in range(4)}


def test_an_error_of_a_python_game_comes_through() -> None:
    class BrokenGame(StripDraughts):
        def end_by_rule(self, position):  # type: ignore[no-untyped-def]
            if position.move > 1:
                raise ZeroDivisionError("broken on purpose")
            return super().end_by_rule(position)

    state = BrokenGame().state()
    for search in (
        lambda: _core.minimax(state, depth=4),
        lambda: _core.mcts(state, simulations=50, exploration=1.4),
    ):
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            search()
    with pytest.raises(AttributeError):
        _core.minimax("no state", depth=1)  # type: ignore[arg-type]


def match(first: Agent, second: Agent, games: int, id: str = "dobutsu_v0") -> float:
    """Return the score of `first`, playing both sides by turns."""
    score = 0.0
    for i in range(games):
        state = dk.game(id).state()
        while not state.is_over:
            state.apply((first if state.to_move == i % 2 else second).act(state))
        score += (1 + state.returns()[i % 2]) / 2
    return score / games


def test_the_better_agents_win() -> None:
    assert match(agent("greedy", seed=1), agent("random", seed=2), 60) > 0.6
    assert match(MinimaxAgent(depth=2, seed=1), agent("greedy", seed=2), 40) > 0.8
    assert match(MctsAgent(simulations=400, seed=1), agent("greedy", seed=2), 40) > 0.8
    players = MinimaxAgent(depth=4, seed=1), MinimaxAgent(depth=1, seed=2)
    assert match(*players, 20, "gothic_draughts_v0") > 0.8


# --- Agents that know only some games -------------------------------------------------------------


class OnlyDobutsu(RandomAgent):
    def check_game(self, game: Game) -> None:
        if game.id != "dobutsu_v0":
            raise dk.ConfigurationError(f"this one plays dobutsu_v0, not {game.id}")


class Waiting(RandomAgent):
    """Must not be asked."""

    def act(self, state: State) -> int:
        pytest.fail("a game was played")


@pytest.mark.parametrize(
    "words",
    [
        "eval --game xiangqi_v0 --agents waiting waiting only-dobutsu",
        "arena --game xiangqi_v0 --agents waiting only-dobutsu --out out",
        "play xiangqi_v0 --white waiting --black only-dobutsu --keep kept",
    ],
)
def test_an_agent_of_another_game_is_refused_before_the_first(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(AGENTS, "only-dobutsu", OnlyDobutsu)
    monkeypatch.setitem(AGENTS, "waiting", Waiting)
    assert cli.main(words.split()) != 0
    assert "this one plays dobutsu_v0, not xiangqi_v0" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_game_of_an_agent_is_checked_in_python_too() -> None:
    for call in (evaluate, lambda game, *agents: arena(game, agents), Controller):
        with pytest.raises(dk.ConfigurationError, match="plays dobutsu_v0, not xiangqi_v0"):
            call("xiangqi_v0", Waiting(), OnlyDobutsu())
    assert evaluate("dobutsu_v0", "random", OnlyDobutsu(), games=2).total.games == 2
