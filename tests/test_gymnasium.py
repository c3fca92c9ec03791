"""The Gymnasium environment of one player: the official checkers, sides, rewards, chance."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from opponents import HashOpponent, RandomOpponent, ScriptOpponent, TwoStepGame
from reference.dobutsu import Dobutsu
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import deskovky
from deskovky.envs import registration
from deskovky.envs.gymnasium_env import SinglePlayerEnv
from deskovky.envs.protocol import State
from deskovky.errors import ConfigurationError, FenError, IllegalActionError

registration.register(deskovky.games())

WIN_0 = "b2b3 a4a3 b3b4+".split()
WIN_1 = "c1c2 a4a3 b1a2 a3a2".split()
DRAW = "c1c2 a4a3 c2c1 a3a4 c1c2 a4a3 c2c1 a3a4".split()

# Stable-Baselines3 takes any Box of three dimensions for an image.
not_an_image = [
    pytest.mark.filterwarnings("ignore:It seems that your observation"),
    pytest.mark.filterwarnings("ignore:The minimal resolution for an image"),
    pytest.mark.filterwarnings("ignore:Treating image space as channels-last"),
]


def make(**options: Any) -> SinglePlayerEnv:
    return SinglePlayerEnv("dobutsu_v0", **{"opponent": RandomOpponent(), **options})


def random_game(env: SinglePlayerEnv, rng: np.random.Generator) -> list[Any]:
    """Play one game from its reset on; return what every step returned."""
    steps = []
    while env.outcome is None:
        action = rng.choice(np.flatnonzero(env.action_masks()))
        steps.append(env.step(action))
    return steps


def scripted(turns: list[str], side: int) -> tuple[list[float], SinglePlayerEnv]:
    """Play a given game as `side`; return the rewards and the environment."""
    env = make(opponent=ScriptOpponent(turns), side=side)
    env.reset(seed=0)
    rewards = []
    for turn in turns[side::2]:
        rewards.append(env.step(env.state_object.action_from_text(turn))[1])
    assert env.outcome is not None
    return rewards, env


class TestOfficial:
    pytestmark = not_an_image

    @pytest.mark.parametrize("id", deskovky.games())
    @pytest.mark.parametrize("side", [0, 1, "alternate", "random"])
    def test_check_env(self, id: str, side: int | str) -> None:
        name = registration.gymnasium_id(id)
        check_env(gymnasium.make(name, opponent=RandomOpponent(), side=side).unwrapped)
        sb3_check_env(gymnasium.make(name, opponent=RandomOpponent(), side=side).unwrapped)

    @pytest.mark.parametrize("opponent", ["random", "greedy", "minimax:depth=1"])
    def test_check_env_with_agents_from_text(self, opponent: str) -> None:
        env = gymnasium.make("deskovky/Dobutsu-v0", opponent=opponent).unwrapped
        check_env(env)
        sb3_check_env(env)
        copied = pickle.loads(pickle.dumps(env))
        assert np.array_equal(env.reset(seed=1)[0], copied.reset(seed=1)[0])

    def test_check_env_of_a_python_game(self) -> None:
        env = SinglePlayerEnv(Dobutsu(), opponent=RandomOpponent())
        check_env(env, skip_render_check=True)  # it has no spec to make others from
        sb3_check_env(env)


def test_registered() -> None:
    env = gymnasium.make("deskovky/Dobutsu-v0", opponent=RandomOpponent(), max_turns=9)
    _, info = env.reset(seed=1)
    assert isinstance(env.unwrapped, SinglePlayerEnv)
    assert env.unwrapped.game.max_turns == 9
    assert env.get_wrapper_attr("action_masks")().tolist() == info["action_mask"].tolist()
    spec = gymnasium.spec("deskovky/Dobutsu-v0")
    assert json.loads(spec.to_json())["kwargs"] == {"game": "dobutsu_v0"}
    assert registration.gymnasium_id("gothic_draughts_v0") == "deskovky/GothicDraughts-v0"


# --- Rewards are the learner's --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "side", "reward"),
    [(WIN_0, 0, 1), (WIN_0, 1, -1), (WIN_1, 0, -1), (WIN_1, 1, 1), (DRAW, 0, 0), (DRAW, 1, 0)],
)
def test_a_loss_is_seen(turns: list[str], side: int, reward: int) -> None:
    rewards, env = scripted(turns, side)
    assert rewards == [0] * (len(rewards) - 1) + [reward]
    assert env.state_object.history == turns


def test_the_end() -> None:
    env = make(opponent=ScriptOpponent(WIN_0), side=1)
    env.reset()
    action = env.state_object.action_from_text("a4a3")
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
    assert info["termination"] == "lion_captured" and info["side"] == 1
    assert not info["action_mask"].any() and info["action_mask"].dtype == np.int8
    assert np.array_equal(observation, env.state_object.observation(1))
    with pytest.raises(IllegalActionError, match="over"):
        env.step(action)


def test_truncation() -> None:
    env = make(opponent=ScriptOpponent(DRAW), side=0, max_turns=4)
    env.reset()
    env.step(env.state_object.action_from_text(DRAW[0]))
    _, reward, terminated, truncated, info = env.step(env.state_object.action_from_text(DRAW[2]))
    assert (reward, terminated, truncated) == (0, False, True)
    assert info["termination"] == "max_turns"


# --- Sides and the opponent's first turn ----------------------------------------------------------


def test_sides() -> None:
    env = make(side="alternate")
    sides = [env.reset(seed=None if i else 5)[1]["side"] for i in range(4)]
    assert sides == [0, 1, 0, 1]
    assert env.reset(seed=5)[1]["side"] == 0  # a seed starts the alternation anew
    env = make(side="random")
    env.reset(seed=0)
    assert {env.reset()[1]["side"] for _ in range(30)} == {0, 1}
    for side in (0, 1):
        env = make(side=side)
        for _ in range(3):
            _, info = env.reset()
            assert info["side"] == side == env.state_object.to_move
            assert len(env.state_object.history) == side


class SometimesFast(RandomOpponent):
    """As player 0 of a game of one turn: ends it at once, as long as `games` lasts."""

    def __init__(self, games: int) -> None:
        self.games, self.calls = games, 0

    def reset(self, seed: int | None = None) -> None:
        pass

    def act(self, state: State) -> int:
        self.calls += 1
        # b3b4+ takes the lion; b1b2 leaves player 1 a turn.
        self.games -= 1
        return state.action_from_text("b3b4+" if self.games >= 0 else "b1b2")


def test_a_game_over_before_the_learner_acts_is_drawn_anew() -> None:
    fen = "1le/gC1/3/ELG[C] w - - 1 2"
    env = make(opponent=SometimesFast(3), side=1)
    _, info = env.reset(options={"fen": fen})
    assert env.state_object.history == ["b1b2"]
    assert info["action_mask"].any()
    assert env.opponent.calls == 4  # type: ignore[attr-defined]


def test_a_learner_who_never_acts_is_an_error() -> None:
    env = make(opponent=SometimesFast(10**6), side=1)
    with pytest.raises(ConfigurationError, match="never"):
        env.reset(options={"fen": "1le/gC1/3/ELG[C] w - - 1 2"})


def test_turns_of_several_steps() -> None:
    env = SinglePlayerEnv(TwoStepGame(max_turns=4), opponent=RandomOpponent(), side=1)
    env.reset(seed=0)
    lengths = [len(env.state_object.history)]
    while env.outcome is None:
        env.step(0)
        lengths.append(len(env.state_object.history))
    assert lengths == [1, 2, 3, 4, 4]  # its two steps, the opponent's turn, its two steps


def test_random_openings() -> None:
    env = make(opening_turns=3, side=0)
    env.reset(seed=0)
    assert len(env.state_object.history) == 4  # three, and the opponent's turn
    fens = set()
    for _ in range(20):
        env.reset()
        fens.add(env.state_object.fen())
    assert len(fens) > 10


# --- Chance, copies, errors -----------------------------------------------------------------------


def test_all_chance_comes_from_the_seed() -> None:
    def record(seed: int) -> list[str]:
        env = make(side="random", opening_turns=2)
        rng = np.random.default_rng(9)
        games = []
        for i in range(5):
            env.reset(seed=seed if i == 0 else None)
            random_game(env, rng)
            games.append(" ".join(env.state_object.history))
        return games

    assert record(1) == record(1)
    assert record(1) != record(2)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_in_mid_game(duplicate: Callable[[Any], Any]) -> None:
    env = make(side="random")
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    twin = duplicate(env)
    for _ in range(3):
        one = random_game(env, np.random.default_rng(4))
        other = random_game(twin, np.random.default_rng(4))
        assert env.state_object == twin.state_object and len(one) == len(other)
        assert np.array_equal(env.reset()[0], twin.reset()[0])


def test_illegal_action_loses_by_default() -> None:
    env = make(side=0)
    env.reset()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["termination"] == "illegal_action" and not info["action_mask"].any()
    assert not env.action_masks().any()


@pytest.mark.parametrize("action", [0, -1, 132])
def test_illegal_action_raises_on_request(action: int) -> None:
    env = make(side=1, illegal="raise", opponent=HashOpponent())
    env.reset()
    before = env.state_object.copy()
    with pytest.raises(IllegalActionError, match=f"action {action} .*legal are"):
        env.step(action)
    assert env.state_object == before and env.outcome is None


def test_wrong_calls() -> None:
    env = make()
    for call in (lambda: env.step(0), env.action_masks):
        with pytest.raises(IllegalActionError, match="reset"):
            call()
    env.reset()
    with pytest.raises(IllegalActionError, match="integer"):
        env.step("b2b3")  # type: ignore[arg-type]
    before = env.state_object
    with pytest.raises(FenError):
        env.reset(options={"fen": "nonsense"})
    assert env.state_object is before
    wrong: list[dict[str, Any]] = [{"side": 2}, {"side": True}, {"side": "both"}, {"illegal": "x"}]
    for options in wrong:
        with pytest.raises(ConfigurationError, match="must be one of"):
            make(**options)


def test_render() -> None:
    env = make(render_mode="ansi", side=0)
    env.reset()
    assert str(env.render()).startswith(" 4  g l e\n")


class Failing(RandomOpponent):
    """Does what no opponent should: raises `action`, or plays it."""

    name = "test-failing"
    action: Any = None

    def act(self, state: State) -> Any:
        if self.action is KeyboardInterrupt:
            raise self.action
        return self.action


@pytest.mark.parametrize("action", [KeyboardInterrupt, 10**6, -1, 0, 1.5, None])
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_a_failing_opponent_takes_the_step_back(action: Any, render_mode: str | None) -> None:
    opponent = Failing()
    env = make(opponent=opponent, side=0, render_mode=render_mode)
    env.reset(seed=0)
    before = env.state_object.copy()
    turn = before.action_from_text("b2b3")
    opponent.action = action
    if action is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            env.step(turn)
    else:
        with pytest.raises(IllegalActionError, match="the opponent test-failing"):
            env.step(turn)
    assert env.state_object == before and env.outcome is None
    env.opponent = RandomOpponent()
    env.step(turn)
    assert len(env.state_object.history) == 2


@pytest.mark.parametrize("opponent", [None, 3, object(), RandomOpponent])
def test_what_is_no_opponent(opponent: Any) -> None:
    with pytest.raises(ConfigurationError, match="opponent"):
        make(opponent=opponent)
    env = make()
    with pytest.raises(ConfigurationError, match="opponent"):
        env.opponent = opponent
    assert isinstance(env.opponent, RandomOpponent)


@pytest.mark.parametrize("opening_turns", [-1, 1001, 1.5, "3", True, None])
def test_wrong_openings(opening_turns: Any) -> None:
    with pytest.raises(ConfigurationError, match="opening_turns"):
        make(opening_turns=opening_turns)


def test_a_fen_is_a_text() -> None:
    with pytest.raises(FenError, match="text"):
        make().reset(options={"fen": 3})
