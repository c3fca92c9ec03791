"""Many games at once: the two-sided vector environment and the Gymnasium one of one player."""

from typing import Any, cast

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray
from opponents import HashOpponent, InstantWinGame, RandomOpponent, ScriptOpponent, TwoStepGame
from reference.dobutsu import Dobutsu

import deskovky
from deskovky.envs import registration
from deskovky.envs.gymnasium_env import SinglePlayerEnv
from deskovky.envs.protocol import Game, State
from deskovky.envs.vector import VectorEnv
from deskovky.envs.vector_gymnasium import SinglePlayerVectorEnv
from deskovky.errors import ConfigurationError, IllegalActionError

registration.register(deskovky.games())

MODES = ["next_step", "same_step", "disabled"]
WIN_1 = "c1c2 a4a3 b1a2 a3a2".split()


def random_actions(mask: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a random legal action of each game, 0 where there is none."""
    return np.array([rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])


# --- Both sides: VectorEnv ------------------------------------------------------------------------


@pytest.fixture(params=[*deskovky.games(), "absolute view", "reference"])
def game(request: pytest.FixtureRequest) -> Game:
    """Every game, cut short, so that wins, losses and truncations all come up."""
    if request.param == "reference":
        return Dobutsu(max_turns=12)
    if request.param == "absolute view":
        return deskovky.game("dobutsu_v0", max_turns=12, view="absolute")
    return deskovky.game(request.param, max_turns=12)


@pytest.mark.parametrize("mode", MODES)
def test_vector_env_is_many_states(game: Game, mode: str) -> None:
    """Every array, at every step, against single states."""
    n = 5
    env = VectorEnv(game, n, autoreset_mode=mode, seed=0)
    assert env.metadata["autoreset_mode"] is AutoresetMode[mode.upper()]
    states = [game.state() for _ in range(n)]
    rng = np.random.default_rng(0)
    observations, info = env.reset(seed=0)
    ends = set()
    for _ in range(60):
        for i, state in enumerate(states):
            assert np.array_equal(observations[i], state.observation())
            assert np.array_equal(info["legal_action_mask"][i], state.legal_action_mask())
            assert info["to_move"][i] == state.to_move
            assert env.state(i) == state
        over = [state.is_over for state in states]
        if mode == "disabled" and any(over):
            observations, info = env.reset(mask=np.array(over))
            states = [game.state() if state.is_over else state for state in states]
            continue

        actions = random_actions(info["legal_action_mask"], rng)
        observations, rewards, terminated, truncated, info = env.step(actions)
        for i, state in enumerate(states):
            if over[i]:  # next-step mode: the action was ignored
                states[i] = game.state()
                assert not rewards[i].any() and not terminated[i] and not truncated[i]
                continue
            state.apply(int(actions[i]))
            assert rewards[i].tolist() == list(state.returns())
            is_truncation = state.outcome is not None and state.outcome.is_truncation
            assert truncated[i] == is_truncation
            assert terminated[i] == (state.is_over and not is_truncation)
            if state.is_over:
                ends.add(state.outcome)
            if mode == "same_step":
                assert info["_final_obs"][i] == state.is_over
                if state.is_over:
                    assert np.array_equal(info["final_obs"][i], state.observation())
                    states[i] = game.state()
    assert len(ends) >= (2 if game.id == "dobutsu_v0" else 1)  # the others last longer


def run(env: VectorEnv, num_steps: int = 80) -> list[NDArray[Any]]:
    """Play at random from the engine's own streams; return all that it returned."""
    observations, info = env.reset()
    seen: list[NDArray[Any]] = [observations, info["legal_action_mask"]]
    for _ in range(num_steps):
        *arrays, info = env.step(env.sample_actions())
        seen += [*arrays, *info.values()]
    return seen


@pytest.mark.parametrize("mode", MODES[:2])
def test_threads_change_nothing(mode: str) -> None:
    options: dict[str, Any] = {"seed": 7, "autoreset_mode": mode, "opening_turns": 3, "copy": True}
    one = run(VectorEnv("dobutsu_v0", 33, num_threads=1, **options))
    for num_threads in (2, 5):
        many = run(VectorEnv("dobutsu_v0", 33, num_threads=num_threads, **options))
        assert all(map(np.array_equal, one, many))
    other = run(VectorEnv("dobutsu_v0", 33, **{**options, "seed": 8}))
    assert not all(map(np.array_equal, one, other))


def test_seeds(game: Game) -> None:
    env = VectorEnv(game, 3, opening_turns=4)
    first = env.reset(seed=1)[0].copy()
    assert not np.array_equal(first, env.reset()[0])
    assert np.array_equal(first, env.reset(seed=1)[0])
    assert np.array_equal(first, VectorEnv(game, 3, opening_turns=4, seed=1).observations)


def test_openings_leave_games_that_go_on(game: Game) -> None:
    env = VectorEnv(game, 40, opening_turns=5, seed=0)
    for i in range(40):
        assert len(env.state(i).history) == 5 and not env.state(i).is_over
    assert (env.to_move == 1).all()
    assert len({env.state(i).fen() for i in range(40)}) > 10


def test_reused_arrays_and_copies(game: Game) -> None:
    for copy in (False, True):
        env = VectorEnv(game, 2, copy=copy)
        kept, info = env.reset()
        before = kept.copy()
        env.step(random_actions(info["legal_action_mask"], np.random.default_rng(0)))
        assert np.array_equal(kept, before) == copy


def test_active_games_only(game: Game) -> None:
    env = VectorEnv(game, 3)
    _, info = env.reset()
    before = [env.state(i) for i in range(3)]
    actions = random_actions(info["legal_action_mask"], np.random.default_rng(0))
    actions[[0, 2]] = -1  # not looked at
    env.step(actions, active=np.array([False, True, False]))
    assert [env.state(i) == before[i] for i in range(3)] == [True, False, True]


@pytest.mark.parametrize("action", [None, -1, 10**6])
def test_one_illegal_action_changes_no_game(game: Game, action: int | None) -> None:
    env = VectorEnv(game, 3, copy=True)
    observations, info = env.reset()
    actions = random_actions(info["legal_action_mask"], np.random.default_rng(0))
    first_illegal = int(np.argmin(info["legal_action_mask"][1]))
    actions[1] = first_illegal if action is None else action
    with pytest.raises(IllegalActionError, match="game 1"):
        env.step(actions)
    assert np.array_equal(observations, env.observations)
    assert all(env.state(i) == game.state() for i in range(3))


def test_a_finished_game_is_not_stepped_in_disabled_mode() -> None:
    env = VectorEnv(deskovky.game("dobutsu_v0", max_turns=1), 2, autoreset_mode="disabled")
    _, info = env.reset()
    actions = random_actions(info["legal_action_mask"], np.random.default_rng(0))
    _, _, terminated, truncated, info = env.step(actions)
    assert truncated.all() and not terminated.any() and not info["legal_action_mask"].any()
    with pytest.raises(IllegalActionError, match="game 0.*over"):
        env.step(actions)
    env.reset(mask=np.array([True, False]))
    assert [env.state(i).is_over for i in range(2)] == [False, True]


@pytest.mark.parametrize(
    "options",
    [
        {"num_envs": 0},
        {"num_envs": 2, "autoreset_mode": "never"},
        {"num_envs": 2, "opening_turns": 10**4},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        VectorEnv("dobutsu_v0", **options)


# --- One player: SinglePlayerVectorEnv ------------------------------------------------------------


def assert_same(one: Any, other: Any, path: str = "") -> None:
    """Compare all that two vector environments returned: structure, dtypes and values."""
    assert type(one) is type(other), path
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one:
            assert_same(one[key], other[key], f"{path}/{key}")
    elif isinstance(one, tuple):
        for i, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{path}/{i}")
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for left, right in zip(one, other, strict=True):
            assert_same(left, right, path)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, path
        assert np.array_equal(one, other), path
    else:
        assert one == other, path


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("side", [0, 1])
def test_as_gymnasium_vectorises_the_single_env(game: Game, mode: AutoresetMode, side: int) -> None:
    """Equal, step by step, to Gymnasium's SyncVectorEnv of SinglePlayerEnv, in all three modes."""
    sync = SyncVectorEnv(
        [lambda: SinglePlayerEnv(game, opponent=HashOpponent(), side=side)] * 4,
        autoreset_mode=mode,
    )
    env = SinglePlayerVectorEnv(game, 4, opponent=HashOpponent(), side=side, autoreset_mode=mode)
    assert env.metadata["autoreset_mode"] is mode
    assert env.observation_space == sync.observation_space
    assert env.action_space == sync.action_space
    rng = np.random.default_rng(3)
    result: Any = env.reset(seed=0)
    assert_same(sync.reset(seed=0), result)
    num_ends, endings = 0, set()
    for _ in range(40 if isinstance(game, Dobutsu) else 200):
        actions = random_actions(result[-1]["action_mask"], rng)
        is_careless = rng.random(4) < 0.06  # now and then an illegal action
        actions[is_careless] = result[-1]["action_mask"][is_careless].argmin(1)
        result = env.step(actions)
        assert_same(sync.step(actions), result)
        assert result[0] in env.observation_space
        ended = result[2] | result[3]
        num_ends += ended.sum()
        info = result[-1].get("final_info", result[-1])
        endings |= set(info.get("termination", ())) - {None}
        if mode is AutoresetMode.DISABLED and ended.any():
            restarted = sync.reset(options={"reset_mask": ended})
            result = env.reset(options={"reset_mask": ended})
            assert_same(restarted[0], result[0])
            shown = restarted[1]["_action_mask"]
            assert_same(restarted[1]["action_mask"][shown], result[1]["action_mask"][shown])
            # Ours shows the mask of the games that go on, too.
            assert np.array_equal(result[1]["action_mask"].astype(bool), env.action_masks())
    assert num_ends > 5 and "illegal_action" in endings and len(endings) >= 2


def test_registered_with_gymnasium() -> None:
    env = gymnasium.make_vec(
        "deskovky/Dobutsu-v0", 3, opponent=RandomOpponent(), autoreset_mode="same_step"
    )
    assert isinstance(env.unwrapped, SinglePlayerVectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    sync = gymnasium.make_vec(
        "deskovky/Dobutsu-v0", 3, vectorization_mode="sync", opponent=RandomOpponent()
    )
    assert env.reset(seed=0)[0].shape == sync.reset(seed=0)[0].shape


@pytest.mark.parametrize("opponent", ["random", "greedy", RandomOpponent()])
def test_seeded_and_independent_of_threads(opponent: Any) -> None:
    def record(num_threads: int, seed: int) -> list[Any]:
        env = SinglePlayerVectorEnv(
            "dobutsu_v0",
            20,
            opponent=opponent,
            side="random",
            opening_turns=2,
            num_threads=num_threads,
            autoreset_mode="same_step",
        )
        rng = np.random.default_rng(0)
        results: list[Any] = [env.reset(seed=seed)]
        for _ in range(40):
            results.append(env.step(random_actions(results[-1][-1]["action_mask"], rng)))
        return results

    one = record(1, seed=5)
    assert_same(tuple(one), tuple(record(3, seed=5)))
    assert not np.array_equal(one[9][0], record(1, seed=6)[9][0])


@pytest.mark.parametrize("mode", MODES[:2])
@pytest.mark.parametrize("side", ["alternate", "random"])
def test_sides_of_restarted_games(side: str, mode: str) -> None:
    env = SinglePlayerVectorEnv("dobutsu_v0", 6, "random", side, autoreset_mode=mode, max_turns=8)
    _, info = env.reset(seed=0)
    sides = [[int(s)] for s in info["side"]]
    if side == "alternate":
        assert sides == [[0], [1], [0], [1], [0], [1]]
    rng = np.random.default_rng(0)
    restarting = np.zeros(6, bool)
    for _ in range(60):
        for i in range(6):
            if info["action_mask"][i].any():
                assert env.state(i).to_move == info["side"][i]
        _, _, terminated, truncated, info = env.step(random_actions(info["action_mask"], rng))
        ended = terminated | truncated
        for i in np.flatnonzero(ended if mode == "same_step" else restarting):
            sides[i].append(int(info["side"][i]))
        restarting = ended
    for played in sides:
        assert len(played) > 5
        if side == "alternate":
            assert all(one != next_ for one, next_ in zip(played, played[1:], strict=False))
        else:
            assert set(played) == {0, 1}


def test_a_loss_is_seen_and_the_final_observation_is_the_learners() -> None:
    env = SinglePlayerVectorEnv(
        "dobutsu_v0", 2, ScriptOpponent(WIN_1), side=0, autoreset_mode="same_step"
    )
    env.reset()
    state = deskovky.game("dobutsu_v0").state()
    results = []
    for turn, reply in zip(WIN_1[::2], WIN_1[1::2], strict=True):
        action = state.action_from_text(turn)
        state.push(turn)
        state.push(reply)
        results.append(env.step(np.array([action, action])))
    _, rewards, terminated, _, info = results[-1]
    assert rewards.tolist() == [-1, -1] and terminated.all()
    for i in range(2):
        assert np.array_equal(info["final_obs"][i], state.observation(0))
    assert info["final_info"]["termination"].tolist() == ["lion_captured"] * 2
    assert env.action_masks().any(1).all()


class Hasty(RandomOpponent):
    """Wins an `InstantWinGame` at once, but lets every third turn pass, if it is `patient`."""

    patient = True

    def reset(self, seed: int | None = None) -> None:
        self.calls = 0

    def act(self, state: State) -> int:
        self.calls += 1
        return int(self.patient and self.calls % 3 == 0)


def test_games_over_before_the_learner_acts_are_drawn_anew() -> None:
    game = InstantWinGame()
    opponent = Hasty()
    env = SinglePlayerVectorEnv(game, 4, opponent, side=1, autoreset_mode="same_step")
    env.reset(seed=0)
    for _ in range(30):
        assert env.action_masks()[:, :2].all()
        assert all(len(env.state(i).history) for i in range(4))
        _, rewards, terminated, _, info = env.step(np.array([0, 1, 1, 2]))
        # A win; then the opponent's reply (a loss or nothing); and an illegal action.
        assert rewards[0] == 1 and terminated[0] and rewards[3] == -1 and terminated[3]
        assert (rewards[1:3] == np.where(terminated[1:3], -1, 0)).all()

    opponent.patient = False
    with pytest.raises(ConfigurationError, match="never"):
        env.reset()


def test_turns_of_several_steps() -> None:
    game = TwoStepGame(max_turns=4)
    env = SinglePlayerVectorEnv(game, 2, RandomOpponent(), side=1, autoreset_mode="disabled")
    env.reset(seed=0)
    lengths, ends = [], []
    for _ in range(4):
        ends.append(env.step(np.array([0, 1]))[2].tolist())
        lengths.append(len(env.state(0).history))
    assert lengths == [2, 3, 4, 4]
    assert ends == [[False, False]] * 3 + [[True, True]]


def test_illegal_actions_raise_on_request() -> None:
    env = SinglePlayerVectorEnv("dobutsu_v0", 2, side=0, illegal="raise")
    env.reset(seed=0)
    with pytest.raises(IllegalActionError, match=r"action 0 \(a1a2\).*learner of game 1.*b2b3"):
        env.step(np.array([4, 0]))
    assert env.state(0).history == []


@pytest.mark.parametrize(
    "actions", [np.zeros(3, int), np.zeros(2), np.zeros((2, 1), int), None, ["b2b3", "b2b3"], 4]
)
def test_wrong_actions(actions: Any) -> None:
    env = SinglePlayerVectorEnv("dobutsu_v0", 2)
    env.reset()
    with pytest.raises(IllegalActionError, match="integers of shape"):
        env.step(actions)


def test_disabled_mode() -> None:
    env = SinglePlayerVectorEnv("dobutsu_v0", 3, "random", 0, autoreset_mode="disabled")
    env.reset(seed=0)
    env.step(np.array([4, 0, 4]))  # 0 is illegal: game 1 is over
    with pytest.raises(IllegalActionError, match="game 1.*over"):
        env.step(np.array([4, 4, 4]))
    for mask in (np.array([False] * 3), np.array([True] * 2), [False, True, False]):
        with pytest.raises(ConfigurationError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    before = env.state(0)
    _, info = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert env.state(0) == before and env.state(1).history == []
    assert info["action_mask"].any(1).all()


def test_render() -> None:
    env = SinglePlayerVectorEnv("dobutsu_v0", 2, "random", 0, render_mode="ansi")
    env.reset()
    env.step(np.array([0, 4]))
    boards = env.render()
    assert boards is not None
    assert boards[0].endswith("player_1 won: illegal_action")
    assert SinglePlayerVectorEnv("dobutsu_v0", 2).render() is None


class Failing(RandomOpponent):
    """Does what no opponent should: raises `actions`, or plays them."""

    name = "test-failing"
    actions: Any = None

    def act_batch(self, states: Any) -> Any:
        if self.actions is KeyboardInterrupt:
            raise self.actions
        return self.actions


@pytest.mark.parametrize("actions", [KeyboardInterrupt, [10**6] * 2, [-1] * 2, 0, [0.5] * 2])
def test_after_a_failing_opponent_all_games_are_reset(game: Game, actions: Any) -> None:
    opponent = Failing()
    env = SinglePlayerVectorEnv(game, 2, opponent=opponent, side=0)
    _, info = env.reset(seed=0)
    turn = random_actions(info["action_mask"], np.random.default_rng(0))
    opponent.actions = actions
    if actions is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            env.step(turn)
    else:
        with pytest.raises(IllegalActionError, match="the opponent test-failing"):
            env.step(turn)
    env.opponent = RandomOpponent()
    half = {"reset_mask": np.array([True, False])}
    for call in (lambda: env.step(turn), env.action_masks, lambda: env.reset(options=half)):
        with pytest.raises(IllegalActionError, match=r"reset\(\)"):
            call()
    env.reset()
    env.step(turn)
    assert all(env.state(i).to_move == 0 or env.state(i).is_over for i in range(2))


@pytest.mark.parametrize("opponent", [None, 3, object(), RandomOpponent])
def test_what_is_no_opponent(opponent: Any) -> None:
    with pytest.raises(ConfigurationError, match="opponent"):
        SinglePlayerVectorEnv("dobutsu_v0", 2, opponent=opponent)
    env = SinglePlayerVectorEnv("dobutsu_v0", 2)
    with pytest.raises(ConfigurationError, match="opponent"):
        env.opponent = opponent
    assert env.opponent == "random"


def test_wrong_calls() -> None:
    for num_envs in (0, -1, 1.5):
        with pytest.raises(ConfigurationError, match="num_envs"):
            SinglePlayerVectorEnv("dobutsu_v0", num_envs)  # type: ignore[arg-type]
    env = SinglePlayerVectorEnv("dobutsu_v0", 2)
    with pytest.raises(IllegalActionError, match="there is no game yet"):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(ConfigurationError, match="reset_mask.*fen"):
        env.reset(options={"fen": "gle/1c1/1C1/ELG[-] w - - 0 1"})


@pytest.mark.parametrize("engine_game", ["dobutsu_v0", Dobutsu()])
def test_both_engines_refuse_the_same(engine_game: Game | str) -> None:
    wrong: list[dict[str, Any]] = [
        {"num_threads": 0},
        {"num_threads": 1025},
        {"opening_turns": -1},
        {"opening_turns": 1001},
    ]
    for options in wrong:
        with pytest.raises(ConfigurationError):
            VectorEnv(engine_game, 2, **options)
    env = VectorEnv(engine_game, 2, seed=0)
    actions = env.sample_actions()
    before = [env.state(i) for i in range(2)]
    calls: list[Any] = [
        lambda: env.engine.step(actions[:1]),
        lambda: env.engine.step(actions.astype(np.float32)),
        lambda: env.engine.step(actions.astype(np.uint8)),
        lambda: env.engine.step(actions, cast(Any, np.ones(2, np.int8))),
        lambda: env.engine.step(actions, np.ones(3, np.bool_)),
        lambda: env.engine.reset(None, np.ones(3, np.bool_)),
        lambda: env.engine.reset(5, cast(Any, np.ones(2, np.int8))),
    ]
    for call in calls:
        with pytest.raises(ConfigurationError):
            call()
    for index in (-1, 2):
        with pytest.raises(IndexError):
            env.state(index)
    assert [env.state(i) for i in range(2)] == before
    env.step(actions)
    for array in (env.observations, env.legal_action_mask, env.rewards, env.to_move):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
