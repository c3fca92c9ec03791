"""The meter of perfect play: how far an agent is from it, on positions whose solution is known.

    deskovky eval --meter --agents "alphazero:runs/demo/best.pt?simulations=64" minimax:depth=4

The positions are a frozen file, `meter_dobutsu_v0.csv`: the same for everybody, so that figures can
be compared, and read without the table of `deskovky solve`. They were met in games between players
that err now and then, up to mirroring each once, the same number for each band of distances, and
only such where not every action is as good as the others (`tools/meter_positions.py`). Values and
distances are those of `deskovky.agents.oracle`, and hold in every ruleset; but an action that wins
at once, as a mate does under `standard`, is perfect whatever its distance.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table

from deskovky.agents.analysis import analyse_batch
from deskovky.agents.oracle import Values
from deskovky.agents.protocol import Agent
from deskovky.envs.protocol import Game, State
from deskovky.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = {
    "win in 1": (1, 1, 1),
    "win in 3": (1, 3, 3),
    "win in 5-9": (1, 5, 9),
    "win in 11-19": (1, 11, 19),
    "win in 21-39": (1, 21, 39),
    "win in 41-173": (1, 41, 173),
    "draw": (0, -1, -1),
    "loss in 42-172": (-1, 42, 172),
    "loss in 22-40": (-1, 22, 40),
    "loss in 12-20": (-1, 12, 20),
    "loss in 6-10": (-1, 6, 10),
    "loss in 4": (-1, 4, 4),
}
"""What perfect play leads to, for the player to move: name -> value, least and most turns.

A loss in 2 is left out: there every action is as good as any other."""


def band_of(value: int, distance: int) -> str | None:
    """Return the band of a position; None if there is none.

    >>> band_of(1, 7)
    'win in 5-9'
    """
    for name, (band_value, low, high) in BANDS.items():
        if value == band_value and low <= distance <= high:
            return name
    return None


class Positions(NamedTuple):
    """The positions of the meter and their solution."""

    states: list[State]
    values: Values
    """``[n]``"""
    action_values: Values
    """``[n, num_actions]``"""


def file_of(game_id: str) -> Path:
    """Return the file of positions of a game. Raises ConfigurationError if it has none."""
    path = Path(__file__).parent / f"meter_{game_id}.csv"
    if not path.exists():
        raise ConfigurationError(f"no meter for {game_id}: its perfect play is not known")
    return path


def read_positions(game: Game) -> Positions:
    """Return the positions of the meter as states of `game`, under its rules.

    Raises ConfigurationError if the game has none.
    """
    states, values, action_values = [], [], []
    with file_of(game.id).open(newline="") as file:
        for row in csv.DictReader(file):
            states.append(game.state(row["fen"]))
            values.append(read_result(row["result"]))
            of_actions = np.full((game.num_actions, 2), (-2, -1), np.int32)
            of_actions[states[-1].legal_actions()] = [
                read_result(text) for text in row["actions"].split()
            ]
            action_values.append(of_actions)
    columns = np.moveaxis(np.array(action_values, np.int32), -1, 0)
    return Positions(states, Values(*np.array(values, np.int32).T), Values(*columns))


def read_result(text: str) -> tuple[int, int]:
    """Return value and distance.

    >>> read_result("win7"), read_result("draw")
    ((1, 7), (0, -1))
    """
    if text == "draw":
        return 0, -1
    value = {"win": 1, "loss": -1}[text.rstrip("0123456789")]
    return value, int(text.lstrip("winlos"))


def write_result(value: int, distance: int) -> str:
    """Return the text that `read_result` reads."""
    return "draw" if value == 0 else f"{'win' if value > 0 else 'loss'}{distance}"


@dataclass(frozen=True)
class Reading:
    """How well an agent does on some positions."""

    positions: int
    optimal: float
    """The share of its actions that are perfect: as quick a win or as slow a loss as there is."""
    keeps_value: float
    """The share of its actions after which the game is still worth as much; in a lost position that
    is every one."""
    distance_error: float
    """By how many turns its wins are slower and its losses quicker, on average over the actions
    that keep a value other than a draw; NaN if there are none."""
    value_sign: float
    """Of won and lost positions, the share whose winner its value names; NaN if it has no value
    or there are none."""


def measure(agent: Agent, positions: Positions, seed: int = 0) -> dict[str, Reading]:
    """Return the readings of an agent, ``"all"`` first, then by band.

    seed: of the agent. The same seed gives the same readings, if it is deterministic under a seed.
    """
    agent.reset(seed)
    actions = np.asarray(agent.act_batch(positions.states))
    estimates = np.array(
        [
            np.nan if analysis.value is None else analysis.value
            for analysis in analyse_batch(agent, positions.states)
        ]
    )
    at_once = np.array(
        [wins_at_once(*pair) for pair in zip(positions.states, actions.tolist(), strict=True)]
    )
    bands = np.array([band_of(*pair) for pair in zip(*positions.values, strict=True)])
    everywhere = np.ones(len(bands), np.bool_)
    masks = {"all": everywhere} | {band: bands == band for band in BANDS}
    return {
        name: read(positions, actions, at_once, estimates, mask)
        for name, mask in masks.items()
        if mask.any()
    }


def wins_at_once(state: State, action: int) -> bool:
    """True if an action ends the game with a win; under `standard` that may be a mate."""
    after = state.copy()
    after.apply(action)
    return after.outcome is not None and after.outcome.winner == state.to_move


def read(
    positions: Positions,
    actions: NDArray[np.int32],
    at_once: NDArray[np.bool_],
    estimates: NDArray[np.float64],
    mask: NDArray[np.bool_],
) -> Reading:
    """Return the reading on the positions of `mask`."""
    rows = np.flatnonzero(mask)
    best, best_distance = (array[rows] for array in positions.values)
    value, distance = (array[rows, actions[rows]] for array in positions.action_values)
    distance = np.where(at_once[rows], best_distance, distance)  # nothing is quicker
    keeps = value == best
    errors = np.abs(distance - best_distance)[keeps & (best != 0)]
    signs = np.sign(estimates[rows]) == best
    is_judged = (best != 0) & ~np.isnan(estimates[rows])
    return Reading(
        positions=len(rows),
        optimal=float(np.mean(keeps & (distance == best_distance))),
        keeps_value=float(np.mean(keeps)),
        distance_error=float(np.mean(errors)) if len(errors) else float("nan"),
        value_sign=float(np.mean(signs[is_judged])) if is_judged.any() else float("nan"),
    )


def table(name: str, readings: dict[str, Reading]) -> Table:
    """Return readings as a table for a terminal of 80 columns."""
    shown = Table(title=name, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column("perfect play: ")
    for heading in HEADINGS:
        shown.add_column(heading, justify="right", no_wrap=True)
    for band, reading in readings.items():
        shown.add_row(band, *cells(reading))
    return shown


HEADINGS = ("positions", "optimal", "keeps value", "turns off", "value sign")


def cells(reading: Reading) -> list[str]:
    """Return what a table shows under `HEADINGS`."""
    return [
        str(reading.positions),
        percent(reading.optimal),
        percent(reading.keeps_value),
        "-" if np.isnan(reading.distance_error) else f"{reading.distance_error:.2f}",
        percent(reading.value_sign),
    ]


def percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def draw(readings: dict[str, dict[str, Reading]]) -> "Figure":
    """Return a picture of the readings of some agents, by name, over the bands.

    Raises ConfigurationError if matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ConfigurationError(
            "a picture needs the package 'matplotlib': pip install 'deskovky[notebook]'"
        ) from None
    figure = Figure(figsize=(9, 7), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    for name, by_band in readings.items():
        upper.plot(list(BANDS), [by_band[band].optimal for band in BANDS], "o-", label=name)
        lower.plot(list(BANDS), [by_band[band].keeps_value for band in BANDS], "o-")
    upper.set(ylabel="share of perfect actions", ylim=(0, 1.02))
    lower.set(ylabel="share that keeps the value", ylim=(0, 1.02), xlabel="perfect play")
    lower.tick_params("x", rotation=60)
    upper.legend()
    return figure


def write_picture(readings: dict[str, dict[str, Reading]], path: Path) -> None:
    """Write the picture of `draw`; the suffix decides the format, such as .png or .svg.

    Raises ConfigurationError if matplotlib is missing or does not know the format.
    """
    figure = draw(readings)
    temporary = path.with_name(f"{path.stem}.tmp{path.suffix}")
    try:
        figure.savefig(temporary)
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    temporary.replace(path)


def scalars(game: Game, agent: Agent) -> dict[str, float]:
    """Return the readings of an agent on all positions, by name, for TensorBoard.

    Those of its policy alone as well, if it searches; none if the game has no meter.
    """
    try:
        positions = read_positions(game)
    except ConfigurationError:
        return {}
    found = {}
    for name, measured in with_policy_alone([agent]).items():
        reading = measure(measured, positions)["all"]
        kind = "search" if name == agent.name else "policy"
        found[f"meter/{kind}/optimal"] = reading.optimal
        found[f"meter/{kind}/keeps_value"] = reading.keeps_value
        found[f"meter/{kind}/value_sign"] = reading.value_sign
    return found


def section(game: Game, agent: Agent) -> str:
    """Return the readings of an agent as a section in Markdown; empty if the game has no meter."""
    try:
        positions = read_positions(game)
    except ConfigurationError:
        return ""
    lines = ["", "How far from perfect play, by `deskovky eval --meter`:", ""]
    lines += ["| perfect play | " + " | ".join(HEADINGS) + " |", "|---" * 6 + "|"]
    for name, measured in with_policy_alone([agent]).items():
        kind = "with search" if name == agent.name else "policy alone"
        for band, reading in measure(measured, positions).items():
            lines.append(f"| {kind}, {band} | " + " | ".join(cells(reading)) + " |")
    return "\n".join(lines) + "\n"


def with_policy_alone(agents: Sequence[Agent]) -> dict[str, Agent]:
    """Return agents by name, before each that searches with a network that network's policy."""
    found: dict[str, Agent] = {}
    for agent in agents:
        without_search = getattr(agent, "without_search", None)
        for variant in (without_search(), agent) if without_search else (agent,):
            found[variant.name] = variant
    return found
