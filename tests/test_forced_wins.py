"""Forced wins and losses within the depth of minimax, in every game and for both players.

forced_wins.json holds positions of all kinds of ends (mate, try, blockade, capture of everything,
limits) and how many turns they are away. They come from games between shallow searches and were
checked by `can_force`, which looks at every turn, as far as that takes seconds. To collect others:

    python tests/test_forced_wins.py --write
"""

import contextlib
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import deskovky as dk
from deskovky import _core
from deskovky.envs.protocol import State

FILE = Path(__file__).parent / "forced_wins.json"
WIN = 1_000_000
MOST_TURNS = 4
LEAST_TURNS = 3  # every game has problems up to there, for both players
MOST_POSITIONS = 20_000  # looked at to check a problem
MOST_ALIKE = 2  # problems of one game, winner, distance and kind of end

Problem = dict[str, Any]


class TooLong(Exception):
    """A position that cannot be looked at completely."""


def can_force(state: State, player: int, turns: int, budget: list[int] | None = None) -> bool:
    """Return whether `player` wins within so many turns, whatever the other one does.

    budget: holds how many positions may be looked at; raises TooLong.
    """
    if budget is not None:
        budget[0] -= 1
        if budget[0] < 0:
            raise TooLong
    if state.is_over:
        return bool(state.returns()[player] == 1)
    if turns == 0 and not state.is_turn_open:
        return False
    is_own = state.to_move == player
    for action in state.legal_actions().tolist():
        state.apply(action)
        wins = can_force(state, player, turns if state.is_turn_open else turns - 1, budget)
        state.undo()
        if wins == is_own:
            return is_own
    return not is_own


def check_by_looking_at_everything(problem: Problem, budget: list[int] | None = None) -> None:
    state = state_of(problem)
    assert not can_force(state, problem["winner"], problem["turns"] - 1, budget)
    assert can_force(state, problem["winner"], problem["turns"], budget)


def state_of(problem: Problem) -> State:
    return dk.game(problem["game"]).state(problem["fen"])


def problems() -> list[Problem]:
    return list(json.loads(FILE.read_text(encoding="utf-8")))


def score_of(problem: Problem) -> int:
    """Return the score for the player to move."""
    is_mover = state_of(problem).to_move == problem["winner"]
    return (1 if is_mover else -1) * (WIN - int(problem["turns"]))


@pytest.mark.parametrize("game", dk.games())
def test_there_are_problems_for_both_players(game: str) -> None:
    found = Counter((p["winner"], p["turns"]) for p in problems() if p["game"] == game)
    for player in (0, 1):
        for turns in range(1, LEAST_TURNS + 1):
            assert found[player, turns] > 0, (player, turns)


def test_there_are_all_kinds_of_ends() -> None:
    found = {p["end"] for p in problems()}
    assert found >= {
        *("checkmate", "try", "lion_captured"),
        *("no_pieces", "blocked", "quiet_limit", "length_limit"),
    }


@pytest.mark.parametrize("game", dk.games())
def test_problems_are_right(game: str) -> None:
    """The quick ones anew; all of them were checked when they were written."""
    for problem in problems():
        if problem["game"] == game and problem["turns"] <= 2:
            check_by_looking_at_everything(problem)


@pytest.mark.parametrize("game", dk.games())
def test_minimax_finds_forced_wins_and_losses_at_their_distance(game: str) -> None:
    for i, problem in enumerate(problems()):
        if problem["game"] != game:
            continue
        state, turns, score = state_of(problem), problem["turns"], score_of(problem)
        for table_mb in (0, 16):
            result = _core.minimax(state, depth=turns + 2, seed=i, table_mb=table_mb)
            assert (result.score, result.turns_to_end, result.depth) == (score, turns, turns)
        # Too little depth proves nothing, whatever quiescence sees.
        if turns > 1:
            assert _core.minimax(state, depth=turns - 1, seed=i).turns_to_end is None
        # Without a limit of depth late actions are searched less deep, but not that much less.
        result = _core.minimax(state, nodes=10**7, seed=i)
        assert (result.score, result.turns_to_end) == (score, turns)
        assert result.depth >= turns
        # Broken off early, a search proves nothing that is not so.
        for nodes in (50, 200, 1000, 4000):
            for depth in (None, 20):
                result = _core.minimax(state, nodes=nodes, depth=depth, seed=i)
                assert result.turns_to_end is None or result.score == score


@pytest.mark.parametrize("game", dk.games())
def test_minimax_plays_forced_wins_to_the_end(game: str) -> None:
    for i, problem in enumerate(problems()):
        if problem["game"] != game:
            continue
        state, turns = state_of(problem), problem["turns"]
        while not state.is_over:
            result = _core.minimax(state, depth=max(turns, 1), seed=i)
            assert result.turns_to_end == turns
            state.apply(result.action)
            turns -= not state.is_turn_open
        assert turns == 0
        assert state.outcome is not None and state.outcome.winner == problem["winner"]


def collect(game: str, seconds: float, rng: random.Random) -> list[Problem]:
    """Play games and keep positions before their end, spread over distances and kinds of ends."""
    counts: Counter[tuple[int, int, str]] = Counter()
    found = []
    end = time.process_time() + seconds
    while time.process_time() < end:
        state = dk.game(game).state()
        while not state.is_over and time.process_time() < end:
            if rng.random() < 0.2:
                action = int(rng.choice(state.legal_actions().tolist()))
            else:
                action = _core.minimax(
                    state, depth=rng.choice((1, 2)), seed=rng.getrandbits(60)
                ).action
            if not state.is_turn_open:
                problem = look(game, state)
                if problem is not None:
                    kind = (problem["winner"], problem["turns"], problem["end"])
                    if counts[kind] < MOST_ALIKE:
                        counts[kind] += 1
                        with contextlib.suppress(TooLong):
                            check_by_looking_at_everything(problem, [MOST_POSITIONS])
                            found.append(problem)
            state.apply(action)
    return sorted(found, key=lambda p: (p["winner"], p["turns"], p["end"]))


def look(game: str, state: State) -> Problem | None:
    # The past is no part of a FEN: repetition must not decide.
    fresh = dk.game(game).state(state.fen())
    if fresh.is_over:
        return None
    result = _core.minimax(fresh, seed=1, depth=MOST_TURNS, nodes=10_000)
    if result.turns_to_end is None:
        return None
    end = fresh.copy()
    for action in result.principal_variation:
        end.apply(action)
    assert end.outcome is not None and end.outcome.winner is not None
    return {
        "game": game,
        "fen": fresh.fen(),
        "winner": end.outcome.winner,
        "turns": result.turns_to_end,
        "end": str(end.outcome.termination),
    }


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    lines = []
    for game in dk.games():
        collected = collect(game, 5.0, random.Random(7))
        ends = Counter((p["winner"], p["turns"], p["end"]) for p in collected)
        print(game, len(collected), dict(ends), flush=True)
        lines += [json.dumps(problem) for problem in collected]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
