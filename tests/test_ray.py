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
from deskovky.train.alphazero import train
from deskovky.train.ray_workers import RayWorkers

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


@pytest.mark.long  # a cluster and its actors take up to a minute to start
@pytest.mark.filterwarnings("default")  # whatever Ray and what it imports warn of
def test_runs_on_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    # Inside the test, so that these reach the actors by value: they cannot import tests.
    def die_once(marker: Path) -> int:
        """Play a job that kills its process, but only the first time."""
        if not marker.exists():
            marker.write_text("here I died")
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    def fail(_: Path) -> int:
        raise ValueError("a job at fault")

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        "local", num_cpus=2, include_dashboard=False, log_to_driver=False,
        object_store_memory=200_000_000,
    )  # fmt: skip
    try:
        # Each job kills an actor once; each is played to the end all the same.
        workers = RayWorkers(die_once, "auto", 2)
        markers = [tmp_path / f"marker{i}" for i in range(4)]
        pids = [future.result(timeout=300) for future in workers.submit(markers)]
        assert all(marker.exists() for marker in markers) and os.getpid() not in pids
        workers.close()

        workers = RayWorkers(fail, "auto", 1)
        with pytest.raises(ValueError, match="a job at fault"):
            workers.submit(markers)[0].result(timeout=300)
        workers.close()

        # The same games, learned from in the same way.
        on_ray = small_args(tmp_path / "ray", iterations=4, num_workers=2, ray_address="auto")
        train(on_ray, QUIET)
        train(small_args(tmp_path / "local", iterations=4, num_workers=2), QUIET)
        assert_same_checkpoint(tmp_path / "local" / "last.pt", on_ray.out / "last.pt")
    finally:
        ray.shutdown()
