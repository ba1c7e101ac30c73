"""belief="exact" in the vector environments: arrays, spaces, mixed batches. `test_parity` tests the values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from fiveup_env import fiveup_v0
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.envs.self_play_vector import SelfPlayVectorEnv
from fiveup_env.views.view import Views
from tests.envs.environments import Asked, any_legal, same, self_play
from tests.envs.trace import same_bits

TINY: dict[str, Any] = {"num_players": 2, "hand_size": 2, "max_pip": 2, "target": 11}
SHORT: dict[str, Any] = {**TINY, "belief": "exact", "max_rounds": 2}


def test_without_it_nothing_is_there_to_pay_for() -> None:
    assert EnvOptions().belief == "none" and EnvOptions().marginals() is None
    for num_players in (2, 3, 4):
        step = SelfPlayVectorEnv(5, num_players=num_players, final_observation=True).reset(0)
        assert step.belief.shape == step.final_belief.shape == (0, num_players, 28)
    assert set(FiveUpVectorEnv(2).reset(seed=0)[0]) == {"observation", "action_mask"}
    with pytest.raises(ValueError, match="belief must be one of 'none', 'exact', 'likely', not 'some'"):
        EnvOptions(belief="some")


def test_spaces_have_a_key_beside_the_others() -> None:
    for num_players in (2, 3, 4):
        given = {"num_players": num_players, "belief": "exact"}
        plain = FiveUpEnv(num_players).observation_space
        space = FiveUpEnv(**given).observation_space
        assert fiveup_v0.raw_env(**given).observation_space("player_0") == space
        assert FiveUpVectorEnv(3, **given).single_observation_space == space
        assert set(space) == {*plain, "belief"} and all(space[name] == plain[name] for name in plain)
        assert space["belief"].shape == (num_players, 28) and space["belief"].dtype == np.float32
        assert (space["belief"].low == 0).all() and (space["belief"].high == 1).all()


def test_self_play_writes_into_the_callers_arrays() -> None:
    env, own = (SelfPlayVectorEnv(5, **SHORT) for _ in range(2))
    wanted = self_play(env, 12)
    buffer = np.full((13, 5, 2, 28), 7, np.float32)
    outs = [replace(own.arrays(), belief=buffer[t]) for t in range(13)]
    own.reset(0, out=outs[0])
    chance, step = np.random.default_rng(0), outs[0]
    for t in range(1, 13):
        step = own.step(any_legal(step.action_mask, chance), out=outs[t])
    assert same_bits(buffer, np.stack([step["belief"] for step in wanted]))


def test_a_mixed_batch_has_rows_for_the_longest() -> None:
    players = (2, 3, 4, 2)
    small = {"hand_size": 2, "max_pip": 3, "target": 11, "draws": "auto", "belief": "exact"}
    env = SelfPlayVectorEnv(4, num_players=players, **small)
    step, chance = env.reset(0), np.random.default_rng(0)
    for _ in range(25):
        for i, n in enumerate(players):
            wanted = beliefs_of(Views(env.games[i : i + 1], env.games["turn"][i : i + 1]))[0]
            assert wanted.shape == (n, 28)
            assert same_bits(step.belief[i, :n], wanted) and not step.belief[i, n:].any()
        step = env.step(any_legal(step.action_mask, chance))


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponents", ["greedy", Asked()], ids=["kernel", "asked"])
@pytest.mark.parametrize("rounds", [{}, {"episode": "round", "continue_match": True}], ids=["match", "round"])
def test_the_learners_env_shows_it_beside_what_was_there(mode: AutoresetMode, opponents: Any, rounds: dict) -> None:
    """Episodes end and begin in another order of calls then, and nothing else may differ."""
    given = {**SHORT, "reward": "points", "opponents": opponents, "autoreset_mode": mode, **rounds}
    env, plain = FiveUpVectorEnv(6, **given), FiveUpVectorEnv(6, **given | {"belief": "none"})
    seen, told = env.reset(seed=1)
    other, other_told = plain.reset(seed=1)
    chance, ended = np.random.default_rng(0), 0
    for _ in range(40):
        assert seen in env.observation_space
        assert same_bits(seen["belief"], beliefs_of(Views(env.games, told["seat"])))
        assert same({name: seen[name] for name in other}, other) and set(seen) == {*other, "belief"}
        finals = [final.pop("belief") for final in told.get("final_obs", ()) if final is not None]
        assert all(final.shape == (2, 28) for final in finals)
        assert list(map(repr, told.pop("final_obs", ()))) == list(map(repr, other_told.pop("final_obs", ())))
        assert same(told, other_told)
        actions = any_legal(seen["action_mask"], chance)
        step, other_step = env.step(actions), plain.step(actions)
        assert all(map(same_bits, step[1:4], other_step[1:4]))
        seen, told, other, other_told = step[0], step[4], other_step[0], other_step[4]
        done = step[2] | step[3]
        ended += done.sum()
        if mode == AutoresetMode.DISABLED and done.any():
            seen, told = env.reset(options={"reset_mask": done})
            other, other_told = plain.reset(options={"reset_mask": done})
    assert ended > 6
