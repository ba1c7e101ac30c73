"""The worked positions of the source as matches."""

from __future__ import annotations

from typing import Any

from fiveup_env.rules.layout import Layout
from fiveup_env.rules.match import Match
from tests.rules.support import FULL_SET, lead
from tests.rules.test_worked_positions import action, laying_order


def match_of(position: dict[str, Any], num_players: int = 2) -> Match:
    """A match in which the position was just reached."""
    opening, joins = laying_order(position)
    order = [opening] + [newer[0] for _, newer in joins]
    unused = sorted(FULL_SET - set(order), reverse=True)
    hands = [[*order[seat::num_players], unused[seat]] for seat in range(num_players)]
    match = Match.from_deal(hands, unused[num_players:], 0)
    match.play(lead(opening))
    for older, newer in joins:
        match.play(action(older, newer))
    return match


def layout_of(position: dict[str, Any]) -> Layout:
    """Its layout."""
    return match_of(position).layout
