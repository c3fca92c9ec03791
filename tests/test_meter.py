"""The meter of perfect play: its file, its readings, its command; no table is needed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deskovky as dk
from deskovky import cli
from deskovky.agents import Agent
from deskovky.agents.analysis import Analysis, spread
from deskovky.agents.oracle import Values
from deskovky.errors import ConfigurationError
from deskovky.train import meter

GAME = dk.game("dobutsu_v0")


class Scripted(Agent):
    """Play given actions, whatever the state, with a given opinion of each."""

    def __init__(self, states: list[dk.State], actions: Any, value: float | None) -> None:
        self._actions = {
            state.fen(): int(action) for state, action in zip(states, actions, strict=True)
        }
        self._value = value

    def act(self, state: dk.State) -> int:
        return self._actions[state.fen()]

    def analyse(self, state: dk.State) -> Analysis:
        return Analysis(spread(state, [self.act(state)]), self._value)

    def reset(self, seed: int | None = None) -> None:
        pass


@pytest.mark.parametrize("ruleset", GAME.rulesets)
def test_the_file_agrees_with_itself(ruleset: str) -> None:
    """A position is worth what its best action is; nothing is over, every band is as large."""
    positions = meter.read_positions(dk.game("dobutsu_v0", ruleset=ruleset))
    best = positions.action_values.ranks.max(1)
    np.testing.assert_array_equal(best, positions.values.ranks)
    for state, values in zip(positions.states, positions.action_values.values, strict=True):
        assert not state.is_over
        np.testing.assert_array_equal(np.flatnonzero(values > -2), state.legal_actions())
    bands = [meter.band_of(*pair) for pair in zip(*positions.values, strict=True)]
    assert {band: bands.count(band) for band in meter.BANDS} == dict.fromkeys(meter.BANDS, 170)
    assert {state.to_move for state in positions.states} == {0, 1}


def test_positions_differ_up_to_mirroring() -> None:
    keys = set()
    for state in meter.read_positions(GAME).states:
        planes = state.observation()
        keys.add(min(planes.tobytes(), planes[:, :, ::-1].tobytes()))
    assert len(keys) == 170 * len(meter.BANDS)


def test_results_as_text() -> None:
    for result in ((1, 7), (-1, 172), (0, -1)):
        assert meter.read_result(meter.write_result(*result)) == result


def test_a_loss_in_two_has_no_band() -> None:
    assert meter.band_of(-1, 2) is None


def some(indices: list[int]) -> meter.Positions:
    positions = meter.read_positions(GAME)
    return meter.Positions(
        [positions.states[i] for i in indices],
        Values(*(array[indices] for array in positions.values)),
        Values(*(array[indices] for array in positions.action_values)),
    )


def indices_of(value: int, distance: int, count: int) -> list[int]:
    values, distances = meter.read_positions(GAME).values
    return np.flatnonzero((values == value) & (distances == distance))[:count].tolist()


def test_a_perfect_and_a_hopeless_agent() -> None:
    positions = some(list(range(0, 2040, 30)))
    ranks = positions.action_values.ranks
    worst = np.where(ranks < -1000, 1000, ranks).argmin(1)
    best = meter.measure(Scripted(positions.states, ranks.argmax(1), 0.5), positions)["all"]
    bad = meter.measure(Scripted(positions.states, worst, None), positions)["all"]
    decided = positions.values.values != 0
    assert (best.positions, best.optimal, best.keeps_value, best.distance_error) == (68, 1, 1, 0)
    assert best.value_sign == np.mean(positions.values.values[decided] == 1)
    assert bad.optimal == 0 and bad.keeps_value < 0.7 and np.isnan(bad.value_sign)


def test_distance_error_counts_the_turns_lost_where_the_value_is_kept() -> None:
    positions = some(indices_of(1, 5, 12))
    values, distances = positions.action_values
    slower = np.where((values == 1) & (distances > 5), distances, 10_000)
    has_slower = slower.min(1) < 10_000
    assert has_slower.any()
    actions = np.where(has_slower, slower.argmin(1), positions.action_values.ranks.argmax(1))
    expected = np.where(has_slower, slower.min(1) - 5, 0).mean()
    readings = meter.measure(Scripted(positions.states, actions, 1.0), positions)
    assert list(readings) == ["all", "win in 5-9"]
    assert readings["all"].distance_error == pytest.approx(expected)
    assert readings["all"].optimal == pytest.approx(1 - has_slower.mean())
    assert readings["all"].keeps_value == readings["all"].value_sign == 1


def test_searching_deeper_is_nearer_to_perfection() -> None:
    positions = some(list(range(0, 2040, 20)))
    shares = [
        meter.measure(dk.agent(spec), positions)["all"].keeps_value
        for spec in ("random", "minimax:depth=2", "minimax:depth=5")
    ]
    assert shares == sorted(shares) and shares[0] + 0.1 < shares[2]


def test_no_meter_for_other_games() -> None:
    with pytest.raises(ConfigurationError, match="no meter for xiangqi_v0"):
        meter.read_positions(dk.game("xiangqi_v0"))
    assert meter.scalars(dk.game("xiangqi_v0"), dk.agent("random")) == {}


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "meter.json"
    assert cli.main(["eval", "--meter", "--agents", "greedy", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert all(band in shown for band in ("all", *meter.BANDS))
    assert max(map(len, shown.splitlines())) <= 80
    report = json.loads(out.read_text())
    assert report["game"] == "dobutsu_v0"
    assert report["meter"]["greedy"]["all"]["positions"] == 2040
    assert report["meter"]["greedy"]["win in 1"]["optimal"] == 1  # it takes every win, mates too


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--meter", "--game", "xiangqi_v0"], "no meter for xiangqi_v0"),
        (["--picture", "meter.png"], "add --meter"),
    ],
)
def test_what_the_command_refuses(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["eval", "--agents", "greedy", "random", *words]) == 2
    assert complaint in capsys.readouterr().err


def test_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    positions = some(list(range(0, 2040, 40)))
    readings = {"random": meter.measure(dk.agent("random"), positions)}
    meter.write_picture(readings, tmp_path / "meter.svg")
    assert "<svg" in (tmp_path / "meter.svg").read_text()
    with pytest.raises(ConfigurationError, match="meter.doc"):
        meter.write_picture(readings, tmp_path / "meter.doc")


def test_a_network_is_measured_with_and_without_its_search(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from deskovky.agents.alphazero import AlphaZeroAgent
    from deskovky.agents.checkpoint import make_checkpoint, write_checkpoint
    from deskovky.agents.network import PolicyValueNetwork, network_config

    torch.manual_seed(0)
    network = PolicyValueNetwork(network_config(GAME, width=8, num_blocks=0))
    path = tmp_path / "best.pt"
    write_checkpoint(path, make_checkpoint(network, GAME, 1))
    agent = AlphaZeroAgent(path, simulations=2)
    both = list(meter.with_policy_alone([agent]))
    assert both == [agent.without_search().name, agent.name] and len(set(both)) == 2
    found = meter.scalars(GAME, agent)
    assert set(found) == {
        f"meter/{kind}/{name}"
        for kind in ("policy", "search")
        for name in ("optimal", "keeps_value", "value_sign")
    }
    assert all(0 <= share <= 1 for share in found.values())
    rows = [line for line in meter.section(GAME, agent).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 2 * (1 + len(meter.BANDS))
    assert {line.count("|") for line in rows} == {7}
