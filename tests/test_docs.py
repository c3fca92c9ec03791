"""The guides are true: their Python blocks run, and "Add a game" leads to a game."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deskovky as dk
from deskovky.envs import GAMES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def python_of(page: str) -> str:
    """Return the Python blocks of a page as one program."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


@pytest.fixture
def games_registered_here() -> object:
    before = dict(GAMES)
    yield
    GAMES.clear()
    GAMES.update(before)


def test_quick_start_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib")
    exec(compile(python_of("quick_start.md"), "quick_start.md", "exec"), {"__name__": "guide"})
    assert "dobutsu_v0" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["index.md", "play.md", "training.md"])
def test_guides_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("anywidget")
    monkeypatch.chdir(tmp_path)
    exec(compile(python_of(page), page, "exec"), {"__name__": "guide"})


@pytest.mark.usefixtures("games_registered_here")
def test_add_a_game_leads_to_a_game() -> None:
    exec(compile(python_of("add_a_game.md"), "add_a_game.md", "exec"), {"__name__": "guide"})
    game = dk.game("breakthrough_v0")
    # Six pawns of the front row: six steps straight, ten diagonally. Nothing meets in two turns.
    assert [game.perft(depth) for depth in range(3)] == [1, 16, 256]
    state = game.state("6/PP4/6/6/6/p5 w")
    assert state.outcome == dk.Outcome(1, dk.Termination.TRY)


def test_the_added_game_conforms(tmp_path: Path) -> None:
    """Step 4, with the game in a plugin of pytest."""
    program = python_of("add_a_game.md")
    (tmp_path / "added_game.py").write_text(program, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    conformance = [str(ROOT / "tests/test_conformance.py"), "-k", "breakthrough and not absolute"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "added_game", *conformance],
        env={**os.environ, "PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    assert "passed" in run.stdout


@pytest.mark.long
@pytest.mark.filterwarnings("default")  # whatever Ray and what it imports warn of
def test_rllib_learns() -> None:
    pytest.importorskip("ray.rllib")
    run = subprocess.run(
        [sys.executable, DOCS / "examples/rllib.py"], stdout=subprocess.PIPE, text=True, check=True
    )
    score = re.search(r"(\d+)% against random", run.stdout)
    assert score and int(score[1]) > 65


COMPARISON = """
import sys
sys.path[:0] = {paths!r}
from test_against_reference import run
import deskovky as dk

program = {program!r}
names = {{}}
exec(program[: program.index("import deskovky as dk")], names)
run(lambda **options: dk.game("breakthrough_v0", **options), names["Breakthrough"], 0, 2000)
"""


@pytest.mark.long
def test_add_a_game_in_cpp(tmp_path: Path) -> None:
    """Follow the steps in a copy of the sources, and compare the two Breakthroughs."""
    for name in ("src", "envs", "agents", "train", "CMakeLists.txt", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "envs/breakthrough"
    folder.mkdir()
    shutil.copy(DOCS / "examples/breakthrough.hpp", folder)
    shutil.copy(DOCS / "examples/breakthrough.py", folder / "__init__.py")
    listed = tmp_path / "envs/core/games.hpp"
    text = listed.read_text(encoding="utf-8")
    text = text.replace('#include "dob', '#include "breakthrough/breakthrough.hpp"\n#include "dob')
    text = text.replace("std::tuple<", "std::tuple<Breakthrough, ", 1)
    listed.write_text(text, encoding="utf-8")
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", site, tmp_path], check=True)
    program = COMPARISON.format(
        paths=[str(site), str(ROOT / "tests")], program=python_of("add_a_game.md")
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=tmp_path)
