"""The PettingZoo environment: the official tests, and what they do not look at."""

import copy
import importlib
import itertools
import pickle
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from opponents import TwoStepGame
from pettingzoo.utils.conversions import aec_to_parallel
from reference.dobutsu import Dobutsu

import deskovky
from deskovky.envs import dobutsu_v0, registration
from deskovky.envs.aec import BoardGameEnv
from deskovky.errors import ConfigurationError, DeskovkyError, FenError, IllegalActionError

with warnings.catch_warnings():
    # Where pygame is installed, this imports a game of theirs in their deprecated way.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test

# PettingZoo's test knows by name which environments may have dict observations and empty masks.
pettingzoo_warns = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
]

Make = Callable[..., BoardGameEnv]

# A win of player 0, of player 1, and a draw, in Dobutsu.
WIN_0 = "b2b3 a4a3 b3b4+".split()
WIN_1 = "c1c2 a4a3 b1a2 a3a2".split()
DRAW = "c1c2 a4a3 c2c1 a3a4 c1c2 a4a3 c2c1 a3a4".split()


def native(id: str) -> Make:
    return lambda **options: BoardGameEnv(id, **options)


def reference(**options: Any) -> BoardGameEnv:
    """The same game with the slow rules in plain Python."""
    return BoardGameEnv(Dobutsu(), **options)


@pytest.fixture(params=[*deskovky.games(), "reference"])
def make(request: pytest.FixtureRequest) -> Make:
    return reference if request.param == "reference" else native(request.param)


@pytest.fixture
def env() -> BoardGameEnv:
    env = BoardGameEnv("dobutsu_v0")
    env.reset()
    return env


def play(env: BoardGameEnv, turns: Sequence[str]) -> None:
    for turn in turns:
        env.step(env.state_object.action_from_text(turn))


def lasts(env: BoardGameEnv) -> list[tuple[str, float, bool, bool]]:
    """Step all finished agents out; return what `last()` told each of them."""
    told = []
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        told.append((agent, reward, terminated, truncated))
        env.step(None)
    return told


# --- The official tests, unchanged ----------------------------------------------------------------


class TestOfficial:
    pytestmark = pettingzoo_warns

    def test_api(self, make: Make) -> None:
        api_test(make(), num_cycles=1000 if make is not reference else 100)

    def test_api_when_illegal_loses(self) -> None:
        api_test(BoardGameEnv("dobutsu_v0", illegal="lose", legal_moves=True), num_cycles=100)

    def test_seed(self, make: Make) -> None:
        seed_test(make, num_cycles=500 if make is not reference else 50)

    def test_performance(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        # It runs for five seconds; with this clock for 250 rounds.
        clock = itertools.count(step=0.02)
        benchmark = importlib.import_module("pettingzoo.test.performance_benchmark")
        monkeypatch.setattr(benchmark, "time", SimpleNamespace(time=lambda: next(clock)))
        benchmark.performance_benchmark(make())


# --- The end of a game ----------------------------------------------------------------------------


def test_winner_is_told_last(env: BoardGameEnv) -> None:
    play(env, WIN_0)
    assert lasts(env) == [("player_1", -1, True, False), ("player_0", 1, True, False)]
    assert env.agents == []


def test_loss_of_the_first_player(env: BoardGameEnv) -> None:
    play(env, WIN_1)
    assert lasts(env) == [("player_0", -1, True, False), ("player_1", 1, True, False)]


def test_draw(env: BoardGameEnv) -> None:
    play(env, DRAW)
    assert env.infos["player_0"] == {"termination": "repetition", "winner": None}
    assert lasts(env) == [("player_0", 0, True, False), ("player_1", 0, True, False)]


def test_truncation() -> None:
    env = BoardGameEnv("dobutsu_v0", max_turns=3)
    env.reset()
    play(env, DRAW[:3])
    assert env.infos["player_1"] == {"termination": "max_turns", "winner": None}
    assert lasts(env) == [("player_1", 0, False, True), ("player_0", 0, False, True)]


def test_every_step_up_to_the_end(env: BoardGameEnv) -> None:
    """Rewards, flags and infos of both players, at every step."""
    for turn in WIN_0:
        assert env.rewards == {"player_0": 0, "player_1": 0}
        assert env.last(observe=False)[1:4] == (0, False, False)
        play(env, [turn])
    assert env.rewards == {"player_0": 1, "player_1": -1}
    assert env.infos["player_0"] == {"termination": "lion_captured", "winner": "player_0"}
    assert env.infos["player_0"] == env.infos["player_1"]
    assert env.outcome == env.state_object.outcome
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
        assert type(env.terminations[agent]) is bool and type(env.truncations[agent]) is bool
    env.step(None)
    assert env.rewards == {"player_0": 0}
    assert env.last()[1] == 1
    env.step(None)
    with pytest.raises(DeskovkyError, match="reset"):
        env.last()
    with pytest.raises(IllegalActionError, match="reset"):
        env.step(None)
    env.reset()
    assert env.agents == ["player_0", "player_1"]


def test_finished_agents_take_none_only(env: BoardGameEnv) -> None:
    play(env, WIN_0)
    with pytest.raises(IllegalActionError, match=r"lion_captured.*step\(None\)"):
        env.step(0)
    assert env.agents == ["player_0", "player_1"]


# --- Observations, masks and infos ----------------------------------------------------------------


def test_masks_and_infos(make: Make) -> None:
    env = make(legal_moves=True)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(12):
        if env.outcome is not None:
            break
        mover = env.agent_selection
        waiting = "player_1" if mover == "player_0" else "player_0"
        state = env.state_object
        seen = env.observe(mover)
        assert mover == f"player_{state.to_move}"
        assert seen["action_mask"] is env.infos[mover]["action_mask"]
        assert seen["action_mask"].dtype == np.int8
        assert np.flatnonzero(seen["action_mask"]).tolist() == state.legal_actions().tolist()
        legal = state.legal_actions().tolist()
        assert env.infos[mover]["legal_moves"] == [state.action_to_text(a) for a in legal]
        assert np.array_equal(seen["observation"], state.observation())
        assert env.infos[waiting] == {}
        assert not env.observe(waiting)["action_mask"].any()
        assert np.array_equal(
            env.observe(waiting)["observation"], state.observation(1 - state.to_move)
        )
        for agent in env.agents:
            assert env.observation_space(agent).contains(env.observe(agent))
        env.step(rng.choice(state.legal_actions()))


def test_kept_observations_do_not_change(env: BoardGameEnv) -> None:
    kept = env.last()[0]
    assert kept is not None
    before = copy.deepcopy(kept)
    play(env, WIN_0)
    assert all(np.array_equal(kept[key], before[key]) for key in kept)


def test_same_agent_acts_until_its_turn_is_complete() -> None:
    env = BoardGameEnv(TwoStepGame(max_turns=2))
    env.reset()
    order = []
    while env.outcome is None:
        order.append(env.agent_selection)
        assert env.last()[4]["action_mask"].tolist() == [1, 1, 0]
        env.step(1)
    assert order == ["player_0", "player_0", "player_1", "player_1"]
    assert lasts(env) == [("player_0", 0, True, False), ("player_1", 0, True, False)]


# --- Illegal actions and wrong calls --------------------------------------------------------------


@pytest.mark.parametrize("action", [0, -1, 132, 10**30, np.int64(131)])
def test_illegal_action_raises_and_changes_nothing(env: BoardGameEnv, action: int) -> None:
    play(env, ["b2b3"])
    before = copy.deepcopy(env)
    with pytest.raises(IllegalActionError) as caught:
        env.step(action)
    assert str(int(action)) in str(caught.value)
    assert "player_1" in str(caught.value)
    assert "b4b3 (" in str(caught.value)  # a legal move
    assert env.state_object == before.state_object
    assert env.agent_selection == "player_1" and env.outcome is None


def test_illegal_action_is_named_by_its_move_text(env: BoardGameEnv) -> None:
    with pytest.raises(IllegalActionError, match=r"action 0 \(a1a2\) is illegal.*b2b3"):
        env.step(0)


@pytest.mark.parametrize("illegal", ["raise", "lose"])
@pytest.mark.parametrize("action", [None, 1.0, "b2b3", [4], np.array([4, 4])])
def test_an_action_is_an_integer(illegal: str, action: Any) -> None:
    env = BoardGameEnv("dobutsu_v0", illegal=illegal)
    env.reset()
    with pytest.raises(IllegalActionError, match="integer"):
        env.step(action)
    assert env.outcome is None


@pytest.mark.parametrize("action", [0, -1, 132])
def test_illegal_action_loses(action: int) -> None:
    env = BoardGameEnv("dobutsu_v0", illegal="lose")
    env.reset()
    play(env, ["b2b3"])
    env.step(action)
    assert env.infos["player_0"] == {"termination": "illegal_action", "winner": "player_0"}
    assert not env.observe("player_1")["action_mask"].any()
    assert lasts(env) == [("player_0", 1, True, False), ("player_1", -1, True, False)]
    # The next game is not affected (PettingZoo issue 1176).
    env.reset()
    play(env, WIN_0)
    assert lasts(env) == [("player_1", -1, True, False), ("player_0", 1, True, False)]


@pytest.mark.parametrize("action", [4, np.int8(4), np.int32(4), np.int64(4), np.array(4)])
def test_numpy_integers_are_actions(env: BoardGameEnv, action: Any) -> None:
    env.step(action)
    assert env.state_object.history == ["b2b3"]


def test_calls_before_reset() -> None:
    env = BoardGameEnv("dobutsu_v0", render_mode="ansi")
    calls: list[Callable[[], object]] = [
        lambda: env.step(0),
        env.last,
        lambda: env.observe("player_0"),
        env.undo,
        env.render,
    ]
    for call in calls:
        with pytest.raises(DeskovkyError, match="reset"):
            call()
    assert list(env.agent_iter()) == []


def test_wrong_options() -> None:
    wrong: list[dict[str, Any]] = [{"illegal": "ignore"}, {"render_mode": "video"}]
    for option in wrong:
        with pytest.raises(ConfigurationError, match="must be one of"):
            BoardGameEnv("dobutsu_v0", **option)
    with pytest.raises(ConfigurationError, match="ruleset"):
        BoardGameEnv(Dobutsu(), ruleset="fairy")
    assert BoardGameEnv("dobutsu_v0", ruleset="fairy").game.ruleset == "fairy"


# --- Copies, undo, FEN ----------------------------------------------------------------------------


def same(one: BoardGameEnv, other: BoardGameEnv) -> bool:
    return (
        one.state_object == other.state_object
        and one.agent_selection == other.agent_selection
        and one.agents == other.agents
        and one.rewards == other.rewards
        and one._cumulative_rewards == other._cumulative_rewards
        and one.terminations == other.terminations
        and one.truncations == other.truncations
        and one.outcome == other.outcome
        and all(
            np.array_equal(one.observe(agent)[key], other.observe(agent)[key])
            for agent in one.possible_agents
            for key in ("observation", "action_mask")
        )
    )


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_game(make: Make, duplicate: Callable[[Any], Any]) -> None:
    env = make()
    env.reset()
    rng = np.random.default_rng(1)
    for _ in range(30):
        twin = duplicate(env)
        assert same(env, twin)
        if not env.agents:
            break
        if env.outcome is None:
            env.step(rng.choice(env.state_object.legal_actions()))
            assert not same(env, twin)
        else:
            env.step(None)


def test_undo_at_every_step(make: Make) -> None:
    env = make()
    env.reset()
    rng = np.random.default_rng(2)
    past = []
    while env.outcome is None:
        past.append(copy.deepcopy(env))
        env.step(rng.choice(env.state_object.legal_actions()))
    env.step(None)  # undo works after an agent has left, too
    for before in reversed(past):
        env.undo()
        assert same(env, before)
    with pytest.raises(IllegalActionError):
        env.undo()
    assert same(env, past[0])


def test_undo_takes_back_a_forfeit() -> None:
    env = BoardGameEnv("dobutsu_v0", illegal="lose")
    env.reset()
    play(env, ["b2b3"])
    before = copy.deepcopy(env)
    env.step(0)
    env.undo()
    assert same(env, before)


def test_reset_to_a_fen(env: BoardGameEnv) -> None:
    env.reset(options={"fen": "gle/1c1/1C1/ELG[-] b - - 0 1"})
    assert env.agent_selection == "player_1"
    assert env.last()[4]["action_mask"].any()
    with pytest.raises(FenError):
        env.reset(options={"fen": "gle/1c1/1C1/ELG[-] x - - 0 1"})
    assert env.agent_selection == "player_1"


def test_reset_to_a_finished_game(env: BoardGameEnv) -> None:
    fen = "gLe/3/1C1/E1G[-] w - - 0 9"  # no lion of player 1: refused
    with pytest.raises(FenError):
        env.reset(options={"fen": fen})
    env.reset(options={"fen": "1L1/3/l1C/E1G[-] b - - 0 9"})  # a try that has succeeded (DS-5)
    assert env.infos["player_0"] == {"termination": "try", "winner": "player_0"}
    assert lasts(env) == [("player_1", -1, True, False), ("player_0", 1, True, False)]


def test_state_object_can_be_assigned(env: BoardGameEnv) -> None:
    state = env.game.state()
    state.push("b2b3")
    env.state_object = state
    state.push("b4b3")  # the environment has its own copy
    assert env.state_object.history == ["b2b3"]
    assert env.agent_selection == "player_1"
    with pytest.raises(ConfigurationError):
        env.state_object = deskovky.game("dobutsu_v0", ruleset="fairy").state()


# --- Drawing, modules, registries -----------------------------------------------------------------


def test_ansi(env: BoardGameEnv) -> None:
    env.render_mode = "ansi"
    play(env, WIN_0[:2])
    assert env.render() == (
        " 4  . l e\n"
        " 3  g C .\n"
        " 2  . . .\n"
        " 1  E L G\n"
        "    a b c\n"
        "in hand: player_0 C, player_1 -\n"
        "move 2, player_0 to move"
    )
    play(env, WIN_0[2:])
    assert str(env.render()).endswith("player_0 won: lion_captured")


def test_render_without_a_mode_warns(env: BoardGameEnv) -> None:
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_parallel_conversion_is_refused(env: BoardGameEnv) -> None:
    assert env.metadata["is_parallelizable"] is False
    with pytest.raises(AssertionError):
        aec_to_parallel(env)


def test_module_pattern() -> None:
    env = dobutsu_v0.env(render_mode="ansi", max_turns=7)
    assert (env.metadata["name"], env.render_mode, env.game.max_turns) == ("dobutsu_v0", "ansi", 7)
    assert str(env) == "dobutsu_v0"
    assert isinstance(dobutsu_v0.raw_env(illegal="lose"), BoardGameEnv)


@pytest.mark.parametrize("id", deskovky.games())
def test_registered_with_pettingzoo(id: str) -> None:
    registration.register(deskovky.games())  # again: changes nothing
    env = pettingzoo.make("aec", f"deskovky/{id}", illegal="lose")
    assert isinstance(env, BoardGameEnv)
    assert (env.game.id, env.illegal) == (id, "lose")


def test_an_unknown_agent_and_a_fen_that_is_no_text(env: BoardGameEnv) -> None:
    with pytest.raises(ConfigurationError, match="player_2"):
        env.observe("player_2")
    for fen in (3, b"gle/1c1/1C1/ELG[-] w - - 0 1"):
        with pytest.raises(FenError, match="text"):
            env.reset(options={"fen": fen})
