"""Features of the outlook, compared with the position after the placement."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents.network.outlook_features import Outlook, num_outlook
from fiveup_env.agents.network.placement_features import Placements, num_features
from fiveup_env.agents.search.equity import shipped_table
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.view import Views
from tests.agents.network.support import points_of
from tests.agents.support import collected
from tests.rules.support import PLAYERS, scaled


def own_chance(table: np.ndarray, to_go: list[int]) -> float:
    """Return the chance of relative side 0 with a random opener; 0 or 1 once a side has no points to go."""
    if 0 in to_go:
        return float(to_go[0] == 0)
    sides = len(to_go)
    shaped = table.reshape(*[61] * sides, sides)
    by_opener = [shaped[(*np.roll(to_go, -k) - 1, (sides - k) % sides)] for k in range(sides)]
    return float(np.mean(by_opener))


def with_gain(to_go: list[int], side: int, points: int) -> list[int]:
    return [left - points * (k == side) for k, left in enumerate(to_go)]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_features_are_those_of_the_position_after(num_players: int) -> None:
    games = collected(num_players, seed=7)
    rng = np.random.default_rng(num_players)
    games["scores"][: len(games) // 2] = 5 * rng.integers(40, 61, (len(games) // 2, games["scores"].shape[1]))
    matches = [match for match in map(Match.of, games) if match.legal_actions()[0] < DRAW][: scaled(40, 0.1)]
    views = Views(np.concatenate([match._games for match in matches]), [match.turn for match in matches])
    belief, table, plain = (
        beliefs_of(views, "likely"),
        shipped_table(num_players),
        Placements(*views.observe(), num_players),
    )
    pairs = Placements(*views.observe(), num_players, Outlook(belief, table))
    width = plain.features.shape[1]
    assert pairs.features.shape[1] == num_features(num_players, True) == width + num_outlook(num_players)
    assert (pairs.features[:, :width] == plain.features).all()
    seen = hits = 0
    for row, action, found in zip(pairs.rows, pairs.actions, pairs.features[:, width:], strict=True):
        match = matches[row]
        after = match.copy()
        after.play(int(action))
        if after.round_number != match.round_number or after.winner is not None:
            continue  # the layout was cleared
        sides = match.num_sides
        relative = [(match.turn % sides + k) % sides for k in range(sides)]
        before, to_go = ([61 - m.scores[side] // 5 for side in relative] for m in (match, after))
        last = len(match.hands[match.turn]) == 1
        if last or max(before) > 61:
            continue  # settlement points are added (R7.1), or a score is negative (D3)
        now = own_chance(table, to_go)
        for k in range(1, num_players):
            side = k % sides
            held = [
                (max(points), chance, to_go[side] in points)
                for tile, chance in zip(TILES, belief[row, k - 1], strict=True)
                if tile not in after.layout.tiles and (points := points_of(after.layout, tile, to_go[side]))
            ]
            best, changed, none = 0.0, 0.0, 1.0
            for points, chance, _ in sorted(held, reverse=True):
                best += none * chance * points
                changed += none * chance * (own_chance(table, with_gain(to_go, side, points)) - now) * (points > 0)
                none *= 1 - chance
            expected = [
                1 - none,
                1 - np.prod([1 - chance for points, chance, _ in held if points > 0]),
                1 - np.prod([1 - chance for _, chance, hit in held if hit]),
                sum(points * chance for points, chance, _ in held) / 8,
                best / 8,
                changed * 4,
            ]
            np.testing.assert_allclose(found[6 * (k - 1) : 6 * k], expected, atol=1e-4)
            hits += expected[2] > 0
        own = [to_go[0] in points_of(after.layout, tile, to_go[0]) for tile in after.hands[match.turn]]
        assert found[-3] == any(own)
        standing = own_chance(table, before)
        np.testing.assert_allclose(found[-2:], [standing, 4 * (now - standing)], atol=1e-4)
        seen += 1
    assert seen > scaled(40, 0.1) and hits > 0


def test_replies_change_nothing_after_a_win() -> None:
    """R6.2: no reply changes the chance to win after an exact hit."""
    match = Match.from_deal([[(2, 3), (0, 0)], [(1, 1), (0, 5)]], [(0, 2), (2, 2)], 0, (300, 295))
    views = Views(match._games, [0])
    outlook = Outlook(beliefs_of(views, "likely"), shipped_table(2))
    pairs = Placements(*views.observe(), 2, outlook)
    [win] = [i for i, action in enumerate(pairs.actions) if TILES[action] == (2, 3)]
    found = pairs.features[win, -num_outlook(2) :]
    before = own_chance(shipped_table(2), [1, 2])
    np.testing.assert_allclose(found[[5, -2, -1]], [0, before, 4 * (1 - before)], atol=1e-5)
