"""The pictures of docs/rules.md: `python -m tests.docs.rules_pictures` draws the worked positions of the source."""

from __future__ import annotations

from pathlib import Path

from fiveup_env.rendering.scene_svg import board_svg
from tests.rendering.layouts import layout_of
from tests.rules.test_worked_positions import POSITIONS

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


def pictures() -> dict[str, str]:
    """File name -> SVG, one for each worked position, named after its number of tiles and the tile laid last."""
    drawn = {}
    for position in POSITIONS:
        low, high = position["played"]
        name = f"{len(position['tiles'])}-tiles-{low}{high}.svg"
        drawn[name] = board_svg(layout_of(position), width=560) + "\n"
    return drawn


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
