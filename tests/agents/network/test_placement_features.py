"""Features of placements, compared with the position after the placement."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents.network.placement_features import Placements, num_features
from fiveup_env.rules.actions import ACTION_TILE, DRAW, LAY_DOUBLE, LAY_SPINNER
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.observation import split
from fiveup_env.views.view import View, Views
from tests.agents.network.support import points_of
from tests.agents.support import collected

AT = {"ends": 0, "open_end": 7, "open_spinner": 14, "counting": 21, "sum_mod_5": 28, "sum": 33, "credit": 34}
AT |= {"overshoot": 35, "exact": 36, "last": 37, "double": 38, "pips": 39, "own_pips": 40, "own_fits": 47}
AT |= {"own_best": 48, "own_scores": 49, "own_left": 50, "own_stuck": 51, "tile": 52, "others": 80}


def pairs_of(matches: list[Match]) -> Placements:
    views = Views(np.concatenate([m._games for m in matches]), [m.turn for m in matches])
    return Placements(*views.observe(), matches[0].num_players)


def raw_points(match: Match, action: int) -> int:
    """Return the display points of a placement (R5.2), overshoots included."""
    after = match.copy()
    after.play(action)
    total = after.layout.end_sum
    return total // 5 if total % 5 == 0 else 0


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_features_are_those_of_the_position_after(num_players):
    matches = [m for m in (Match.of(g) for g in collected(num_players, seed=5)) if m.legal_actions()[0] < DRAW][:120]
    pairs = pairs_of(matches)
    assert pairs.features.shape == (len(pairs.rows), num_features(num_players))
    seen = 0
    for row, action, found in zip(pairs.rows, pairs.actions, pairs.features, strict=True):
        match, action = matches[row], int(action)
        after = match.copy()
        after.play(action)
        low, high = TILES[ACTION_TILE[action]]
        side = match.turn % 2 if num_players == 4 else match.turn
        to_go = 61 - match.scores[side] // 5
        assert found[AT["tile"] + ACTION_TILE[action]] == found[AT["tile"] : AT["others"]].sum() == 1
        assert found[AT["double"]] == (low == high) and np.isclose(found[AT["pips"]], (low + high) / 12)
        assert found[AT["last"]] == (len(match.hands[match.turn]) == 1)
        kind = 0 if action < LAY_DOUBLE else 1 if action < LAY_SPINNER else 2
        assert found[-6:-3].tolist() == [kind == k for k in range(3)]
        if after.round_number != match.round_number or after.winner is not None:
            continue  # the layout was cleared
        seen += 1
        points = raw_points(match, action)
        assert found[AT["overshoot"]] == (points > to_go) and found[AT["exact"]] == (0 < points == to_go)
        assert found[AT["credit"]] == (points / 8 if points <= to_go else 0)
        total = after.layout.end_sum
        assert found[AT["sum"]] == total / 32 and found[AT["sum_mod_5"] : AT["sum"]].argmax() == total % 5
        there = split(View.of(after, match.turn).observation(), num_players)
        assert (found[: AT["open_end"]] * 3).round().clip(0, 3).tolist() == there["ends"].sum(0).tolist()
        places = after.layout.free_places
        doubles = {p.pip for p in places if p.tile[0] == p.tile[1]}
        assert [pip in doubles for pip in range(7)] == (found[AT["open_spinner"] : AT["counting"]] == 1).tolist()
        counted = {c.tile[0] for c in after.layout.contributions if c.tile[0] == c.tile[1]}
        assert [pip in counted for pip in range(7)] == (found[AT["counting"] : AT["sum_mod_5"]] == 1).tolist()
        hand = after.hands[match.turn]
        open_pips = {p.pip for p in places}
        fits = [t for t in hand if open_pips & set(t)]
        assert np.isclose(found[AT["own_fits"]], len(fits) / 5) and np.isclose(found[AT["own_left"]], len(hand) / 8)
        assert found[AT["own_stuck"]] == (not fits)
        check_points(after, match.turn, found, num_players)
    assert seen > 200


def check_points(after: Match, seat: int, found: np.ndarray, num_players: int) -> None:
    """Compare the features of own and other tiles with the new layout."""
    worth = {
        tile: max(points_of(after.layout, tile, 255), default=-1) for tile in TILES if tile not in after.layout.tiles
    }
    hand = after.hands[seat]
    to_go = 61 - after.scores[seat % 2 if num_players == 4 else seat] // 5
    best = max((worth[t] for t in hand if worth[t] <= to_go), default=0)
    assert np.isclose(found[AT["own_best"]], max(0, best) / 8)
    assert np.isclose(found[AT["own_scores"]], sum(worth[t] > 0 for t in hand) / 5)
    view = View.of(after, seat)
    for k in range(1, num_players):
        other, at = (seat + k) % num_players, AT["others"] + 7 * (k - 1)
        tiles, held = view.may_hold(other), view.hand_sizes[other]
        count = max(1, len(tiles))
        fits, scores = sum(worth[t] >= 0 for t in tiles) / count, sum(worth[t] > 0 for t in tiles) / count
        points = sum(max(0, worth[t]) for t in tiles) / count * held / 8
        most = max((worth[t] for t in tiles), default=0)
        wanted = [fits, 1 - (1 - fits) ** held, scores, 1 - (1 - scores) ** held, max(0, most) / 8, points, held == 1]
        np.testing.assert_allclose(found[at : at + 7], wanted, atol=1e-5)


def test_codes_and_floats_give_the_same():
    games = collected(4, seed=6)
    views = Views(games, games["turn"])
    floats, codes = (Placements(*views.observe(dtype), 4) for dtype in (np.float32, np.uint8))
    assert (floats.features == codes.features).all() and (floats.actions == codes.actions).all()
    logits = floats.logits(np.arange(len(floats.rows), dtype=np.float32), len(games))
    masks = views.observe()[1]
    assert (np.isfinite(logits[:, :DRAW]) == (masks[:, :DRAW] > 0)).all() and (logits[:, DRAW:] == 0).all()
