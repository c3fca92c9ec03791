"""Evaluation: counting, sides, openings, intervals, reports and bad input."""

import io
import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opponents import HashOpponent, InstantWinGame, RandomOpponent, TwoStepGame
from reference.dobutsu import Dobutsu
from toy_game import StripDraughts

import deskovky as dk
from deskovky import _core
from deskovky.envs.protocol import State
from deskovky.envs.python_game import PythonState
from deskovky.errors import ConfigurationError, IllegalActionError
from deskovky.train import evaluate as script
from deskovky.train.evaluate import Match, Tally, evaluate, random_openings, wilson_interval


class FixedPlayer(RandomOpponent):
    """Plays the same action always, and notes how many games it was asked about together."""

    def __init__(self, action: int) -> None:
        self.action = action
        self.name = f"fixed-{action}"
        self.batches: list[int] = []

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        self.batches.append(len(states))
        return np.full(len(states), self.action, np.int32)


def dobutsu_match(seed: int = 0) -> Match:
    return evaluate("dobutsu_v0", RandomOpponent(), HashOpponent(), 40, seed=seed)


@pytest.mark.parametrize(
    ("score", "games", "low", "high"),
    [
        # By hand, z^2 = 3.841459: centre (score + z^2 / 2n) / (1 + z^2 / n), half the width
        # z sqrt(score (1 - score) / n + z^2 / 4n^2) / (1 + z^2 / n).
        (0.0, 10, 0.0, 0.27753),  # z^2 / (n + z^2) = 3.841459 / 13.841459
        (1.0, 10, 0.72247, 1.0),  # n / (n + z^2)
        (0.5, 100, 0.40383, 0.59617),  # 0.5 -+ 0.5 z / sqrt(n + z^2) = 0.5 -+ 0.979982 / 10.190260
        (0.5, 4, 0.15004, 0.84996),  # 0.5 -+ 0.979982 / sqrt(7.841459)
        (0.95, 200, 0.91042, 0.97262),  # (0.959604 -+ 0.031695) / 1.019207
    ],
)
def test_wilson_interval_against_hand_computed_values(
    score: float, games: int, low: float, high: float
) -> None:
    assert wilson_interval(score, games) == pytest.approx((low, high), abs=1e-5)


def test_wilson_interval_refuses_what_is_no_score() -> None:
    with pytest.raises(ConfigurationError, match="over 0 games"):
        wilson_interval(0.5, 0)
    with pytest.raises(ConfigurationError, match=r"score of 1\.5"):
        wilson_interval(1.5, 10)


def test_half_of_the_games_are_played_from_either_side() -> None:
    # Action 0 wins at once: whoever begins wins.
    match = evaluate(InstantWinGame(), FixedPlayer(0), FixedPlayer(0), 10, opening_turns=0)
    assert match.as_player_0 == Tally(wins=5, draws=0, losses=0)
    assert match.as_player_1 == Tally(wins=0, draws=0, losses=5)
    assert match.total == Tally(wins=5, draws=0, losses=5)
    assert match.score == 0.5
    assert match.terminations == {"lion_captured": 10}
    assert match.mean_turns == 1


def test_wins_are_those_of_the_first_agent() -> None:
    # Action 1 only waits: the other wins from both sides, in its first turn.
    winner, waiter = FixedPlayer(0), FixedPlayer(1)
    match = evaluate(InstantWinGame(), winner, waiter, 10, opening_turns=0)
    assert (match.agent, match.opponent) == ("fixed-0", "fixed-1")
    assert match.as_player_0 == match.as_player_1 == Tally(5, 0, 0)
    assert match.mean_turns == 1.5
    assert match.interval == wilson_interval(1.0, 10)
    assert evaluate(InstantWinGame(), waiter, winner, 10, opening_turns=0).total == Tally(0, 0, 10)


def test_draws_count_half_and_turns_may_have_several_steps() -> None:
    match = evaluate(TwoStepGame(), FixedPlayer(0), FixedPlayer(1), 6, opening_turns=0)
    assert match.total == Tally(0, 6, 0)
    assert match.score == 0.5
    assert match.truncated == 0
    assert match.mean_turns == 4
    assert match.distinct_games == 2  # one from each side


def test_truncated_games_are_draws() -> None:
    game = dk.game("dobutsu_v0", max_turns=1)
    match = evaluate(game, RandomOpponent(), RandomOpponent(), 8, opening_turns=0)
    assert match.total == Tally(0, 8, 0)
    assert match.truncated == 8
    assert match.terminations == {"max_turns": 8}


def test_counts_add_up_and_the_hash_player_meets_every_opening_twice() -> None:
    match = dobutsu_match()
    assert match.as_player_0.games == match.as_player_1.games == 20
    assert match.total.games == sum(match.terminations.values()) == 40
    assert match.distinct_openings == 20
    assert match.distinct_games <= 40


def test_openings_are_even_and_repeated_only_when_there_are_no_others() -> None:
    upcoming = random_openings(dk.game("dobutsu_v0"), 2, np.random.default_rng(0))
    openings = list(itertools.islice(upcoming, 40))
    uses = Counter(tuple(opening.history) for opening in openings)
    # Of the 17 sequences of two turns, those left out hang the lion or lose a piece for nothing.
    assert sorted(uses.values()) == [4] * 10
    assert ("b2b3", "a4a3") not in uses  # the chick has taken a chick and attacks the lion
    assert ("b2b3", "b4b3") in uses  # taken back
    for opening in openings[:10]:
        assert abs(_core.minimax(opening, depth=5).score) <= 100, opening.fen()


def test_the_most_even_opening_counts_where_none_is_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "EVEN_SCORE", -1)
    opening = next(random_openings(dk.game("knight_draughts_v0"), 6, np.random.default_rng(0)))
    lead = abs(_core.minimax(opening, nodes=script.EVEN_NODES).score)
    assert lead < 200  # most others are further apart


def test_openings_of_games_in_python_are_judged_by_few_positions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    num_steps = 0

    def apply(state: PythonState, action: int) -> None:
        nonlocal num_steps
        num_steps += 1
        plain_apply(state, action)

    plain_apply = PythonState.apply
    monkeypatch.setattr(PythonState, "apply", apply)
    openings = random_openings(StripDraughts(), 4, np.random.default_rng(0))
    assert len(list(itertools.islice(openings, 3))) == 3
    assert num_steps < 10_000  # some 40,000 if they were judged as native games are


def test_both_games_of_a_pair_have_the_same_opening() -> None:
    # Two copies of a player that the position alone decides play the same game from both sides, so
    # that one's win is the other's and every pair is worth exactly one point.
    match = evaluate("dobutsu_v0", HashOpponent(), HashOpponent(), 30, opening_turns=4)
    assert match.distinct_openings == 15
    assert match.distinct_games == 30
    assert match.score == 0.5
    assert match.as_player_0.wins == match.as_player_1.losses


def test_same_seed_same_games() -> None:
    assert dobutsu_match(seed=3) == dobutsu_match(seed=3)
    assert dobutsu_match(seed=3) != dobutsu_match(seed=4)


def test_same_games_in_another_process() -> None:
    code = (
        "import json\n"
        "from opponents import RandomOpponent\n"
        "from deskovky.train.evaluate import evaluate\n"
        "players = RandomOpponent(), RandomOpponent(7)\n"
        "print(json.dumps(evaluate('dobutsu_v0', *players, 20, seed=5).to_json()))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,  # for opponents.py
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    match = evaluate("dobutsu_v0", RandomOpponent(), RandomOpponent(7), 20, seed=5)
    assert json.loads(output) == json.loads(json.dumps(match.to_json()))


def test_games_are_played_together_and_places_are_filled_again() -> None:
    first, second = FixedPlayer(0), FixedPlayer(0)
    evaluate(InstantWinGame(), first, second, 10, opening_turns=0, num_parallel=4)
    assert max(first.batches + second.batches) == 2  # of four games, two for each
    assert sum(first.batches + second.batches) == 10


def test_games_in_plain_python_play_as_native_ones() -> None:
    players = HashOpponent(), RandomOpponent()
    # A game in Python without an evaluation of its own has other even openings.
    slow = evaluate(Dobutsu(), *players, 20, seed=1, opening_turns=0)
    fast = evaluate("dobutsu_v0", *players, 20, seed=1, opening_turns=0)
    assert slow == fast


def test_games_are_reported_one_by_one() -> None:
    reported: list[None] = []
    evaluate(
        "dobutsu_v0",
        RandomOpponent(),
        RandomOpponent(),
        8,
        on_game=lambda: reported.append(None),
    )
    assert len(reported) == 8


class BadPlayer(RandomOpponent):
    """Returns what it is told to; it will be asked about two games, in one of them first."""

    name = "bad-player"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def reset(self, seed: int | None = None) -> None:
        pass

    def act_batch(self, states: Sequence[State]) -> NDArray[np.int32]:
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.array([131, 131], np.int32), "action 131 .*is illegal for agent 'bad-player' at"),
        (np.array([-1, 0], np.int32), "action -1 is out of range .* for agent 'bad-player' at"),
        (np.array([10**12, 0]), "out of range .* for agent 'bad-player' at"),
        (np.array([1.0, 1.0]), "agent 'bad-player' returned float64 of shape"),
        (np.array([1, 2, 3], np.int32), "agent 'bad-player' returned int32 of shape"),
        (None, "agent 'bad-player' returned object"),
    ],
)
def test_an_illegal_action_names_the_agent(answer: object, message: str) -> None:
    with pytest.raises(IllegalActionError, match=message):
        evaluate("dobutsu_v0", RandomOpponent(), BadPlayer(answer), 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 3}, "even"),
        ({"games": 0}, "games = 0: expected an integer from 2"),
        ({"games": 10**30}, "games = 10"),
        ({"games": 2.0}, "games = 2.0"),
        ({"opening_turns": -1}, "opening_turns"),
        ({"opening_turns": 10**30}, "opening_turns"),
        ({"num_parallel": 0}, "num_parallel"),
        ({"num_parallel": 10**30}, "num_parallel"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 2**64}, "seed = "),
        ({"seed": None}, "seed = None"),
    ],
)
def test_bad_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        evaluate("dobutsu_v0", RandomOpponent(), RandomOpponent(), **options)


def test_openings_that_end_the_game_are_refused_in_the_end() -> None:
    with pytest.raises(ConfigurationError, match="3 turns ended the game"):
        evaluate(dk.game("dobutsu_v0", max_turns=3), RandomOpponent(), RandomOpponent(), 2, 0, 3)


def test_report_file(tmp_path: Path) -> None:
    game = dk.game("dobutsu_v0", ruleset="fairy")
    args = script.Args(agents=("test-random", "test-hash"), seed=9, out=tmp_path / "new" / "r.json")
    match = evaluate(game, RandomOpponent(), HashOpponent(), 10, seed=9)
    assert args.out
    script.write_json(args.out, game, args, {"matches": [match.to_json()]})
    report = json.loads(args.out.read_text())
    assert (report["format"], report["version"]) == ("deskovky-evaluation", 1)
    assert (report["game"], report["ruleset"], report["seed"]) == ("dobutsu_v0", "fairy", 9)
    assert report["versions"]["deskovky"] == dk.__version__
    (stored,) = report["matches"]
    assert stored["score"] == match.score
    assert [stored["low"], stored["high"]] == list(match.interval)
    assert Tally(**stored["total"]) == match.total
    assert list(args.out.parent.iterdir()) == [args.out]  # no temporary file is left


def test_table_names_the_agents_and_the_score() -> None:
    from rich.console import Console

    match = dobutsu_match()
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(script.table(dk.game("dobutsu_v0"), [match]))
    text = console.export_text()
    assert "test-hash" in text and "test-random" in text
    assert f"{match.score:.1%}" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "\u2026" not in text  # nothing was cut off
