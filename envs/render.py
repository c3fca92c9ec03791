"""The render modes of the environments: text, SVG, pixels and a window.

Pixels and windows need packages that only their extras install; they are imported when the first
picture is made, never before.
"""

import io
import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deskovky.envs.drawing import draw
from deskovky.envs.protocol import Outcome, State
from deskovky.envs.support import board_text
from deskovky.envs.svg import PAPER
from deskovky.errors import RenderError

RENDER_MODES = ["human", "ansi", "svg", "rgb_array"]
RENDER_FPS = 2
SIZE = 480  # pixels of the longer side

Frame = NDArray[np.uint8]


def render_state(
    mode: str, state: State, outcome: Outcome | None, window: "Window", perspective: int = 0
) -> str | Frame | None:
    """Return the board as `mode` asks: text, SVG text, `[height, width, 3]` uint8, or None.

    None is for ``"human"``, which shows it in `window` instead. Raises RenderError where a package
    or a display is missing.
    """
    if mode == "ansi":
        return board_text(state, outcome)
    svg = draw(state, size=SIZE, perspective=perspective, outcome=outcome)
    if mode == "svg":
        return svg
    if mode == "rgb_array":
        return rasterize(svg)
    window.show(svg, state.game.id)
    return None


def rasterize(svg: str) -> Frame:
    """Return a picture as pixels, `[height, width, 3]` uint8. Raises RenderError.

    >>> import deskovky as dk
    >>> rasterize(dk.game("gothic_draughts_v0").state().svg(size=100)).shape
    (100, 100, 3)
    """
    resvg = _import("resvg_py", "render")
    image = _import("PIL.Image", "render")
    # All shapes are paths: looking for the fonts of the system would take most of the time.
    png = resvg.svg_to_bytes(svg_string=svg, background=PAPER, skip_system_fonts=True)
    return np.array(image.open(io.BytesIO(png)).convert("RGB"))


def frames(states: Iterable[State], *, size: int = 400, **options: Any) -> list[Frame]:
    """Return a picture of each state, all of one size, ready for a GIF or a video.

    options: those of `deskovky.envs.drawing.draw`. With Pillow they become a GIF so::

        first, *others = [Image.fromarray(frame) for frame in frames(states)]
        first.save("game.gif", save_all=True, append_images=others, duration=500)
    """
    return [rasterize(draw(state, size=size, **options)) for state in states]


class Window:
    """A window on the screen, opened by the first picture. Copies of it are new, closed ones."""

    def __init__(self) -> None:
        self._pygame: Any = None  # the module, while the window is open
        self._clock: Any = None
        self._shown = ""
        self._is_dismissed = False

    def __reduce__(self) -> tuple[type["Window"], tuple[()]]:
        return Window, ()

    def show(self, svg: str, title: str) -> None:
        """Show a picture, `RENDER_FPS` different ones a second at most.

        Once the user has closed the window it stays away until `close`.
        """
        if self._is_dismissed:
            return
        frame = rasterize(svg) if svg != self._shown else None
        pygame = self._pygame or self._open(title)
        if frame is not None:
            height, width, _ = frame.shape
            screen = pygame.display.get_surface()
            if screen is None or screen.get_size() != (width, height):
                screen = pygame.display.set_mode((width, height))
            pygame.surfarray.blit_array(screen, frame.swapaxes(0, 1))
            pygame.display.flip()
            self._shown = svg
            self._clock.tick(RENDER_FPS)
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            self._is_dismissed = True

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._pygame is not None:
            self._pygame.display.quit()
        self._pygame = self._clock = None
        self._shown = ""
        self._is_dismissed = False

    def _open(self, title: str) -> Any:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        pygame = _import("pygame", "window")
        try:
            pygame.display.init()
            if pygame.display.get_driver() == "offscreen" and "SDL_VIDEODRIVER" not in os.environ:
                raise pygame.error("only an offscreen driver")
        except pygame.error as error:
            pygame.display.quit()
            raise RenderError(
                f"no window can be opened ({error}): without a display use render_mode "
                "'rgb_array', 'svg' or 'ansi'"
            ) from error
        pygame.display.set_caption(title)
        self._pygame, self._clock = pygame, pygame.time.Clock()
        return pygame


def _import(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise RenderError(
            f"this picture needs the package {package!r}: pip install 'deskovky[{extra}]'"
        ) from error
