"""Play agents against each other: seeded random openings that are even, each from both sides.

    deskovky eval --game dobutsu_v0 --agents minimax:depth=2 random greedy --games 200

plays the first agent against each of the others and prints one table. From Python:

    from deskovky.agents import agent
    from deskovky.train.evaluate import evaluate

    match = evaluate("dobutsu_v0", agent("minimax:depth=2"), agent("random"), games=200)
    print(match.score, match.interval)
"""

import itertools
import json
import math
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from deskovky import _core
from deskovky.agents.protocol import Agent, check_plays
from deskovky.envs.protocol import Game, Outcome, State
from deskovky.envs.records import Record
from deskovky.envs.support import (
    MAX_OPENING_TURNS,
    MAX_SEED,
    as_game,
    check_integer,
    illegal_action_error,
    write_text,
)
from deskovky.envs.vector import is_native
from deskovky.errors import AgentSpecError, ConfigurationError, IllegalActionError
from deskovky.train.rating import pentanomial

FORMAT = "deskovky-evaluation"
FORMAT_VERSION = 1
MAX_GAMES = 10_000_000
Z_95 = 1.959963984540054  # the normal distribution lies within +-Z_95 with probability 95 %
DEFAULT_OPENING_TURNS = 4
EVEN_SCORE = 100
"""What a side may be ahead by in an opening, in hundredths of the weakest piece."""
EVEN_NODES = 3000
"""How many positions the search looks at that judges openings."""
EVEN_NODES_IN_PYTHON = 100
"""The same for games in Python, whose positions take much longer."""
_TRIES = 50  # for an opening that is new and even


@dataclass(frozen=True)
class Tally:
    """Games counted from the view of the first agent of a match."""

    wins: int
    draws: int
    """Drawn by rule, or cut off at `max_turns`."""
    losses: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws, divided by the games."""
        return (self.wins + self.draws / 2) / self.games


@dataclass(frozen=True)
class Match:
    """What came of the games between two agents; wins and losses are those of the first."""

    agent: str
    opponent: str
    total: Tally
    as_player_0: Tally
    as_player_1: Tally
    pairs: tuple[int, ...]
    """How many pairs of games from one opening were worth 0, 1/2, 1, 3/2 and 2 points."""
    truncated: int
    """How many of the draws were games cut off at `max_turns`."""
    terminations: dict[str, int]
    """How many games each rule ended, most frequent first."""
    mean_turns: float
    """The mean length of a game, its opening included."""
    distinct_openings: int
    distinct_games: int
    """Deterministic agents repeat themselves: far fewer than the games, and the interval, which
    takes every game for a new experiment, is too narrow."""

    @property
    def score(self) -> float:
        """Wins plus half the draws, divided by the games."""
        return self.total.score

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score, see `wilson_interval`."""
        return wilson_interval(self.score, self.total.games)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        low, high = self.interval
        return {**asdict(self), "score": self.score, "low": low, "high": high}


def wilson_interval(score: float, games: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson interval of a score in [0, 1] over `games` games.

    Wilson's interval is one for games that are won or lost. A draw enters as half a win and half a
    loss. Games with draws vary less than such games with the same score do, so that the true
    coverage is then above 95 %: the interval errs on the wide side, never on the narrow one.

    >>> low, high = wilson_interval(0.5, 100)
    >>> round(low, 4), round(high, 4)
    (0.4038, 0.5962)
    """
    if games < 1 or not 0 <= score <= 1:
        raise ConfigurationError(f"no interval for a score of {score} over {games} games")
    middle = score + z * z / (2 * games)
    spread = z * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games))
    scale = 1 + z * z / games
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def evaluate(
    game: Game | str,
    agent_a: Agent | str,
    agent_b: Agent | str,
    games: int = 200,
    seed: int = 0,
    opening_turns: int = DEFAULT_OPENING_TURNS,
    num_parallel: int = 64,
    on_game: Callable[[], object] | None = None,
) -> Match:
    """Play `games` games between two agents and return what came of them, as seen by `agent_a`.

    agent_a, agent_b: agents, or specs such as ``"minimax:depth=2"``.
    games: an even number: every opening is played twice, with the sides swapped.
    seed: of the openings and of both agents. The same seed gives the same games, in any process,
        if the agents are deterministic under a seed.
    opening_turns: the random legal turns that open each game; 0 for the plain start. An opening
        that is not even (see `random_openings`) or was played already is drawn anew.
    num_parallel: how many games go on at once: agents are asked for many actions together.
    on_game: called after each game.

    Raises ConfigurationError for numbers that cannot be used, the error of an agent that does not
    play `game`, and IllegalActionError, naming the agent, if one returns anything but a legal
    action for each state.
    """
    game = as_game(game, {})
    check_numbers(games, opening_turns, num_parallel, seed)
    agents = (as_agent(agent_a, game), as_agent(agent_b, game))
    opening_seed, *agent_seeds = np.random.SeedSequence(seed).spawn(3)
    for agent, agent_seed in zip(agents, agent_seeds, strict=True):
        agent.reset(int(agent_seed.generate_state(1)[0]))
    openings = random_openings(game, opening_turns, np.random.default_rng(opening_seed))
    states = play_pairs(agents, list(itertools.islice(openings, games // 2)), num_parallel, on_game)
    played = [(outcome_of(state), state.history) for state in states]
    return summary(agents[0].name, agents[1].name, opening_turns, played)


def play_pairs(
    agents: tuple[Agent, Agent],
    openings: Sequence[State],
    num_parallel: int,
    on_game: Callable[[], object] | None = None,
) -> list[State]:
    """Play every opening twice, with the sides swapped, and return the states at the end.

    Game i starts from opening i // 2, and the first agent is player i % 2 in it.

    num_parallel, on_game and errors: as in `evaluate`.
    """
    games = 2 * len(openings)
    finished: dict[int, State] = {}
    playing: dict[int, State] = {}
    upcoming = iter(range(games))
    while len(finished) < games:
        for i in itertools.islice(upcoming, num_parallel - len(playing)):
            playing[i] = openings[i // 2].copy()
        for which, agent in enumerate(agents):
            waiting = [i for i, state in playing.items() if (state.to_move ^ i % 2) == which]
            _play(agent, [playing[i] for i in waiting])
            for i in waiting:
                if playing[i].is_over:
                    finished[i] = playing.pop(i)
                    if on_game:
                        on_game()
    return [finished[i] for i in range(games)]


def outcome_of(game: State | Record) -> Outcome:
    """Return how a finished game ended."""
    assert game.outcome is not None
    return game.outcome


def points(outcome: Outcome, game: int) -> float:
    """Return what the first agent of a match won in game number `game`: 0, 1/2 or 1 points."""
    return 0.5 if outcome.winner is None else float(outcome.winner == game % 2)


def as_agent(agent: Agent | str, game: Game | None = None) -> Agent:
    """Return `agent` itself, or the one of that spec.

    game: what it is to play. Raises as `check_plays` does if it cannot, AgentSpecError for what is
        no agent.
    """
    if isinstance(agent, str):
        from deskovky.agents import agent as make_agent

        agent = make_agent(agent)
    if not isinstance(agent, Agent):
        raise AgentSpecError(
            f"{agent!r} is no agent: it lacks act, act_batch, name or reset; derive it from "
            "deskovky.agents.Agent"
        )
    if game is not None:
        check_plays(agent, game)
    return agent


def check_numbers(games: int, opening_turns: int, num_parallel: int, seed: int) -> None:
    """Raise ConfigurationError for numbers that cannot be used."""
    check_integer("games", games, 2, MAX_GAMES)
    if games % 2:
        raise ConfigurationError(f"games must be even, not {games}")
    check_integer("opening_turns", opening_turns, 0, MAX_OPENING_TURNS)
    check_integer("num_parallel", num_parallel, 1, MAX_GAMES)
    check_integer("seed", seed, 0, MAX_SEED)


def random_openings(game: Game, opening_turns: int, rng: np.random.Generator) -> Iterator[State]:
    """Yield ongoing states after random turns, different ones as long as they last.

    They are even: a minimax search of `EVEN_NODES` positions, or `EVEN_NODES_IN_PYTHON`, finds
    nobody ahead by more than `EVEN_SCORE`. From others, of which random turns lead to many in some
    games, the result says more about the opening than about the agents. Where none is found, the
    most even one counts.

    Raises ConfigurationError if too many openings of that length end the game.
    """
    nodes = EVEN_NODES if is_native(game) else EVEN_NODES_IN_PYTHON
    uses: Counter[int] = Counter()
    leads: dict[int, int] = {}
    while opening_turns == 0:
        yield game.state()
    while True:
        found: list[State] = []
        for _ in range(_TRIES):
            state = _random_opening(game, opening_turns, rng)
            if state is None:
                continue
            key = state.key()
            if key not in leads:
                leads[key] = abs(_core.minimax(state, nodes=nodes, seed=0).score)
            found.append(state)
            if leads[key] <= EVEN_SCORE and not uses[key]:
                break
        if not found:
            raise ConfigurationError(
                f"{game.id}: {_TRIES} random openings of {opening_turns} turns ended the game"
            )
        best = min(found, key=lambda s: (max(leads[s.key()], EVEN_SCORE), uses[s.key()]))
        uses[best.key()] += 1
        yield best


def _random_opening(game: Game, turns: int, rng: np.random.Generator) -> State | None:
    """Return the state after `turns` complete random turns; None if it is over by then."""
    state = game.state()
    while not state.is_over and (len(state.history) < turns or state.is_turn_open):
        state.apply(int(rng.choice(state.legal_actions())))
    return None if state.is_over else state


def _play(agent: Agent, states: list[State]) -> None:
    """Let `agent` make one step in each of `states`."""
    if not states:
        return
    who = f"agent {agent.name!r}"
    actions = np.asarray(agent.act_batch(states))
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        raise IllegalActionError(
            f"{who} returned {actions.dtype} of shape {actions.shape} for {len(states)} states; "
            "expected one integer for each"
        )
    for state, action in zip(states, actions.tolist(), strict=True):
        try:
            state.apply(action)
        except IllegalActionError:
            raise illegal_action_error(state, action, f"{who} at {state.fen()!r}") from None


def summary(
    agent: str, opponent: str, opening_turns: int, games: Sequence[tuple[Outcome, Sequence[str]]]
) -> Match:
    """Count finished games.

    games: the outcome and the turns of each; `agent` was player i % 2 in game i.
    opening_turns: how many turns of a game are its opening.
    """

    def tally(which: range) -> Tally:
        winners = [games[i][0].winner for i in which]
        wins = sum(winner == i % 2 for i, winner in zip(which, winners, strict=True))
        draws = winners.count(None)
        return Tally(wins, draws, len(winners) - wins - draws)

    outcomes = [outcome for outcome, _ in games]
    pairs = pentanomial([points(outcome, i) for i, outcome in enumerate(outcomes)])
    lines = [tuple(turns) for _, turns in games]
    return Match(
        agent=agent,
        opponent=opponent,
        total=tally(range(len(games))),
        as_player_0=tally(range(0, len(games), 2)),
        as_player_1=tally(range(1, len(games), 2)),
        pairs=tuple(pairs.tolist()),
        truncated=sum(outcome.is_truncation for outcome in outcomes),
        terminations=dict(Counter(str(outcome.termination) for outcome in outcomes).most_common()),
        mean_turns=sum(map(len, lines)) / len(lines),
        distinct_openings=len({turns[:opening_turns] for turns in lines}),
        distinct_games=len({(i % 2, *turns) for i, turns in enumerate(lines)}),
    )


def table(game: Game, matches: Sequence[Match]) -> Table:
    """Return the matches, all of one agent, as a table for a terminal of 80 columns."""
    notes = [
        f"against {match.opponent}: {match.distinct_games} distinct games, ended by "
        + ", ".join(f"{reason} {count}" for reason, count in match.terminations.items())
        for match in matches
    ]
    shown = Table(
        title=f"{matches[0].agent} in {game.id}, {game.ruleset} rules",
        caption="\n".join(notes),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=0,
    )
    shown.add_column("against", overflow="fold")
    for heading in ("games", "win", "draw", "loss", "score", "95 %", "as 0", "as 1", "turns"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for match in matches:
        low, high = match.interval
        shown.add_row(
            match.opponent,
            str(match.total.games),
            str(match.total.wins),
            str(match.total.draws),
            str(match.total.losses),
            f"{match.score:.1%}",
            f"{100 * low:.1f}-{100 * high:.1f}",
            f"{match.as_player_0.score:.1%}",
            f"{match.as_player_1.score:.1%}",
            f"{match.mean_turns:.1f}",
        )
    return shown


def game_options(game: Game) -> dict[str, Any]:
    """Return the game and its options as JSON values."""
    return {
        "game": game.id,
        "ruleset": game.ruleset,
        "setup": game.setup,
        "max_turns": game.max_turns,
    }


def versions() -> dict[str, str]:
    """Return the versions of what played the games."""
    packages = ["deskovky", "numpy", *(name for name in ["torch"] if name in sys.modules)]
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }


def write_json(path: Path, game: Game, args: "Args", results: dict[str, Any]) -> None:
    """Write results to a file."""
    report = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        **game_options(game),
        "agents": list(args.agents),
        "seed": args.seed,
        "opening_turns": args.opening_turns,
        "num_parallel": args.num_parallel,
        "versions": versions(),
        **results,
    }
    write_text(path, json.dumps(report, indent=2) + "\n")


@dataclass
class Args:
    """Play the first agent against each of the others and print one table."""

    agents: tuple[str, ...]
    """agent specs, such as random, greedy, minimax:depth=4, ppo:runs/ppo/latest.safetensors"""
    game: str = "dobutsu_v0"
    """id of the game, see `deskovky games`"""
    ruleset: str | None = None
    """one of the game's rulesets; by default the standard one"""
    setup: str | None = None
    """one of the game's named start positions; by default the default one"""
    max_turns: int | None = None
    """turns after which a game is cut off (a draw); by default the game's own cap"""
    games: int = 200
    """games of each match, an even number: every opening is played from both sides"""
    seed: int = 0
    """seed of openings and agents; the same seed gives the same games"""
    opening_turns: int = DEFAULT_OPENING_TURNS
    """random turns that open each game, with nobody far ahead"""
    num_parallel: int = 64
    """games that go on at once"""
    meter: bool = False
    """instead of matches, measure how far each agent is from perfect play, where that is known"""
    picture: Path | None = None
    """picture to draw of the meter, such as meter.png; needs matplotlib"""
    out: Path | None = None
    """JSON file to write the results to"""


def games_progress() -> Progress:
    """Return the bar that counts games, on stderr; it vanishes when it is left."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def run(args: Args) -> list[Match]:
    """Play the matches that `args` ask for, print their table and write their file."""
    from deskovky.envs import game as registered_game

    if args.meter:
        run_meter(args)
        return []
    if args.picture:
        raise ConfigurationError("--picture draws what --meter measures; add --meter")
    if len(args.agents) < 2:
        raise ConfigurationError(f"it takes at least two agents, not {len(args.agents)}")
    if args.out is not None and (args.out.is_dir() or not args.out.name):
        raise ConfigurationError(f"--out {args.out}: expected a file to write, not a folder")
    if args.out is not None:  # before hours of play
        args.out.parent.mkdir(parents=True, exist_ok=True)
    check_numbers(args.games, args.opening_turns, args.num_parallel, args.seed)
    game = registered_game(
        args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns
    )
    agents = [as_agent(spec, game) for spec in args.agents]  # all of them, before hours of play
    matches = []
    with games_progress() as progress:
        for opponent in agents[1:]:
            task = progress.add_task(f"against {opponent.name}", total=args.games)
            matches.append(
                evaluate(
                    game,
                    agents[0],
                    opponent,
                    games=args.games,
                    seed=args.seed,
                    opening_turns=args.opening_turns,
                    num_parallel=args.num_parallel,
                    on_game=lambda task=task: progress.advance(task),  # type: ignore[misc]
                )
            )
    Console(markup=False, emoji=False).print(table(game, matches))  # specs are no markup
    if args.out:
        write_json(args.out, game, args, {"matches": [match.to_json() for match in matches]})
    return matches


def run_meter(args: Args) -> None:
    """Measure how far the agents are from perfect play; print tables and write what is asked for.

    An agent that searches with a network is measured without its search as well.
    """
    from deskovky.envs import game as registered_game
    from deskovky.train import meter

    game = registered_game(
        args.game, ruleset=args.ruleset, setup=args.setup, max_turns=args.max_turns
    )
    positions = meter.read_positions(game)
    agents = meter.with_policy_alone([as_agent(spec, game) for spec in args.agents])
    readings = {}
    for name, agent in agents.items():
        readings[name] = meter.measure(agent, positions, args.seed)
        Console(markup=False, emoji=False).print(meter.table(name, readings[name]))
    if args.picture:
        meter.write_picture(readings, args.picture)
    if args.out:
        results = {
            name: {band: asdict(reading) for band, reading in by_band.items()}
            for name, by_band in readings.items()
        }
        write_json(args.out, game, args, {"meter": results})


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command `deskovky eval`."""
    run(tyro.cli(Args, prog="deskovky eval", args=argv))


if __name__ == "__main__":
    main()
