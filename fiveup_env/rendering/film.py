"""A record as a moving picture, GIF or animated PNG. Needs the extra `render` (resvg-py and Pillow)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from fiveup_env.records.record_reader import Record
from fiveup_env.rendering.frames import Frame, frames
from fiveup_env.rendering.raster import check_raster, png
from fiveup_env.rendering.scene_svg import svg
from fiveup_env.rules.record import PLAYING

if TYPE_CHECKING:
    from PIL import Image

FORMATS = {".gif": "GIF", ".png": "PNG", ".apng": "PNG"}
COLOURS = 64  # the pictures are flat: more are not seen
LONGER = 3  # times as long is a settled round shown


def film(
    record: Record,
    path: str | os.PathLike[str],
    *,
    seconds: float = 1.0,
    width: int = 640,
    theme: str = "light",
    seat: int | None = None,
    round_number: int | None = None,
) -> int:
    """Write a file that shows a record, a picture a move, and settled rounds longer.

    Args:
        record: a match that was read.
        path: a file; its suffix says which format: .gif, .png or .apng.
        seconds: for every move, from 0.02 to 60.
        width: in whole pixels, from 120 to 1920; the height is three quarters of it.
        theme: see `svg`.
        seat: show what this seat sees; None shows all hands.
        round_number: show this round alone.

    Returns:
        The number of pictures.

    Raises:
        ValueError: if an argument is out of range or the record has no such round.
        RenderingError: if the extra is not installed.
        OSError: if the file cannot be written.
    """
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise ValueError(f"a film ends in {', '.join(FORMATS)}, not {os.fspath(path)!r}")
    if not 0.02 <= seconds <= 60:
        raise ValueError(f"seconds must be from 0.02 to 60, not {seconds!r}")
    if not 120 <= width <= 1920:
        raise ValueError(f"width must be an integer from 120 to 1920, not {width!r}")
    if seat is not None and seat not in range(record.start.num_players):
        raise ValueError(f"seat must be from 0 to {record.start.num_players - 1}, not {seat!r}")
    check_raster()
    shown = [frame for frame in frames(record) if round_number in (None, _round_of(frame))]
    if not shown:
        raise ValueError(f"the record has no round {round_number}: it has {record.final.round_number}")
    pictures = _pictures(shown, width, theme, seat)
    first = next(pictures)
    times = [round(1000 * seconds * (1 if frame.match.game.phase == PLAYING else LONGER)) for frame in shown]
    times[-1] = max(times[-1], round(1000 * seconds * LONGER))
    draft = Path(path).with_name(f"{Path(path).name}.part")
    try:
        rest = pictures if kind == "GIF" else list(pictures)  # for PNG Pillow goes through them twice
        first.save(draft, kind, save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return len(shown)


def _round_of(frame: Frame) -> int:
    return 1 if frame.move is None else frame.move.round_number


def _pictures(shown: list[Frame], width: int, theme: str, seat: int | None) -> Iterator[Image.Image]:
    """In few colours. The palette of the first is that of a picture with everything on it, which the others share."""
    from PIL import Image

    def drawn(frame: Frame) -> Image.Image:
        scene = frame.opened() if seat is None else frame.seen_by(seat)
        with Image.open(io.BytesIO(png(svg(scene, theme), width))) as image:
            return image.convert("RGB")

    fullest = max(shown, key=lambda frame: len(frame.match.layout.tiles))
    palette = drawn(fullest).quantize(COLOURS)
    images = (drawn(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in shown)
    yield from chain([next(images)], images)
