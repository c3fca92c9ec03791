"""The widget: shows what a `Controller` says, passes clicks on, lets agents think beside it.

A click is a round trip: the front end names the spot, the kernel answers with a new picture. Agents
think in a thread, so that the kernel stays free; one at a time in the whole process, since they are
not made for several threads and boards may share them.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from deskovky.envs.protocol import State
from deskovky.envs.records import Record, RecordWriter
from deskovky.envs.support import check_integer
from deskovky.notebook.controller import Controller, Job

MIN_SIZE, MAX_SIZE = 100, 2000
_FOLDER = Path(__file__).parent
_thinking = threading.Lock()


class Board(anywidget.AnyWidget):
    """A board to play on, made by `deskovky.board`.

    Several boards are independent of each other.
    """

    _esm = _FOLDER / "board.js"
    _css = _FOLDER / "board.css"

    size = traitlets.Int(480).tag(sync=True)
    """Of the picture's longer side, in pixels."""

    shown = traitlets.Dict().tag(sync=True)
    """What the front end shows: `Controller.view`."""

    spots = traitlets.Dict().tag(sync=True)
    """Where the front end takes clicks: `Controller.spots`."""

    def __init__(self, controller: Controller, *, size: int = 480) -> None:
        check_integer("size", size, MIN_SIZE, MAX_SIZE)
        super().__init__(size=size)
        self._controller = controller
        # Messages of the front end may be handled in another thread than the cells of the notebook.
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None  # where `_work` runs; None: nowhere
        self.on_msg(self._on_message)
        self._update()

    # --- For programs -----------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """A copy of the game. Assign a state of the same game to go on from there.

        Raises ConfigurationError for a state of another game or options.
        """
        with self._lock:
            return self._controller.state

    @state.setter
    def state(self, state: State) -> None:
        with self._lock:
            self._controller.state = state
            self._update()

    def push(self, turn: str) -> None:
        """Make a turn given as text, whoever is to move.

        Raises IllegalActionError, leaving the game as it was, if it is not a legal turn.
        """
        with self._lock:
            self._controller.push(turn)
            self._update()

    def record(self) -> Record:
        """Return the record of the game so far."""
        with self._lock:
            players = self._controller.player_names
            return Record.from_state(self._controller.state, Player0=players[0], Player1=players[1])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the game to a file, as JSON if its name ends in ``.jsonl``, else as text."""
        with RecordWriter(path) as writer:
            writer.write(self.record())

    # --- For the front end ------------------------------------------------------------------------

    def _on_message(self, _: object, message: Any, __: object) -> None:
        """Do what the front end asks for: a command and, for some, what it is about."""
        commands: dict[str, Callable[..., None]] = {
            "click": self._controller.click,
            "choose": self._controller.choose,
            "undo": self._controller.undo,
            "new_game": self._controller.new_game,
            "flip": self._controller.flip,
            "go_on": self._controller.go_on,
            "analysis": self._controller.toggle_analysis,
        }
        with self._lock:
            command = commands[message["command"]]
            command(*message.get("arguments", ()))
            self._update()

    def _update(self) -> None:
        """Show the game as it is, and begin what must be worked out."""
        self._show()
        if self._is_working or self._controller.next_job() is None:
            return
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:  # a program without an event loop waits for its agents
            asyncio.run(self._work())
        else:
            self._task = self._loop.create_task(self._work())

    @property
    def _is_working(self) -> bool:
        """True while an agent thinks. A loop can end before its work does, with a page's thread."""
        return self._loop is not None and self._loop.is_running()

    async def _work(self) -> None:
        """Do one job after the other until there is none."""
        self._loop = asyncio.get_running_loop()
        while True:
            with self._lock:
                job, version = self._controller.next_job(), self._controller.version
                if job is None:
                    self._loop = None
                    self._show()
                    return
                self._show()
            result: Any = None
            failure: Exception | None = None
            try:
                result = await asyncio.to_thread(_do, job)
            except Exception as error:  # whatever an agent of the user's may raise
                failure = error
            with self._lock:
                if version != self._controller.version:
                    continue  # a new game, an undo: nobody needs it any more
                if failure is None:
                    job.done(result)
                else:
                    self._controller.fail(failure)

    def _show(self) -> None:
        with self.hold_sync():
            self.shown = self._controller.view(self.size, self._is_working)
            self.spots = self._controller.spots()


def _do(job: Job) -> Any:
    with _thinking:
        return job.work()
