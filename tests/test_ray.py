"""Self-play on Ray: the same games as without it, and nothing is lost when an actor dies."""

import io
import os
import signal
from pathlib import Path

import pytest
from rich.console import Console
from test_alphazero import assert_same_checkpoint, small_args

import deskovky.train.ray_workers
from deskovky.errors import ConfigurationError
from deskovky.train import alphazero
from deskovky.train.alphazero import Job, Played, play, train

QUIET = Console(file=io.StringIO())


def test_without_ray_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(deskovky.train.ray_workers, "import_module", missing)
    with pytest.raises(ConfigurationError, match=r"pip install 'deskovky\[ray\]'"):
        train(small_args(tmp_path / "run", ray_address="local"), QUIET)
    assert not (tmp_path / "run").exists()


@pytest.mark.long  # a cluster and its actors take up to minutes to start on a busy machine
@pytest.mark.filterwarnings("default")  # whatever Ray and what it imports warn of
def test_a_run_on_ray_is_the_same_and_loses_nothing_with_an_actor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    train(small_args(tmp_path / "local", iterations=3, num_workers=2), QUIET)
    died, others = tmp_path / "died", tmp_path / "others"
    others.mkdir()
    driver = os.getpid()

    def play_or_die(job: Job) -> Played:  # in the test: so it reaches the actors by value
        assert os.getpid() != driver
        if job.seed[1] == 1 and not died.exists():
            died.write_text("in the midst of the second iteration")
            os.kill(os.getpid(), signal.SIGKILL)
        played = play(job)
        (others / str(os.getpid())).touch()
        return played

    monkeypatch.setattr(alphazero, "play", play_or_die)
    try:
        on_ray = small_args(
            tmp_path / "ray", iterations=3, num_workers=2, ray_address="local", ray_actors=2
        )
        train(on_ray, QUIET)
    finally:
        ray.shutdown()
    assert died.exists() and len(list(others.iterdir())) >= 2
    assert_same_checkpoint(tmp_path / "local" / "last.pt", on_ray.out / "last.pt")
