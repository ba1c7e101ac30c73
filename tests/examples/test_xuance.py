"""Environment of XuanCe's example: every seat acts at every step, one of them with a choice."""

from __future__ import annotations

import numpy as np
import pytest

WHY = "needs XuanCe (pip install 'fiveup-env[xuance]', in a separate environment)"


def test_idle_seats_have_one_action_and_rewards_of_their_side() -> None:
    pytest.importorskip("xuance", reason=WHY)
    from training.examples.xuance_ippo import FourSeats

    table, rng = FourSeats(5), np.random.default_rng(5)
    gained, over, rounds = dict.fromkeys(table.agents, 0.0), True, 0
    while rounds < 5 or not over:
        if over:
            seen, _ = table.reset()
            rounds += 1
        masks, acting = table.avail_actions(), table.env.agent_selection
        choices = {name: np.flatnonzero(mask) for name, mask in masks.items()}
        assert all(len(choices[name]) == 1 for name in table.agents if name != acting)
        legal = table.env.observe(acting)["action_mask"]
        np.testing.assert_array_equal(masks[acting], legal)
        assert all(np.array_equal(seen[name], table.env.observe(name)["observation"]) for name in table.agents)
        seen, rewards, terminated, truncated, _ = table.step({name: rng.choice(choices[name]) for name in table.agents})
        assert rewards["player_0"] == rewards["player_2"] == -rewards["player_1"] == -rewards["player_3"]
        gained = {name: gained[name] + abs(rewards[name]) for name in table.agents}
        over = all(terminated.values()) or truncated
        assert over == any(terminated.values()) and not truncated
    assert all(gain > 0 for gain in gained.values())
    assert all(mask.sum() == 1 for mask in table.avail_actions().values()), "a seat has a choice after the end"


def test_matches_of_a_seed_are_the_same() -> None:
    pytest.importorskip("xuance", reason=WHY)
    from training.examples.xuance_ippo import FourSeats

    first, again, other = FourSeats(7), FourSeats(7), FourSeats(8)
    dealt = [table.reset()[0]["player_0"].tobytes() for table in (first, again, other)]
    assert dealt[0] == dealt[1] != dealt[2]
