"""Generalised advantages per side, from one of its decisions to its next.

In a turn-based game the outcome of a decision is not the next row of the rollout, because others act in between. Here
every side is a separate learner with its own time steps: its decisions, where partners share one sequence (R1.2). The
rewards of a side between two of its decisions are added up, also while others act. The next value is the one of the
side's next decision. For the k-th decision of a side in a round (generalised advantage estimation, Schulman et al.,
2016):

    delta_k     = (rewards of the side from decision k up to decision k + 1) + gamma * value_{k+1} - value_k
    advantage_k = delta_k + gamma * lambda * advantage_{k+1}

After the last decision of an episode, value and advantage are zero. A decision whose next one is beyond the end of the
rollout cannot be judged yet: it stays *open*, and is used in the next iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Credit:
    """Result of `side_advantages`; L slots, N matches, S sides.

    Attributes:
        advantage: float32 [L, N], zero where `judged` is false.
        judged: bool [L, N], decisions of a learner with a known advantage.
        open_slot: int64 [N, S], slot of each side's open decision, -1 for none.
        open_gain: float32 [N, S], rewards of that side since its open decision.
    """

    advantage: np.ndarray
    judged: np.ndarray
    open_slot: np.ndarray
    open_gain: np.ndarray


def side_advantages(
    side: np.ndarray,
    decides: np.ndarray,
    value: np.ndarray,
    reward: np.ndarray,
    ended: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> Credit:
    """Return the advantages of all decisions in L slots of N matches.

    Args:
        side: int [L, N], side of the decision.
        decides: bool [L, N], whether it is a decision of the learner and not of an opponent.
        value: float32 [L, N], value of the decision for its side.
        reward: float32 [L, N, S], rewards of every side between this slot and the next.
        ended: bool [L, N], whether the episode (match or round) ended there and the next slot starts another.
        gamma: discount between two decisions of a side.
        gae_lambda: 0 gives credit to one decision, 1 to all decisions since the start of the episode.
    """
    length, count, sides = reward.shape
    advantage = np.zeros((length, count), np.float32)
    judged = np.zeros((length, count), np.bool_)
    open_slot = np.full((count, sides), -1)
    open_gain = np.zeros((count, sides), np.float32)
    # Per match and side, backwards in time: value and advantage of its next decision, rewards until then, and whether
    # that decision is known (the end of an episode counts as a decision of value zero).
    next_value, next_advantage, gain = (np.zeros((count, sides), np.float32) for _ in range(3))
    known = np.zeros((count, sides), np.bool_)
    for t in reversed(range(length)):
        over = ended[t]
        next_value[over] = next_advantage[over] = gain[over] = 0.0
        known[over] = True
        gain += reward[t]
        rows = decides[t].nonzero()[0]
        at = (rows, side[t, rows])
        sure, now = known[at], value[t, rows]
        found = gain[at] + gamma * next_value[at] - now + gamma * gae_lambda * next_advantage[at]
        advantage[t, rows] = np.where(sure, found, 0.0)
        judged[t, rows] = sure
        left = (at[0][~sure], at[1][~sure])
        open_slot[left] = t
        open_gain[left] = gain[left]
        next_value[at], next_advantage[at] = now, advantage[t, rows]
        gain[at], known[at] = 0.0, True
    return Credit(advantage, judged, open_slot, open_gain)
