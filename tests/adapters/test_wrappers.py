"""`MaskInfos`: infos of fixed shape."""

from __future__ import annotations

import numpy as np

from fiveup_env import fiveup_v0
from fiveup_env.adapters.wrappers import MaskInfos


def test_infos_are_masks_alone() -> None:
    env, plain = MaskInfos(fiveup_v0.raw_env(num_players=4)), fiveup_v0.raw_env(num_players=4)
    env.reset(seed=5)
    plain.reset(seed=5)
    for _ in env.agent_iter():
        seen, reward, termination, truncation, info = env.last()
        theirs = plain.last()
        assert reward == theirs[1] and (termination, truncation) == theirs[2:4]
        assert set(info) == {"action_mask"} and info["action_mask"].flags.writeable
        assert all(np.array_equal(env.infos[a]["action_mask"], plain.infos[a]["action_mask"]) for a in env.agents)
        action = None if termination or truncation else int(seen["action_mask"].argmax())
        env.step(action)
        plain.step(action)
    assert not env.agents
