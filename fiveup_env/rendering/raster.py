"""SVG to pixels, without a display. Needs the extra `render` (resvg-py and Pillow)."""

from __future__ import annotations

import io
import os
from importlib.resources import as_file, files
from importlib.util import find_spec

import numpy as np

from fiveup_env.rendering.scene_svg import FONT, HEIGHT, WIDTH

SHAPE = (HEIGHT, WIDTH, 3)
"""Of an `"rgb_array"` frame."""


class RenderingError(RuntimeError):
    """Pictures of this kind cannot be made here; the message is one line that says what is missing."""


def check_raster() -> None:
    """Raise a RenderingError unless pictures can be turned into pixels."""
    for module, package in (("resvg_py", "resvg-py"), ("PIL", "Pillow")):
        if find_spec(module) is None:
            raise RenderingError(f"pixels need {package}, which is not installed: pip install 'fiveup-env[render]'")


def png(svg: str, width: int = WIDTH) -> bytes:
    """The picture as a PNG file of that many pixels in width.

    Raises:
        RenderingError: if the extra is not installed.
    """
    check_raster()
    import resvg_py

    # A font of our own: without one text would be left out silently where no fonts are installed.
    with as_file(files("fiveup_env.rendering") / "data" / "FiveUpSans-Bold.ttf") as font:
        return bytes(
            resvg_py.svg_to_bytes(
                svg_string=svg,
                width=width,
                skip_system_fonts=True,
                font_files=[os.fspath(font)],
                font_family=FONT,
                sans_serif_family=FONT,
            )
        )


def rgb_array(svg: str) -> np.ndarray:
    """The picture as pixels, uint8 [720, 960, 3].

    Raises:
        RenderingError: if the extra is not installed.
    """
    data = png(svg)
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), np.uint8).copy()
