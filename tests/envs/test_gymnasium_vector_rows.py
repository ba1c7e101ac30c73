"""What training needs of `FiveUpVectorEnv`: opponents by row, matches that go on by rounds, and its state."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents.protocol import Policy
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.rules.record import RAW_PER_POINT

ROUNDS = {"episode": "round", "reward": "equity", "draws": "auto"}


class FirstLegal(Policy):
    """The legal action with the lowest id; counts the views it was shown."""

    def __init__(self) -> None:
        self.asked = 0

    def act_many(self, views, keys):
        self.asked += len(views)
        return views.observe()[1].argmax(1)


def run(env, observation, steps):
    """Steps of the last legal action; the observations, rewards and flags of all."""
    seen = []
    for _ in range(steps):
        actions = 120 - observation["action_mask"][:, ::-1].argmax(1)
        observation, reward, terminated, _, _ = env.step(actions)
        seen.append((observation["observation"].copy(), reward.copy(), terminated.copy()))
    return observation, [np.stack(part) for part in zip(*seen, strict=True)]


def test_rows_have_the_opponents_they_were_given():
    """A row's matches are those of an env in which everybody plays against that opponent."""
    agent = FirstLegal()
    rows = np.arange(12) % 3 == 0
    mixed = FiveUpVectorEnv(12, 4, opponents="greedy", draws="auto")
    mixed.set_opponents(agent, rows=rows)
    _, seen = run(mixed, mixed.reset(seed=5)[0], 60)
    for opponent, part in (("greedy", ~rows), (FirstLegal(), rows)):
        alone = FiveUpVectorEnv(12, 4, opponents=opponent, draws="auto")
        _, expected = run(alone, alone.reset(seed=5)[0], 60)
        for a, b in zip(seen, expected, strict=True):
            assert (a[:, part] == b[:, part]).all()
    assert agent.asked


def test_opponents_change_with_the_next_episode():
    env = FiveUpVectorEnv(8, 2, opponents="greedy", **ROUNDS)
    observation, _ = env.reset(seed=1)
    agent = FirstLegal()
    env.set_opponents(agent)
    observation, (_, _, terminated) = run(env, observation, 1)
    assert not terminated.any() and not agent.asked
    run(env, observation, 40)
    assert agent.asked


def test_places_of_agents_that_left_are_given_anew():
    env = FiveUpVectorEnv(4, 2, opponents="random", **ROUNDS)
    observation, _ = env.reset(seed=1)
    for _ in range(140):  # more than there are numbers
        env.set_opponents(FirstLegal(), rows=np.array([True, True, False, False]))
        observation, _ = run(env, observation, 8)
    assert len(env.agents) < 10


def test_rows_must_be_a_mask():
    env = FiveUpVectorEnv(4, 2)
    with pytest.raises(ValueError, match=r"rows must be a bool array \[4\]"):
        env.set_opponents("greedy", rows=np.array([0, 1]))


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_a_match_goes_on_by_rounds(num_players):
    """R2.5, R6.2: scores and opener carry over until a side has exactly 61, then a new match is dealt."""
    env = FiveUpVectorEnv(64, num_players, opponents="greedy", continue_match=True, **ROUNDS)
    observation, _ = env.reset(seed=2)
    won = went_on = 0
    for _ in range(400):
        before = env.games.copy()
        observation, _, terminated, _, info = env.step(observation["action_mask"].argmax(1))
        if not terminated.any():
            continue
        final = info["final_info"]
        for i in np.flatnonzero(terminated):
            game = env.games[i]
            if 61 * RAW_PER_POINT in final["scores"][i]:
                won += 1
                assert game.seed != before[i].seed and game.round_number < before[i].round_number + 1
            elif game.round_number == final["rounds"][i] + 1:
                went_on += 1
                assert game.seed == before[i].seed
    assert won > 20 and went_on > 200


def test_without_it_every_round_is_a_match_of_its_own():
    env = FiveUpVectorEnv(16, 4, opponents="greedy", **ROUNDS)
    observation, _ = env.reset(seed=2)
    for _ in range(40):
        observation, *_ = env.step(observation["action_mask"].argmax(1))
        assert (env.games["round_number"] == 1).all()


def test_a_seeded_reset_deals_new_matches():
    env = FiveUpVectorEnv(16, 4, opponents="greedy", continue_match=True, **ROUNDS)
    first = env.reset(seed=7)[0]["observation"].copy()
    run(env, env.reset(seed=8)[0], 50)
    assert (env.reset(seed=7)[0]["observation"] == first).all()


def test_lone_actions_are_skipped():
    env = FiveUpVectorEnv(32, 4, opponents="greedy", skip_single=True, **ROUNDS)
    observation, _ = env.reset(seed=3)
    for _ in range(50):
        assert (observation["action_mask"].sum(1) > 1).all()
        observation, *_ = env.step(observation["action_mask"].argmax(1))


def test_state_goes_on_to_the_same_bits():
    def make():
        return FiveUpVectorEnv(24, 4, opponents="greedy", continue_match=True, skip_single=True, **ROUNDS)

    env, agent = make(), FirstLegal()
    env.set_opponents(agent, rows=np.arange(24) < 9)
    observation, _ = run(env, env.reset(seed=4)[0], 31)
    state, agents = env.state(), env.agents
    again = make()
    restored, info = again.set_state(state, agents)
    assert (restored["observation"] == observation["observation"]).all()
    assert (info["action_mask"] == observation["action_mask"]).all()
    _, expected = run(env, observation, 60)
    _, seen = run(again, restored, 60)
    for a, b in zip(seen, expected, strict=True):
        assert (a == b).all()
