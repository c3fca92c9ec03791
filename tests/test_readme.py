"""The README is true: its Python blocks run as one program, its commands exist."""

import importlib
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


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


def test_commands_parse() -> None:
    """The options of every line that begins with `deskovky` are understood."""
    tyro = pytest.importorskip("tyro")
    scripts = {
        "deskovky train alphazero": "deskovky.train.alphazero:Args",
        "deskovky train ppo": "deskovky.train.ppo_selfplay:Args",
        "deskovky train pretrained": "deskovky.train.pretrained:Args",
        "deskovky eval": "deskovky.train.evaluate:Args",
        "deskovky arena": "deskovky.train.arena:Args",
        "deskovky play": "deskovky.play:Play",
        "deskovky show": "deskovky.show:Show",
        "deskovky solve": "deskovky.solve:Args",
    }
    lines = [line for line in "\n".join(blocks("sh")).splitlines() if line.startswith("deskovky ")]
    assert lines
    for line in lines:
        command = next(command for command in scripts if line.startswith(command))
        module, _, name = scripts[command].partition(":")
        args = getattr(importlib.import_module(module), name)
        tyro.cli(args, args=shlex.split(line.removeprefix(command), comments=True))
