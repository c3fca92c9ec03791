"""The batched Gumbel search against a plain implementation of the paper and against stored trees.

python tests/test_gumbel.py     writes the stored trees anew
"""

import itertools
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.dobutsu import Dobutsu
from toy_game import StripDraughts
from two_step_game import TwoStepGame, num_chips, solve

import deskovky as dk
from deskovky._core import GumbelSearch
from deskovky.agents.alphazero import run_search
from deskovky.envs.python_game import PythonState
from deskovky.errors import ConfigurationError

TREES = Path(__file__).parent / "search_trees"

# --- A model without a network --------------------------------------------------------------------


def fake_model(num_actions):
    """Return logits in [-2, 2] and values in (-1, 1) that any machine computes alike."""

    def evaluate(observations):
        pixels = np.rint(observations.reshape(len(observations), -1) * 4).astype(np.int64)
        hashes = (pixels * (np.arange(pixels.shape[1]) ** 2 + 7)).sum(1) % 1009
        logits = (hashes[:, None] * (37 * np.arange(num_actions) + 11)) % 101 / 25.0 - 2.0
        values = hashes * 17 % 199 / 100.0 - 0.99
        return logits.astype(np.float32), values.astype(np.float32)

    return evaluate


def uniform_model(num_actions):
    """Return a model that knows nothing."""

    def evaluate(observations):
        n = len(observations)
        return np.zeros((n, num_actions), np.float32), np.zeros(n, np.float32)

    return evaluate


# --- The paper, plainly ---------------------------------------------------------------------------


@dataclass
class Node:
    state: Any
    logits: Any = None  # of the legal actions, like all arrays
    value: float = 0.0  # for state.to_move
    returns: list[float] = field(default_factory=list)  # for player 0, of each simulation
    children: dict[int, "Node"] = field(default_factory=dict)  # by index of the action

    @property
    def actions(self):
        return self.state.legal_actions().tolist()

    def for_mover(self, value_of_player_0):
        return value_of_player_0 if self.state.to_move == 0 else -value_of_player_0

    @property
    def mean(self):
        return self.for_mover(sum(self.returns) / len(self.returns))


class PlainSearch:
    """Danihelka et al. 2022, one game, nodes that keep their states, values kept for player 0."""

    def __init__(
        self, state, evaluate, simulations, considered, gumbels, c_visit, c_scale, contempt
    ):
        self.evaluate, self.c_visit, self.c_scale = evaluate, c_visit, c_scale
        self.draw_value = -contempt if state.to_move == 0 else contempt  # for player 0
        self.nodes = []
        self.root = self.make_node(state)
        self.gumbels = gumbels
        for visits in self.visits_wanted(min(considered, len(self.root.actions)), simulations):
            node, path = self.root, [self.root]
            index = self.best_at_root(visits)
            while True:
                if index not in node.children:
                    state = node.state.copy()
                    state.apply(node.actions[index])
                    node.children[index] = self.make_node(state)
                    path.append(node.children[index])
                    break
                node = node.children[index]
                path.append(node)
                if node.state.is_over:
                    break
                index = self.best_below(node)
            leaf = path[-1]
            self.back_up(path, leaf.value if leaf.state.to_move == 0 else -leaf.value)

    def make_node(self, state):
        node = Node(state.copy())
        if state.is_over:
            winner = state.outcome.winner
            value = self.draw_value if winner is None else 1 - 2 * winner
            node.value = node.for_mover(value)
        else:
            logits, values = self.evaluate(state.observation()[None])
            node.logits, node.value = logits[0, node.actions].astype(float), float(values[0])
        if not self.nodes:
            node.returns.append(node.for_mover(node.value))
        self.nodes.append(node)
        return node

    @staticmethod
    def visits_wanted(considered, simulations):
        """Sequential halving: the visits that the action of each simulation must have."""
        if considered == 1:
            return list(range(simulations))
        rounds = math.ceil(math.log2(considered))
        wanted, visits = [], [0] * considered
        while len(wanted) < simulations:
            for _ in range(max(1, simulations // (rounds * considered))):
                wanted += visits[:considered]
                visits[:considered] = [v + 1 for v in visits[:considered]]
            considered = max(2, considered // 2)
        return wanted[:simulations]

    @staticmethod
    def back_up(path, value_of_player_0):
        for node in path:
            node.returns.append(value_of_player_0)

    def visits(self, node):
        children = node.children
        return np.array(
            [len(children[i].returns) if i in children else 0 for i in range(len(node.actions))]
        )

    def completed(self, node):
        """Return q of each action for the player to move, completed by the mixed value."""
        visits = self.visits(node)
        prior = np.exp(node.logits - node.logits.max())
        prior /= prior.sum()
        q = np.zeros(len(prior))
        for i, child in node.children.items():
            same = child.state.to_move == node.state.to_move
            q[i] = child.mean if same else -child.mean
        mixed = node.value
        seen = visits > 0
        if seen.any():
            average = (prior[seen] * q[seen]).sum() / prior[seen].sum()
            mixed = (node.value + visits.sum() * average) / (1 + visits.sum())
        return np.where(seen, q, mixed)

    def sigma(self, node, q):
        return (self.c_visit + self.visits(node).max()) * self.c_scale * (q + 1) / 2

    def improved(self, node):
        scores = node.logits + self.sigma(node, self.completed(node))
        weights = np.exp(scores - scores.max())
        return weights / weights.sum()

    def best_at_root(self, wanted_visits):
        root = self.root
        scores = self.gumbels + root.logits + self.sigma(root, self.completed(root))
        return int(np.where(self.visits(root) == wanted_visits, scores, -np.inf).argmax())

    def best_below(self, node):
        visits = self.visits(node)
        return int((self.improved(node) - visits / (1 + visits.sum())).argmax())

    def best_action(self):
        return self.root.actions[self.best_at_root(self.visits(self.root).max())]

    def tree(self):
        numbers = {id(node): i for i, node in enumerate(self.nodes)}
        found: list[Any] = [None] * len(self.nodes)
        root = self.root
        found[0] = (-1, -1, root.state.to_move, len(root.returns), 0.0, root.value, root.mean)
        for node in self.nodes:
            for i, child in node.children.items():
                found[numbers[id(child)]] = (
                    numbers[id(node)],
                    node.actions[i],
                    child.state.to_move,
                    len(child.returns),
                    node.logits[i],
                    child.value,
                    child.mean,
                )
        return found


def gumbel_noise(seed, index, size):
    """The native random stream: SplitMix64, one stream for each game."""
    mask = 2**64 - 1

    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    start = mix(mix(seed) ^ index)
    uniforms = [
        ((mix((start + i * 0x9E3779B97F4A7C15) & mask) >> 12) + 0.5) / 2**52 for i in range(size)
    ]
    return np.array([-math.log(-math.log(u)) for u in uniforms])


# --- Games ----------------------------------------------------------------------------------------

DOBUTSU = dk.game("dobutsu_v0")
NUM_ACTIONS = DOBUTSU.num_actions


class SeenStripDraughts(StripDraughts):
    """Jump chains and forced passes, with something to see for the model."""

    num_planes = 3

    def planes(self, moment, player):
        seen = self.seen_board(moment.position.board, player)
        pieces = [self.piece_plane(seen, piece) for piece in "Pp"]
        return [*pieces, self.plane(moment.position.is_turn_open)]


def pile(chips, is_open=False):
    """Return a state of the two-step game with player 1 to move."""
    board = "P" * chips + (str(10 - chips) if chips < 10 else "")
    return TwoStepGame().state(f"{board} b {'a1' if is_open else '-'} 0 1")


# --- Roots ----------------------------------------------------------------------------------------


def random_states(game, count, seed=0, most_steps=30):
    random = np.random.default_rng(seed)
    states = []
    while len(states) < count:
        state = game.state()
        for _ in range(random.integers(most_steps)):
            if not state.is_over:
                state.apply(int(random.choice(state.legal_actions())))
        if not state.is_over:
            states.append(state)
    return states


def assert_same_tree(tree, expected, tolerance=1e-12):
    assert [node[:4] for node in tree] == [tuple(node[:4]) for node in expected]
    np.testing.assert_allclose(
        [node[4:] for node in tree], [node[4:] for node in expected], atol=tolerance
    )


OPTIONS = [
    dict(num_simulations=0),
    dict(num_simulations=1),
    dict(num_simulations=2, max_considered_actions=2),
    dict(num_simulations=13, max_considered_actions=4),
    dict(num_simulations=32, max_considered_actions=1),
    dict(num_simulations=64),
    dict(num_simulations=64, gumbel_scale=0.0),
    dict(num_simulations=50, max_considered_actions=7, gumbel_scale=2.0, c_visit=10, c_scale=0.3),
    dict(num_simulations=200, max_considered_actions=5, c_visit=0, c_scale=0.1, contempt=0.2),
]


def assert_search_is_that_of_the_paper(game, states, options):
    evaluate = fake_model(game.num_actions)
    search = GumbelSearch(**options)
    result = run_search(search, evaluate, states, seed=5)
    scale = options.get("gumbel_scale", 1.0)
    for i, state in enumerate(states):
        gumbels = gumbel_noise(5, i, len(state.legal_actions())) if scale else 0.0
        plain = PlainSearch(
            state,
            evaluate,
            options["num_simulations"],
            options.get("max_considered_actions", 16),
            scale * gumbels,
            options.get("c_visit", 50.0),
            options.get("c_scale", 1.0),
            options.get("contempt", 0.0),
        )
        assert_same_tree(search.tree(i), plain.tree())
        assert result.actions[i] == plain.best_action()
        actions = plain.root.actions
        policy = plain.improved(plain.root)
        np.testing.assert_allclose(result.action_weights[i, actions], policy, atol=1e-6)
        assert result.action_weights[i].sum() == pytest.approx(1)
        assert result.visit_counts[i, actions].tolist() == plain.visits(plain.root).tolist()
        assert result.visit_counts[i].sum() == options["num_simulations"]
        value = (policy * plain.completed(plain.root)).sum()
        assert result.root_values[i] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "game",
    [DOBUTSU, Dobutsu(), SeenStripDraughts(), TwoStepGame()],
    ids=["native", "dobutsu", "strip_draughts", "two_step"],
)
def test_search_is_that_of_the_paper(game, options):
    states = random_states(game, 6 if game is DOBUTSU else 2)
    assert_search_is_that_of_the_paper(game, states, options)


@pytest.mark.parametrize("id", dk.games())
def test_search_in_every_game(id):
    """Few turns to the cap bring ends, jump chains, placements and passes into the trees."""
    game = dk.game(id, max_turns=42)
    states = random_states(game, 8, seed=1, most_steps=42)
    assert_search_is_that_of_the_paper(game, states, dict(num_simulations=40))


# --- Signs in turns of several steps --------------------------------------------------------------


def test_exact_values_keep_their_sign_inside_a_turn():
    """With exact values of leaves, one visit each shows the exact value of every action."""

    def exact(observations):
        values = [solve(int(planes[0].sum()), bool(planes[1].any())) for planes in observations]
        return np.zeros((len(values), 20), np.float32), np.array(values, np.float32)

    def value_after(chips, is_open, num_taken):
        """Return the value of a step for the player who makes it."""
        rest = chips - num_taken
        if rest == 0:
            return 1
        return -solve(rest, False) if is_open else solve(rest, True)

    for chips, is_open in itertools.product(range(2, 11), (False, True)):
        search = GumbelSearch(2)
        result = run_search(search, exact, [pile(chips, is_open)])
        for _, action, to_move, _, _, _, value in search.tree(0)[1:]:
            own_value = value if to_move == 1 else -value
            assert own_value == value_after(chips, is_open, 1 + action // 10)
        # Both actions being known, the improved policy all but ignores a losing one.
        best = max(value_after(chips, is_open, num_taken) for num_taken in (1, 2))
        assert result.root_values[0] == pytest.approx(best, abs=1e-6)


def test_search_without_knowledge_plays_the_two_step_game_well():
    for chips in range(2, 9):
        result = run_search(GumbelSearch(200, gumbel_scale=0), uniform_model(20), [pile(chips)])
        assert np.sign(result.root_values[0]) == solve(chips, False)
        if solve(chips, False) > 0:
            rest = chips - 1 - result.actions[0] // 10
            assert rest == 0 or solve(rest, True) == 1


# --- Stored trees ---------------------------------------------------------------------------------

GOLDEN = {
    "gumbel_dobutsu_start": (DOBUTSU, None, dict(num_simulations=48), 1),
    "gumbel_dobutsu_drops": (
        DOBUTSU,
        "g1e/1l1/1L1/E1G[Cc] b - - 0 9",
        dict(num_simulations=64, max_considered_actions=6, c_scale=0.5),
        2,
    ),
    "gumbel_dobutsu_evaluation": (DOBUTSU, None, dict(num_simulations=64, gumbel_scale=0.0), 0),
    "gumbel_two_steps": (
        TwoStepGame(),
        "PPPPPPPPP1 b - 0 1",
        dict(num_simulations=40, c_scale=0.1),
        3,
    ),
}


def search_golden(name):
    game, fen, options, seed = GOLDEN[name]
    search = GumbelSearch(**options)
    result = run_search(search, fake_model(game.num_actions), [game.state(fen)], seed)
    return {
        "game": game.id,
        "fen": game.state(fen).fen(),
        "options": options,
        "seed": seed,
        "action": int(result.actions[0]),
        "root_value": round(float(result.root_values[0]), 5),
        "nodes": [[*n[:4], *(round(float(x), 6) for x in n[4:])] for n in search.tree(0)],
    }


@pytest.mark.parametrize("name", GOLDEN)
def test_stored_tree(name):
    stored = json.loads((TREES / f"{name}.json").read_text())
    found = search_golden(name)
    assert_same_tree([tuple(node) for node in found.pop("nodes")], stored.pop("nodes"), 1.5e-6)
    assert found.pop("root_value") == pytest.approx(stored.pop("root_value"), abs=2e-5)
    assert found == stored


def test_every_stored_tree_is_tested():
    assert {path.stem for path in TREES.glob("gumbel_*.json")} == set(GOLDEN)


# --- Batches --------------------------------------------------------------------------------------


def test_games_of_a_batch_do_not_influence_each_other():
    states = random_states(DOBUTSU, 40, seed=3)
    evaluate = fake_model(NUM_ACTIONS)
    search = GumbelSearch(24, gumbel_scale=0.0)
    together = run_search(search, evaluate, states)
    trees = [search.tree(i) for i in range(len(states))]
    for i, state in enumerate(states):
        alone = run_search(search, evaluate, [state])
        assert alone.actions[0] == together.actions[i]
        assert search.tree(0) == trees[i]


def test_threads_change_nothing():
    states = random_states(DOBUTSU, 100, seed=4)
    evaluate = fake_model(NUM_ACTIONS)
    one = run_search(GumbelSearch(20), evaluate, states, seed=9)
    two = run_search(GumbelSearch(20, num_threads=2), evaluate, states, seed=9)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_search_is_used_again_for_other_games_and_sizes():
    search = GumbelSearch(10)
    for game, count in [(DOBUTSU, 3), (TwoStepGame(), 5), (DOBUTSU, 20), (DOBUTSU, 2)]:
        states = random_states(game, count, seed=count)
        evaluate = fake_model(game.num_actions)
        again = run_search(search, evaluate, states, seed=1)
        fresh = run_search(GumbelSearch(10), evaluate, states, seed=1)
        for a, b in zip(again, fresh, strict=True):
            np.testing.assert_array_equal(a, b)


def test_noise_depends_on_the_seed():
    states = [DOBUTSU.state() for _ in range(64)]
    evaluate = uniform_model(NUM_ACTIONS)
    search = GumbelSearch(1)
    first = run_search(search, evaluate, states, seed=1).actions
    np.testing.assert_array_equal(first, run_search(search, evaluate, states, seed=1).actions)
    assert (first != run_search(search, evaluate, states, seed=2).actions).any()
    assert len(set(first.tolist())) == 4  # and differs between the games


def test_roots_stay_as_they_are():
    for game in (DOBUTSU, TwoStepGame()):
        states = random_states(game, 5)
        before = [state.copy() for state in states]
        run_search(GumbelSearch(16), fake_model(game.num_actions), states)
        assert states == before


def test_observations_are_those_of_the_leaves_and_stay_readable():
    states = random_states(DOBUTSU, 3)
    search = GumbelSearch(1)
    search.set_roots(states)
    roots = search.collect()
    assert roots.shape == (3, *DOBUTSU.observation_shape) and roots.dtype == np.float32
    np.testing.assert_array_equal(roots, [state.observation() for state in states])
    kept = roots.copy()
    search.set_roots(random_states(DOBUTSU, 500))  # needs a larger array
    search.collect()
    np.testing.assert_array_equal(roots, kept)
    del search
    np.testing.assert_array_equal(roots, kept)


def test_a_win_is_found():
    state = DOBUTSU.state("3/1l1/1L1/3[-] w - - 0 1")  # each lion can capture the other
    result = run_search(GumbelSearch(16, gumbel_scale=0), uniform_model(NUM_ACTIONS), [state])
    assert state.action_to_text(int(result.actions[0])) == "b2b3"
    assert result.root_values[0] > 0.9


def test_truncated_games_are_worth_nothing():
    game = dk.game("dobutsu_v0", max_turns=1)
    search = GumbelSearch(4)
    run_search(search, fake_model(NUM_ACTIONS), [game.state()])
    assert [node[5:] for node in search.tree(0)[1:]] == [(0.0, 0.0)] * 4


@pytest.mark.parametrize("player", [0, 1])
def test_draws_are_worth_less_to_the_player_at_the_root(player):
    # The third turn ends the game, and is that of the other player than the first.
    game = dk.game("dobutsu_v0", max_turns=2 + player)
    state = game.state()
    for _ in range(player):
        state.apply(int(state.legal_actions()[0]))
    search = GumbelSearch(40, contempt=0.25)
    run_search(search, fake_model(NUM_ACTIONS), [state])
    tree = search.tree(0)
    ends = [node for node in tree[1:] if tree[node[0]][0] == 0]  # two turns from the root
    assert {node[2] for node in ends} == {player}
    assert {node[5:] for node in ends} - {(-1.0, -1.0)} == {(-0.25, -0.25)}  # but for lost lions
    run_search(search, fake_model(NUM_ACTIONS), [dk.game("dobutsu_v0", max_turns=1).state()])
    assert {node[5:] for node in search.tree(0)[1:]} == {(0.25, 0.25)}  # seen by the other player


# --- Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        dict(num_simulations=-1),
        dict(max_considered_actions=0),
        dict(max_considered_actions=10**6),
        dict(gumbel_scale=-0.5),
        dict(gumbel_scale=math.nan),
        dict(c_visit=math.inf),
        dict(c_scale=-1.0),
        dict(num_threads=0),
    ],
    ids=str,
)
def test_bad_options(options):
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        GumbelSearch(**options)


def test_calls_out_of_turn():
    search = GumbelSearch(2)
    logits, values = np.zeros((1, 132), np.float32), np.zeros(1, np.float32)
    for call in (search.collect, lambda: search.update(logits, values), search.results):
        with pytest.raises(ConfigurationError, match="waits for set_roots"):
            call()
    search.set_roots([DOBUTSU.state()])
    with pytest.raises(ConfigurationError, match="waits for collect"):
        search.update(logits, values)
    search.collect()
    for call in (search.collect, search.results, lambda: search.tree(0)):
        with pytest.raises(ConfigurationError, match="waits for update"):
            call()
    while True:
        search.update(logits, values)
        if not len(search.collect()):
            break
    assert search.results()[0].shape == (1,)
    with pytest.raises(IndexError):
        search.tree(1)


@pytest.mark.parametrize(
    ("logits", "values"),
    [
        (np.zeros((2, 132), np.float64), np.zeros(2, np.float32)),
        (np.zeros((2, 131), np.float32), np.zeros(2, np.float32)),
        (np.zeros((3, 132), np.float32), np.zeros(3, np.float32)),
        (np.zeros((2, 132), np.float32), np.zeros((2, 1), np.float32)),
        (np.zeros((2, 132), np.float32), np.zeros(2, np.int32)),
        (np.zeros((2, 264), np.float32)[:, ::2], np.zeros(2, np.float32)),
        (np.full((2, 132), np.nan, np.float32), np.zeros(2, np.float32)),
        (np.zeros((2, 132), np.float32), np.array([0, np.inf], np.float32)),
    ],
)
def test_bad_arrays(logits, values):
    search = GumbelSearch(2)
    search.set_roots([DOBUTSU.state(), DOBUTSU.state()])
    search.collect()
    with pytest.raises(ConfigurationError):
        search.update(logits, values)


def test_bad_roots():
    search = GumbelSearch(2)
    over = DOBUTSU.state("3/1l1/1L1/3[-] w - - 0 1")
    over.push("b2b3")
    for states, message in [
        ([], "at least one"),
        ([over], "state 0: the game is over"),
        ([DOBUTSU.state(), TwoStepGame().state()], "state 1: of another game"),
        ([DOBUTSU.state(), dk.game("dobutsu", ruleset="fairy").state()], "state 1: of another"),
        ([DOBUTSU.state(), over], "state 1: the game is over"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            search.set_roots(states)
        with pytest.raises(ConfigurationError, match="waits for set_roots"):
            search.collect()
    with pytest.raises((AttributeError, TypeError)):
        search.set_roots([1, 2])  # type: ignore[list-item]


class BrokenState(PythonState):
    fault = ""

    @property
    def is_broken(self):
        return num_chips(self._position) < 9

    def apply(self, action):
        if self.fault == "apply" and self.is_broken:
            raise RuntimeError("a bug in the game")
        super().apply(action)

    def legal_actions(self):
        if self.fault == "actions" and self.is_broken:
            return np.array([0, 20], np.int32)
        return super().legal_actions()

    def observation(self, player=None):
        planes = super().observation(player)
        return planes[:1] if self.fault == "shape" and self.is_broken else planes


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("apply", RuntimeError),
        ("actions", ConfigurationError),
        ("shape", ConfigurationError),
    ],
)
def test_faults_of_a_python_game_come_out(monkeypatch, fault, error):
    monkeypatch.setattr(BrokenState, "fault", fault)
    search = GumbelSearch(20)
    game = TwoStepGame()
    root = BrokenState(game, game.read_fen(game.start_fens["default"]))
    with pytest.raises(error):
        run_search(search, uniform_model(20), [root])
    with pytest.raises(ConfigurationError, match="waits for set_roots"):
        search.collect()
    assert run_search(search, uniform_model(20), [game.state()]).actions.shape == (1,)


if __name__ == "__main__":
    TREES.mkdir(exist_ok=True)
    for golden_name in GOLDEN:
        text = json.dumps(search_golden(golden_name), indent=None).replace("], [", "],\n  [")
        (TREES / f"{golden_name}.json").write_text(text + "\n")
