"""All worked positions of the source, in the engine and in the oracle."""

import json
from collections import Counter
from pathlib import Path

import pytest

from fiveup_env.rules.match import Event
from tests.oracle import Place
from tests.rules.support import FULL_SET, PLAYERS, deal_both, lead, on_end, on_spinner

DATA = Path(__file__).parents[1] / "data" / "worked_positions.json"
POSITIONS = json.loads(DATA.read_text())["positions"]


def kind(port):
    """A port without its letter: A and B are arbitrary in the source up to swapping."""
    return port.split("_")[0]


def port(item):
    return tuple(item["tile"]), kind(item["port"])


def laying_order(position):
    """The opening tile (the only one that never comes second in a join) and the joins, oldest first."""
    joins = [(port(older), port(newer)) for older, newer in position["joins"]]
    (opening,) = {tuple(tile) for tile in position["tiles"]} - {newer[0] for _, newer in joins}
    return opening, joins


def action(older, newer):
    (parent, _), (tile, _) = older, newer
    (pip,) = set(parent) & set(tile) if parent[0] == parent[1] or tile[0] == tile[1] else common(older, newer)
    return on_spinner(tile, pip) if parent[0] == parent[1] else on_end(tile, pip)


def common(older, newer):
    """The pip count at the named halves, which must agree (R3.1)."""
    return {tile[0] if half == "small" else tile[1] for tile, half in (older, newer)}


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("position", POSITIONS, ids=lambda p: "-".join(f"{a}{b}" for a, b in p["tiles"]))
def test_worked_position(position, num_players):
    """R3.1, R4.1 to R4.5, R5.1, R5.2: tiles, spinners, joins, free places, contributions, end sum and credit."""
    opening, joins = laying_order(position)
    order = [opening] + [newer[0] for _, newer in joins]
    # The seats lay by turns; a spare tile each, so that no placement is a domino, and a boneyard against a block.
    unused = sorted(FULL_SET - set(order), reverse=True)
    hands = [[*order[seat::num_players], unused[seat]] for seat in range(num_players)]
    match, oracle = deal_both(hands, unused[num_players:], 0)
    events, theirs = match.play(lead(opening)), oracle.play(("lead", opening))
    for (older, newer), named in zip(joins, position["joins"], strict=True):
        events = match.play(action(older, newer))
        place, half = (Place(tuple(item["tile"]), item["port"]) for item in named)
        theirs = oracle.play(("lay", half.tile, half.port, place))

    layout = match.layout
    assert list(layout.tiles) == order and sorted(order) == sorted(map(tuple, position["tiles"]))
    assert order[-1] == tuple(position["played"])
    assert sorted(layout.spinners) == sorted(map(tuple, position["spinners"]))
    mine = [((a.tile, kind(a.port)), (b.tile, kind(b.port))) for a, b in layout.joins]
    assert mine == joins
    used = [end for join in layout.joins for end in join]
    assert len(set(used)) == len(used)
    free = layout.free_places
    assert Counter((place.tile, kind(place.port), place.pip) for place in free) == Counter(
        (*port(place), place["pip"]) for place in position["free_places"]
    )
    assert not {(place.tile, place.port) for place in free} & set(used)
    assert Counter(layout.contributions) == Counter(
        (tuple(end["tile"]), end["value"]) for end in position["contributions"]
    )
    assert layout.end_sum == match.game.end_sum == position["end_sum"]
    side = (len(order) - 1) % num_players % match.num_sides
    credit = position["credit_raw"]
    assert events == ((Event("placement", side, credit, True),) if credit else ())
    assert credit == 5 * position["credit_display"]

    assert [vars(event) for event in theirs] == [vars(event) for event in events]
    exact = [[(tuple(item["tile"]), item["port"]) for item in join] for join in position["joins"]]
    assert set(map(frozenset, oracle.joins())) == set(map(frozenset, exact))
    assert sorted((place.tile, place.port, place.pip) for place in oracle.free_places()) == sorted(
        (tuple(item["tile"]), item["port"], item["pip"]) for item in position["free_places"]
    )
    assert sorted(oracle.contributions()) == sorted(layout.contributions)
    assert oracle.end_sum() == position["end_sum"]


def test_there_are_eleven():
    assert len(POSITIONS) == 11
