"""How agents play, as tables for people; see `evaluation.behaviour`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fiveup_env.evaluation.behaviour import ALL, FIRST, MEASURES, REGION_NAMES, SECOND, A, B, Conduct, Measure
from fiveup_env.reports.tables import Grid, Shown, amount, percent, within
from fiveup_env.rules.record import MAX_PLAYERS

BY_REGION = ("points", "out", "overshot", "lost", "hits")
"""Measures that are worth telling by score region."""
BY_PARTNER = ("points", "out", "out_points", "hand_cost", "overshot", "for_opponent", "for_partner")
"""Measures that say something about each partner of a pair."""
ABOUT = (
    "Points are display points, intervals 95% over starts. A deal's figures belong to a side; what is left by a "
    "placement is the best credit that the hand of the partner, or of the opponent who is next, could take of it."
)


def shown(measure: Measure) -> Shown:
    """How its numbers are written."""
    return percent if measure.share else amount


def told(num_players: int) -> dict[str, Measure]:
    """The measures for a number of players."""
    return {key: m for key, m in MEASURES.items() if num_players == MAX_PLAYERS or not m.partners}


def conduct_grids(conduct: Conduct, names: tuple[str, str], num_players: int) -> Iterator[Grid]:
    """What A and B do, then by the score of the side."""
    rows = [
        (m.name, *(within(conduct.estimate(m, group), shown(m)) for group in (A, B)))
        for m in told(num_players).values()
    ]
    yield Grid("What they do", ("", *names), rows, (ABOUT,))
    by_region = [
        (m.name, name, *(within(conduct.estimate(m, group, region), shown(m)) for region in range(ALL)))
        for m in (MEASURES[key] for key in BY_REGION)
        for group, name in ((A, names[0]), (B, names[1]))
    ]
    yield Grid("By the score of the side", ("", "agent", *REGION_NAMES), by_region, texts=2)


def partners_grid(conduct: Conduct, names: Sequence[str]) -> Grid:
    """What each partner of side A does."""
    rows = [
        (
            MEASURES[key].name,
            *(within(conduct.estimate(MEASURES[key], g), shown(MEASURES[key])) for g in (FIRST, SECOND)),
        )
        for key in BY_PARTNER
    ]
    notes = ("what the partner's hand costs is told of the one who held it when the other went out",)
    return Grid("What each partner does", ("", *names), rows, notes)


def partnerships_grid(conducts: Sequence[Conduct], names: Sequence[str]) -> Grid:
    """Side A of several match-ups of four players, a row each."""
    measures = [MEASURES[key] for key in BY_PARTNER]
    rows = [
        (name, *(within(conduct.estimate(m, A), shown(m)) for m in measures))
        for name, conduct in zip(names, conducts, strict=True)
    ]
    return Grid("What the partnerships do", ("", *(m.name for m in measures)), rows, (ABOUT,))


def agents_grid(conducts: Sequence[Conduct], names: Sequence[str], num_players: int) -> Grid:
    """Side A of several match-ups, a column each."""
    rows = [
        (m.name, *(within(conduct.estimate(m, A), shown(m)) for conduct in conducts))
        for m in told(num_players).values()
    ]
    return Grid("What they do", ("", *names), rows, (ABOUT,))
