"""The render modes of the environments, over every game."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from PIL import Image
from reference.dobutsu import Dobutsu

import deskovky as dk
from deskovky.envs.aec import BoardGameEnv
from deskovky.envs.drawing import piece_svg
from deskovky.envs.gymnasium_env import SinglePlayerEnv
from deskovky.envs.registration import gymnasium_id
from deskovky.envs.render import RENDER_MODES, Frame, frames, rasterize
from deskovky.errors import ConfigurationError, RenderError

with warnings.catch_warnings():
    # Where pygame is installed, this imports a game of theirs in their deprecated way.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import render_test

GAMES = list(dk.games())


@pytest.fixture
def env() -> Iterator[BoardGameEnv]:
    env = dk.make("dobutsu_v0", render_mode="human")
    yield env
    env.close()


def shown() -> Frame:
    """Return what the window shows."""
    import pygame

    screen = pygame.display.get_surface()
    assert screen is not None
    return pygame.surfarray.array3d(screen).swapaxes(0, 1)


@pytest.mark.parametrize("id", [*GAMES, "a Python game"])
def test_official_render_test(id: str) -> None:
    def make(render_mode: str) -> BoardGameEnv:
        return BoardGameEnv(id if id in GAMES else Dobutsu(), render_mode)

    assert BoardGameEnv.metadata["render_modes"] == RENDER_MODES
    checks = {
        "svg": lambda picture: picture.startswith("<svg"),
        "rgb_array": lambda picture: max(picture.shape) == 100 and np.ptp(picture) > 100,
        "human": lambda picture: picture is None,
    }
    render_test(make, custom_tests=checks)  # type: ignore[arg-type]


@pytest.mark.parametrize("id", GAMES)
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_gymnasium(id: str, mode: str) -> None:
    env = gymnasium.make(gymnasium_id(id), opponent="random", side=1, render_mode=mode)
    assert mode in env.metadata["render_modes"] and env.metadata["render_fps"] == 2
    env.reset(seed=0)
    expected = {"human": type(None), "rgb_array": np.ndarray}.get(mode, str)
    assert isinstance(env.render(), expected)
    env.close()


def test_the_learner_sits_at_the_bottom() -> None:
    pictures = []
    for side in (0, 1):
        env = SinglePlayerEnv("dobutsu_v0", "random", side, render_mode="svg")
        env.reset(seed=0)
        pictures.append(env.render())
        assert pictures[-1] == env.state_object.svg(size=100, perspective=side)


def test_unknown_mode() -> None:
    for make in (BoardGameEnv, SinglePlayerEnv):
        with pytest.raises(ConfigurationError, match="'video'"):
            make("dobutsu_v0", render_mode="video")


def test_an_illegal_action_is_seen() -> None:
    env = dk.make("dobutsu_v0", render_mode="svg", illegal="lose")
    env.reset()
    env.step(131)
    assert "player_1 won: illegal_action" in str(env.render())


def test_pieces_differ_in_grey() -> None:
    """Every two pieces of a game differ in more than a few pixels, without their colours too."""
    for id in GAMES:
        game = dk.game(id)
        letters = sorted(
            {letter for letter in game.state().fen().split(" ")[0] if letter.isalpha()}
        )
        images = {
            letter: np.asarray(
                Image.fromarray(rasterize(piece_svg(game, letter))).convert("L"), int
            )
            for letter in letters
        }
        for letter in letters:
            for other in letters:
                if letter < other:
                    difference = np.abs(images[letter] - images[other]) > 40
                    assert difference.mean() > 0.02, f"{id}: {letter} and {other}"


def test_the_picture_is_the_position() -> None:
    """Only the squares of a turn change (and the mark of the player to move)."""
    state = dk.game("gothic_draughts_v0").state()
    before = rasterize(state.svg(size=888, last=()))
    state.push("a2a3")
    after = rasterize(state.svg(size=888, last=()))
    changed = np.argwhere((before != after).any(axis=2))
    on_board = changed[changed[:, 1] < 844]
    assert on_board[:, 0].min() >= 44 + 500 and on_board[:, 0].max() < 44 + 700
    assert on_board[:, 1].min() >= 44 and on_board[:, 1].max() < 44 + 100


def test_frames_make_a_gif(tmp_path: Any) -> None:
    state = dk.game("dobutsu_v0").state()
    states = [state.copy()]
    for turn in ("b2b3", "a4a3", "b3b4+"):
        state.push(turn)
        states.append(state.copy())
    first, *others = (Image.fromarray(frame) for frame in frames(states, size=120))
    first.save(tmp_path / "game.gif", save_all=True, append_images=others, duration=500)
    with Image.open(tmp_path / "game.gif") as gif:
        assert (getattr(gif, "n_frames"), max(gif.size)) == (4, 120)  # noqa: B009


def test_the_window_shows_every_step(env: BoardGameEnv) -> None:
    env.reset()
    start = shown()
    assert np.array_equal(start, rasterize(env.state_object.svg(size=100)))
    env.step(env.state_object.action_from_text("b2b3"))
    assert not np.array_equal(shown(), start)
    assert np.array_equal(shown(), rasterize(env.state_object.svg(size=100)))
    assert env.render() is None


def test_a_closed_window_stays_away(env: BoardGameEnv) -> None:
    import pygame

    env.reset()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert not pygame.display.get_init()
    env.step(env.state_object.action_from_text("b2b3"))  # goes on unseen
    assert not pygame.display.get_init()
    env.close()
    env.render()
    assert pygame.display.get_init()


def test_copies_have_windows_of_their_own(env: BoardGameEnv) -> None:
    env.reset()
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.render_mode == "human" and twin.state_object == env.state_object
        twin.close()
    assert shown().any()


def test_without_a_display(monkeypatch: pytest.MonkeyPatch, env: BoardGameEnv) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "none_of_that_name")
    with pytest.raises(RenderError, match="display"):
        env.reset()


@pytest.mark.parametrize(
    ("mode", "package", "extra"),
    [("rgb_array", "resvg_py", "render"), ("human", "pygame", "window")],
)
def test_without_the_extra(
    mode: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    env = dk.make("dobutsu_v0", render_mode=mode)
    with pytest.raises(RenderError, match=rf"{package}.*deskovky\[{extra}\]"):
        env.reset()
        env.render()


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, deskovky as dk\n"
        "env = dk.make('dobutsu_v0', render_mode='svg'); env.reset(); env.render()\n"
        "assert not {'pygame', 'resvg_py', 'PIL'} & set(sys.modules)\n"
        "env = dk.make('dobutsu_v0', render_mode='rgb_array'); env.reset(); env.render()\n"
        "assert 'pygame' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
