"""Self-play on a Ray cluster: what `deskovky train alphazero --ray-address` adds.

The learner stays where it was started; each job of an iteration, some steps of many games, goes to
the next free actor. A job holds all that it needs and gives the same games wherever it is played,
so that an actor that dies costs time and nothing else: another one plays its job again, and a new
one takes its place. Needs the extra `ray` here and deskovky on every machine.
"""

import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple

import torch

from deskovky.errors import ConfigurationError

MOST_FAILED_STARTS = 20
"""So many actors that die before they are ready, none of them coming up in between, end the run."""

OBJECT_STORE_BYTES = 256_000_000
"""Room for jobs and their results in a cluster started here."""


class SelfPlayActor:
    """A process of the cluster that plays jobs."""

    def __init__(self) -> None:
        torch.set_num_threads(1)

    def ready(self) -> int:
        """Return the id of this process."""
        return os.getpid()

    def play(self, play: Callable[[Any], Any], job: Any) -> Any:
        """Play a job."""
        return play(job)


class Started(NamedTuple):
    """An actor that is ready, or why it is not."""

    actor: Any
    error: BaseException | None = None


CLOSED = Started(None, RuntimeError("the workers are closed"))


class RayWorkers:
    """Plays jobs on the actors of a cluster.

    play: plays a job; a function of an importable module, the same that plays without Ray.
    address: ``"auto"`` for a running cluster, ``"local"`` for one that is started on this machine
        and ends with `close`, or ``"HOST:PORT"``. In a program that is connected already, its
        cluster is used.
    num_actors: 0 is one for each processor of the cluster.

    Raises ConfigurationError if Ray is missing or no cluster answers.
    """

    def __init__(self, play: Callable[[Any], Any], address: str, num_actors: int = 0) -> None:
        self._play = play
        # No word to anybody about how Ray is used; this must be set before it starts.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray: Any = import_module("ray")  # Any: types should not depend on its presence
        except ModuleNotFoundError:
            raise ConfigurationError(
                "ray_address needs the package 'ray': pip install 'deskovky[ray]'"
            ) from None
        self._ray = ray
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            self._connect(address, num_actors)
        self.size = num_actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._actor_class = ray.remote(num_cpus=1)(SelfPlayActor)
        self._errors = ray.exceptions
        self._actors: set[Any] = set()
        self._free: queue.SimpleQueue[Started] = queue.SimpleQueue()
        self._num_failed = 0
        for _ in range(self.size):
            self._start_actor()
        self._threads = ThreadPoolExecutor(self.size)  # each waits for one job at a time

    def submit(self, jobs: Sequence[Any]) -> list["Future[Any]"]:
        """Begin all jobs."""
        return [self._threads.submit(self._play_on_some_actor, job) for job in jobs]

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        for _ in range(self.size):
            self._free.put(CLOSED)
        for actor in self._actors.copy():
            self._ray.kill(actor)
        self._threads.shutdown(cancel_futures=True)
        if self._is_ours:
            self._ray.shutdown()

    def _connect(self, address: str, num_actors: int) -> None:
        options: dict[str, Any] = {}
        if address == "local":
            options = {
                "num_cpus": num_actors or os.cpu_count(),
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
            }
        try:
            self._ray.init(address, log_to_driver=False, logging_level="warning", **options)
        except Exception as error:  # Ray has no class of its own for this
            reason = str(error).splitlines()[0]
            raise ConfigurationError(
                f"ray_address = {address!r}: no cluster to connect to: {reason}"
            ) from None

    def _start_actor(self) -> None:
        """Ask for an actor; it is free as soon as the cluster has a processor for it."""
        actor = self._actor_class.remote()
        self._actors.add(actor)

        def add(ready: "Future[int]") -> None:
            self._free.put(Started(actor, ready.exception()))

        actor.ready.remote().future().add_done_callback(add)

    def _play_on_some_actor(self, job: Any) -> Any:
        """Return what comes of a job, however many actors it takes."""
        errors = self._errors
        while True:
            started = self._free.get()
            actor, error = started
            if started is CLOSED:
                raise RuntimeError("the workers are closed")
            if error is None:
                self._num_failed = 0
                try:
                    played = self._ray.get(actor.play.remote(self._play, job))
                except errors.RayTaskError as failed:  # the job is at fault, not the actor
                    self._free.put(started)
                    raise (failed.cause or failed) from None
                except (errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError):
                    pass
                else:
                    self._free.put(started)
                    return played
            else:
                self._num_failed += 1
                if self._num_failed > MOST_FAILED_STARTS:
                    raise ConfigurationError(f"no Ray actor comes up: {error}")
            self._actors.discard(actor)
            self._start_actor()
