"""Tables of behaviour figures; see `evaluation.behaviour`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fiveup_env.evaluation.behaviour import ALL, FIRST, MEASURES, REGION_NAMES, SECOND, A, B, Conduct, Measure
from fiveup_env.reports.tables import Grid, amount, percent, within
from fiveup_env.rules.record import MAX_PLAYERS

BY_REGION = [MEASURES[key] for key in ("points", "out", "overshot", "lost", "hits")]
"""Measures shown by score region."""
BY_PARTNER = [
    MEASURES[key] for key in ("points", "out", "out_points", "hand_cost", "overshot", "for_opponent", "for_partner")
]
"""Measures shown for each partner."""
ABOUT = (
    "Display points, 95% intervals over starts. Figures per deal are per side. Points left by a placement are the best "
    "credit then available to the hand of the partner, or of the next opponent."
)


def _cell(conduct: Conduct, measure: Measure, group: int, region: int = ALL) -> str:
    return within(conduct.estimate(measure, group, region), percent if measure.share else amount)


def _measures(num_players: int) -> list[Measure]:
    return [m for m in MEASURES.values() if num_players == MAX_PLAYERS or not m.partners]


def behaviour_grids(conduct: Conduct, names: tuple[str, str], num_players: int) -> Iterator[Grid]:
    """Behaviour of A and B, in all and by the score of the side."""
    rows = [(m.name, *(_cell(conduct, m, group) for group in (A, B))) for m in _measures(num_players)]
    yield Grid("Behaviour", ("", *names), rows, (ABOUT,))
    by_region = [
        (m.name, name, *(_cell(conduct, m, group, region) for region in range(ALL)))
        for m in BY_REGION
        for group, name in ((A, names[0]), (B, names[1]))
    ]
    yield Grid("By the score of the side", ("", "agent", *REGION_NAMES), by_region, texts=2)


def partners_grid(conduct: Conduct, names: Sequence[str]) -> Grid:
    """Behaviour of each partner of side A."""
    rows = [(m.name, *(_cell(conduct, m, group) for group in (FIRST, SECOND))) for m in BY_PARTNER]
    notes = ("the cost of a hand belongs to the partner who held it when the other went out",)
    return Grid("Behaviour of each partner", ("", *names), rows, notes)


def partnerships_grid(conducts: Sequence[Conduct], names: Sequence[str]) -> Grid:
    """Behaviour of side A in several match-ups of four players, one row each."""
    rows = [(name, *(_cell(conduct, m, A) for m in BY_PARTNER)) for name, conduct in zip(names, conducts, strict=True)]
    return Grid("Behaviour of the partnerships", ("", *(m.name for m in BY_PARTNER)), rows, (ABOUT,))


def agents_grid(conducts: Sequence[Conduct], names: Sequence[str], num_players: int) -> Grid:
    """Behaviour of side A in several match-ups, one column each."""
    rows = [(m.name, *(_cell(conduct, m, A) for conduct in conducts)) for m in _measures(num_players)]
    return Grid("Behaviour", ("", *names), rows, (ABOUT,))
