"""The command line: what it prints, exit codes, one line for what is the user's fault."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import deskovky as dk
from deskovky import cli
from deskovky.errors import ConfigurationError

COMMANDS = ["games", "play", "show", "perft", "eval", "arena", "solve", "bench"]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deskovky", *words], capture_output=True, text=True, timeout=120
    )


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"], ["-h"]):
        assert cli.main(words) == 0
        text = capsys.readouterr().out
        for name in (*COMMANDS, "train alphazero", "train ppo", "train pretrained"):
            assert re.search(rf"^  {name} ", text, re.MULTILINE)
        assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main([name, "--help"])
    assert info.value.code == 0
    assert f"usage: deskovky {name}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"deskovky {dk.__version__}\n"


def test_games_names_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["games"]) == 0
    text = capsys.readouterr().out
    for id in dk.games():
        game = dk.game(id)
        assert id in text
        assert str(game.num_actions) in text
        for name in (*game.rulesets, *game.setups):
            assert name in text


def test_perft_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["perft", "dobutsu", "5"]) == 0
    match = re.fullmatch(r"(\d+) nodes, \d+\.\d{3} s, [\d,]+ nodes/s\n", capsys.readouterr().out)
    assert match and int(match[1]) == dk.game("dobutsu_v0").perft(5)


@pytest.mark.parametrize("ruleset", dk.game("dobutsu_v0").rulesets)
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_divided_perft_adds_up(
    ruleset: str, depth: int, capsys: pytest.CaptureFixture[str]
) -> None:
    # Both lions can be captured, and pieces can be dropped.
    fen = "g1e/1lC/cL1/E1G[-] b - - 0 9"
    options = ["--ruleset", ruleset, "--fen", fen, "--divide"]
    assert cli.main(["perft", "dobutsu_v0", str(depth), *options]) == 0
    *lines, total = capsys.readouterr().out.splitlines()
    game = dk.game("dobutsu_v0", ruleset=ruleset)
    expected = game.perft(depth, fen)
    assert expected > 0
    assert total.startswith(f"{expected} nodes")
    counts = dict(line.split() for line in lines)
    assert list(counts) == game.state(fen).turns()
    assert sum(map(int, counts.values())) == expected


def test_bench_measures(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--seconds", "0.01", "--runs", "1", "--num-envs", "16"]) == 0
    text = capsys.readouterr().out
    for name in ("vector env of 16", "PettingZoo env", "State", "perft"):
        (line,) = [line for line in text.splitlines() if name in line]
        median = int(line.split()[-1].replace(",", ""))
        assert median > 1000


def test_eval_prints_a_table_and_writes_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "result.json"
    agents = ["greedy", "random", "minimax:depth=2"]
    assert cli.main(["eval", "--agents", *agents, "--games", "10", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "greedy in dobutsu_v0" in text
    assert " random " in text and " minimax:depth=2 " in text
    assert out.is_file()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pefrt"], "no command 'pefrt'; did you mean 'perft'?"),
        (["train", "pop"], "no training script 'pop'; did you mean 'ppo'?"),
        (["perft", "chess", "3"], "no game 'chess'"),
        (["perft", "dobutsu_v0", "3", "--fen", "nonsense"], "FEN"),
        (["perft", "dobutsu_v0", "3", "--ruleset", "none"], "none"),
        (["perft", "dobutsu_v0", "-1"], "depth = -1"),
        (["perft", "dobutsu_v0", "0", "--divide"], "depth = 0"),
        (["bench", "--runs", "0"], "runs = 0: expected an integer"),
        (["eval", "--agents", "random"], "at least two agents"),
        (["eval", "--agents", "random", "nobody"], "nobody"),
        (["eval", "--agents", "random", "random", "--games", "3"], "games must be even"),
        (["arena", "--agents", "random"], "at least two agents"),
        (["arena", "--agents", "random", "random"], "two agents are named random"),
        (["arena", "--agents", "random", "greedy", "--num-parallel", "3"], "num_parallel"),
        (["arena", "--agents", "random", "greedy", "--sprt", "30"], "two Elo differences"),
        (["arena", "--agents", "random", "greedy", "--sprt", "30,0"], "expected elo0 < elo1"),
        (["arena", "--agents", "random", "greedy", "--resume"], "--resume needs --out"),
        (["arena", "--resume", "--out", "none"], "none/arena.json"),
        (["eval", "--agents", "random", "ppo:none.safetensors"], "none.safetensors"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("deskovky: ") and message in line


def test_bad_options_are_exit_code_2_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as info:
        cli.main(["perft", "dobutsu_v0", "three"])
    assert info.value.code == 2
    assert "three" in capsys.readouterr().err


def test_as_a_process() -> None:
    done = command("perft", "chess", "3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("deskovky: no game 'chess'")
    assert "Traceback" not in done.stderr


def test_files_that_cannot_be_written_are_the_users_business() -> None:
    assert cli.exit_code(lambda: Path("/none/such").write_text("")) == 2


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("importlib.import_module", import_module)
    with pytest.raises(ConfigurationError, match=r"'torch': pip install 'deskovky\[train\]'"):
        cli.run(["train", "ppo"])


def test_ctrl_c_is_exit_code_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "deskovky", "bench", "--seconds", "60"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(0.2)
    # Not before the program has got to its own code: CPU time tells, on a busy machine too.
    while _cpu_seconds(process.pid) < 1.5:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "deskovky: interrupted\n"


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if not Path("/proc/self/stat").exists():  # macOS, Windows
    test_ctrl_c_is_exit_code_130 = pytest.mark.skip("needs /proc")(test_ctrl_c_is_exit_code_130)


def test_a_closed_pipe_is_no_error() -> None:
    shell = f"{sys.executable} -m deskovky perft dobutsu_v0 4 --divide"
    done = subprocess.run(
        f"{shell} | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_torch_is_not_loaded_without_need() -> None:
    code = (
        "import sys\n"
        "from deskovky import cli\n"
        "cli.main(['games']); cli.main(['perft', 'dobutsu_v0', '3'])\n"
        "import deskovky.train.arena\n"
        "print([name for name in ('torch', 'stable_baselines3') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
