"""Who earned what: generalised advantages per side, from one of its decisions to its next.

In a game of turns a decision's outcome is not the next row of the rollout: others act in between. Here every side is a
learner of its own whose time goes from one of its decisions to its next; partners' decisions are one stream of their
side (R1.2). All that happens in between counts for it, whoever acted: its rewards add up, and the value it goes on from
is the one of its own next decision. For the k-th decision of a side in a round (generalised advantage estimation,
Schulman and others, 2016, over that stream):

    delta_k     = (rewards of the side from decision k up to decision k + 1) + gamma * value_{k+1} - value_k
    advantage_k = delta_k + gamma * lambda * advantage_{k+1}

and behind the last decision of an episode both are zero. A decision whose next one lies beyond the rollout cannot be
judged yet: it stays *open* and is learned from in the next iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Credit:
    """What `side_advantages` found; L slots of time, N matches, S sides.

    Attributes:
        advantage: float32 [L, N], zero where `judged` is false.
        judged: bool [L, N]: a decision of a learner whose advantage is known.
        open_slot: int64 [N, S]: slot of each side's decision that is still open, -1 for none.
        open_gain: float32 [N, S]: what that side has got since.
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
    """Advantages of all decisions in L slots of time of N matches.

    Args:
        side: int [L, N]: whose decision it is.
        decides: bool [L, N]: whether it is one to learn from (not an opponent's).
        value: float32 [L, N]: of the decision, to its side.
        reward: float32 [L, N, S]: to every side, from this decision up to the next slot.
        ended: bool [L, N]: the episode (match or round) was over then, and another one begins in the next slot.
        gamma: discount from one decision of a side to its next.
        gae_lambda: how far credit goes back: 0 one decision, 1 to the episode's start.
    """
    length, count, sides = reward.shape
    advantage = np.zeros((length, count), np.float32)
    judged = np.zeros((length, count), np.bool_)
    open_slot = np.full((count, sides), -1)
    open_gain = np.zeros((count, sides), np.float32)
    # Per match and side, going back in time: value and advantage of its next decision, rewards before that, and
    # whether that decision is known (the end of an episode counts as one, of value zero).
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
