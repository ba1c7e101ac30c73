"""The render modes that the environments share."""

from __future__ import annotations

import numpy as np

from fiveup_env.rendering.raster import check_raster, rgb_array
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.scene_svg import svg
from fiveup_env.rendering.text_board import board
from fiveup_env.rendering.window import Window, check_window
from fiveup_env.views.view import View

RENDER_MODES = ("human", "ansi", "svg", "rgb_array")
FPS = 1
"""Frames a second of render mode "human"."""
Frame = str | np.ndarray | None


class Renderer:
    """Shows what one seat sees, as a render mode says. A copy of it has a window of its own, as a pickle has.

    Args:
        mode: one of `RENDER_MODES`, or None.

    Raises:
        ValueError: if there is no such mode.
        RenderingError: if what it needs is not installed.
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
        """Text ("ansi"), "svg", or pixels ("rgb_array", uint8 [720, 960, 3]); "human" shows them in a window.

        Nothing of what the seat cannot know is shown (R2.2, D6).

        Raises:
            RenderingError: if a window is wanted and there is no screen.
        """
        if self.mode == "ansi":
            return board(view)
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
