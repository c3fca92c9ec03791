"""The file that holds the solution of Dobutsu: where it lies, how it is made, checked and opened.

It begins with a header of text, padded to `HEADER_BYTES`; then comes one byte for each position of
`envs/dobutsu/solver.hpp`. The table is read through a memory map: opening costs nothing, and all
processes of a machine share its pages.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from deskovky import _core
from deskovky.errors import TableError

GAME_ID = "dobutsu_v0"
FORMAT = "deskovky-solution"
FORMAT_VERSION = 1
HEADER_BYTES = 4096
CACHE_VARIABLE = "DESKOVKY_CACHE"

Progress = Callable[[str, int, int], object]
"""Called as progress(stage, done, total) now and then; what it raises ends the work."""


def table_path(cache_dir: Path | str | None = None) -> Path:
    """Return where the table lies, or would.

    cache_dir: the folder; None is that of the environment variable DESKOVKY_CACHE, or else the
        cache folder that the platform gives to `deskovky`.
    """
    if cache_dir is None:
        cache_dir = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_path("deskovky")
    return Path(cache_dir) / f"{GAME_ID}.table"


def make_table(path: Path, num_threads: int, progress: Progress) -> None:
    """Solve the game and write the table to a temporary file, which is renamed once complete.

    Takes some 160 MiB of memory and of disk. An interrupt leaves nothing behind. Raises OSError if
    the file cannot be written, before anything else is done.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            table = np.zeros(_core.num_dobutsu_entries(), np.uint8)
            _core.solve_dobutsu(table, num_threads, progress)
            header = {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "game": GAME_ID,
                "size": table.size,
                "sha256": hashlib.sha256(table.data).hexdigest(),
            }
            file.write(json.dumps(header).encode().ljust(HEADER_BYTES - 1) + b"\n")
            file.write(table.data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def open_table(path: Path) -> _core.DobutsuSolution:
    """Return the solution in `path`, mapped into memory; header and size are looked at.

    Raises TableError if there is none, or the file is truncated or not such a table.
    """
    return _core.DobutsuSolution(map_table(path, read_header(path)))


def check_table(path: Path, num_threads: int, progress: Progress) -> None:
    """Check the whole table: its checksum, and every entry against those it leads to.

    Raises TableError as `open_table` does, or if the table is damaged or wrong.
    """
    header = read_header(path)
    table = map_table(path, header)
    if hashlib.sha256(table.data).hexdigest() != header["sha256"]:
        raise TableError(f"{path}: damaged, its checksum differs; {how_to_make('--force')}")
    num_errors = _core.DobutsuSolution(table).count_errors(num_threads, progress)
    if num_errors:
        raise TableError(f"{path}: {num_errors} positions contradict those that they lead to")


def read_header(path: Path) -> dict[str, Any]:
    """Return the header of a table of the size that it says. Raises TableError."""
    try:
        with path.open("rb") as file:
            text = file.read(HEADER_BYTES)
            size = file.seek(0, os.SEEK_END)
    except FileNotFoundError:
        raise TableError(f"{path}: no solution of {GAME_ID}; {how_to_make()}") from None
    try:
        header = dict(json.loads(text))
        version, expected = header["version"], header["size"]
        if (header["format"], header["game"]) != (FORMAT, GAME_ID):
            raise ValueError
    except (ValueError, TypeError, KeyError):
        raise TableError(f"{path}: not a solution of {GAME_ID}; {how_to_make('--force')}") from None
    if version != FORMAT_VERSION:
        raise TableError(
            f"{path}: format version {version}, this program reads {FORMAT_VERSION}; "
            f"{how_to_make('--force')}"
        )
    if size != HEADER_BYTES + expected:
        raise TableError(
            f"{path}: truncated or damaged, {size:,} bytes instead of "
            f"{HEADER_BYTES + expected:,}; {how_to_make('--force')}"
        )
    return header


def map_table(path: Path, header: dict[str, Any]) -> NDArray[np.uint8]:
    """Return the entries of a table whose header was read."""
    return np.memmap(path, np.uint8, "r", offset=HEADER_BYTES, shape=(header["size"],))


def how_to_make(option: str = "") -> str:
    return f"make it with `deskovky solve {GAME_ID}{' ' * bool(option)}{option}`"
