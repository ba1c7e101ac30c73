"""R4 and R5.1: spinners, free places and counted ends, through `Match.layout`."""

import pytest

from fiveup_env.rules.match import Match
from tests.rules.support import lead, on_end, on_spinner, placement, play_all

HANDS = [
    [(4, 4), (2, 4), (0, 0), (6, 6), (1, 6), (0, 5), (3, 3)],
    [(4, 6), (0, 4), (4, 5), (3, 6), (0, 1), (5, 5)],
]
# (action, counted ends after it, free places after it by tile): the two seats lay by turns.
STORY = [
    (lead((4, 4)), {(4, 4): 8}, {(4, 4): "line line"}),
    (on_spinner((4, 6), 4), {(4, 4): 8, (4, 6): 6}, {(4, 4): "line", (4, 6): "big"}),
    (on_spinner((2, 4), 4), {(4, 6): 6, (2, 4): 2}, {(4, 4): "arm arm", (4, 6): "big", (2, 4): "small"}),
    (
        on_spinner((0, 4), 4),
        {(4, 6): 6, (2, 4): 2, (0, 4): 0},
        {(4, 4): "arm", (4, 6): "big", (2, 4): "small", (0, 4): "small"},
    ),
    (
        on_end((0, 0), 0),
        {(4, 6): 6, (2, 4): 2, (0, 0): 0},
        {(4, 4): "arm", (4, 6): "big", (2, 4): "small", (0, 0): "line"},
    ),
    (
        on_spinner((4, 5), 4),
        {(4, 6): 6, (2, 4): 2, (0, 0): 0, (4, 5): 5},
        {(4, 6): "big", (2, 4): "small", (0, 0): "line", (4, 5): "big"},
    ),
    (
        on_end((6, 6), 6),
        {(6, 6): 12, (2, 4): 2, (0, 0): 0, (4, 5): 5},
        {(6, 6): "line", (2, 4): "small", (0, 0): "line", (4, 5): "big"},
    ),
    (
        on_spinner((3, 6), 6),
        {(3, 6): 3, (2, 4): 2, (0, 0): 0, (4, 5): 5},
        {(6, 6): "arm arm", (3, 6): "small", (2, 4): "small", (0, 0): "line", (4, 5): "big"},
    ),
    (
        on_spinner((1, 6), 6),
        {(1, 6): 1, (3, 6): 3, (2, 4): 2, (0, 0): 0, (4, 5): 5},
        {(6, 6): "arm", (1, 6): "small", (3, 6): "small", (2, 4): "small", (0, 0): "line", (4, 5): "big"},
    ),
    (
        on_spinner((0, 1), 0),
        {(0, 1): 1, (1, 6): 1, (3, 6): 3, (2, 4): 2, (4, 5): 5},
        {
            (0, 0): "arm arm",
            (0, 1): "big",
            (6, 6): "arm",
            (1, 6): "small",
            (3, 6): "small",
            (2, 4): "small",
            (4, 5): "big",
        },
    ),
]
SUMS = [8, 14, 8, 8, 8, 13, 19, 10, 11, 12]


def after(steps):
    match = Match.from_deal(HANDS, [(2, 2)], 0)
    events = play_all(match, *(action for action, _, _ in STORY[:steps]))
    return match, events


def ports(match):
    """Free places by tile, lines and arms without their letter."""
    found = {}
    for place in match.layout.free_places:
        found.setdefault(place.tile, []).append(place.port.split("_")[0])
    return {tile: " ".join(names) for tile, names in found.items()}


@pytest.mark.parametrize("steps", range(1, len(STORY) + 1))
def test_story(steps):
    """R4.1, R4.2, R4.3, R4.4, R4.5, R5.1: three spinners, two of them on other spinners' arms."""
    match, _ = after(steps)
    _, counted, free = STORY[steps - 1]
    layout = match.layout
    assert dict(layout.contributions) == counted and len(layout.contributions) == len(counted)
    assert ports(match) == free
    assert layout.end_sum == SUMS[steps - 1] == sum(counted.values()) == match.game.end_sum
    assert all(place.pip in place.tile for place in layout.free_places)


def test_every_double_is_a_spinner():
    """R4.1, D10: the opening double and doubles on any arm, in the order in which they were laid."""
    match, _ = after(len(STORY))
    assert match.layout.spinners == ((4, 4), (0, 0), (6, 6))


def test_a_double_on_an_end_uses_its_own_line_side():
    """R4.2: (6, 6) on the 6 of (4, 6) has line side A taken, line side B left; the opening double had both."""
    match, _ = after(7)
    assert match.layout.joins[-1] == (((4, 6), "big"), ((6, 6), "line_a"))
    assert [place.port for place in match.layout.free_places if place.tile == (6, 6)] == ["line_b"]
    opening, _ = after(1)
    assert [place.port for place in opening.layout.free_places] == ["line_a", "line_b"]


def test_lines_before_arms():
    """R4.3: what is laid on a spinner first takes its line sides, then an arm; never an arm before."""
    match, _ = after(len(STORY))
    parents = [join.parent.port for join in match.layout.joins if join.parent.tile == (4, 4)]
    assert parents == ["line_a", "line_b", "arm_a", "arm_b"]
    parents = [join.parent.port for join in match.layout.joins if join.parent.tile == (6, 6)]
    assert parents == ["line_b", "arm_a"]


def test_a_lone_opening_double_counts_twice_its_pips_once():
    """R4.4: 8 for the lone (4, 4), and still 8 + 6 with one line side taken."""
    assert after(1)[0].layout.end_sum == 8
    assert after(2)[0].layout.end_sum == 14


def test_inside_a_spinner_counts_nothing():
    """R4.5: (4, 4) inside leaves 6 + 2; its two free arms count zero, a started one by its outer end only."""
    match, _ = after(3)
    assert match.layout.end_sum == 8 and (4, 4) not in dict(match.layout.contributions)
    match, _ = after(6)  # both arms started, one of them branches at (0, 0)
    assert dict(match.layout.contributions)[(4, 5)] == 5


def test_a_free_place_is_not_a_counted_end():
    """R5.1: after the eighth tile there are six free places and four counted ends: 3 + 2 + 0 + 5 = 10."""
    match, events = after(8)
    assert len(match.layout.free_places) == 6 and len(match.layout.contributions) == 4
    assert events == (placement(1, 10),)


def test_an_arm_may_branch():
    """R4.5: (0, 0) on an arm of (4, 4) gets arms too, and they are legal places."""
    match, _ = after(len(STORY))
    assert on_spinner((0, 5), 0) in match.legal_actions()
    assert on_end((0, 5), 5) in match.legal_actions()
    events = play_all(match, on_spinner((0, 5), 0))  # 12 + 5 = 17
    assert events == () and match.layout.end_sum == 17
    assert match.layout.joins[-1].parent == ((0, 0), "arm_a")


def test_text_board():
    """Every laid tile is shown once, along the lines and arms of the graph (R4)."""
    match, _ = after(len(STORY))
    lines = match.layout.lines()
    assert lines[0] == "[3|6]-[6|6]-[6|4]-[4|4]-[4|2]"
    assert set(lines[1:]) == {
        "[4|4] arm_a: [4|0]-[0|0]-[0|1]",
        "[4|4] arm_b: [4|5]",
        "[6|6] arm_a: [6|1]",
    }
    assert Match(2, seed=0).layout.lines() == ["(empty)"]
