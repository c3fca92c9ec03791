"""A real JupyterLab in a real Chromium without a screen, for tests of what notebooks show."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

T = TypeVar("T")

TIMEOUT_S = 120  # generous: it only matters where something is wrong
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1400,1000",
)


def wait_for(condition: Callable[[], T | None], what: str, timeout_s: float = TIMEOUT_S) -> T:
    """Return the first true value of `condition`. Raises AssertionError when time is up.

    Elements that are gone, or not to be seen yet, are waited for too.
    """
    from selenium.common.exceptions import (
        ElementNotInteractableException,
        StaleElementReferenceException,
    )

    end = time.monotonic() + timeout_s
    while True:
        try:
            value = condition()
        except (ElementNotInteractableException, StaleElementReferenceException):
            value = None
        if value:
            return value
        assert time.monotonic() < end, f"waited {timeout_s} s in vain for {what}"
        time.sleep(0.05)


@contextmanager
def browser(folder: Path) -> Iterator["Chrome"]:
    """Run Chromium with a new profile in `folder`."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    assert CHROMIUM is not None and DRIVER is not None
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for option in (*OPTIONS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options, Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """Write a notebook with these code cells."""
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "id": f"cell-{i}",
                "cell_type": "code",
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for i, source in enumerate(cells)
        ],
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")


@contextmanager
def jupyter_lab(folder: Path) -> Iterator[Callable[[str], str]]:
    """Run a JupyterLab server on `folder`, with none of the user's settings.

    Yields a function that returns the address of a notebook in the folder.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    home = folder / "home"
    settings = home / "config/lab/user-settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(
        '{"fetchNews": "false", "checkForUpdates": false}'
    )
    environment = os.environ | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    with open(folder / "server.log", "wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"

    def is_up() -> bool:
        assert server.poll() is None, (folder / "server.log").read_text(errors="replace")
        try:
            with urllib.request.urlopen(f"{address}/api?token={token}", timeout=5):
                return True
        except OSError:
            return False

    try:
        wait_for(is_up, "the JupyterLab server")
        yield lambda name: f"{address}/lab/tree/{name}?token={token}"
    finally:
        server.terminate()  # kernels end with it
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
