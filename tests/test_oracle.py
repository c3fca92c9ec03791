"""The solution of Dobutsu: its index, its retrograde steps, its file, the oracle and its agent.

The whole table is made by the long test only. Here it is an empty one with the positions of the
meter, and those one turn further, filled in; the file of the meter says what is known of them.
"""

import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deskovky as dk
from deskovky import _core, cli
from deskovky.agents.oracle import Oracle, OracleAgent, Values, oracle
from deskovky.agents.protocol import check_plays
from deskovky.envs.dobutsu import solution
from deskovky.errors import ConfigurationError, IllegalActionError, TableError
from deskovky.train import meter

RULESETS = dk.game("dobutsu_v0").rulesets
NUM_ENTRIES = _core.num_dobutsu_entries()


def ignore(stage: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


def write_table(path: Path, entries: dict[int, int], **changes: Any) -> None:
    """Write a table with some entries and holes between them."""
    header = {
        "format": solution.FORMAT,
        "version": solution.FORMAT_VERSION,
        "game": "dobutsu_v0",
        "size": NUM_ENTRIES,
        "sha256": "",
    }
    with path.open("wb") as file:
        file.write(json.dumps(header | changes).encode().ljust(solution.HEADER_BYTES - 1) + b"\n")
        file.truncate(solution.HEADER_BYTES + NUM_ENTRIES)
        for index, value in entries.items():
            file.seek(solution.HEADER_BYTES + index)
            file.write(bytes([value]))


def every(step: int, positions: meter.Positions) -> meter.Positions:
    """Return every `step`-th of them."""
    return meter.Positions(
        positions.states[::step],
        Values(*(array[::step] for array in positions.values)),
        Values(*(array[::step] for array in positions.action_values)),
    )


def known_entries() -> dict[int, int]:
    """Return what the file of the meter says about entries of the table."""
    positions = meter.read_positions(dk.game("dobutsu_v0", ruleset="fairy"))
    entries = {}
    for i, state in enumerate(positions.states):
        entries[_core.dobutsu_entry(state)] = max(0, int(positions.values.distances[i]))
        for action in state.legal_actions().tolist():
            child = state.copy()
            child.apply(action)
            distance = int(positions.action_values.distances[i, action])
            entries[_core.dobutsu_entry(child)] = max(0, distance - 1)
    del entries[-1]  # those that need none
    return entries


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    write_table(folder / "dobutsu_v0.table", known_entries())
    return folder


@pytest.fixture
def known(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Oracle:
    monkeypatch.setenv(solution.CACHE_VARIABLE, str(cache))
    return oracle("dobutsu_v0")


# --- The index ------------------------------------------------------------------------------------


def random_entries(count: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(NUM_ENTRIES, size=count).tolist()


def mirrored(fen: str) -> str:
    """Return the FEN of the mirror image; every row is written out."""
    board, rest = fen.split("[", 1)
    rows = ["".join("." * int(c) if c.isdigit() else c for c in row) for row in board.split("/")]
    text = "/".join(row[::-1] for row in rows)
    for n in (3, 2, 1):
        text = text.replace("." * n, str(n))
    return f"{text}[{rest}"


def mirrored_state(state: dk.State) -> dk.State:
    return state.game.state(mirrored(state.fen()))


def test_every_entry_is_a_position_and_the_other_way_round() -> None:
    game = dk.game("dobutsu_v0", ruleset="fairy")
    shadows = 0
    for index in random_entries(3000):
        state = game.state(_core.dobutsu_entry_fen(index))
        found = _core.dobutsu_entry(state)
        if found == -1:  # a chick or a hen can capture the lion: there is an entry, but no need
            continue
        assert found == _core.dobutsu_entry(mirrored_state(state))
        if found != index:  # the mirror image stands for both
            shadows += 1
            assert found < index
            assert _core.dobutsu_entry_fen(found) == mirrored_state(state).fen()
    assert shadows


def test_positions_of_both_players_have_the_same_entry() -> None:
    white = dk.game("dobutsu_v0").state("gle/1c1/1C1/ELG[-] w")
    black = dk.game("dobutsu_v0").state("gle/1c1/1C1/ELG[-] b")  # the same, turned by 180 degrees
    assert _core.dobutsu_entry(white) == _core.dobutsu_entry(black) >= 0


# --- Retrograde steps -----------------------------------------------------------------------------


def successors(index: int) -> Counter[int]:
    """Return the entries that turns of the ordinary rules lead to, and by how many turns."""
    game = dk.game("dobutsu_v0", ruleset="fairy")
    state = game.state(_core.dobutsu_entry_fen(index))
    found: Counter[int] = Counter()
    for action in state.legal_actions().tolist():
        child = state.copy()
        child.apply(action)
        found[_core.dobutsu_entry(child)] += 1
    del found[-1]
    return found


def is_own_mirror_image(index: int) -> bool:
    fen = _core.dobutsu_entry_fen(index)
    return mirrored(fen) == fen


def check_edges(index: int) -> int:
    """Check all edges of an entry in both directions; return how many there are."""
    if not is_open(index):
        return 0
    after = successors(index)
    before = Counter(_core.dobutsu_entry_predecessors(index))
    for successor, count in after.items():
        found = Counter(_core.dobutsu_entry_predecessors(successor))[index]
        assert found >= 1
        if not is_own_mirror_image(index) and not is_own_mirror_image(successor):
            assert found == count
    for predecessor, count in before.items():
        found = successors(predecessor)[index]
        assert found >= 1
        if not is_own_mirror_image(index) and not is_own_mirror_image(predecessor):
            assert found == count
    return len(after) + len(before)


def is_open(index: int) -> bool:
    """True if the mover cannot capture the lion and the entry stands for itself."""
    state = dk.game("dobutsu_v0", ruleset="fairy").state(_core.dobutsu_entry_fen(index))
    return _core.dobutsu_entry(state) == index


def test_turns_taken_back_are_those_of_the_ordinary_rules() -> None:
    assert sum(check_edges(index) for index in random_entries(400, seed=1)) > 2000


@pytest.mark.parametrize(
    "fen",
    [
        "1l1/1c1/1C1/1L1[GGEE] w",
        "1l1/3/1L1/3[GGEECC] w",
        "1l1/3/3/CLC[GgEe] w",
        "1l1/g1g/1L1/E1E[Cc] w",
        "gle/1c1/1C1/ELG[-] w",
    ],
)
def test_edges_of_positions_that_are_their_own_mirror_image(fen: str) -> None:
    index = _core.dobutsu_entry(dk.game("dobutsu_v0").state(fen))
    assert check_edges(index) > 3


# --- The file -------------------------------------------------------------------------------------


def test_a_missing_table_says_how_to_make_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(solution.CACHE_VARIABLE, str(tmp_path))
    with pytest.raises(TableError, match="deskovky solve dobutsu_v0"):
        dk.oracle("dobutsu_v0")
    with pytest.raises(TableError, match=str(tmp_path)):
        dk.agent("oracle")
    assert cli.main(["eval", "--agents", "oracle", "random"]) == 2
    assert "deskovky solve dobutsu_v0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "deskovky-evaluation"}, "not a solution"),
        ({"game": "xiangqi_v0"}, "not a solution"),
        ({"version": 2}, "format version 2"),
        ({"size": NUM_ENTRIES - 1}, "truncated"),
    ],
)
def test_foreign_tables_are_refused(
    tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    path = tmp_path / "dobutsu_v0.table"
    write_table(path, {}, **changes)
    with pytest.raises(TableError, match=complaint):
        solution.open_table(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", b"[]", b"\xff" * 5000])
def test_files_that_are_no_table_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dobutsu_v0.table"
    path.write_bytes(content)
    with pytest.raises(TableError, match="not a solution"):
        solution.open_table(path)


def test_a_truncated_table_is_refused_and_left_alone(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "dobutsu_v0.table"
    write_table(path, {})
    with path.open("r+b") as file:
        file.truncate(10_000)
    whole = solution.HEADER_BYTES + NUM_ENTRIES
    with pytest.raises(TableError, match=f"truncated or damaged, 10,000 bytes .* {whole:,};"):
        solution.open_table(path)
    assert cli.main(["solve", "dobutsu_v0", "--cache-dir", str(tmp_path)]) == 2
    assert path.stat().st_size == 10_000


def test_the_checksum_is_looked_at_when_asked_for(cache: Path) -> None:
    with pytest.raises(TableError, match="checksum"):
        solution.check_table(cache / "dobutsu_v0.table", 1, ignore)


def test_an_interrupted_solve_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solution.make_table(tmp_path / "folder" / "dobutsu_v0.table", 2, interrupt)
    assert list((tmp_path / "folder").iterdir()) == []


def test_bad_arguments_of_the_native_part() -> None:
    with pytest.raises(TableError, match="positions; expected"):
        _core.solve_dobutsu(np.zeros(10, np.uint8), 1, ignore)
    with pytest.raises(TableError, match="positions; expected"):
        _core.DobutsuSolution(np.zeros(10, np.uint8))
    with pytest.raises(ConfigurationError, match="num_threads"):
        _core.solve_dobutsu(np.zeros(10, np.uint8), 0, ignore)
    with pytest.raises(ConfigurationError, match="index"):
        _core.dobutsu_entry_fen(NUM_ENTRIES)


@pytest.mark.parametrize(
    "words", [["solve", "xiangqi_v0"], ["solve", "dobutsu_v0", "--threads", "-1"]]
)
def test_solve_says_what_cannot_be_done(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


# --- Looking up -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_values_and_action_values_of_known_positions(known: Oracle, ruleset: str) -> None:
    positions = meter.read_positions(dk.game("dobutsu_v0", ruleset=ruleset))
    for found, expected in (
        (known.values(positions.states), positions.values),
        (known.action_values(positions.states), positions.action_values),
    ):
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_observations_are_read_like_states(known: Oracle, ruleset: str) -> None:
    under = oracle("dobutsu_v0", ruleset=ruleset)
    states = meter.read_positions(under.game).states
    observations = np.stack([state.observation() for state in states])
    assert {state.to_move for state in states} == {0, 1}
    for of_states, of_observations in (
        (known.values(states), under.values(observations)),
        (known.action_values(states), under.action_values(observations)),
    ):
        np.testing.assert_array_equal(of_states, of_observations)


def test_the_start(known: Oracle) -> None:
    """The first player loses in 78 turns; the capture of the chick loses in 76."""
    state = dk.game("dobutsu_v0").state()
    assert (known.value(state), known.distance(state)) == (-1, 78)
    assert [state.action_to_text(action) for action in known.best_actions(state)] == [
        "c1c2",
        "b1c2",
        "b1a2",
    ]


def search(state: dk.State, turns: int) -> int:
    """Return what the player to move can force within some turns; 0 if nothing."""
    if state.outcome is not None:
        if state.outcome.winner is None:
            return 0
        return 1 if state.outcome.winner == state.to_move else -1
    if turns == 0:
        return 0
    best = -1
    for action in state.legal_actions():
        state.apply(int(action))
        best = max(best, -search(state, turns - 1))
        state.undo()
        if best == 1:
            break
    return best


@pytest.mark.parametrize("ruleset", RULESETS)
def test_near_wins_and_losses_are_those_of_an_exhaustive_search(ruleset: str) -> None:
    """A win in n turns is forced within them, and not sooner, but for what the rulesets change."""
    game = dk.game("dobutsu_v0", ruleset=ruleset)
    positions = meter.read_positions(game)
    sooner = {"standard": 4, "fairy": 2, "delayed_try": 2}[ruleset]  # a mate is 2 turns shorter
    later = {"standard": 0, "fairy": 0, "delayed_try": 1}[ruleset]  # a try is 1 turn longer
    for distance, count in ((1, 40), (3, 20), (4, 6)):
        for i in np.flatnonzero(positions.values.distances == distance)[:count].tolist():
            state, value = positions.states[i], int(positions.values.values[i])
            assert search(state, distance + later) == value
            assert search(state, max(0, distance - sooner)) == 0


@pytest.mark.parametrize(
    ("fen", "value", "distance", "moves"),
    [
        # The mover's lion has arrived, is attacked, and takes the only attacker: it stands safely.
        ("Lg1/3/2l/3[GEECC] w", 1, 1, ["a4b4"]),
        # It can be captured wherever it goes, and whatever else is done.
        ("Lg1/gh1/2l/3[eec] w", -1, 2, ["a4b4", "a4b3", "a4a3"]),
        # An enemy lion that has arrived can be captured.
        ("3/3/G1L/l1e[GECC] w", 1, 1, ["a2a1"]),
    ],
)
def test_lions_that_arrived_and_were_not_captured(
    known: Oracle, fen: str, value: int, distance: int, moves: list[str]
) -> None:
    """Only `fairy` goes on with a mover's lion on its last rank; these need no table."""
    state = dk.game("dobutsu_v0", ruleset="fairy").state(fen)
    assert not state.is_over
    assert (known.value(state), known.distance(state)) == (value, distance)
    assert [state.action_to_text(a) for a in known.best_actions(state)] == moves


def test_states_that_are_over(known: Oracle) -> None:
    """They are what their winner says."""
    captured = dk.game("dobutsu_v0").state("3/1l1/1L1/3[GGEECC] w")
    captured.push("b2b3")
    tried = dk.game("dobutsu_v0").state("L2/3/2l/3[GGEECC] w")
    for state, expected in ((captured, (-1, 0)), (tried, (1, 0))):
        assert state.is_over
        assert (known.value(state), known.distance(state)) == expected
        assert set(known.action_values([state]).values[0].tolist()) == {-2}
        with pytest.raises(IllegalActionError):
            known.best_actions(state)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_incomplete_positions_and_other_games_are_refused(known: Oracle, ruleset: str) -> None:
    state = dk.game("dobutsu_v0", ruleset=ruleset).state("1l1/3/3/1L1[-] w")
    for look_up in (known.value, known.distance, known.best_actions):
        with pytest.raises(TableError, match="two giraffes"):
            look_up(state)
    with pytest.raises(ConfigurationError, match="xiangqi_v0"):
        known.value(dk.game("xiangqi_v0").state())
    with pytest.raises(ConfigurationError, match="native state"):
        known.values([None])  # type: ignore[list-item]
    with pytest.raises(ConfigurationError, match="no solution of xiangqi_v0"):
        dk.oracle("xiangqi_v0")


def test_arrays_that_are_no_observations_are_refused(known: Oracle) -> None:
    observation = dk.game("dobutsu_v0").state().observation()[None]
    for plane, square in ((0, 5), (1, 7), (8, 3)):
        wrong = observation.copy()
        wrong.reshape(17, 12)[plane, square] += 1
        with pytest.raises(TableError, match=r"observations\[0\]"):
            known.values(wrong)
    with pytest.raises(TableError, match=r"observations\[0\]"):
        known.values(observation * np.float32(0.5))
    for odd in (observation[:, :16], observation[0], np.array(["gle"])):
        with pytest.raises(ConfigurationError, match="observations"):
            known.values(odd)  # type: ignore[arg-type]
    assert known.values(observation.astype(np.float64)).distances.tolist() == [78]  # type: ignore[arg-type]


# --- The agent ------------------------------------------------------------------------------------


def test_specs() -> None:
    with pytest.raises(dk.AgentSpecError, match="epsilon"):
        dk.agent("oracle:epsilon=2")
    with pytest.raises(dk.AgentSpecError, match="no solution of xiangqi_v0"):
        dk.agent("oracle:game=xiangqi_v0")


@pytest.mark.parametrize("spec", ["oracle", "oracle:epsilon=0.5", "oracle:hardest=true"])
def test_the_agent_is_named_by_its_spec_and_deterministic(known: Oracle, spec: str) -> None:
    agent, again = dk.agent(spec, seed=3), dk.agent(spec, seed=3)
    states = meter.read_positions(known.game).states[::40]
    assert agent.name == spec
    check_plays(agent, dk.game("dobutsu_v0", ruleset="fairy"))
    with pytest.raises(ConfigurationError, match="oracle.* plays dobutsu_v0, not xiangqi_v0"):
        check_plays(agent, dk.game("xiangqi_v0"))
    np.testing.assert_array_equal(agent.act_batch(states), again.act_batch(states))


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_agent_plays_perfectly(known: Oracle, ruleset: str) -> None:
    positions = every(5, meter.read_positions(dk.game("dobutsu_v0", ruleset=ruleset)))
    readings = meter.measure(dk.agent("oracle"), positions)
    assert len(readings) == 1 + len(meter.BANDS)
    for reading in readings.values():
        assert (reading.optimal, reading.keeps_value) == (1, 1)
        assert reading.distance_error == 0 or np.isnan(reading.distance_error)
        assert reading.value_sign == 1 or np.isnan(reading.value_sign)


def test_epsilon_is_the_share_of_random_actions(known: Oracle) -> None:
    state = dk.game("dobutsu_v0").state()
    counts = Counter(dk.agent("oracle:epsilon=0.5", seed=0).act_batch([state] * 2000).tolist())
    capture = state.action_from_text("b2b3")
    assert counts[capture] / 2000 == pytest.approx(0.5 / 4, abs=0.03)


class FakeOracle:
    """Says that everything is a draw but for some moves, by FEN."""

    def __init__(self, results: dict[str, dict[str, int]]) -> None:
        self.results = results

    def action_values(self, states: list[dk.State]) -> Values:
        values = np.full((2, len(states), 132), -2, np.int32)
        values[1] = -1
        for i, state in enumerate(states):
            moves = self.results.get(state.fen().split()[0], {})
            for action in state.legal_actions().tolist():
                distance = moves.get(state.action_to_text(action), 0)
                values[:, i, action] = (
                    (0, -1) if not distance else (1 if distance % 2 else -1, distance)
                )
        return Values(*values)


def agent_with(results: dict[str, dict[str, int]], *, hardest: bool = False) -> OracleAgent:
    agent = OracleAgent.__new__(OracleAgent)
    agent.oracle = FakeOracle(results)  # type: ignore[assignment]
    agent.epsilon, agent.hardest = 0.0, hardest
    agent.reset(0)
    return agent


def best_moves(agent: OracleAgent, state: dk.State) -> list[str]:
    return [state.action_to_text(action) for action in agent.best_actions(state)]


def test_a_win_is_not_thrown_away_by_repetition() -> None:
    state = dk.game("dobutsu_v0").state("gle/1c1/1C1/ELG[-] w")
    for turn in ("c1c2", "a4a3", "c2c1", "a3a4", "c1c2", "a4a3", "c2c1"):
        state.push(turn)
    winner = {state.fen().split()[0]: {"a3a4": 77, "b4c3": 79}}
    assert best_moves(agent_with(winner), state) == ["b4c3"]  # slower, but a win
    loser = {state.fen().split()[0]: {move: 76 for move in state.turns()}}
    assert best_moves(agent_with(loser), state) == ["a3a4"]


def test_the_hardest_choice_leaves_the_fewest_good_replies() -> None:
    state = dk.game("dobutsu_v0").state()
    child = state.copy()
    child.push("c1c2")
    only_reply = {child.fen().split()[0]: {move: 2 for move in child.turns()[1:]}}
    assert len(best_moves(agent_with(only_reply), state)) == 4
    assert best_moves(agent_with(only_reply, hardest=True), state) == ["c1c2"]


# --- The whole table ------------------------------------------------------------------------------


@pytest.mark.long
def test_the_whole_game_is_solved_as_tanaka_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes: every entry is checked, all reachable positions are counted."""
    monkeypatch.setenv(solution.CACHE_VARIABLE, str(tmp_path))
    result = subprocess.run(
        [sys.executable, "-m", "deskovky", "solve", "dobutsu_v0", "--verify", "--count"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert result.returncode == 0, result.stderr
    for text in (
        "every position agrees with all that it leads to",
        "the first player loses in 78 turns",
        "b2b3: loss in 76",
        "c1c2: loss in 78",
        "b1c2: loss in 78",
        "b1a2: loss in 78",
        "246,803,167 positions can be reached",
        "140,298,614 where the lion can be captured",
        "7,018,985 where the enemy lion has arrived",
        "99,485,568 others",
        "won 196,773,087",
        "lost 47,347,380",
        "drawn 2,682,700",
        "the longest win takes 173 turns",
    ):
        assert text in result.stdout
    perfect = oracle("dobutsu_v0")
    check_games(perfect)
    check_arrived_lions(perfect)


def check_games(perfect: Oracle) -> None:
    """Perfect players take as long as the distance says, but for what the rulesets change."""
    for ruleset, hardest in itertools.product(RULESETS, (False, True)):
        agent = OracleAgent(hardest=hardest, seed=0)
        state = dk.game("dobutsu_v0", ruleset=ruleset).state()
        while not state.is_over:
            assert perfect.distance(state) == 78 - len(state.history)
            state.apply(agent.act(state))
        assert state.outcome is not None and state.outcome.winner == 1
        assert (
            len(state.history)
            in {"standard": (76, 78), "fairy": (78,), "delayed_try": (78, 79)}[ruleset]
        )


def check_arrived_lions(perfect: Oracle) -> None:
    """In `fairy`, positions that are not in the table agree with those that they lead to."""
    random = np.random.default_rng(0)
    game = dk.game("dobutsu_v0", ruleset="fairy")
    checked = 0
    while checked < 200:
        state = game.state()
        while not state.is_over:
            lion = state.observation()[0].nonzero()[0][0]
            if lion == 3:
                actions = perfect.action_values([state]).ranks[0]
                best = actions.max()
                value, distance = perfect.values([state])
                assert int(value[0]) == np.sign(best)
                if best:
                    assert int(distance[0]) == 1000 - abs(best)
                assert search(state, 3) in (0, int(value[0]))
                checked += 1
            state.apply(int(random.choice(state.legal_actions())))
