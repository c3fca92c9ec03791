"""The README is true: its Python blocks run as one program; commands exist, the guides' as well."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [f"docs/{name}.md" for name in ("index", "install", "play", "training")]


def blocks(language: str, page: str = "README.md") -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_python_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib")
    source = "\n".join(blocks("python"))
    assert source
    exec(compile(source, "README.md", "exec"), {"__name__": "readme"})
    assert "won" in capsys.readouterr().out


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("sh")), re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", ["README.md", *GUIDES])
def test_commands_parse(page: str) -> None:
    """The options of every line that begins with `deskovky` are understood."""
    tyro = pytest.importorskip("tyro")
    scripts = {
        "deskovky games": "deskovky.cli:Games",
        "deskovky bench": "deskovky.cli:Bench",
        "deskovky train alphazero": "deskovky.train.alphazero:Args",
        "deskovky train ppo": "deskovky.train.ppo_selfplay:Args",
        "deskovky train pretrained": "deskovky.train.pretrained:Args",
        "deskovky eval": "deskovky.train.evaluate:Args",
        "deskovky arena": "deskovky.train.arena:Args",
        "deskovky play": "deskovky.play:Play",
        "deskovky show": "deskovky.show:Show",
        "deskovky solve": "deskovky.solve:Args",
    }
    lines = "\n".join(blocks("sh", page)).splitlines()
    lines = [line for line in lines if line.startswith("deskovky ")]
    assert lines
    for line in lines:
        command = next(command for command in scripts if line.startswith(command))
        module, _, name = scripts[command].partition(":")
        args = getattr(importlib.import_module(module), name)
        tyro.cli(args, args=shlex.split(line.removeprefix(command), comments=True))
