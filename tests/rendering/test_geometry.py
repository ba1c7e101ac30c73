"""Placed layouts: no overlap, joined halves touch, arms at right angles to spinners, placed tiles stay."""

import random

import pytest

from fiveup_env.rendering.geometry import FRAME, Box, GeometryError, Plane, plan_layout
from fiveup_env.rules.layout import Layout
from tests.rendering.layouts import check, grown, layout_of, prefix, rounds
from tests.rendering.survey import Extreme, draw, statistics
from tests.rules.support import PLAYERS
from tests.rules.test_worked_positions import POSITIONS, laying_order


@pytest.mark.parametrize("num_players", PLAYERS)
def test_random_rounds(num_players):
    """R3.1, R4.1 to R4.3: the tables of 100 random rounds."""
    assert statistics(num_players, 100)[:, :2].max() <= 100


def test_the_most_extreme_are_kept_and_drawn(tmp_path):
    extremes: list[Extreme] = []
    sizes = statistics(2, 40, extremes=extremes)[:, :2] / FRAME
    assert sorted((e.beyond for e in extremes), reverse=True) == sorted(sizes.max(1), reverse=True)[:10]
    draw(extremes, tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 10


@pytest.mark.slow
@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.timeout(7200)
def test_a_hundred_thousand_random_rounds(num_players):
    """R3.1, R4.1 to R4.3; `python -m tests.rendering.survey 100000 FOLDER` prints the sizes."""
    assert len(statistics(num_players, 100_000)) == 100_000


def test_layouts_up_to_all_tiles():
    """R4.2, R4.3: layouts grown without hands, some to 28 tiles and seven spinners."""
    rng, full = random.Random(5), 0
    for _ in range(25):
        layout = grown(rng)
        plan = plan_layout(layout)
        check(layout, plan)
        full += len(layout.tiles) == 28
    assert full > 3 and plan_layout(layout) == plan, "the same layout gives the same plan"


@pytest.mark.parametrize("num_players", PLAYERS)
def test_old_tiles_stay(num_players):
    """Placing another tile leaves the others in place, unless a search had to move some."""
    for layout in rounds(num_players, 6, seed=9):
        before = None
        plane = Plane(layout)
        for count in range(1, len(layout.tiles) + 1):
            searches = plane.searches
            plane.add(count - 1)
            plan = plan_layout(prefix(layout, count))
            check(prefix(layout, count), plan)
            assert [p.box for p in plan.tiles] == [p.box for p in plane.plan().tiles]
            if before is not None and plane.searches == searches:
                assert [p.box for p in plan.tiles[:-1]] == before
            before = [p.box for p in plan.tiles]


@pytest.mark.parametrize("position", POSITIONS, ids=range(len(POSITIONS)))
def test_worked_positions(position):
    """R4.1 to R4.5."""
    layout = layout_of(position)
    check(layout, plan_layout(layout))
    assert layout.tiles[0] == laying_order(position)[0]


def test_an_empty_layout():
    plan = plan_layout(Layout((), ()))
    assert plan.tiles == () and plan.box == Box(0, 0, 0, 0)


def test_a_search_that_fails_raises(monkeypatch):
    layout = grown(random.Random(4))
    monkeypatch.setattr("fiveup_env.rendering.geometry.NODES", 1)
    plane = Plane(layout)
    monkeypatch.setattr(plane, "_ranked", lambda *a, **k: [])
    with pytest.raises(GeometryError, match="no place found for tile"):
        plane.add(0)
    assert plane.plan().tiles == ()


def test_searches_move_tiles_and_leave_a_correct_plan():
    """Where greedy placing gets stuck, the search finds a correct plan."""
    rng, searched = random.Random(0), 0
    for _ in range(60):
        layout = grown(rng)
        plane = Plane(layout)
        for level in range(len(layout.tiles)):
            plane.add(level)
        if plane.searches:
            check(layout, plane.plan())
            searched += 1
    assert searched > 0
