"""The table of 121 actions and the helpers about tiles."""

import itertools

import numpy as np
import pytest

from fiveup_env.rules import actions
from fiveup_env.rules.actions import NUM_ACTIONS, Draw, Lay, Lead, Pass, decode, describe, encode
from fiveup_env.rules.tiles import (
    DOUBLES,
    HIGH,
    LOW,
    NUM_TILES,
    PIP_SUM,
    PIPS,
    TILES,
    TILES_WITH,
    set_size,
    tile_index,
    tile_name,
    tile_set,
    tiles_in,
)
from tests.rules.support import FULL_SET

# ---- actions ----


def test_the_121_actions():
    """D7: 28 leads, 7 doubles on an end, 42 halves on an end, 42 halves on a spinner, draw, pass."""
    named = [decode(action) for action in range(NUM_ACTIONS)]
    assert NUM_ACTIONS == 121 == len(set(named))
    assert {a.tile for a in named[:28]} == FULL_SET and all(isinstance(a, Lead) for a in named[:28])
    lays = named[28:119]
    assert all(isinstance(a, Lay) and a.pip in a.tile for a in lays)
    doubles = [a for a in lays if a.tile[0] == a.tile[1]]
    assert len(doubles) == 7 and {a.onto for a in doubles} == {"end"}
    for onto in ("end", "spinner"):
        others = [(a.tile, a.pip) for a in lays if a.onto == onto and a not in doubles]
        assert len(others) == 42 == len(set(others))
    assert named[119:] == [Draw(), Pass()]


@pytest.mark.parametrize("action", range(NUM_ACTIONS))
def test_encode_inverts_decode(action):
    """Also with the halves the other way round; NumPy integers decode too."""
    named = decode(action)
    assert encode(named) == action and type(encode(named)) is int
    assert decode(np.int64(action)) is named
    if isinstance(named, Lead):
        assert encode(Lead(named.tile[::-1])) == action
    if isinstance(named, Lay):
        assert encode(Lay(named.tile[::-1], named.pip, named.onto)) == action


def test_tables_agree_with_the_names():
    for action in range(NUM_ACTIONS):
        named = decode(action)
        tile = actions.ACTION_TILE[action]
        if isinstance(named, Lead | Lay):
            assert TILES[tile] == named.tile
        else:
            assert tile == 255
        if isinstance(named, Lay):
            assert actions.ACTION_PIP[action] == named.pip
            assert {int(actions.ACTION_PIP[action]), int(actions.ACTION_OTHER[action])} == set(named.tile)


def test_descriptions():
    """A line for people, different for each action."""
    assert len({describe(action) for action in range(NUM_ACTIONS)}) == NUM_ACTIONS
    assert describe(encode(Lead((1, 4)))) == "lead [1|4]"
    assert describe(encode(Lay((1, 4), 4, "end"))) == "lay [1|4] by its 4 on an end"
    assert describe(encode(Lay((1, 4), 1, "spinner"))) == "lay [1|4] by its 1 on the spinner [1|1]"
    assert describe(encode(Lay((3, 3), 3, "end"))) == "lay [3|3] on an end"
    assert (describe(119), describe(120)) == ("draw a tile", "pass")


@pytest.mark.parametrize("function", [decode, describe])
@pytest.mark.parametrize("action", [-1, 121, 1.0, True, None, "7", np.float64(2), 2**65], ids=str)
def test_no_such_id(function, action):
    with pytest.raises(ValueError, match="an action is an integer from 0 to 120, not "):
        function(action)


@pytest.mark.parametrize(
    "action",
    [
        Lay((1, 4), 2, "end"),  # a half that the tile does not show
        Lay((3, 3), 3, "spinner"),  # a double on its own spinner
        Lay((1, 4), 1, "arm"),
        Lay((1, 4), None, "end"),
        Lay((1, 4), [1], "end"),
        Lead((1, 7)),
        Lead("14"),
        "draw",
        None,
        119,
        [],
    ],
    ids=str,
)
def test_no_such_action(action):
    with pytest.raises(ValueError, match=r"is not an action of the game|a tile "):
        encode(action)


# ---- tiles ----


def test_tile_table():
    """R1.1: 28 tiles; the smaller sets are its first 3, 6, 10, 15, 21."""
    assert len(TILES) == NUM_TILES == 28 and set(TILES) == FULL_SET
    for max_pip in range(1, 7):
        small = TILES[: set_size(max_pip)]
        assert set(small) == {tile for tile in FULL_SET if tile[1] <= max_pip}
    assert [set_size(max_pip) for max_pip in range(1, 7)] == [3, 6, 10, 15, 21, 28]
    assert [(LOW[t], HIGH[t]) for t in range(28)] == list(TILES)
    assert PIPS.tolist() == [low + high for low, high in TILES] and PIPS.sum() == 168


def test_tile_index():
    for index, (low, high) in enumerate(TILES):
        assert tile_index((low, high)) == tile_index((high, low)) == tile_index([np.int8(high), low]) == index
        assert tile_name(index) == f"[{low}|{high}]"


def test_tile_sets():
    """Sets of tiles are bit sets; the tables over them agree with sums tile by tile."""
    assert tile_set([]) == 0 and tiles_in(0) == ()
    assert tile_set(TILES) == 2**28 - 1 and tiles_in(2**28 - 1) == TILES
    assert tiles_in(DOUBLES) == tuple((pip, pip) for pip in range(7))
    chosen = ((0, 0), (1, 4), (6, 6))
    assert tiles_in(tile_set(reversed(chosen))) == chosen and tiles_in(np.uint32(tile_set(chosen))) == chosen
    with pytest.raises(ValueError, match="named twice"):
        tile_set([(1, 4), (4, 1)])
    for mask in range(128):
        wanted = {tile for tile in TILES if mask >> tile[0] & 1 or mask >> tile[1] & 1}
        assert set(tiles_in(TILES_WITH[mask])) == wanted
    for group, bits in itertools.product(range(4), range(128)):
        assert PIP_SUM[group, bits] == sum(map(sum, tiles_in(bits << 7 * group)))


@pytest.mark.parametrize("tile", [(0, 7), (-1, 3), (1, 2, 3), (1,), 5, None, "14", (1.0, 4), ("1", "4")], ids=str)
def test_no_such_tile(tile):
    with pytest.raises(ValueError, match=r"a tile (is a pair of|has) pip counts"):
        tile_index(tile)


# ---- legality tables ----


def test_placements_by_hand_and_by_pip():
    """R3.1: the tables that legality is made of, against the names of the actions."""
    first = {"end": actions.LAY_DOUBLE, "spinner": actions.LAY_SPINNER}
    for onto, by_hand, offer in (
        ("end", actions.HAND_END, actions.OFFER_END),
        ("spinner", actions.HAND_SPINNER, actions.OFFER_SPINNER),
    ):
        lays = [(a - first[onto], decode(a)) for a in range(28, 119) if decode(a).onto == onto]
        for mask in range(128):
            assert offer[mask] == sum(1 << bit for bit, lay in lays if mask >> lay.pip & 1)
        for group, bits in itertools.product(range(4), range(128)):
            held = tiles_in(bits << 7 * group)
            assert by_hand[group, bits] == sum(1 << bit for bit, lay in lays if lay.tile in held)
