"""What holds for every test: pictures are small, and windows open where nobody waits for them."""

import os

import pytest

os.environ["SDL_VIDEODRIVER"] = "dummy"


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deskovky.envs.render.RENDER_FPS", 10_000)
    monkeypatch.setattr("deskovky.envs.render.SIZE", 100)
