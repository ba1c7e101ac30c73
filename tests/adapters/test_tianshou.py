"""`FiveUpTianshouEnv` equals `FiveUpVectorEnv` behind Tianshou's interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="tianshou is not installed: pip install 'fiveup-env[tianshou]'")

from fiveup_env import Match
from fiveup_env.adapters.tianshou import FiveUpTianshouEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.rules.match import IllegalActionError

OPTIONS: dict[str, Any] = {"num_players": 4, "opponents": "greedy", "episode": "round", "reward": "points"}


def test_steps_are_the_vector_envs() -> None:
    env, plain = FiveUpTianshouEnv(6, seed=3, **OPTIONS), FiveUpVectorEnv(6, autoreset_mode="DISABLED", **OPTIONS)
    seen, infos = env.reset()
    expected, told = plain.reset(seed=3)
    ends = 0
    for _ in range(60):
        assert np.array_equal(seen.obs, expected["observation"]) and seen.mask.dtype == np.bool_
        assert np.array_equal(seen.mask, expected["action_mask"].astype(bool))
        assert [info["seat"] for info in infos] == told["seat"].tolist()
        actions = seen.mask.argmax(1)
        seen, rewards, terminated, truncated, infos = env.step(actions, np.arange(6))
        expected, gained, over, cut, told = plain.step(actions)
        assert np.array_equal(rewards, gained.astype(np.float32)) and rewards.dtype == np.float32
        assert np.array_equal(terminated, over) and not truncated.any() and not cut.any()
        if over.any():
            ends += int(over.sum())
            rows = np.flatnonzero(over)
            dealt, new = env.reset(rows)
            assert len(dealt) == len(new) == len(rows) and dealt.mask.any(1).all()
            seen[rows], infos[rows] = dealt, new
            expected, told = plain.reset(options={"reset_mask": over})
    assert ends > 5


def test_rows_in_any_order() -> None:
    one, two = FiveUpTianshouEnv(4, seed=1, **OPTIONS), FiveUpTianshouEnv(4, seed=1, **OPTIONS)
    actions = one.reset()[0].mask.argmax(1)
    two.reset()
    order = np.array([2, 0, 3, 1])
    straight, mixed = one.step(actions), two.step(actions[order], order)
    assert np.array_equal(straight[0].obs[order], mixed[0].obs)
    assert [info["env_id"] for info in mixed[4]] == order.tolist()


def test_matches_move_together() -> None:
    env = FiveUpTianshouEnv(4, seed=1, **OPTIONS)
    seen, _ = env.reset()
    for rows in ([0, 1], [0, 0, 1, 2]):
        with pytest.raises(ValueError, match="steps all its 4 matches together"):
            env.step(seen.mask.argmax(1)[: len(rows)], rows)
    with pytest.raises(IllegalActionError, match="no match was moved"):
        env.step(np.full(4, 120))
    with pytest.raises(AttributeError, match="no attribute 'difficulty'"):
        env.set_env_attr("difficulty", 3)


def test_spaces_and_seeds_by_match() -> None:
    env = FiveUpTianshouEnv(3, **OPTIONS)
    assert len(env) == 3 and [space.n for space in env.action_space] == [121] * 3
    assert env.seed([5, 6, 7]) == [[5], [6], [7]]
    env.reset()
    for i, seed in enumerate((5, 6, 7)):
        again = FiveUpTianshouEnv(1, seed=seed, **OPTIONS)
        again.env.reset(seed=[seed])
        assert Match.of(again.env.games[0]).hands == Match.of(env.env.games[i]).hands
