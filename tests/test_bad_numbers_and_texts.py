"""Numbers and texts far out of range: one clear error, in every game, and nothing changes."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from reference.dobutsu import Dobutsu

import deskovky as dk
from deskovky import _core
from deskovky.cli import main
from deskovky.envs.support import memory_bytes, write_text

HUGE = pytest.param(10**5000, id="huge")  # Python refuses to print it
ABSURD = [-1, 2**31, 2**63, 2**64, HUGE]
NO_INTEGERS = [1.5, "1", None, True]


@pytest.mark.parametrize("value", [*ABSURD, *NO_INTEGERS])
@pytest.mark.parametrize("option", ["num_envs", "num_threads", "opening_turns"])
def test_options_of_vectors(option: str, value: Any) -> None:
    options: dict[str, Any] = {"num_envs": 2, option: value}
    with pytest.raises(dk.ConfigurationError, match=f"{option} = .*: expected an integer from"):
        dk.make_vec("dobutsu_v0", **options)


@pytest.mark.parametrize("seed", [-1, 2**64, HUGE, 1.5, True])
def test_seeds_of_vectors(seed: Any) -> None:
    with pytest.raises(dk.ConfigurationError, match="seed = "):
        dk.make_vec("dobutsu_v0", 2, seed=seed)
    games = dk.make_vec("dobutsu_v0", 2, seed=2**64 - 1)
    with pytest.raises(dk.ConfigurationError, match="seed = "):
        games.reset(seed=seed)


@pytest.mark.parametrize("seed", [-1, 2**64, HUGE, 1.5, "1", True])
@pytest.mark.parametrize("spec", ["random", "greedy", "minimax:depth=1", "mcts:simulations=5"])
def test_seeds_of_agents(spec: str, seed: Any) -> None:
    with pytest.raises(dk.AgentSpecError, match="seed = .*: expected an integer from 0"):
        dk.agent(spec, seed=seed)
    agent, state = dk.agent(spec, seed=2**64 - 1), dk.game("dobutsu_v0").state()
    with pytest.raises(dk.ConfigurationError, match="seed = .*: expected an integer from 0"):
        agent.reset(seed)
    assert agent.act(state) == dk.agent(spec, seed=2**64 - 1).act(state)


@pytest.mark.parametrize("text", ["1_0", " 3", "\uff12", "+2", "2.0", "9" * 5000])
def test_whole_numbers_of_specs(text: str) -> None:
    with pytest.raises(dk.AgentSpecError, match="depth = .*: expected a whole number"):
        dk.agent(f"minimax:depth={text}")


@pytest.mark.parametrize("id", ["dobutsu_v0", "xiangqi_v0"])
def test_more_games_than_memory(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused before anything is allocated: the system would kill the process."""
    message = r"num_envs = [0-9]+: they may need .* GiB, more than half of the memory here, 0.2 GiB"
    monkeypatch.setattr("deskovky.envs.vector.memory_bytes", lambda: 200 << 20)
    gymnasium_id = "deskovky/" + id.partition("_")[0].capitalize() + "-v0"
    for num_envs in (20_000, 2**24):
        with pytest.raises(dk.ConfigurationError, match=message):
            dk.make_vec(id, num_envs)
        with pytest.raises(dk.ConfigurationError, match=message):
            gymnasium.make_vec(gymnasium_id, num_envs)
    assert dk.make_vec(id, 1000).num_envs == 1000


def test_the_memory_of_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"memory.max": "max\n", "memory/memory.limit_in_bytes": "123456\n"}

    def read_text(path: Path) -> str:
        return texts[str(path.relative_to("/sys/fs/cgroup"))]

    monkeypatch.setattr(Path, "read_text", read_text)
    assert memory_bytes() == 123456
    texts["memory/memory.limit_in_bytes"] = "9223372036854771712"  # what version 1 calls no limit
    assert 2**20 < memory_bytes() < 2**50
    texts["memory.max"] = "65536"
    assert memory_bytes() == 65536


@pytest.mark.parametrize("value", [*ABSURD, 0, 1.5, "1", True])
def test_max_turns(value: Any) -> None:
    for make in (lambda: dk.game("dobutsu_v0", max_turns=value), lambda: Dobutsu(max_turns=value)):
        with pytest.raises(dk.ConfigurationError, match="max_turns = "):
            make()


@pytest.mark.parametrize("id", dk.games())
def test_numbers_given_to_games_and_states(id: str) -> None:
    game = dk.game(id)
    state = game.state()
    before = state.fen()
    values: list[Any] = [-1, 2**31, 2**63, 2**64, 10**5000, -(10**5000), *NO_INTEGERS]
    for value in values:
        with pytest.raises(dk.ConfigurationError, match="depth = "):
            game.perft(value)
        with pytest.raises(dk.ConfigurationError, match="player = "):
            state.num_pieces(value)
        with pytest.raises(dk.IllegalActionError):
            state.apply(value if value is not True else 10**6)
        with pytest.raises(dk.IllegalActionError):
            state.action_to_text(value if value is not True else 10**6)
    for limit in (-1, 2**64, 10**5000, 1.5, "1"):
        with pytest.raises(dk.ConfigurationError, match="limit = "):
            state.turns(limit)  # type: ignore[arg-type]
    assert state.turns(0) == [] and len(state.turns(2**40)) == len(state.turns())
    assert state.fen() == before


@pytest.mark.parametrize("id", dk.games())
@pytest.mark.parametrize(
    "text", ["\x00", "a1\x00a2", "\ud800", "a1a2\udfff", "ž" * 1000, "", 5, None]
)
def test_texts(id: str, text: Any) -> None:
    state = dk.game(id).state()
    before = state.fen()
    with pytest.raises(dk.IllegalActionError):
        state.push(text)
    with pytest.raises(dk.IllegalActionError):
        state.action_from_text(text)
    if text is not None:  # the start
        with pytest.raises(dk.FenError):
            dk.game(id).state(text)
    assert state.fen() == before


def test_a_message_shows_what_cannot_be_printed() -> None:
    state = dk.game("dobutsu_v0").state()
    with pytest.raises(dk.IllegalActionError, match=r"'b2\\x00b3' is not a whole legal turn"):
        state.push("b2\x00b3")
    with pytest.raises(dk.IllegalActionError, match=r"'\\ud800' is not a whole legal turn"):
        state.push("\ud800")


@pytest.mark.parametrize("id", dk.games())
def test_counters_of_a_fen_stop_where_readers_do(id: str) -> None:
    """A game that starts at the highest counters and goes on writes FENs that can be read."""
    game = dk.game(id, max_turns=1_000_000)
    board, _, *rest = game.state().fen().split(" ")
    for side, move in (("w", "1"), ("b", "1000000")):
        state = game.state(" ".join([board, side, *rest[:-2], "1000000", move]))
        for _ in range(2):
            if not state.is_over:
                state.apply(state.legal_actions()[0])
        assert game.state(state.fen()).fen() == state.fen()


@pytest.mark.parametrize(
    "words",
    [
        ["perft", "dobutsu_v0", "99999999999999999999"],
        ["perft", "dobutsu_v0", "-1"],
        ["perft", "dobutsu_v0", "1", "--fen", "\x00"],
        ["bench", "--seconds", "nan"],
        ["bench", "--seconds", "inf"],
        ["bench", "--seconds", "-1"],
        ["bench", "--runs", "99999999999999999999"],
        ["bench", "--num-envs", "99999999999999999999"],
    ],
)
def test_command_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.startswith("deskovky: ")


@pytest.mark.parametrize("policy", ["x", ["a"] * 132, [[1], [1, 2]], [None, {}]])
def test_policies_to_draw(policy: Any) -> None:
    with pytest.raises(dk.ConfigurationError, match="policy holds"):
        dk.game("dobutsu_v0").state().svg(policy=policy)


def test_options_of_a_reset() -> None:
    env = dk.make("dobutsu_v0")
    with pytest.raises(dk.ConfigurationError, match="options are a dict, not 5"):
        env.reset(options=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["", ".", "/"])
def test_a_folder_is_no_file_to_write(path: str) -> None:
    with pytest.raises(IsADirectoryError, match="expected a file to write"):
        write_text(Path(path), "text")


def test_why_a_game_ended() -> None:
    from deskovky.envs.protocol import Termination
    from deskovky.envs.python_engine import PythonVectorEngine

    names = [None, *Termination]
    game = dk.game("dobutsu_v0", max_turns=12)
    engines: list[Any] = [_core.VectorEngine, PythonVectorEngine]
    for make in engines:
        games = make(game, 64, seed=3, autoreset="same_step")
        seen = set()
        for _ in range(40):
            before = [games.state(i) for i in range(64)]
            actions = games.sample_actions()
            games.step(actions)
            ended = games.terminated | games.truncated
            assert ((games.termination > 0) == ended).all()
            for i in np.flatnonzero(ended):
                before[i].apply(actions[i])
                assert before[i].outcome is not None
                assert names[games.termination[i]] is before[i].outcome.termination
                seen.add(before[i].outcome.termination)
        assert {Termination.LION_CAPTURED, Termination.MAX_TURNS} <= seen


def test_the_first_illegal_action_is_named_whatever_the_threads() -> None:
    for num_threads in (1, 3):
        games = dk.make_vec("dobutsu_v0", 512, num_threads=num_threads, seed=0)
        games.reset()
        actions = games.sample_actions()
        actions[[100, 300, 500]] = -1
        with pytest.raises(dk.IllegalActionError, match="^game 100: "):
            games.step(actions)
