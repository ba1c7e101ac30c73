"""Credit per side, against a worked example and a plain reference."""

from __future__ import annotations

import numpy as np
import pytest

from training._credit import side_advantages


def credit(side, value, reward, ended, gamma=1.0, gae_lambda=1.0, decides=None):
    """`side_advantages` of one match, from plain lists."""
    length = len(side)
    return side_advantages(
        np.array(side)[:, None],
        np.ones((length, 1), bool) if decides is None else np.array(decides, bool)[:, None],
        np.array(value, np.float32)[:, None],
        np.array(reward, np.float32)[:, None, :],
        np.array(ended, bool)[:, None],
        gamma,
        gae_lambda,
    )


def test_a_match_on_paper():
    """Four players, sides 0 (seats 0, 2) and 1 (seats 1, 3); the reward is zero-sum; two rounds, then the rollout ends.

    | slot | seat | value | reward to side 0 | side 0 since its last decision | side 1 since its last decision |
    |------|------|-------|------------------|--------------------------------|--------------------------------|
    | 0    | 0    | 0.1   | +0.5             |                                |                                |
    | 1    | 1    | 0.0   | -0.2             |                                |                                |
    | 2    | 2    | 0.3   | 0                | +0.5 - 0.2 = 0.3 (slots 0, 1)  |                                |
    | 3    | 1    | -0.1  | -0.3 round over  |                                | +0.2 + 0 = 0.2 (slots 1, 2)    |
    |      |      |       |                  | 0 - 0.3 = -0.3 (slots 2, 3)    | +0.3 (slot 3)                  |
    | 4    | 3    | 0.2   | +0.1             |                                |                                |
    | 5    | 0    | 0.4   | +0.2             |                                |                                |
    | 6    | 2    | 0.6   | -0.4             | +0.2 (slot 5: its partner next)|                                |
    | 7    | 3    | 0.5   | +0.7             |                                | -0.1 - 0.2 + 0.4 = 0.1         |

    Seat 3 had no choice in slot 3's place, so seat 1 plays twice in a row for its side (slots 1 and 3). Slots 6 and 7
    are open: what follows is not seen yet. Gamma 1, lambda 1/2:

        side 0: slot 2: -0.3 - 0.3 = -0.6        slot 0: 0.3 + 0.3 - 0.1 - 0.6 / 2 = 0.2
                slot 6 is open                   slot 5: 0.2 + 0.6 - 0.4 = 0.4
        side 1: slot 3: 0.3 + 0.1 = 0.4          slot 1: 0.2 - 0.1 - 0 + 0.4 / 2 = 0.3
                slot 7 is open                   slot 4: 0.1 + 0.5 - 0.2 = 0.4
    """
    gains = [0.5, -0.2, 0.0, -0.3, 0.1, 0.2, -0.4, 0.7]
    found = credit(
        side=[0, 1, 0, 1, 1, 0, 0, 1],
        value=[0.1, 0.0, 0.3, -0.1, 0.2, 0.4, 0.6, 0.5],
        reward=[[gain, -gain] for gain in gains],
        ended=[0, 0, 0, 1, 0, 0, 0, 0],
        gae_lambda=0.5,
    )
    np.testing.assert_allclose(found.advantage[:, 0], [0.2, 0.3, -0.6, 0.4, 0.4, 0.4, 0.0, 0.0], atol=1e-6)
    assert found.judged[:, 0].tolist() == [True] * 6 + [False] * 2
    assert found.open_slot.tolist() == [[6, 7]]
    # Since slot 6 side 0 has got -0.4 + 0.7; since slot 7 side 1 has got -0.7.
    np.testing.assert_allclose(found.open_gain, [[0.3, -0.7]], atol=1e-6)


def test_gamma_counts_decisions_of_the_side():
    """The discount is per decision of the side, for any number of other actions in between."""
    found = credit([0, 1, 1, 0], [0.0, 0.0, 0.0, 1.0], [[0, 0]] * 3 + [[2.0, -2.0]], [0, 0, 0, 1], gamma=0.5)
    # Slot 3: 2 - 1 = 1. Slot 0: 0.5 * 1 - 0 + 0.5 * 1 = 1. Side 1: the loss in slot 3 is slot 2's, undiscounted.
    np.testing.assert_allclose(found.advantage[:, 0], [1.0, -1.0, -2.0, 1.0], atol=1e-6)


def test_a_side_may_have_no_decision_in_a_round():
    """Rewards of such a round are not credited to the decision in the previous round."""
    found = credit([1, 0, 1], [0.0] * 3, [[0, 0.25], [5.0, -5.0], [0, 1.0]], [1, 1, 1])
    np.testing.assert_allclose(found.advantage[:, 0], [0.25, 5.0, 1.0])
    assert found.judged.all() and (found.open_slot == -1).all()


def test_opponents_decisions_are_not_learned_from_but_their_rewards_count():
    found = credit([0, 1, 0], [0.0, 9.0, 0.5], [[1.0, -1.0], [-2.0, 2.0], [0, 0]], [0, 0, 1], decides=[1, 0, 1])
    np.testing.assert_allclose(found.advantage[:, 0], [1.0 - 2.0 + 0.5 - 0.5, 0.0, -0.5])
    assert found.judged[:, 0].tolist() == [True, False, True]


def plain(side, decides, value, reward, ended, gamma, gae_lambda):
    """Reference for one match: a list of decisions per side and episode."""
    advantage, judged = np.zeros(len(side)), np.zeros(len(side), bool)
    for own in range(reward.shape[1]):
        begin = 0
        ends = [*np.flatnonzero(ended), len(side) - 1 if not ended[-1] else None]
        for end in [e for e in ends if e is not None]:
            mine = [t for t in range(begin, end + 1) if side[t] == own and decides[t]]
            carried = 0.0
            for k in reversed(range(len(mine))):
                last = k + 1 == len(mine)
                if last and not ended[end]:
                    continue
                until = end + 1 if last else mine[k + 1]
                following = 0.0 if last else value[mine[k + 1]]
                delta = reward[mine[k] : until, own].sum() + gamma * following - value[mine[k]]
                carried = advantage[mine[k]] = delta + gamma * gae_lambda * carried
                judged[mine[k]] = True
            begin = end + 1
    return advantage, judged


@pytest.mark.parametrize("sides", [2, 3])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 1.0), (1.0, 0.0), (0.9, 0.7)])
def test_any_matches_against_the_plain_way(sides, gamma, gae_lambda):
    rng = np.random.default_rng(sides)
    length, count = 40, 30
    side, decides = rng.integers(sides, size=(length, count)), rng.random((length, count)) < 0.8
    value = rng.normal(size=(length, count)).astype(np.float32)
    reward = rng.normal(size=(length, count, sides)).astype(np.float32)
    ended = rng.random((length, count)) < 0.1
    found = side_advantages(side, decides, value, reward, ended, gamma, gae_lambda)
    for i in range(count):
        advantage, judged = plain(side[:, i], decides[:, i], value[:, i], reward[:, i], ended[:, i], gamma, gae_lambda)
        assert (found.judged[:, i] == judged).all()
        np.testing.assert_allclose(found.advantage[:, i], advantage, atol=2e-4)


@pytest.mark.parametrize("sides", [2, 3])
def test_cut_into_rollouts_nothing_is_lost(sides):
    """With lambda 0, an advantage does not depend on whether the next decision is in the same rollout."""
    rng = np.random.default_rng(sides)
    length, count, cut = 60, 20, 25
    side = rng.integers(sides, size=(length, count))
    value = rng.normal(size=(length, count)).astype(np.float32)
    reward = rng.normal(size=(length, count, sides)).astype(np.float32)
    ended = rng.random((length, count)) < 0.1
    everything = np.ones((length, count), bool)
    whole = side_advantages(side, everything, value, reward, ended, 1.0, 0.0)
    first = side_advantages(side[:cut], everything[:cut], value[:cut], reward[:cut], ended[:cut], 1.0, 0.0)
    rows, open_side = np.nonzero(first.open_slot >= 0)
    assert len(rows) > count
    front = (sides, count)
    front_reward, front_value = np.zeros((*front, sides), np.float32), np.zeros(front, np.float32)
    front_reward[open_side, rows, open_side] = first.open_gain[rows, open_side]
    front_value[open_side, rows] = value[first.open_slot[rows, open_side], rows]
    decides = np.zeros(front, bool)
    decides[open_side, rows] = True
    second = side_advantages(
        np.concatenate([np.broadcast_to(np.arange(sides)[:, None], front), side[cut:]]),
        np.concatenate([decides, everything[cut:]]),
        np.concatenate([front_value, value[cut:]]),
        np.concatenate([front_reward, reward[cut:]]),
        np.concatenate([np.zeros(front, bool), ended[cut:]]),
        1.0,
        0.0,
    )
    np.testing.assert_allclose(
        second.advantage[open_side, rows], whole.advantage[first.open_slot[rows, open_side], rows], atol=1e-5
    )
    np.testing.assert_allclose(second.advantage[sides:], whole.advantage[cut:], atol=1e-5)
