"""The render modes that the environments share."""

from __future__ import annotations

import numpy as np

from fiveup_env.encoding.view import View
from fiveup_env.rendering.raster import check_raster, rgb_array
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.svg import svg
from fiveup_env.rendering.text import board

RENDER_MODES = ("human", "ansi", "svg", "rgb_array")
Frame = str | np.ndarray | None


def checked_mode(mode: str | None) -> str | None:
    """The render mode.

    Raises:
        ValueError: if there is none of that name.
        RenderingError: if what it needs is not installed.
    """
    if mode not in (None, *RENDER_MODES):
        choices = ", ".join(map(repr, RENDER_MODES))
        raise ValueError(f"render_mode must be one of {choices} or None, not {mode!r}")
    if mode == "rgb_array":
        check_raster()
    return mode


def render_view(view: View, mode: str) -> Frame:
    """What one seat sees: text ("ansi", printed with "human"), "svg", or pixels ("rgb_array", uint8 [720, 960, 3]).

    Nothing of what the seat cannot know is shown (R2.2, D6).
    """
    if mode == "svg":
        return svg(Scene.of_view(view))
    if mode == "rgb_array":
        return rgb_array(svg(Scene.of_view(view)))
    text = board(view)
    if mode == "ansi":
        return text
    print(text)
    return None
