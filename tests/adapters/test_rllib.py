"""The multi-agent environment for RLlib; requires the extra `ray`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ray", reason="ray is not installed: pip install 'fiveup-env[ray]'")

from fiveup_env.adapters.rllib import FiveUpMultiAgentEnv, MaskedPPOModule
from fiveup_env.envs.pettingzoo_aec import FiveUpAEC
from tests.clusters import WARNINGS, embedded

pytestmark = WARNINGS
OPTIONS = {"draws": "auto", "episode": "round", "reward": "points"}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_is_the_aec_environment_with_one_seat_listed(players):
    """Observations, rewards of every seat at every step, and final observations are equal."""
    env, other = FiveUpMultiAgentEnv({"num_players": players} | OPTIONS), FiveUpAEC(num_players=players, **OPTIONS)
    rng = np.random.default_rng(players)
    for seed in range(20):
        seen, infos = env.reset(seed=seed)
        other.reset(seed=seed)
        over = False
        while not over:
            assert list(seen) == list(infos) == [other.agent_selection]
            observation = other.observe(other.agent_selection)
            for name, value in observation.items():
                assert np.array_equal(seen[other.agent_selection][name], value)
                assert env.observation_spaces[other.agent_selection].contains(seen[other.agent_selection])
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
            seen, rewards, terminated, truncated, infos = env.step({other.agent_selection: action})
            other.step(action)
            assert rewards == other.rewards
            over = terminated["__all__"] or truncated["__all__"]
        assert all(other.terminations.values()) and set(seen) == set(env.possible_agents)
        assert not any(observation["action_mask"].any() for observation in seen.values())
        with pytest.raises(RuntimeError, match="call reset"):
            env.step({env.env.agent_selection: 0})


def test_rounds_that_are_cut_off_are_truncated():
    env = FiveUpMultiAgentEnv({"num_players": 2, "draws": "auto", "max_rounds": 1})
    seen, _ = env.reset(seed=1)
    over = {"__all__": False}
    while not over["__all__"]:
        ((agent, observation),) = seen.items()
        seen, _, terminated, over, _ = env.step({agent: int(observation["action_mask"].argmax())})
        assert not terminated["__all__"]


def test_wrong_actions():
    env = FiveUpMultiAgentEnv({"num_players": 4, "draws": "auto"})
    with pytest.raises(RuntimeError, match="call reset"):
        env.step({"player_0": 0})
    seen, _ = env.reset(seed=3)
    (agent,) = seen
    before = env.env.match
    with pytest.raises(ValueError, match=f"it is {agent} to act, not nobody"):
        env.step({})
    with pytest.raises(ValueError, match="to act, not x"):
        env.step({"x": 1})
    assert env.env.match.hands == before.hands
    illegal = int((seen[agent]["action_mask"] == 0).argmax())
    _, rewards, terminated, _, _ = env.step({agent: illegal})
    assert terminated["__all__"] and rewards[agent] == -1 and sum(rewards.values()) == -1
    with pytest.raises(TypeError, match="players"):
        FiveUpMultiAgentEnv({"players": 4})


def test_what_is_paid_between_a_seats_decisions_reaches_it():
    """Credit in RLlib's episodes; rewards before a seat's first decision are dropped."""
    from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

    env, rng, paid = FiveUpMultiAgentEnv({"num_players": 4} | OPTIONS), np.random.default_rng(1), 0.0
    for seed in range(30):
        episode = MultiAgentEpisode(agent_to_module_mapping_fn=lambda agent, episode: "team")
        seen, infos = env.reset(seed=seed)
        episode.add_env_reset(observations=seen, infos=infos)
        expected: dict[str, float] = {}
        while not episode.is_done:
            ((agent, observation),) = seen.items()
            expected.setdefault(agent, 0.0)
            actions = {agent: int(rng.choice(np.flatnonzero(observation["action_mask"])))}
            seen, rewards, terminated, truncated, infos = env.step(actions)
            for seat in expected:
                expected[seat] += rewards[seat]
            episode.add_env_step(
                observations=seen,
                actions=actions,
                rewards=rewards,
                infos=infos,
                terminateds=terminated,
                truncateds=truncated,
            )
        for agent, total in expected.items():
            assert episode.agent_episodes[agent].get_return() == pytest.approx(total)
            paid += abs(total)
    assert paid > 1


def test_rllib_trains_on_it_and_never_takes_an_illegal_action():
    """Train one policy for all seats with RLlib's sampler and networks; losses are finite."""
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    config = (
        PPOConfig()
        .environment(FiveUpMultiAgentEnv, env_config={"num_players": 4} | OPTIONS)
        .multi_agent(policies={"team"}, policy_mapping_fn=lambda agent, *_, **__: "team")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2)
        .training(train_batch_size=200, minibatch_size=64, num_epochs=1)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedPPOModule))
        .debugging(seed=1, log_level="ERROR")
    )
    with embedded():
        algorithm = config.build_algo()
        try:
            found = algorithm.train()["learners"]["team"]
            assert np.isfinite([found[name] for name in ("policy_loss", "vf_loss", "entropy")]).all()
            episodes = algorithm.env_runner.sample(num_episodes=20)
        finally:
            algorithm.stop()
    decisions = 0
    for episode in episodes:
        for one in episode.agent_episodes.values():
            masks = one.get_observations()["action_mask"]
            assert all(mask[action] for mask, action in zip(masks, one.get_actions(), strict=False))
            decisions += len(one)
    assert decisions > 100
