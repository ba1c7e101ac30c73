"""The choice model: the true hands of random matches weighed by hand, and the draw by likelihood."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.belief.choice_model import (
    APPEAL,
    INFERENCE,
    MOST_POINTS,
    infer,
    likelihood,
    new_inferences,
    sample_likely,
)
from fiveup_env.belief.deal_counts import new_beliefs, new_cells, prepare
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.actions import DRAW, decode
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import stream
from fiveup_env.views.view import View
from tests.agents.support import undecided
from tests.rules.support import scaled, sum_after

PLAYERS = [2, 3, 4]


@entry
def _infer(games: np.ndarray, seat: int, records: np.ndarray) -> None:
    infer(games[0], seat, records[0])


@entry
def _weigh(worlds: np.ndarray, records: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(worlds)):
        out[i] = likelihood(worlds[i], records[0])


@entry
def _draw(
    worlds: np.ndarray, seat: int, candidates: int, beliefs: np.ndarray, cells: np.ndarray, records: np.ndarray
) -> None:
    prepare(worlds[0], seat, beliefs[0], cells)
    infer(worlds[0], seat, records[0])
    state = stream(np.uint64(1), 0)
    for i in range(len(worlds)):
        state = sample_likely(beliefs[0], cells, records[0], candidates, worlds[i], state)


def attraction(match: Match, tile: tuple[int, int], room: int) -> float:
    """Appeal of a held tile by its best placement, 0 if it does not fit."""
    sums = [sum_after(match, a) for a in match.legal_actions() if a < DRAW and decode(a).tile == tile]
    credits = [total if total % 5 == 0 else 0 for total in sums]
    points = [-1 if credit > room else min(credit // 5, MOST_POINTS) for credit in credits]
    return max((float(APPEAL[1 + point, sum(tile)]) for point in points), default=0.0)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_true_world_weighs_what_its_hands_say(num_players):
    """Rounds in which nobody has yet kept a drawn tile: the hand of every choice is known to the model then."""
    shares: list[tuple[int, float]] = []
    checked, before = 0, None
    for match in undecided(num_players, seed=41, matches=scaled(12, 0.1), greed=0.6):
        if before is None or before.round_number != match.round_number or len(match.history) < len(before.history):
            shares, kept = [], False
        else:
            (who, action), drew = match.history[-1], bool(before.game.just_drew)
            kept |= drew and action >= DRAW
            if action < DRAW and not drew:
                room = 5 * match.variant.target - before.scores[who % match.num_sides]
                appeals = {tile: attraction(before, tile, room) for tile in before.hands[who]}
                shares.append((who, appeals[decode(action).tile] / sum(appeals.values())))
        before = match.copy()
        discarded = any(not event.accepted for event in match.events)
        if kept or discarded or match.game.just_drew or max(match.scores) + 60 > 305:
            kept |= discarded
            continue
        seat, record, out = match.turn, new_inferences(1), np.zeros(1)
        _infer(View.of(match).views.games, seat, record)
        _weigh(match._games, record, out)
        expected = np.prod([share for who, share in shares if who != seat])
        assert out[0] == pytest.approx(expected)
        checked += len(shares) > 1
    assert checked > scaled(50, 0.05)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_more_candidates_give_likelier_worlds_and_all_agree_with_the_view(num_players):
    matches = [match for match in undecided(num_players, seed=42, matches=2) if len(match.history) > 5]
    count, record, beliefs, cells = scaled(400, 0.1), new_inferences(1), new_beliefs(1), new_cells()
    gains = []
    for match in matches[:: scaled(10, 6)][:6]:
        seat, view = match.turn, View.of(match)
        means = []
        for candidates in (1, 8):
            worlds = np.repeat(view.views.games, count)
            _draw(worlds, seat, candidates, beliefs, cells, record)
            weights = np.zeros(count)
            _weigh(worlds, record, weights)
            means.append(weights.mean())
            for i in range(0, count, max(1, count // 10)):
                assert View.of(Match.of(worlds[i]), seat) == view
        gains.append(means[1] >= 0.9 * means[0])
    assert all(gains)
    assert INFERENCE.itemsize < 40_000
