"""The native module under threads, forks, signals and games that break the protocol."""

import multiprocessing
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from reference.dobutsu import Dobutsu

import deskovky as dk
from deskovky import _core


def test_perft_is_not_counted_beyond_any_stack() -> None:
    with pytest.raises(dk.ConfigurationError, match="depth = 64: expected an integer from 0 to 63"):
        dk.game("dobutsu_v0").perft(64)


def test_ctrl_c_ends_perft() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dk.game("xiangqi_v0").perft(12)
    assert time.monotonic() - start < 30


def test_a_state_is_not_copied_in_the_midst_of_a_step() -> None:
    engine = dk.make_vec("dobutsu_v0", 256, seed=0).engine
    is_done = threading.Event()
    refused = 0

    def read() -> None:
        nonlocal refused
        while not is_done.is_set():
            try:
                engine.state(7).fen()
            except dk.ConfigurationError:
                refused += 1

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(300):
        try:
            engine.step(engine.sample_actions())
        except (dk.ConfigurationError, dk.IllegalActionError):
            pass
    is_done.set()
    reader.join()
    assert engine.state(7).legal_actions() is not None


def test_masks_are_read_once() -> None:
    """A mask that another thread changes never lets an unchecked action through."""
    engine = dk.make_vec("dobutsu_v0", 512, autoreset_mode="disabled", seed=0).engine
    engine.reset()
    mask = np.zeros(512, bool)
    is_done = threading.Event()

    def flicker() -> None:
        while not is_done.is_set():
            mask[:] = True
            mask[:] = False

    thread = threading.Thread(target=flicker)
    thread.start()
    for _ in range(300):
        try:
            engine.step(np.full(512, 131), mask)  # a drop from an empty hand
        except dk.IllegalActionError:
            pass
    is_done.set()
    thread.join()
    assert {engine.state(i).fen() for i in range(512)} == {dk.game("dobutsu_v0").state().fen()}


def step_in_child(games: Any, actions: Any) -> None:
    games.step(actions)
    del games


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded")
def test_a_forked_process_steps_its_copy_alone() -> None:
    games = dk.make_vec("dobutsu_v0", 64, num_threads=2, seed=0)
    games.reset()
    child = multiprocessing.get_context("fork").Process(
        target=step_in_child, args=(games, games.sample_actions())
    )
    child.start()
    child.join(60)
    assert child.exitcode == 0
    games.step(games.sample_actions())


class Broken:
    """A reference state with one member changed."""

    def __init__(self, state: Any, **changes: Any) -> None:
        self.state, self.changes = state, changes

    def copy(self) -> "Broken":
        return Broken(self.state.copy(), **self.changes)

    def __getattr__(self, name: str) -> Any:
        if name in self.changes:
            return self.changes[name]
        return getattr(self.state, name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"legal_actions": lambda: np.array([], np.int32)}, "not over, but its legal_actions"),
        ({"to_move": -(10**8)}, "neither 0 nor 1"),
        ({"to_move": 7}, "neither 0 nor 1"),
    ],
)
def test_searches_name_the_mistake_of_a_python_game(changes: dict[str, Any], message: str) -> None:
    broken: Any = Broken(Dobutsu().state(), **changes)
    with pytest.raises(dk.ConfigurationError, match=message):
        _core.minimax(broken, depth=2)
    with pytest.raises(dk.ConfigurationError, match=message):
        _core.mcts(broken, simulations=10, exploration=1.0)


def test_an_unfinished_turn_is_told_what_whole_turns_there_are() -> None:
    state = dk.game("gothic_draughts_v0").state("8/8/2m5/8/4m3/8/2m5/1M6 w")
    with pytest.raises(dk.IllegalActionError, match="not a whole legal turn.*legal: b1d3f5"):
        state.push("b1d3")
