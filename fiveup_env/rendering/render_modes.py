"""Render modes of the environments: SVG to pixels (extra `render`) and a window for them (extra `window`)."""

from __future__ import annotations

import io
import os
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Any

import numpy as np

from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.scene_svg import FONT, HEIGHT, WIDTH, svg
from fiveup_env.rendering.text_board import text_board
from fiveup_env.views.view import View

RENDER_MODES = ("human", "ansi", "svg", "rgb_array")
FPS = 1
"""Frames per second of render mode "human"."""
SHAPE = (HEIGHT, WIDTH, 3)
"""Shape of an `"rgb_array"` frame."""
SCREENLESS = ("dummy", "offscreen")  # pygame drivers without a screen: no frame waits for a viewer
Frame = str | np.ndarray | None


class RenderingError(RuntimeError):
    """A picture cannot be made on this machine; the message is one line that names the missing part."""


def check_raster() -> None:
    """Raise a RenderingError if the extra `render` is not installed."""
    for module, package in (("resvg_py", "resvg-py"), ("PIL", "Pillow")):
        if find_spec(module) is None:
            raise RenderingError(f"pixels need {package}, which is not installed: pip install 'fiveup-env[render]'")


def check_window() -> None:
    """Raise a RenderingError if the extra `window` is not installed."""
    if find_spec("pygame") is None:
        raise RenderingError(
            'render_mode="human" opens a window with pygame-ce, which is not installed: '
            'pip install \'fiveup-env[render,window]\'; "ansi", "svg" and "rgb_array" work without a window'
        )


def png(picture: str, width: int = WIDTH) -> bytes:
    """Convert SVG text to a PNG file `width` pixels wide. Needs the extra `render`, but no display."""
    check_raster()
    import resvg_py

    # A bundled font: resvg silently drops text where no font is installed.
    with as_file(files("fiveup_env.rendering") / "data" / "FiveUpSans-Bold.ttf") as font:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=picture,
                width=width,
                skip_system_fonts=True,
                font_files=[os.fspath(font)],
                font_family=FONT,
                sans_serif_family=FONT,
            )
        )


def rgb_array(picture: str) -> np.ndarray:
    """Convert SVG text to pixels, uint8 [720, 960, 3]. Needs the extra `render`."""
    data = png(picture)
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), np.uint8).copy()


class Renderer:
    """Render the view of one seat in a render mode. A copy or a pickle opens a separate window.

    Args:
        mode: one of `RENDER_MODES`, or None.

    Raises:
        ValueError: if there is no such mode.
        RenderingError: if the mode's extra is not installed.
    """

    def __init__(self, mode: str | None) -> None:
        if mode not in (None, *RENDER_MODES):
            choices = ", ".join(map(repr, RENDER_MODES))
            raise ValueError(f"render_mode must be one of {choices} or None, not {mode!r}")
        if mode == "human":
            check_window()
        if mode in ("human", "rgb_array"):
            check_raster()
        self.mode = mode
        self._window: Window | None = None

    def render(self, view: View) -> Frame:
        """Return text ("ansi", "svg") or pixels ("rgb_array", uint8 [720, 960, 3]); "human" shows a window.

        The frame depends on the view alone (R2.2, D6).

        Raises:
            RenderingError: if there is no screen for a window.
        """
        if self.mode == "ansi":
            return text_board(view)
        picture = svg(Scene.of_view(view))
        if self.mode == "svg":
            return picture
        pixels = rgb_array(picture)
        if self.mode == "rgb_array":
            return pixels
        if self._window is None:
            self._window = Window(FPS)
        self._window.show(pixels)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
        self._window = None

    def __reduce__(self) -> tuple[type[Renderer], tuple[str | None]]:
        return Renderer, (self.mode,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Renderer) and self.mode == other.mode

    __hash__ = None  # type: ignore[assignment]


class Window:
    """pygame window that opens with the first frame. After the viewer closes it, later frames are not shown.

    Args:
        fps: maximum frames per second; `show` waits until the previous frame was visible long enough.
    """

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self._pygame: Any = None
        self._shown_at: int | None = None
        self._closed = False

    def show(self, pixels: np.ndarray) -> None:
        """Show a frame, uint8 [H, W, 3].

        Raises:
            RenderingError: if there is no screen.
        """
        if self._closed:
            return
        if self._pygame is None:
            self._open(pixels.shape[1], pixels.shape[0])
        pygame = self._pygame
        if not self._waits():
            return
        screen = pygame.display.get_surface()
        picture = pygame.image.frombuffer(np.ascontiguousarray(pixels), (pixels.shape[1], pixels.shape[0]), "RGB")
        screen.blit(pygame.transform.smoothscale(picture, screen.get_size()), (0, 0))
        pygame.display.flip()
        self._shown_at = pygame.time.get_ticks()

    def _open(self, width: int, height: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame

        try:
            pygame.display.init()
            pygame.display.set_mode((width, height), pygame.RESIZABLE)
        except pygame.error as error:
            raise RenderingError(
                f'render_mode="human" opens a window, and there is no screen here ({error}): '
                'use "ansi", "svg" or "rgb_array"'
            ) from error
        pygame.display.set_caption("Five Up")
        self._pygame = pygame

    def _waits(self) -> bool:
        """Handle window events until the last frame was visible long enough; False if the viewer closes the window."""
        pygame = self._pygame
        waits = self._shown_at is not None and pygame.display.get_driver() not in SCREENLESS
        until = (self._shown_at or 0) + 1000 / self.fps
        while True:
            if any(event.type == pygame.QUIT for event in pygame.event.get()):
                self.close()
                return False
            if not waits or pygame.time.get_ticks() >= until:
                return True
            pygame.time.wait(20)

    def close(self) -> None:
        """Close the window for good."""
        if self._pygame is not None:
            self._pygame.display.quit()
        self._pygame, self._closed = None, True
