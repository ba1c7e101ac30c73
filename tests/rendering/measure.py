"""Time of pictures and pages, for docs/rendering.md: `python -m tests.rendering.measure`."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fiveup_env.records import Recorder, parse_record
from fiveup_env.records.record_reader import Record
from fiveup_env.rendering.render_modes import rgb_array
from fiveup_env.rendering.replays import replay_page
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.scene_svg import svg
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View
from tests.rendering.browser import driver

MOVES = 1000


def long_record() -> Record:
    """A match of 1,000 moves: both sides start far below zero."""
    recorder = Recorder(Match(2, seed=1, scores=[-3000, -3000]))
    while recorder.moves < MOVES:
        recorder.play(recorder.match.legal_actions()[0])
    return parse_record(recorder.text())


def frame_times(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """CPU milliseconds of every frame as SVG, including the placing of tiles; and of every tenth as pixels."""
    drawn, pixels = [], []
    for number, (_, _, after) in enumerate(record.positions()):
        began = time.process_time()
        picture = svg(Scene.of_view(View.of(after)))
        drawn.append(time.process_time() - began)
        if number % 10 == 0:
            began = time.process_time()
            rgb_array(picture)
            pixels.append(time.process_time() - began)
    return 1000 * np.array(drawn), 1000 * np.array(pixels)


def opening(path: Path) -> float:
    """Milliseconds until a headless Chromium has loaded the page, best of three."""
    with TemporaryDirectory() as profile, driver(Path(profile)) as browser:
        times = []
        for _ in range(3):
            browser.get(path.as_uri())
            times.append(browser.execute_script("return performance.getEntriesByType('navigation')[0].domComplete"))
        return float(min(times))


def main() -> None:
    """Print the figures."""
    record = long_record()
    for name, times in zip(("SVG", "pixels"), frame_times(record), strict=True):
        median, most, worst = np.median(times), np.percentile(times, 99), times.max()
        print(f"{name}: {len(times)} frames, CPU ms median {median:.1f}, 99% {most:.1f}, worst {worst:.1f}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "match.html"
        began = time.process_time()
        path.write_text(replay_page(record), encoding="utf-8")
        print(
            f"page of {MOVES} moves: {path.stat().st_size / 2**20:.2f} MB, made in {time.process_time() - began:.1f} s"
        )
        print(f"page opens in {opening(path):.0f} ms")


if __name__ == "__main__":
    main()
