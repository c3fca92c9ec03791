"""Training scripts, run for real for seconds. (Those of AlphaZero: test_alphazero.py.)"""

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from opponents import HashOpponent

import deskovky as dk
from deskovky.agents.ppo import PPOAgent
from deskovky.errors import (
    CheckpointError,
    ConfigurationError,
    DeskovkyError,
    UnknownGameError,
)
from deskovky.train import ppo_selfplay
from deskovky.train.arena import arena
from deskovky.train.evaluate import evaluate
from deskovky.train.ppo_selfplay import Args, load_checkpoint, train

SMALL = Args(
    timesteps=1024,
    num_envs=8,
    num_steps=32,
    batch_size=128,
    num_epochs=1,
    hidden=(32,),
    snapshot_steps=256,
    eval_opponents=(),
)
SMALL_OPTIONS = (
    "--num-envs 8 --num-steps 32 --batch-size 128 --num-epochs 1 --hidden 32 --snapshot-steps 256"
).split()


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Leave torch's threads as they were: the script sets them."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "deskovky", "train", "ppo", *options]


def contents(directory: Path) -> dict[str, str]:
    """Return a hash of every file."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def pool_hashes(directory: Path) -> dict[str, str]:
    return {name: h for name, h in contents(directory).items() if name.startswith("pool/")}


def test_the_command_trains_an_agent(tmp_path: Path) -> None:
    out = tmp_path / "run"
    options = ["--out", str(out), "--timesteps", "1024", "--eval-steps", "512", *SMALL_OPTIONS]
    options += ["--eval-games", "4", "--opponents", "greedy"]
    done = subprocess.run(command(*options), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "against random" in done.stderr
    assert "1,024 steps, saved as" in done.stderr
    names = set(contents(out))
    assert {"latest.safetensors", "checkpoint.pt", "pool/000000000000.safetensors"} <= names
    assert len([name for name in names if name.startswith("events.out.tfevents")]) == 1
    assert not [name for name in names if name.endswith(".tmp")]
    agent = PPOAgent(out / "latest.safetensors", seed=0)
    assert evaluate("dobutsu_v0", agent, HashOpponent(), 10).total.games == 10
    games = {name: games for name, (_, games) in load_checkpoint(out)["scores"].items()}
    assert games["greedy"] > 2 and games["000000000000"] > 2


def test_curves_tell_losses_speed_and_strength(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    ladder = tmp_path / "ladder"
    arena("dobutsu_v0", ["random", "greedy"], 20, out=ladder)
    args = replace(
        SMALL,
        out=tmp_path / "run",
        opponents=("greedy",),
        eval_opponents=("random", "greedy"),
        eval_steps=512,
        eval_games=10,
        ladder=ladder / "arena.json",
    )
    train(args)
    curves = EventAccumulator(str(args.out))
    curves.Reload()
    assert {
        "train/loss", "train/policy_gradient_loss", "train/value_loss", "train/entropy_loss",
        "time/fps", "rollout/ep_rew_mean", "selfplay/score_pool", "selfplay/score_greedy",
        "selfplay/score_against_the_strongest", "selfplay/pool_size", "eval/score_random",
        "eval/score_greedy", "eval/elo",
    } <= set(curves.Tags()["scalars"])  # fmt: skip
    assert all(np.isfinite(event.value) for event in curves.Scalars("eval/elo"))
    with pytest.raises(CheckpointError, match="of game dobutsu_v0, not"):
        train(replace(args, game="ossetian_draughts_v0", out=tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_resumed_runs_go_on_and_pool_members_never_change(tmp_path: Path) -> None:
    args = replace(SMALL, out=tmp_path / "run", ruleset="fairy")
    train(args)
    first = load_checkpoint(args.out)
    assert first["num_timesteps"] == 1024
    members = pool_hashes(args.out)
    assert members == first["pool"] and len(members) == 4
    assert first["scores"].keys() <= {Path(file).stem for file in members}

    train(replace(args, resume=True, timesteps=2048))
    second = load_checkpoint(args.out)
    assert second["num_timesteps"] == 2048
    assert members.items() < pool_hashes(args.out).items()
    assert first["pool"].items() < second["pool"].items()
    changed = [not torch.equal(w, second["policy"][n]) for n, w in first["policy"].items()]
    assert all(changed)
    step = "optimizer", "state", 0, "step"
    assert _at(second, *step) == 2 * _at(first, *step)  # Adam went on, it did not start anew


def _at(tree: Any, *keys: Any) -> Any:
    for key in keys:
        tree = tree[key]
    return tree


def test_the_command_resumes_with_the_options_of_the_run(tmp_path: Path) -> None:
    args = replace(SMALL, out=tmp_path / "run", ruleset="fairy", gamma=0.9)
    train(args)
    ppo_selfplay.main(["--out", str(args.out), "--resume", "--timesteps", "1280"])
    checkpoint = load_checkpoint(args.out)
    assert checkpoint["num_timesteps"] == 1280
    assert checkpoint["config"]["ruleset"] == "fairy"
    assert checkpoint["args"]["gamma"] == 0.9
    assert checkpoint["args"]["hidden"] == (32,)


def test_a_run_that_has_all_its_steps_stays_as_it_is(tmp_path: Path) -> None:
    args = replace(SMALL, out=tmp_path / "run")
    train(args)
    before = contents(args.out)
    train(replace(args, resume=True))
    after = contents(args.out)
    assert after["latest.safetensors"] == before["latest.safetensors"]
    assert load_checkpoint(args.out)["num_timesteps"] == 1024


def test_same_seed_same_agent(tmp_path: Path) -> None:
    def trained(name: str, **changes: Any) -> str:
        path = train(replace(SMALL, out=tmp_path / name, **changes))
        return hashlib.sha256(path.read_bytes()).hexdigest()

    assert trained("a") == trained("b")
    assert trained("c", seed=1) != trained("a", resume=True)
    # Resumed runs repeat as well.
    more = {"resume": True, "timesteps": 1536}
    assert trained("a", **more) == trained("b", **more)


def test_minutes_end_the_run(tmp_path: Path) -> None:
    args = replace(SMALL, out=tmp_path / "run", timesteps=None, minutes=1 / 60)
    start = time.monotonic()
    train(args)
    assert 1 <= time.monotonic() - start < 30
    assert load_checkpoint(args.out)["num_timesteps"] > 0


def test_ctrl_c_saves_and_the_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(
        command("--out", str(out), "--minutes", "5", "--eval-opponents", *SMALL_OPTIONS),
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (out / "pool" / "000000000512.safetensors").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "saved as" in errors and "interrupted" in errors
    assert "Traceback" not in errors
    steps = load_checkpoint(out)["num_timesteps"]
    assert steps >= 512
    train(replace(SMALL, out=out, resume=True, timesteps=steps + 256))
    assert load_checkpoint(out)["num_timesteps"] >= steps + 256


@pytest.mark.parametrize("content", ["a file", "an AlphaZero run"])
def test_a_foreign_directory_is_left_alone(tmp_path: Path, content: str) -> None:
    out = tmp_path / "foreign"
    out.mkdir()
    if content == "a file":
        (out / "thesis.tex").write_text("years of work")
    else:
        torch.save({"format": "deskovky-alphazero", "format_version": 1}, out / "checkpoint.pt")
    before = contents(out)
    with pytest.raises(ConfigurationError, match="not an empty directory"):
        train(replace(SMALL, out=out))
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt"):
        train(replace(SMALL, out=out, resume=True))
    assert contents(out) == before


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt: cannot be read"):
        train(replace(SMALL, out=tmp_path / "none", resume=True))
    assert not (tmp_path / "none").exists()


def test_damaged_runs_are_refused_and_left_alone(tmp_path: Path) -> None:
    args = replace(SMALL, out=tmp_path / "run", timesteps=256)
    train(args)
    again = replace(args, resume=True, timesteps=512)
    checkpoint = args.out / "checkpoint.pt"
    whole = checkpoint.read_bytes()
    member = args.out / "pool" / "000000000000.safetensors"

    class Code:
        def __reduce__(self) -> Any:
            return os.system, ("echo executed",)

    for content in (b"", whole[:100], whole[: len(whole) // 2], pickle.dumps(Code(), 2)):
        checkpoint.write_bytes(content)
        before = contents(args.out)
        with pytest.raises(CheckpointError, match=r"checkpoint\.pt: cannot be read"):
            train(again)
        assert contents(args.out) == before

    for key in ("config", "policy", "optimizer", "pool", "scores", "num_timesteps"):
        content = load_checkpoint_bytes(whole, tmp_path)
        del content[key]
        torch.save(content, checkpoint)
        before = contents(args.out)
        with pytest.raises(CheckpointError, match="damaged"):
            train(again)
        assert contents(args.out) == before

    checkpoint.write_bytes(whole)
    latest = (args.out / "latest.safetensors").read_bytes()
    assert latest != member.read_bytes()
    member.write_bytes(latest)
    with pytest.raises(CheckpointError, match="not the pool member that the run wrote"):
        train(again)
    member.unlink()
    with pytest.raises(CheckpointError, match="000000000000"):
        train(again)


def load_checkpoint_bytes(content: bytes, tmp_path: Path) -> dict[str, Any]:
    directory = tmp_path / "whole"
    directory.mkdir(exist_ok=True)
    (directory / "checkpoint.pt").write_bytes(content)
    return load_checkpoint(directory)


@pytest.mark.parametrize("changes", [{"ruleset": "fairy"}, {"hidden": (16,)}])
def test_a_run_goes_on_as_what_it_was(tmp_path: Path, changes: dict[str, Any]) -> None:
    args = replace(SMALL, out=tmp_path / "run", timesteps=256)
    train(args)
    before = contents(args.out)
    with pytest.raises(CheckpointError, match="a run with .*, not with"):
        train(replace(args, resume=True, **changes))
    assert contents(args.out) == before


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"game": "chess"}, UnknownGameError, "no game 'chess'"),
        ({"ruleset": "none"}, UnknownGameError, "none"),
        ({"opponents": ("nobody",)}, DeskovkyError, "nobody"),
        ({"num_envs": 0}, ConfigurationError, "num_envs = 0"),
        ({"learning_rate": float("nan")}, ConfigurationError, "learning_rate = nan"),
        ({"gamma": 1.5}, ConfigurationError, "gamma = 1.5"),
        ({"minutes": -1.0}, ConfigurationError, "minutes"),
        ({"batch_size": 1000}, ConfigurationError, "batch_size = 1000 is more than"),
        ({"eval_games": 3}, ConfigurationError, "eval_games = 3 is odd"),
        ({"hidden": ()}, ConfigurationError, "hidden"),
        ({"device": "abacus"}, ConfigurationError, "abacus"),
    ],
)
def test_bad_options(
    tmp_path: Path, changes: dict[str, Any], error: type[DeskovkyError], message: str
) -> None:
    out = tmp_path / "run"
    with pytest.raises(error, match=message):
        train(replace(SMALL, out=out, **changes))
    assert not out.exists()


def test_it_learns(tmp_path: Path) -> None:
    """From 50 % to clearly more than that against the network that it started from."""
    args = replace(
        SMALL,
        out=tmp_path / "run",
        timesteps=16_000,
        num_epochs=4,
        hidden=(64,),
        snapshot_steps=5000,
    )
    agent = PPOAgent(train(args), seed=0)
    untrained = PPOAgent(args.out / "pool" / "000000000000.safetensors", seed=0)
    match = evaluate(dk.game("dobutsu_v0"), agent, untrained, 200)
    assert match.interval[0] > 0.6, match
