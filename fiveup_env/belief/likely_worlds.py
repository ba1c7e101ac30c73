"""Worlds drawn by how likely the others' choices are in them (see `inference`), out of the exact belief."""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.choice_model import Inference
from fiveup_env.belief.deal_counts import BeliefRecord
from fiveup_env.belief.exact_belief import below_wide, deal_way, sample, shuffle_boneyard
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import int64, kernel, uint64
from fiveup_env.rules.random import GOLDEN, mix
from fiveup_env.rules.record import Game


@kernel
def likelihood(world: Game, record: Inference) -> float:
    """Weight of a world, up to a factor that is the same for all worlds of one `infer`."""
    top, bottom, sums = 1.0, 1.0, record.sums
    for seat in range(int64(world.num_players)):
        count = int64(record.num_choices[seat])
        if count == 0:
            continue
        for at in range(count):
            sums[at] = record.laid[seat, at]
        hand = int64(world.hands[seat])
        while hand:
            tile = lowest_bit(hand)
            hand &= hand - 1
            for at in range(count):
                sums[at] += record.held[seat, tile, at]
        for at in range(count):
            top *= record.chosen[seat, at]
            bottom *= sums[at]
    return top / bottom


@kernel
def sample_likely(
    belief: BeliefRecord, cells: np.ndarray, record: Inference, candidates: int, world: Game, state: int
) -> int:
    """Write a consistent deal into `world`: of so many uniform ones, one drawn by likelihood. As `exact_belief.sample`.

    The more candidates, the closer to the model's own distribution; one is the uniform belief.
    """
    if candidates == 1:
        return sample(belief, cells, world, state)
    total, chosen, last = 0.0, 0, 0
    for _ in range(candidates):
        last, state = below_wide(state, belief.ways)
        deal_way(belief, cells, last, world)
        weight = likelihood(world, record)
        total += weight
        state = uint64(state) + uint64(GOLDEN)
        if float(uint64(mix(state)) >> uint64(11)) * 2.0**-53 * total < weight:
            chosen = last
    if chosen != last:
        deal_way(belief, cells, chosen, world)
    return shuffle_boneyard(world, state)
