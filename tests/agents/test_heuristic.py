"""The policy `heuristic` against its description, and the fit of its weights."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fiveup_env.agents.baselines import Heuristic
from fiveup_env.agents.heuristic import CHANCE, FEATURES, HIT, WEIGHTS
from fiveup_env.rules.actions import DRAW, Lead, decode, encode
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.view import View
from tests.agents.support import undecided
from tests.rules.support import on_end, scaled, sum_after
from training.heuristic_weights import OUT, features_of, fit_weights, main

PLAYERS = [2, 3, 4]


def after_placement(match: Match, action: int) -> Match | None:
    """The match after a placement; None if the placement ends the round."""
    after = match.copy()
    after.play(action)
    return after if after.winner is None and after.round_number == match.round_number else None


def placements_of(match: Match, tile: tuple[int, int]) -> list[int]:
    """Legal placements of a tile if the seat to act held it."""
    other = match.copy()
    other.game.hands[other.turn] = 1 << TILES.index(tile)
    other._refresh()
    return [action for action in other.legal_actions() if action < DRAW]


def described(match: Match, action: int) -> list[float]:
    """Features of a placement that does not end the round, computed from their description."""
    view, after, tile = View.of(match), after_placement(match, action), decode(action).tile
    assert after is not None
    seat, following = match.turn, (match.turn + 1) % match.num_players
    total = sum_after(match, action)
    credit = total if total % 5 == 0 else 0
    room = 5 * match.variant.target - match.scores[seat % match.num_sides]
    points = 0.0 if credit > room else credit / 5 + (HIT if credit == room else 0)
    fits = sum(bool(placements_of(after, other)) for other in after.hands[seat])
    may = list(view.may_hold(following))
    scoring = [t for t in may if any(sum_after(after, a) % 5 == 0 for a in placements_of(after, t))]
    size = view.hand_sizes[following]
    chance = 1 - math.comb(len(may) - len(scoring), size) / math.comb(len(may), size)
    rivals = [view.hand_sizes[s] for s in range(match.num_players) if (s - seat) % match.num_sides]
    late = sum(tile) / 10 if min(rivals) <= 2 else 0.0
    return [points, credit > room, tile[0] == tile[1], fits, chance, chance * total / 5, late, total / 5]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_features_follow_their_description(num_players):
    checked = 0
    for i, match in enumerate(undecided(num_players, seed=31, matches=scaled(4, 0.25))):
        actions = [action for action in match.legal_actions() if action < DRAW and after_placement(match, action)]
        if not actions or i % scaled(3, 4):
            continue
        expected = [described(match, action) for action in actions]
        np.testing.assert_allclose(features_of(View.of(match), actions), expected, atol=1e-12)
        checked += len(actions)
    assert checked > scaled(200, 0.1)


def test_going_out_counts_the_expected_settlement():
    """R7: 10 raw points of credit, and 2 + 1 hidden tiles of two opponents at the mean pips of the unseen tiles."""
    hands = [[(0, 5)], [(5, 5), (1, 1), (2, 2)], [(3, 3), (4, 4)]]
    match = Match.from_deal(hands, [(6, 6)], opener=1)
    match.play(encode(Lead((5, 5))))
    match.play(match.legal_actions()[0])  # seat 2 draws [6|6]
    while match.turn != 0:
        match.play(match.legal_actions()[0])
    (action,) = match.legal_actions()
    assert decode(action).tile == (0, 5)
    mean = (2 + 4 + 6 + 8 + 12) / 5
    (row,) = features_of(View.of(match), [action])
    assert row[0] == pytest.approx((10 + 5 * mean) / 5)
    assert not row[1:].any()


def test_takes_the_exact_hit():
    """A credit of 10 raw points wins from 295 (R6.2) and is an overshoot from 300 (R6.1)."""
    hands = [[(0, 5), (5, 6), (1, 2)], [(5, 5), (1, 1), (2, 2)]]
    points = []
    for score in (0, 295, 300):
        match = Match.from_deal(hands, [(3, 3), (4, 4)], opener=1, scores=[score, 0])
        match.play(match.legal_actions()[-1])
        points.append(features_of(View.of(match), match.legal_actions())[0][:2].tolist())
        assert score != 295 or decode(Heuristic().act(View.of(match))).tile == (0, 5)
    assert points == [[2, 0], [2 + HIT, 0], [0, 1]]


def test_denies_the_next_player():
    """On [1|6], two of the four unseen tiles score after [1|3] and none after [1|2]."""
    hands = [[(1, 3), (1, 2), (0, 0)], [(1, 6), (3, 4), (2, 6)]]
    match = Match.from_deal(hands, [(5, 5), (0, 5)], opener=1)
    match.play(encode(Lead((1, 6))))
    actions = [on_end((1, 2), 1), on_end((1, 3), 1)]
    threats = features_of(View.of(match), actions)[:, FEATURES.index("threat")]
    np.testing.assert_allclose(threats, [0, 5 / 6])
    assert Heuristic().act(View.of(match)) == actions[0]


def test_chances_are_hypergeometric():
    for size, among in itertools.product((1, 3, 7), range(7, 29)):
        expected = [1 - math.comb(among - some, size) / math.comb(among, size) for some in range(among + 1)]
        np.testing.assert_allclose(CHANCE[size, among, : among + 1], expected, atol=1e-12)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_highest_rating_is_chosen(num_players):
    for match in undecided(num_players, seed=32, matches=scaled(4, 0.25)):
        legal, chosen = match.legal_actions(), Heuristic().act(View.of(match))
        if legal[0] < DRAW:
            worths = features_of(View.of(match), legal) @ WEIGHTS[num_players]
            best = [action for action, worth in zip(legal, worths, strict=True) if worth > worths.max() - 1e-9]
            assert chosen in best
        else:
            assert [chosen] == legal


def test_fit_recovers_known_weights():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=len(FEATURES))
    features = [rng.normal(size=(4, len(FEATURES))) for _ in range(3000)]
    values = [part @ weights + rng.normal(scale=0.1, size=4) for part in features]
    found = fit_weights(features, values, [np.full(4, 0.01)] * 3000)
    np.testing.assert_allclose(found, weights, atol=0.02)


@pytest.mark.jit
def test_the_script_writes_an_importable_module(tmp_path, capsys):
    out = tmp_path / "weights.py"
    main(positions=40, worlds=8, seed=1, out=out)
    scope: dict[str, dict[int, tuple[float, ...]]] = {}
    exec(out.read_text(), scope)
    assert set(scope["FITTED"]) == {2, 3, 4}
    assert all(len(row) == len(FEATURES) for row in scope["FITTED"].values())
    assert "4 players: regret" in capsys.readouterr().out
    assert OUT.name == "heuristic_weights.py"
