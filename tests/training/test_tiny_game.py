"""PPO against exhaustive search: two players, the double-two set, three tiles each, so the hands determine each other.

There are 20 deals and two openers. The policy of self-play must reach the value of perfect play in all of them, on both
sides, against a perfect opponent (R5 to R8).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from fiveup_env.agents.search.endgame import double_dummy
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View
from training._mix import TorchPolicy
from training.selfplay_ppo import Config, Run

CONFIG = {
    "script": "selfplay_ppo",
    "players": 2,
    "variant": {"hand_size": 3, "max_pip": 2},
    "reward": "points",
    "decisions": 150_000,
    "matches": 128,
    "network": {"width": 64, "blocks": 0},
    "ppo": {"steps": 16, "minibatch": 256, "learning_rate": 3e-3, "entropy": 0.05, "entropy_end": 0.005},
}


def all_deals() -> list[Match]:
    tiles = [(low, high) for low in range(3) for high in range(low, 3)]
    return [
        Match.from_deal([hand, [tile for tile in tiles if tile not in hand]], [], opener, hand_size=3, max_pip=2)
        for hand in itertools.combinations(tiles, 3)
        for opener in (0, 1)
    ]


def sure_lead(match: Match, me: int, choose: Callable[[Match], int] | None = None) -> int:
    """Return the guaranteed lead of side `me` at the end of the round in raw points, by `choose` or by perfect play."""
    if match.round_number > 1:
        return match.scores[me] - match.scores[1 - me]
    mine, actions = match.turn == me, match.legal_actions()
    if mine and choose is not None and len(actions) > 1:
        actions = [choose(match)]
    leads = []
    for action in actions:
        after = match.copy()
        after.play(action)
        leads.append(sure_lead(after, me, choose))
    return max(leads) if mine else min(leads)


def test_it_reaches_the_value_of_exhaustive_search():
    deals = all_deals()
    best = [sure_lead(match, match.turn) for match in deals]
    assert len(best) == 40 and sum(best) == 70  # the opening has a value of 1.75 raw points
    for match, value in zip(deals[::7], best[::7], strict=True):
        assert max(double_dummy(match, equity=False).values) == value
    run = Run(Config.model_validate(CONFIG))
    run.begin()
    policy = TorchPolicy(run.learner.network)

    def lost() -> int:
        """Return the raw points that the policy loses in all deals, as opener and as the other side."""
        total = 0
        for match, value in zip(deals, best, strict=True):
            for me, perfect in ((match.turn, value), (1 - match.turn, -value)):
                total += perfect - sure_lead(match, me, lambda position: policy.act(View.of(position)))
        return total

    assert lost() > 50
    while run.decisions < run.config.decisions:
        run.iteration()
    assert lost() == 0
