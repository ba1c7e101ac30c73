"""The table as text, as one seat sees it."""

from __future__ import annotations

from fiveup_env.rendering.scene import Scene
from fiveup_env.rendering.unicode_board import unicode_board
from fiveup_env.rules.actions import Tile, describe
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT
from fiveup_env.views.view import View

RECENT = 4


def board(view: View) -> str:
    """What is public, and the hand of the seat that looks; of the other seats the hand sizes (R2.2, D6).

    After a round that was settled and not followed by a deal, all hands (D5). Scores are in display points.
    """
    game = view.game
    going_on = game.phase == PLAYING
    points = " : ".join(f"{score / RAW_PER_POINT:g}" for score in view.scores)
    target = int(game.target) // RAW_PER_POINT
    state = f"player_{view.turn} to act" if going_on else "over"
    rows = [f"Round {view.round_number}, {points} of {target} points, {state}"]
    rows += [f"  {line}" for line in unicode_board(Scene.of_view(view))]
    rows.append(f"  ends sum to {view.layout.end_sum}, boneyard {view.boneyard_size}")
    shown = None if going_on or view.last_round is None else view.last_round["hands"]
    for seat, size in enumerate(view.hand_sizes):
        hand = view.hand if seat == view.seat else f"{size} tile{'' if size == 1 else 's'}"
        if isinstance(shown, tuple):
            hand = shown[seat]
        mark = "*" if going_on and seat == view.turn else " "
        rows.append(f"  player_{seat}{mark} {hand if isinstance(hand, str) else tiles_text(hand)}")
    if view.history:
        told = (f"player_{seat}: {describe(action)}" for seat, action in view.history[-RECENT:])
        rows.append(f"  {'; '.join(told)}")
    return "\n".join(rows)


def tiles_text(tiles: tuple[Tile, ...]) -> str:
    """Tiles side by side, for example `[0|3] [2|5]`."""
    return " ".join(f"[{low}|{high}]" for low, high in tiles)
