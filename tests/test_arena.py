"""The arena: ratings, intervals, the sequential test, processes, stopping and going on."""

import importlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from opponents import Fragile, HashOpponent, RandomOpponent
from toy_game import StripDraughts

import deskovky as dk
from deskovky.envs.records import read_records
from deskovky.errors import (
    AgentSpecError,
    CheckpointError,
    ConfigurationError,
    DeskovkyError,
    IllegalActionError,
    WorkerError,
)
from deskovky.train import arena as script
from deskovky.train.arena import Tournament, arena, elo_on_ladder, read_ladder
from deskovky.train.evaluate import evaluate
from deskovky.train.rating import (
    Sprt,
    bootstrap,
    elo_score,
    fit,
    pair_table,
    pentanomial,
    rate,
)

# --- Ratings --------------------------------------------------------------------------------------


def synthetic(
    elo: Sequence[float], num_pairs: int, rng: np.random.Generator, draws: float = 0.3
) -> NDArray[np.int64]:
    """Return the results of a round robin between agents of these strengths."""
    matches = []
    for i, j in itertools.combinations(range(len(elo)), 2):
        score = elo_score(elo[i] - elo[j])
        draw = draws * 2 * min(score, 1 - score)
        points = rng.choice(
            [1.0, 0.5, 0.0], p=[score - draw / 2, draw, 1 - score - draw / 2], size=2 * num_pairs
        )
        matches.append((i, j, pentanomial(points.tolist())))
    return pair_table(len(elo), matches)


def test_the_rating_of_a_single_match_by_hand() -> None:
    # 30 wins, 2 draws, 8 losses: 31 points and 9, and the draw that is given.
    counts = pentanomial([1.0] * 30 + [0.5] * 2 + [0.0] * 8)
    assert counts.tolist() == [4, 0, 1, 0, 15]
    elo = fit(pair_table(2, [(0, 1, counts)]), {1: 0.0})
    assert elo == pytest.approx([400 * np.log10(31.5 / 9.5), 0.0])


def test_known_strengths_come_out_again() -> None:
    elo = [0.0, 120.0, 300.0, 800.0, 1500.0]
    pairs = synthetic(elo, 20_000, np.random.default_rng(0))
    assert fit(pairs, {0: 0.0}) == pytest.approx(elo, abs=25)
    # Only differences are in the results: another anchor moves all alike.
    moved = fit(pairs, {2: 300.0})
    assert moved - moved[0] == pytest.approx(fit(pairs, {0: 0.0}), abs=1e-6)


def test_the_fit_has_the_scores_that_were_seen() -> None:
    """At the maximum each agent's expected points are its own: the defining equations."""
    pairs = synthetic([0.0, 100.0, 500.0, 900.0], 100, np.random.default_rng(1))
    elo = fit(pairs, {0: 0.0})
    points = pairs @ np.array([0, 0.5, 1, 1.5, 2])
    games = points + points.T
    expected = games * np.vectorize(elo_score)(elo[:, None] - elo[None, :])
    # Two draws in 1200 games are not theirs.
    assert expected.sum(axis=1) == pytest.approx(points.sum(axis=1), abs=1.0)


@pytest.mark.parametrize(("games", "elo"), [(2, 279.6), (200, 1041.3)])
def test_an_agent_that_won_everything_has_a_finite_rating(games: int, elo: float) -> None:
    pairs = pair_table(2, [(0, 1, pentanomial([1.0] * games))])
    best, worst = rate(["strong", "weak"], pairs, {1: 0.0})
    assert (best.agent, best.score) == ("strong", 1.0)
    assert best.elo == pytest.approx(elo, abs=0.1)  # 400 log10(2 games + 1)
    assert best.low < best.elo - 50
    assert (worst.elo, worst.low, worst.high) == (0.0, 0.0, 0.0)


def test_one_match_won_throughout_hardly_moves_what_others_tell() -> None:
    elo = [0.0, 200.0, 400.0, 600.0, 1500.0]
    pairs = synthetic(elo, 5000, np.random.default_rng(2))
    few = pairs // 100
    assert few[4, 0].tolist() == [0, 0, 0, 0, 50]
    far, _ = fit(few, {0: 0.0})[3:5]
    few[4, 0] = few[0, 4] = 0
    assert fit(few, {0: 0.0})[3] == pytest.approx(far, abs=5)


def test_intervals_cover_the_truth() -> None:
    rng = np.random.default_rng(3)
    elo = np.array([0.0, 150.0, 500.0, 1000.0])
    covered = []
    for i in range(100):
        pairs = synthetic(elo.tolist(), 40, rng)
        low, high = np.percentile(bootstrap(pairs, {0: 0.0}, 200, i), [2.5, 97.5], axis=0)
        covered.append((low <= elo) & (elo <= high))
    shares = np.mean(covered, axis=0)[1:]
    # 95 %, and 3 standard deviations of 2.2 % below.
    assert shares.min() > 0.885


def test_agents_that_nothing_connects_have_no_ratings() -> None:
    even = pentanomial([1.0, 0.0])
    with pytest.raises(ConfigurationError, match="connects a with c, d"):
        rate(["a", "b", "c", "d"], pair_table(4, [(0, 1, even), (2, 3, even)]), {0: 0.0})


# --- The sequential test --------------------------------------------------------------------------


def test_the_log_likelihood_ratio_near_its_normal_approximation() -> None:
    """For hypotheses close together it is N (s1 - s0) (2 mean - s0 - s1) / (2 variance)."""
    counts = np.array([100, 500, 900, 600, 150])
    scores = np.arange(5) / 4
    mean = counts @ scores / counts.sum()
    variance = counts @ (scores - mean) ** 2 / counts.sum()
    s0, s1 = elo_score(0), elo_score(5)
    expected = counts.sum() * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    assert Sprt(0, 5).llr(counts) == pytest.approx(expected, rel=0.02)


def test_the_log_likelihood_ratio_of_wins_and_losses_by_hand() -> None:
    # Pairs of 2 or 0 points leave no freedom but the score: a plain test of a coin.
    counts = np.array([40, 0, 0, 0, 60])
    p0, p1 = elo_score(0), elo_score(100)
    expected = 60 * np.log(p1 / p0) + 40 * np.log((1 - p1) / (1 - p0))
    assert Sprt(0, 100).llr(counts) == pytest.approx(expected, abs=0.01)
    assert Sprt(0, 100).llr(np.zeros(5, np.int64)) == 0.0


def accepted(elo: float, test: Sprt, rng: np.random.Generator) -> float:
    """Play pairs at this strength, their two games alike more often than by chance, to the end."""
    score = elo_score(elo)
    together = 0.3  # of the probability: the opening decides both games
    counts = np.zeros(5, np.int64)
    while True:
        for _ in range(4):
            wins = rng.random(2) < score
            counts[4 * wins[0] if rng.random() < together else 2 * wins.sum()] += 1
        if (verdict := test.accepted(test.llr(counts))) is not None:
            return verdict


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, 120.0), (120.0, 0.0)])
def test_the_sequential_test_errs_as_seldom_as_it_says(elo: float, wrong: float) -> None:
    test = Sprt(0, 120)
    rng = np.random.default_rng(4)
    errors = sum(accepted(elo, test, rng) == wrong for _ in range(150))
    # 5 % of 150 are 7.5; 3 standard deviations more are 15.5.
    assert errors <= 15


def test_bounds() -> None:
    low, high = Sprt(0, 10, alpha=0.05, beta=0.1).bounds
    assert (low, high) == pytest.approx((np.log(0.1 / 0.95), np.log(0.9 / 0.05)))


@pytest.mark.parametrize("numbers", [(10, 0), (0, 0), (0, float("nan")), (-3000, 0)])
def test_what_is_no_test(numbers: tuple[float, float]) -> None:
    with pytest.raises(ConfigurationError, match="elo0"):
        Sprt(*numbers)
    with pytest.raises(ConfigurationError, match="alpha"):
        Sprt(0, 10, alpha=0)


# --- Tournaments ----------------------------------------------------------------------------------

AGENTS = ("random", "greedy", "minimax:depth=1")


def play(out: Path | None = None, **options: Any) -> Tournament:
    options = {"agents": AGENTS, "games": 12, "num_parallel": 4, "seed": 7, **options}
    return arena("dobutsu_v0", out=out, **options)


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


def test_all_play_all(tmp_path: Path) -> None:
    result = play(tmp_path / "out")
    assert [(match.agent, match.opponent) for match in result.matches] == [
        ("random", "greedy"),
        ("random", "minimax:depth=1"),
        ("greedy", "minimax:depth=1"),
    ]
    assert all(match.total.games == 12 and sum(match.pairs) == 6 for match in result.matches)
    assert {rating.agent for rating in result.ratings} == set(AGENTS)
    elo = [rating.elo for rating in result.ratings]
    assert elo == sorted(elo, reverse=True)
    (anchor,) = (rating for rating in result.ratings if rating.agent == "random")
    assert (anchor.elo, anchor.games) == (0.0, 24)


def test_records_can_be_read_and_are_the_games(tmp_path: Path) -> None:
    result = play(tmp_path / "out")
    records = list(read_records(tmp_path / "out" / "games.jsonl"))
    assert len(records) == 36
    for match in result.matches:
        games = [
            record
            for record in records
            if {record.headers["Player0"], record.headers["Player1"]}
            == {match.agent, match.opponent}
        ]
        assert len(games) == 12
        for first, second in zip(games[::2], games[1::2], strict=True):
            assert first.turns[:4] == second.turns[:4]  # one opening,
            assert first.headers["Player0"] == second.headers["Player1"] == match.agent  # two sides
        winners = [
            record.outcome and record.outcome.winner is not None
            and record.headers[f"Player{record.outcome.winner}"]
            for record in games
        ]  # fmt: skip
        assert winners.count(match.agent) == match.total.wins
        assert winners.count(match.opponent) == match.total.losses
    # All pairings have the same openings.
    openings = [tuple(record.turns[:4]) for record in records]
    assert len(set(openings)) == 6 and openings.count(openings[0]) == 6

    report = json.loads((tmp_path / "out" / "arena.json").read_text())
    assert (report["format"], report["version"]) == ("deskovky-arena", 1)
    assert report["agents"] == list(AGENTS)
    assert report["results"]["matches"][0]["score"] == result.matches[0].score


def test_a_job_does_not_depend_on_what_was_played_before() -> None:
    """Agents are reset: the pairing alone gives the games that it gives among others."""
    together = play()
    alone = play(agents=("random", "minimax:depth=1"))
    assert alone.matches[0] == together.matches[1]


def test_the_number_of_processes_and_stops_leave_no_trace(tmp_path: Path) -> None:
    play(tmp_path / "one")
    play(tmp_path / "two", processes=2)
    assert contents(tmp_path / "two") == contents(tmp_path / "one")

    class Stop(Exception):
        pass

    def stop(finished: int, _: object) -> None:
        if finished >= 16:
            raise Stop

    with pytest.raises(Stop):
        play(tmp_path / "stopped", on_job=stop)
    games = tmp_path / "stopped" / "games.jsonl"
    assert len(games.read_text().splitlines()) == 16
    # One that is killed in the middle of writing leaves part of a job, and part of a line.
    games.write_text("".join(games.read_text().splitlines(keepends=True)[:15])[:-100])
    played: list[int] = []
    play(tmp_path / "stopped", resume=True, on_job=lambda finished, _: played.append(finished))
    assert played[0] == 12  # three whole jobs
    assert contents(tmp_path / "stopped") == contents(tmp_path / "one")


def test_games_and_agents_can_be_added(tmp_path: Path) -> None:
    play(tmp_path / "grown", agents=AGENTS[:2], games=6)  # one job whole, the other half
    play(tmp_path / "grown", resume=True)
    play(tmp_path / "once")
    assert contents(tmp_path / "grown") == contents(tmp_path / "once")
    before = contents(tmp_path / "grown")
    for changes, message in [
        ({"games": 10}, "12 games of random against greedy"),
        ({"agents": AGENTS[1:]}, "others can only be added after them"),
        ({"seed": 8}, "seed = 8: the tournament in .* has 7"),
        ({"num_parallel": 2}, "num_parallel = 2"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            play(tmp_path / "grown", resume=True, **changes)
    with pytest.raises(ConfigurationError, match="no empty folder"):
        play(tmp_path / "grown")
    assert contents(tmp_path / "grown") == before


def test_damaged_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    play(tmp_path / "out", games=4)
    games = tmp_path / "out" / "games.jsonl"
    whole = games.read_text()
    games.write_text(whole.replace('"turns": ["', '"turns": ["a1a9", "', 1))
    with pytest.raises(CheckpointError, match=r"games\.jsonl: game 1 .*: turn 1"):
        play(tmp_path / "out", resume=True, games=4)
    foreign = [
        whole.replace('"greedy"', '"stranger"', 1),
        whole.replace('"Round": "3"', '"Round": "4"'),
        whole.replace('"Round": "3"', '"Round": "-3"'),
        whole.replace('"max_turns": 256', '"max_turns": 255', 1),
    ]
    for text in foreign:
        assert text != whole
        games.write_text(text)
        with pytest.raises(CheckpointError, match="is no game of this tournament"):
            play(tmp_path / "out", resume=True, games=4)
        assert games.read_text() == text
    games.write_text(whole)
    (tmp_path / "out" / "arena.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"arena\.json: not a tournament"):
        play(tmp_path / "out", resume=True, games=4)
    with pytest.raises(CheckpointError, match="cannot be read"):
        play(tmp_path / "none", resume=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("game", None),
        ("max_turns", "9"),
        ("seed", None),
        ("seed", True),
        ("num_parallel", 1e30),
        ("agents", 5),
        ("agents", ["random", 7]),
        ("pairings", []),
        ("pairings", [["random", "greedy"]]),
        ("pairings", [["random", "greedy", "4"]]),
        ("pairings", [["random", "greedy", 1e30]]),
        ("pairings", [{"random": "greedy"}]),
        ("sprt", 5),
        ("sprt", {"elo0": 1}),
        ("sprt", {"elo0": 1, "elo1": [2]}),
    ],
)
def test_a_summary_with_wrong_parts_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    play(out, agents=["random", "greedy"], games=4)
    report = json.loads((out / "arena.json").read_text())
    (out / "arena.json").write_text(json.dumps({**report, name: value}))
    before = contents(out)
    with pytest.raises(CheckpointError, match=r"arena\.json: damaged"):
        play(out, agents=["random", "greedy"], games=4, resume=True)
    with pytest.raises(CheckpointError, match=r"arena\.json: damaged"):
        script.main(["--resume", "--out", str(out)])
    assert contents(out) == before


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "deskovky", "arena", *options]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_killed_and_resumed(tmp_path: Path) -> None:
    options = ["--agents", "random", "mcts:simulations=200", "--games", "40", "--seed", "3"]
    options += ["--num-parallel", "4"]
    killed = tmp_path / "killed"
    process = subprocess.Popen(command(*options, "--out", str(killed), "--processes", "2"))
    games = killed / "games.jsonl"
    deadline = time.monotonic() + 60
    while not games.exists() or not games.read_bytes():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.wait()
    while any(_is_running(child) for child in children):  # nobody is left behind
        assert time.monotonic() < deadline
        time.sleep(0.01)
    before = games.read_bytes()
    assert 0 < before.count(b"\n") < 40

    script.main(["--resume", "--out", str(killed)])
    script.main([*options, "--out", str(tmp_path / "whole")])
    assert contents(killed) == contents(tmp_path / "whole")
    assert set(before.splitlines()) <= set(games.read_bytes().splitlines())


def _is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("end", "error", "message"),
    [
        ("killed", WorkerError, "that played fragile against random was killed by signal 9"),
        ("illegal", IllegalActionError, "action -1 is out of range .* for agent 'fragile'"),
    ],
)
def test_what_ended_before_a_process_failed_is_kept(
    tmp_path: Path, end: str, error: type[DeskovkyError], message: str
) -> None:
    agents = [Fragile("fragile", end), "random"]
    with pytest.raises(error, match=message):
        play(tmp_path / "out", agents=agents, processes=2)
    kept = len(list(read_records(tmp_path / "out" / "games.jsonl")))
    assert kept in (4, 8)  # whole jobs, of one process or of both
    result = play(tmp_path / "out", agents={"fragile": "random", "random": "random"}, resume=True)
    assert result.matches[0].total.games == 12


def test_an_agent_that_is_unknown_elsewhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sited(RandomOpponent):
        name = "sited"

    Sited.__qualname__ = "Sited"  # as one that is defined in a notebook
    monkeypatch.setattr("opponents.Sited", Sited, raising=False)
    Sited.__module__ = "opponents"
    with pytest.raises(ConfigurationError, match="made in another process: .*Sited.*; define"):
        play(agents=[Sited(), "random"], processes=2)


def test_an_agent_that_cannot_travel_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    class Local(RandomOpponent):
        name = "local"

    with pytest.raises(ConfigurationError, match="agent local cannot be sent to another process"):
        play(tmp_path / "out", agents=[Local(), "random"], processes=2)
    assert not (tmp_path / "out").exists()
    assert play(agents=[Local(), "random"]).matches[0].agent == "local"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"agents": ["random"]}, ConfigurationError, "at least two"),
        ({"agents": ["minimax", "minimax:depth=4"]}, ConfigurationError, "two agents are named"),
        ({"agents": ["random", "nobody"]}, AgentSpecError, "nobody"),
        ({"games": 3}, ConfigurationError, "even"),
        ({"num_parallel": 3}, ConfigurationError, "num_parallel must be even"),
        ({"games": 10**30}, ConfigurationError, "games = 1"),
        ({"games": 1e30}, ConfigurationError, "games = 1"),
        ({"processes": 0}, ConfigurationError, "processes"),
        ({"processes": 10**6}, ConfigurationError, "processes = 1000000: expected .* to 256"),
        ({"seed": -1}, ConfigurationError, "seed"),
        ({"sprt": Sprt(0, 10)}, ConfigurationError, "between two agents"),
        ({"games": {("greedy", "random"): 2}}, ConfigurationError, "no such pairing: greedy"),
        ({"games": {("random", "greedy"): 2}}, ConfigurationError, "connects random with minimax"),
    ],
)
def test_bad_input(
    tmp_path: Path, options: dict[str, Any], error: type[DeskovkyError], message: str
) -> None:
    with pytest.raises(error, match=message):
        play(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_not_all_have_to_meet() -> None:
    games: Mapping[tuple[str, str], int] = {AGENTS[:2]: 4, AGENTS[1:]: 2}  # type: ignore[dict-item]
    result = play(games=games)
    assert [match.total.games for match in result.matches] == [4, 2]
    assert sorted(rating.games for rating in result.ratings) == [2, 4, 6]


def test_games_in_plain_python_and_agents_by_a_name_of_ones_own() -> None:
    agents = {"hash": HashOpponent(), "one": "random", "other": RandomOpponent()}
    result = arena(StripDraughts(), agents, games=6)
    assert [match.total.games for match in result.matches] == [6, 6, 6]
    assert {rating.agent: rating.elo for rating in result.ratings}["other"] == 0  # the last


@pytest.mark.parametrize("processes", [1, 2])
def test_the_sequential_test_stops_a_match(tmp_path: Path, processes: int) -> None:
    better = {"agents": ["minimax:depth=2", "random"], "games": 400, "sprt": Sprt(0, 200)}
    result = play(tmp_path / "better", processes=processes, **better)
    assert result.sprt and result.sprt.accepted == 200
    assert result.sprt.llr >= result.sprt.test.bounds[1]
    assert "accepts 200: LLR +" in str(result.sprt)
    games = result.matches[0].total.games
    assert 8 <= games <= 60 and games % 4 == 0
    # What is not needed is not counted, however many processes were at it.
    assert (tmp_path / "better" / "games.jsonl").read_text().count("\n") == games
    assert play(**better).matches == result.matches
    if processes == 1:
        worse = play(agents=["random", "greedy"], games=400, sprt=Sprt(0, 200))
        assert worse.sprt and worse.sprt.accepted == 0
        short = play(agents=["random", "greedy"], games=4, sprt=Sprt(0, 5))
        assert short.sprt and short.sprt.accepted is None and "undecided" in str(short.sprt)


def test_torch_agents_play_alike_in_any_process(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from deskovky.agents.ppo import NetworkConfig, PolicyNetwork, save_network

    torch.manual_seed(0)
    network = PolicyNetwork(NetworkConfig.of(dk.game("dobutsu_v0"), 8, 0, (16,)))
    save_network(network, tmp_path / "agent.safetensors")
    agents = (f"ppo:{tmp_path / 'agent.safetensors'}", "random")
    threads = torch.get_num_threads()
    alone, elsewhere = (play(agents=agents, games=4, processes=n) for n in (1, 2))
    assert alone.matches == elsewhere.matches
    assert torch.get_num_threads() == threads


# --- Ladders and the command ----------------------------------------------------------------------


def test_a_rating_on_a_ladder(tmp_path: Path) -> None:
    game = dk.game("dobutsu_v0")
    result = play(tmp_path / "out", games=40)
    ladder = read_ladder(tmp_path / "out" / "arena.json", game)
    assert ladder == {rating.agent: rating.elo for rating in result.ratings}
    # One that plays as greedy does is rated as greedy is.
    matches = [evaluate(game, "greedy", opponent, 200) for opponent in AGENTS]
    rating = elo_on_ladder(ladder, matches)
    assert rating is not None and rating.agent == "greedy" and rating.games == 200 * len(AGENTS)
    assert rating.elo == pytest.approx(ladder["greedy"], abs=80)
    assert rating.low < rating.elo < rating.high
    assert elo_on_ladder({"nobody": 0.0}, matches) is None
    with pytest.raises(CheckpointError, match="of ruleset standard, not fairy"):
        read_ladder(tmp_path / "out" / "arena.json", dk.game("dobutsu_v0", ruleset="fairy"))


def test_an_unfinished_ladder_is_refused(tmp_path: Path) -> None:
    play(tmp_path / "out", games=4)
    path = tmp_path / "out" / "arena.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "results": None}))
    with pytest.raises(CheckpointError, match="unfinished"):
        read_ladder(path, dk.game("dobutsu_v0"))


def test_the_ladder_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "tools"))
    ladder = importlib.import_module("ladder")
    games = ladder.pairings("dobutsu_v0", 200)
    assert {games[pairing] for pairing in games} == {200, 100, 50, 20}
    assert games["random", "minimax:depth=6"] == 50 and ("greedy", "minimax:depth=6") not in games
    slow = ladder.pairings("xiangqi_v0", 20)
    assert set(slow) < set(games) and min(slow.values()) == 2
    assert {first for first, second in slow if second == "mcts:simulations=10000"} == {
        "minimax:depth=2",
        "mcts:simulations=1000",
    }
    monkeypatch.setattr(ladder, "LADDER", (*AGENTS, "minimax:depth=2", "mcts:simulations=10000"))
    options = ["--games", "dobutsu_v0", "--num-games", "4", "--processes", "1"]
    options += ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    ladder.main(options)
    written = contents(tmp_path / "out")
    assert set(written) == {"dobutsu_v0.json", "README.md"}
    elo = read_ladder(tmp_path / "out" / "dobutsu_v0.json", dk.game("dobutsu_v0"))
    assert elo.keys() == {*ladder.LADDER} and elo["random"] == 0
    assert (
        f"| `mcts:simulations=10000` | {elo['mcts:simulations=10000']:.0f} |"
        in written["README.md"].decode()
    )
    ladder.main(options)  # plays nothing twice, and writes the same
    assert contents(tmp_path / "out") == written


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--agents", *AGENTS, "--games", "4", "--out", str(tmp_path / "out")]
    script.main(options)
    text = capsys.readouterr().out
    assert "Elo" in text and "score in %" in text
    assert all(name in text for name in AGENTS)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    # Resumed without other options it is the same tournament, and prints the same.
    script.main(["--resume", "--out", str(tmp_path / "out")])
    assert capsys.readouterr().out == text


def test_the_command_tests_two_agents(capsys: pytest.CaptureFixture[str]) -> None:
    script.main(["--agents", "minimax:depth=2", "random", "--games", "200", "--sprt", "0,300"])
    assert "SPRT of 0 against 300 Elo accepts 300: LLR +" in capsys.readouterr().out


def test_the_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script.main(["--agents", *AGENTS, "--games", "4", "--out", str(tmp_path / "out"), "--plot"])
    picture = (tmp_path / "out" / "elo.svg").read_text()
    assert picture.rstrip().endswith("</svg>")
    assert all(f"<!-- {name} -->" in picture for name in AGENTS)
