"""The agents that come with the package, and the script that makes them."""

import importlib
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import deskovky as dk
from deskovky.agents import pretrained as package
from deskovky.agents.alphazero import AlphaZeroAgent
from deskovky.agents.pretrained import pretrained_games
from deskovky.errors import AgentSpecError, CheckpointError, ConfigurationError
from deskovky.train import alphazero, pretrained
from deskovky.train.arena import arena
from deskovky.train.pretrained import Args, Recipe, run
from deskovky.train.rating import Rating

QUIET = Console(file=io.StringIO())
SMALL = {
    "num_workers": 2, "num_games": 16, "steps_per_iteration": 8, "num_simulations": 4,
    "batch_size": 32, "width": 16, "num_blocks": 1, "eval_every": 0, "tensorboard": False,
}  # fmt: skip


@pytest.mark.parametrize("id", pretrained_games())
def test_shipped_agents_play_and_have_a_card(id: str) -> None:
    weights = package.FOLDER / f"{id}.safetensors"
    assert weights.stat().st_size < 1_000_000
    card = weights.with_suffix(".md").read_text(encoding="utf-8")
    for what in ("core-hours", "| `random` |", "95 % interval", f"train pretrained --game {id}"):
        assert what in card
    agent = dk.agent(f"pretrained:{id}?simulations=8")
    assert agent.name == f"pretrained:{id}?simulations=8"
    assert dk.agent(agent.name).name == agent.name
    state = dk.game(id).state()
    for _ in range(4):
        action = agent.act(state)
        assert action in state.legal_actions()
        state.apply(action)


def test_the_package_holds_the_agents_of_the_repository() -> None:
    folder = Path(__file__).resolve().parents[1] / "agents" / "pretrained"
    names = sorted(path.stem for path in folder.glob("*.safetensors"))
    assert names and pretrained_games() == tuple(names)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the package's agents, here an empty one of the test's."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    monkeypatch.setattr(package, "FOLDER", folder)
    return folder


def test_games_without_a_trained_agent(shipped: Path) -> None:
    with pytest.raises(
        AgentSpecError, match="no agent was trained for xiangqi_v0; there are: none"
    ):
        dk.agent("pretrained:xiangqi_v0?simulations=64")
    with pytest.raises(AgentSpecError, match="no game 'dobutsi'; did you mean 'dobutsu_v0'"):
        dk.agent("pretrained:dobutsi")
    with pytest.raises(AgentSpecError, match="expected a path"):
        dk.agent("pretrained:")
    (shipped / "xiangqi_v0.safetensors").write_bytes(b"no weights")
    with pytest.raises(CheckpointError, match=r"xiangqi_v0\.safetensors: not a file of weights"):
        dk.agent("pretrained:xiangqi")
    with pytest.raises(AgentSpecError, match="there are: xiangqi_v0"):
        dk.agent("pretrained:dobutsu")


def test_one_command_trains_measures_and_writes(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = Recipe(minutes=0.05, seed=3, options=SMALL, opponents=("random", "minimax:depth=1"))
    monkeypatch.setitem(pretrained.RECIPES, "dobutsu_v0", recipe)
    arena("dobutsu_v0", recipe.opponents, 20, out=tmp_path / "arena")
    ladder = tmp_path / "ladder"
    ladder.mkdir()
    (tmp_path / "arena" / "arena.json").rename(ladder / "dobutsu_v0.json")
    args = Args("dobutsu", out=tmp_path / "run", to=shipped, ladder=ladder, games=2, num_workers=1)
    weights = run(args, QUIET)
    assert weights == shipped / "dobutsu_v0.safetensors"
    game = dk.game("dobutsu_v0")
    own = dk.agent("pretrained:dobutsu_v0?simulations=0")
    trained = AlphaZeroAgent(tmp_path / "run" / "best.pt", simulations=0)
    states = [game.state()]
    np.testing.assert_array_equal(own.act_batch(states), trained.act_batch(states))

    card = (shipped / "dobutsu_v0.md").read_text(encoding="utf-8")
    assert "| `deskovky train pretrained --game dobutsu_v0 --num-workers 1 --games 2` |" in card
    assert "--minutes 0.05 --seed 3 --num-workers 1 --num-games 16" in card
    elo = re.search(r"\| Elo \| (-?\d+), .* interval (-?\d+) to (-?\d+),.*`(.*)`", card)
    assert elo and int(elo[2]) < int(elo[1]) < int(elo[3])
    assert elo[4] == f"{ladder.as_posix()}/dobutsu_v0.json"
    assert "| `minimax:depth=1` |" in card and "over 2 colour-swapped games" in card
    iterations = pretrained.spent(tmp_path / "run")["iterations"]
    assert f"| training | {iterations:,.0f} iterations" in card

    # A run that is done is only measured again; more minutes go on with it.
    before = weights.read_bytes()
    for again in (args, replace(args, minutes=0.05, num_workers=3)):
        (shipped / "dobutsu_v0.md").unlink()
        run(again, QUIET)
        assert pretrained.spent(tmp_path / "run")["iterations"] == iterations
        assert weights.read_bytes() == before
        assert (shipped / "dobutsu_v0.md").read_text(encoding="utf-8") == card
    # Nor does the card of a run tell another recipe.
    other = replace(recipe, options={**SMALL, "teacher": "greedy"})
    with monkeypatch.context() as patch:
        patch.setitem(pretrained.RECIPES, "dobutsu_v0", other)
        with pytest.raises(ConfigurationError, match="teacher = greedy: the run in .* has None"):
            run(args, QUIET)
    run(replace(args, ladder=tmp_path, minutes=0.1), QUIET)
    assert pretrained.spent(tmp_path / "run")["iterations"] > iterations
    card = (shipped / "dobutsu_v0.md").read_text(encoding="utf-8")
    assert "--minutes 0.1 --num-workers 1 --games 2` |" in card and "| Elo |" not in card


def test_the_table_of_agents_has_the_numbers_of_their_cards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "tools"))
    table = importlib.import_module("strength_table")
    rating = Rating("a", elo=-37.2, low=-60.0, high=-10.0, games=400, score=0.4)
    card = [
        f"| Elo | {pretrained.on_ladder(rating, Path('ladder.json'))} |",
        "| compute | 0.25 core-hours in 20 minutes |",
        "| `random` | 45.5 % | 38.7–52.4 |",
        "| `minimax:depth=2` | 3.0 % | 1.4–6.4 |",
    ]
    assert table.row("toy_v0", "\n".join(card)) == (
        "| [`toy_v0`](agents/pretrained/toy_v0.md) | 0.25 | 45.5 % |  |  | 3.0 % |  |  | -37 |"
    )


def test_recipes_are_of_games_and_have_options_that_there_are(tmp_path: Path) -> None:
    for id, recipe in pretrained.RECIPES.items():
        assert id in dk.games()
        alphazero.check_args(replace(alphazero.Args(tmp_path), **recipe.options))
        for opponent in recipe.opponents:
            dk.agent(opponent)


def test_bad_options_of_the_script(shipped: Path, tmp_path: Path) -> None:
    for bad, message in [
        (dict(to=tmp_path / "nowhere"), "no such folder"),
        (dict(games=3), "games = 3"),
        (dict(minutes=-1.0), "minutes = -1"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            run(replace(Args("dobutsu_v0", out=tmp_path / "run", to=shipped), **bad), QUIET)
    (tmp_path / "dobutsu_v0.json").write_text("{}")
    with pytest.raises(CheckpointError, match=r"dobutsu_v0\.json: not a tournament"):
        run(Args("dobutsu_v0", out=tmp_path / "run", to=shipped, ladder=tmp_path), QUIET)
    assert not (tmp_path / "run").exists() and not list(shipped.iterdir())
