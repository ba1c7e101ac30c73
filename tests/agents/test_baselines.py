"""`random` and `greedy`: legal, true to their rules, and independent of hidden information (R2.2, D6)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env.agents.baseline_kernels import GREEDY, HEURISTIC, RANDOM, choose_many
from fiveup_env.agents.baselines import Greedy, Random
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.actions import DRAW, Lead, decode, encode
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View, Views
from tests.agents.support import collected, repeated, reshuffled, undecided
from tests.rules.statistics import assert_uniform
from tests.rules.support import on_end, scaled, sum_after

PLAYERS = [2, 3, 4]


def rating(match: Match, action: int) -> tuple[int, int]:
    """Greedy's order from its description: credit now, an overshoot (R6.1) below zero; then the pips of the tile."""
    total = sum_after(match, action)
    credit = total if total % 5 == 0 else 0
    room = 5 * match.variant.target - match.scores[match.turn % match.num_sides]
    return (-1 if credit > room else credit, sum(decode(action).tile))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_greedy_takes_the_most_points_then_the_heavier_tile_then_the_lowest_id(num_players):
    greedy, choices, avoided = Greedy(), 0, 0
    for match in undecided(num_players, seed=11, matches=scaled(20, 0.3)):
        legal = match.legal_actions()
        chosen = greedy.act(View.of(match))
        if legal[0] >= DRAW:
            assert [chosen] == legal  # forced (R3.2)
            continue
        best = max(rating(match, action) for action in legal)
        assert chosen == next(action for action in legal if rating(match, action) == best)
        choices += len(legal) > 1
        avoided += any(rating(match, action)[0] < 0 for action in legal) and best[0] >= 0
    assert choices > scaled(300, 0.1)
    assert avoided > 3 or JIT_DISABLED


@pytest.mark.parametrize(
    ("score", "hand", "tile"),
    [
        (0, [(0, 5), (5, 6), (1, 2)], (0, 5)),
        (295, [(0, 5), (5, 6), (1, 2)], (0, 5)),
        (300, [(0, 5), (5, 6), (1, 2)], (5, 6)),
        (300, [(0, 5), (1, 2)], (0, 5)),
    ],
)
def test_greedy_overshoots_only_if_it_must(score, hand, tile):
    """On [5|5], [0|5] has a credit of 10 raw points, an overshoot from 300 (R6.1), and [5|6] has none (R3.2)."""
    match = Match.from_deal([hand, [(5, 5), (1, 1), (2, 2)][: len(hand)]], [(3, 3), (4, 4)], 1, scores=[score, 0])
    match.play(encode(Lead((5, 5))))
    chosen = Greedy().act(View.of(match))
    assert decode(chosen).tile == tile
    events = [(event.net, event.accepted) for event in match.play(chosen)]
    assert events == ([(10, score == 0 or score == 295)] if tile == (0, 5) else [])


def test_greedy_breaks_ties_by_the_heavier_tile():
    """Most points first, then pips (R5.2)."""
    hands = [[(3, 6), (2, 3), (1, 3)], [(3, 4), (0, 0), (1, 1)]]
    match = Match.from_deal(hands, [(5, 5)], opener=1)
    match.play(match.legal_actions()[-1])
    sums = {decode(a).tile: sum_after(match, a) for a in match.legal_actions()}
    assert sums == {(3, 6): 10, (2, 3): 6, (1, 3): 5}
    assert Greedy().act(View.of(match)) == on_end((3, 6), 3)
    match = Match.from_deal([[(2, 3), (3, 5)], [(3, 4), (0, 0)]], [(5, 5)], opener=1)
    match.play(match.legal_actions()[-1])  # sums 6 and 9: no points either way
    assert Greedy().act(View.of(match)) == on_end((3, 5), 3)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_random_is_uniform_over_the_legal_actions(num_players):
    match = next(m for m in undecided(num_players, seed=12, matches=20) if len(m.legal_actions()) == 3)
    count = scaled(9_000, 0.1)
    games = repeated(match, count)
    views = Views(games, games["turn"])
    keys = np.random.default_rng(0).integers(0, 2**64, count, np.uint64)
    actions = Random().act_many(views, keys)
    assert_uniform([int((actions == action).sum()) for action in match.legal_actions()])


def test_random_depends_on_its_seed():
    def actions(seed: int) -> list[int]:
        agent = Random()
        agent.reset(seed)
        return [agent.act(View.of(match)) for match in undecided(4, seed=13)]

    assert actions(0) == actions(0) != actions(1)


def test_random_does_not_follow_the_deal():
    """The index of the first action depends on the policy seed only, not on the deal."""
    agent, leads = Random(), set()
    for seed in range(20):
        agent.reset(3)
        match = Match(4, seed=seed)
        leads.add(match.legal_actions().index(agent.act(View.of(match))))
    assert len(leads) == 1


@given(st.integers(0, 2**32), st.sampled_from(PLAYERS), st.sampled_from([RANDOM, GREEDY, HEURISTIC]))
def test_kernels_do_not_read_hidden_information(seed, num_players, policy):
    """The kernels get full records in compiled match-ups (R2.2, D6)."""
    rng = random.Random(seed)
    games = [m.copy() for m in undecided(num_players, seed=seed, matches=1)][:40]
    others = [reshuffled(match, rng) for match in games]
    keys = np.random.default_rng(seed).integers(0, 2**64, len(games), np.uint64)
    chosen, same = np.empty(len(games), np.int64), np.empty(len(games), np.int64)
    choose_many(np.concatenate([m._games for m in games]), policy, keys, chosen)
    choose_many(np.concatenate([m._games for m in others]), policy, keys, same)
    assert (chosen == same).all()


def test_choose_many_marks_finished_matches():
    games = collected(4, seed=15)
    games["phase"][::2] = 2
    actions = np.empty(len(games), np.int64)
    choose_many(games, RANDOM, np.zeros(len(games), np.uint64), actions)
    assert (actions[::2] == -1).all() and (actions[1::2] >= 0).all()
