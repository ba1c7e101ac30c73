"""The README's picture: python -m tests.docs.picture writes docs/board.svg and docs/board.png."""

from __future__ import annotations

import random
from pathlib import Path

from fiveup_env.rendering.geometry import plan_layout
from fiveup_env.rendering.render_modes import png
from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.scene_svg import svg
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View

FOLDER = Path(__file__).parents[2] / "docs"
NAMES = ("you", "greedy", "partner", "greedy")


def picture() -> str:
    """A random partnership round with several spinners, well under way, as its seat to act sees it."""
    best, most = None, -1
    for seed in range(40):
        rng = random.Random(seed)
        match = Match(4, seed=seed, scores=[115, 90])
        while len(match.layout.tiles) < 16 and match.round_number == 1:
            match.play(rng.choice(match.legal_actions()))
        arms = sum(join.parent.port.startswith("arm") for join in match.layout.joins)
        if match.round_number > 1 or not match.events or arms <= most:
            continue
        box = plan_layout(match.layout).box
        if box.width > 1.5 * box.height:
            best, most = match, arms
    assert best is not None
    return svg(Scene.of_view(View.of(best), names=NAMES))


if __name__ == "__main__":
    drawn = picture()
    (FOLDER / "board.svg").write_text(drawn + "\n", encoding="utf-8")
    (FOLDER / "board.png").write_bytes(png(drawn, width=640))
