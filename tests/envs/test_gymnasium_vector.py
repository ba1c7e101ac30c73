"""`FiveUpVectorEnv`: Gymnasium's vector API, its autoreset modes and infos. `test_parity` tests the game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.agents.registry import make_agent
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.envs.gymnasium_vector import FiveUpVectorEnv
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import RAW_PER_POINT
from fiveup_env.views.observation import units
from fiveup_env.views.view import View, Views
from tests.agents.support import Last
from tests.envs.environments import Asked, any_legal, same
from tests.envs.trace import CLOSE, choice, same_bits

MODES = tuple(AutoresetMode)
SHORT: dict[str, Any] = {"max_rounds": 2, "reward": "points", "starting_scores": CLOSE[:2]}


class AskedGreedy(Asked):
    """Plays like `greedy`, but compiled code has to ask it."""

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return make_agent("greedy").act_many(views, keys)  # type: ignore[attr-defined,no-any-return]


def chosen(observation: dict[str, np.ndarray]) -> np.ndarray:
    """The action of `choice` per row, 0 where nothing is legal."""
    rows = zip(observation["observation"], observation["action_mask"], strict=True)
    return np.array([choice(*row) if row[1].any() else 0 for row in rows])


@pytest.mark.parametrize(
    ("num_players", "around"),
    [
        (2, {"opponents": "random"}),
        (3, {"opponents": ["greedy", "random"], "seat": 1}),
        (4, {"opponents": ["greedy", "random"], "partner": "greedy"}),
    ],
)
def test_every_row_is_the_single_env_with_its_seed(num_players: int, around: dict[str, Any]) -> None:
    """In later episodes too, with seats drawn by lot and agents that draw random numbers."""
    setting = {"num_players": num_players, "draws": "auto", "max_rounds": 2, "reward": "equity", **around}
    seeds = [5, 2**63, 17]
    singles, env = [FiveUpEnv(**setting) for _ in seeds], FiveUpVectorEnv(3, **setting)
    batch, info = env.reset(seed=seeds)
    seen = [single.reset(seed=seed) for single, seed in zip(singles, seeds, strict=True)]
    for _ in range(120):
        for i, (observation, told) in enumerate(seen):
            assert same({name: batch[name][i] for name in batch}, observation)
            assert (info["seat"][i], info["side"][i]) == (told["seat"], told["side"])
        actions = chosen(batch)
        batch, rewards, terminated, truncated, info = env.step(actions)
        for i, single in enumerate(singles):
            observation, reward, ended, cut, told = single.step(actions[i])
            assert (rewards[i], terminated[i], truncated[i]) == (reward, ended, cut)
            if ended or cut:
                assert same(info["final_obs"][i], observation)
                final = info["final_info"]
                assert final["is_success"][i] == told["is_success"]
                assert tuple(final["scores"][i]) == told["scores"] and final["rounds"][i] == told["round_number"]
            seen[i] = single.reset() if ended or cut else (observation, told)


def record(mode: AutoresetMode | str, steps: int) -> list[list[tuple[Any, ...]]]:
    """Return the events of each row in a form that does not depend on the mode."""
    env = FiveUpVectorEnv(7, opponents="greedy", autoreset_mode=mode, **SHORT)
    observation, info = env.reset(seed=8)
    told: list[list[tuple[Any, ...]]] = [[] for _ in range(7)]
    over = np.zeros(7, np.bool_)
    for _ in range(steps):
        for i in np.flatnonzero(~over):
            told[i].append(("sees", observation["observation"][i].tobytes(), info["seat"][i], info["side"][i]))
        actions = chosen(observation)
        before = over
        observation, rewards, terminated, truncated, info = env.step(actions)
        over = terminated | truncated
        if env.autoreset_mode is AutoresetMode.NEXT_STEP:
            assert not over[before].any() and not rewards[before].any()
            assert not observation["action_mask"][over].any()
        for i in np.flatnonzero(~before):
            told[i].append(("gets", rewards[i], terminated[i], truncated[i]))
        for i in np.flatnonzero(over):
            final = {key: value[i] for key, value in info["final_info"].items() if not key.startswith("_")}
            last = info["final_obs"][i] if env.autoreset_mode is AutoresetMode.SAME_STEP else observation
            shown = last["observation"] if env.autoreset_mode is AutoresetMode.SAME_STEP else last["observation"][i]
            told[i].append(("ends", shown.tobytes(), str(final)))
        if env.autoreset_mode is AutoresetMode.SAME_STEP:
            over = np.zeros(7, np.bool_)
        if env.autoreset_mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(ValueError, match=f"match {over.argmax()} is over: reset it"):
                env.step(actions)
            untouched = observation["observation"][~over].copy()
            observation, info = env.reset(options={"reset_mask": over})
            assert same_bits(observation["observation"][~over], untouched)
            over = np.zeros(7, np.bool_)
    return told


def test_all_autoreset_modes_show_the_same_episodes() -> None:
    same, following, disabled = (record(mode, 150) for mode in ("same_step", AutoresetMode.NEXT_STEP, "Disabled"))
    for i in range(7):
        for other in (following[i], disabled[i]):
            length = min(len(same[i]), len(other))
            assert other[:length] == same[i][:length]
        assert sum(what[0] == "ends" for what in following[i]) >= 2


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_is_declared(mode: AutoresetMode) -> None:
    for given in (mode, mode.name, mode.value, mode.name.lower()):
        env = FiveUpVectorEnv(1, autoreset_mode=given)
        assert env.metadata["autoreset_mode"] is mode and env.autoreset_mode is mode
    assert FiveUpVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_final_infos_follow_gymnasiums_convention() -> None:
    env = RecordEpisodeStatistics(FiveUpVectorEnv(9, opponents="random", **SHORT))
    observation, info = env.reset(seed=1)
    assert set(info) == {"seat", "side", "action_mask"}
    chance, ended = np.random.default_rng(1), 0
    while ended < 20:
        observation, rewards, terminated, truncated, info = env.step(any_legal(observation["action_mask"], chance))
        done = terminated | truncated
        ended += done.sum()
        assert (terminated.dtype, truncated.dtype, rewards.dtype) == (np.bool_, np.bool_, np.float64)
        assert ("final_info" in info) == done.any()
        if done.any():
            assert same_bits(info["_final_info"], done) and same_bits(info["_final_obs"], done)
            assert [found is not None for found in info["final_obs"]] == done.tolist()
            final = info["final_info"]
            for name in ("winner", "is_success", "scores", "rounds", "length", "return"):
                assert same_bits(final[f"_{name}"], done) and len(final[name]) == 9
            assert info["episode"]["r"][done] == pytest.approx(final["return"][done], abs=1e-9)
            assert (info["episode"]["l"][done] == final["length"][done]).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "asked"), [("random", Asked), ("greedy", AskedGreedy)])
def test_batched_agents_play_as_their_kernels_do(name: str, asked: Any, mode: AutoresetMode) -> None:
    envs = [
        FiveUpVectorEnv(11, opponents=opponents, partner=partner, autoreset_mode=mode, **SHORT)
        for opponents, partner in ((name, name), (asked(), asked()), ([name, asked()], name))
    ]
    seen = [env.reset(seed=4) for env in envs]
    chance = np.random.default_rng(4)
    for _ in range(60):
        actions = any_legal(seen[0][0]["action_mask"], chance)
        steps = [env.step(actions) for env in envs]
        for step in steps[1:]:
            for key in step[0]:
                assert same_bits(step[0][key], steps[0][0][key])
            assert all(np.array_equal(step[k], steps[0][k]) for k in (1, 2, 3))
            assert np.array_equal(step[4]["seat"], steps[0][4]["seat"])
        seen = [(step[0], step[4]) for step in steps]
        over = steps[0][2] | steps[0][3]
        if mode is AutoresetMode.DISABLED and over.any():
            seen = [env.reset(options={"reset_mask": over}) for env in envs]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opponents", ["greedy", AskedGreedy()])
def test_episodes_that_end_before_the_learner_decides_are_skipped(opponents: Any, mode: AutoresetMode) -> None:
    """From 300 raw every lead that counts 5 is an exact hit (R6.2); greedy makes it."""
    env = FiveUpVectorEnv(64, 2, opponents=opponents, autoreset_mode=mode, starting_scores=(300, 300), draws="auto")
    single = FiveUpEnv(2, opponents="greedy", starting_scores=(300, 300), draws="auto")
    observation, _ = env.reset(seed=np.arange(64))
    held = observation["observation"].copy()
    skipped = 0
    for i in range(64):
        seen, _ = single.reset(seed=i)
        assert same_bits(held[i], seen["observation"])
        skipped += env.games["seed"][i] != i
    assert skipped > 5 and observation["action_mask"].any(1).all()
    for _ in range(30):
        observation, _, terminated, truncated, _ = env.step(chosen(observation))
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED and over.any():
            flags = terminated.copy()
            observation, _ = env.reset(options={"reset_mask": over})
            assert np.array_equal(terminated, flags), "a reset must not write into arrays handed out by the last step"
        if mode is not AutoresetMode.NEXT_STEP:
            assert observation["action_mask"].any(1).all()


def test_seeds_and_starting_scores() -> None:
    env = FiveUpVectorEnv(4, opponents="random", seat=0, max_rounds=1, reward="points")
    seeds = np.array([3, 1, 2**64 - 1, 0], np.uint64)
    scores = np.array([[0, 5], [10, 15], [20, 25], [30, 35]])
    observation, info = env.reset(seed=seeds, options={"scores": scores})
    for i, seed in enumerate(seeds):
        match = Match(4, seed=int(seed), scores=scores[i])
        assert int(env.games["seed"][i]) == seed
        if match.turn == 0:
            assert same_bits(observation["observation"][i], View.of(match).observation())
    assert len({int(match.turn) for match in (Match(4, seed=int(seed)) for seed in seeds)}) > 1
    ended = np.zeros(4, int)
    chance = np.random.default_rng(0)
    while ended.min() < 3:
        observation, _, terminated, truncated, info = env.step(any_legal(observation["action_mask"], chance))
        for i in np.flatnonzero(terminated | truncated):
            ended[i] += 1
            lead = np.diff(info["final_info"]["scores"][i])[0] - np.diff(scores[i])[0]
            assert info["final_info"]["return"][i] == pytest.approx(-lead / 305)
    few, many = FiveUpVectorEnv(3), FiveUpVectorEnv(30)
    assert same_bits(few.reset(seed=9)[0]["observation"], many.reset(seed=9)[0]["observation"][:3])


def test_a_reset_without_a_seed_continues_the_streams() -> None:
    env, other = FiveUpVectorEnv(5), FiveUpVectorEnv(5)
    first = env.reset(seed=1)[0]["observation"].copy()
    second = env.reset()[0]["observation"].copy()
    other.reset(seed=1)
    assert not np.array_equal(first, second) and same_bits(other.reset()[0]["observation"], second)


def test_arrays_are_overwritten_two_steps_later() -> None:
    env = FiveUpVectorEnv(6)
    first, _ = env.reset(seed=0)
    kept = first["observation"].copy()
    second, *_ = env.step(chosen(first))
    assert same_bits(first["observation"], kept) and not np.shares_memory(first["observation"], second["observation"])
    third, *_ = env.step(chosen(second))
    assert np.shares_memory(first["observation"], third["observation"])


def test_an_agent_that_answers_wrongly_is_named() -> None:
    class Wrong(Last):
        name = "wrong"

        def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
            return super().act_many(views, keys) * 0 + 120

    with pytest.raises(AgentError, match=r"^agent wrong answered with 3 illegal actions: match 1 action 120 \(pass\)"):
        FiveUpVectorEnv(8, 2, opponents=Wrong(), seat=1).reset(seed=[1, 2, 3, 4, 5, 6, 7, 8])


@pytest.mark.slow
def test_codes_are_the_observations() -> None:
    floats, codes = (FiveUpVectorEnv(6, opponents="random", dtype=dtype, **SHORT) for dtype in (np.float32, np.uint8))
    left, _ = floats.reset(seed=0)
    right, _ = codes.reset(seed=0)
    for _ in range(100):
        assert right in codes.observation_space
        assert same_bits(right["observation"] * units(4), left["observation"])
        actions = chosen(left)
        left, _, terminated, truncated, info = floats.step(actions)
        right, *_, told = codes.step(actions)
        for i in np.flatnonzero(terminated | truncated):
            shown = told["final_obs"][i]["observation"] * units(4)
            assert same_bits(shown, info["final_obs"][i]["observation"])


# for training: opponents by row, matches that continue over rounds, states

ROUNDS = {"episode": "round", "reward": "equity", "draws": "auto"}


class FirstLegal(Policy):
    """The legal action with the lowest id; counts the views it was shown."""

    def __init__(self) -> None:
        self.asked = 0

    def act_many(self, views, keys):
        self.asked += len(views)
        return views.observe()[1].argmax(1)


def last_legal(env, observation, steps):
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
    _, seen = last_legal(mixed, mixed.reset(seed=5)[0], 60)
    for opponent, part in (("greedy", ~rows), (FirstLegal(), rows)):
        alone = FiveUpVectorEnv(12, 4, opponents=opponent, draws="auto")
        _, expected = last_legal(alone, alone.reset(seed=5)[0], 60)
        for a, b in zip(seen, expected, strict=True):
            assert (a[:, part] == b[:, part]).all()
    assert agent.asked


def test_opponents_change_with_the_next_episode():
    env = FiveUpVectorEnv(8, 2, opponents="greedy", **ROUNDS)
    observation, _ = env.reset(seed=1)
    agent = FirstLegal()
    env.set_opponents(agent)
    observation, (_, _, terminated) = last_legal(env, observation, 1)
    assert not terminated.any() and not agent.asked
    last_legal(env, observation, 40)
    assert agent.asked


def test_numbers_of_agents_that_left_are_used_again():
    env = FiveUpVectorEnv(4, 2, opponents="random", **ROUNDS)
    observation, _ = env.reset(seed=1)
    for _ in range(140):  # more than there are numbers
        env.set_opponents(FirstLegal(), rows=np.array([True, True, False, False]))
        observation, _ = last_legal(env, observation, 8)
    assert len(env.agents) < 10


def test_rows_must_be_a_mask():
    env = FiveUpVectorEnv(4, 2)
    with pytest.raises(ValueError, match=r"rows must be a bool array \[4\]"):
        env.set_opponents("greedy", rows=np.array([0, 1]))


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_a_match_continues_over_rounds(num_players):
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


def test_without_it_every_round_is_a_separate_match():
    env = FiveUpVectorEnv(16, 4, opponents="greedy", **ROUNDS)
    observation, _ = env.reset(seed=2)
    for _ in range(40):
        observation, *_ = env.step(observation["action_mask"].argmax(1))
        assert (env.games["round_number"] == 1).all()


def test_a_seeded_reset_deals_new_matches():
    env = FiveUpVectorEnv(16, 4, opponents="greedy", continue_match=True, **ROUNDS)
    first = env.reset(seed=7)[0]["observation"].copy()
    last_legal(env, env.reset(seed=8)[0], 50)
    assert (env.reset(seed=7)[0]["observation"] == first).all()


def test_lone_actions_are_skipped():
    env = FiveUpVectorEnv(32, 4, opponents="greedy", skip_single=True, **ROUNDS)
    observation, _ = env.reset(seed=3)
    for _ in range(50):
        assert (observation["action_mask"].sum(1) > 1).all()
        observation, *_ = env.step(observation["action_mask"].argmax(1))


def test_a_state_continues_with_the_same_bits():
    def make():
        return FiveUpVectorEnv(24, 4, opponents="greedy", continue_match=True, skip_single=True, **ROUNDS)

    env, agent = make(), FirstLegal()
    env.set_opponents(agent, rows=np.arange(24) < 9)
    observation, _ = last_legal(env, env.reset(seed=4)[0], 31)
    state, agents = env.state(), env.agents
    again = make()
    restored, info = again.set_state(state, agents)
    assert (restored["observation"] == observation["observation"]).all()
    assert (info["action_mask"] == observation["action_mask"]).all()
    _, expected = last_legal(env, observation, 60)
    _, seen = last_legal(again, restored, 60)
    for a, b in zip(seen, expected, strict=True):
        assert (a == b).all()
