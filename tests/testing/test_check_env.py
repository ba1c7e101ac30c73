"""`check_env` passes the package's environments and names what is wrong with deliberately broken wrappers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from fiveup_env import fiveup_v0
from fiveup_env.testing import ConformanceError, check_env

SMALL: dict[str, Any] = {"num_players": 2, "episode": "round"}


def aec(wrapper: Callable[[Any], Any] = lambda env: env) -> Callable[[], Any]:
    return lambda: wrapper(fiveup_v0.env(**SMALL))


def single(wrapper: Callable[[Any], Any] = lambda env: env, **options: Any) -> Callable[[], Any]:
    return lambda: wrapper(gymnasium.make("fiveup_env/FiveUp-v0", opponents="greedy", **{**SMALL, **options}))


def vector(wrapper: Callable[[Any], Any] = lambda env: env, **options: Any) -> Callable[[], Any]:
    options = {**SMALL, **options}
    return lambda: wrapper(gymnasium.make_vec("fiveup_env/FiveUp-v0", num_envs=4, opponents="greedy", **options))


def observing(change: Callable[[Any, str, dict[str, Any]], Any]) -> Callable[[Any], Any]:
    """A wrapper whose observations are made by change(env, agent, observation)."""

    class Wrapper(BaseWrapper):
        def observe(self, agent: str) -> Any:
            return change(self, agent, self.env.observe(agent))

    return Wrapper


def leak(env: Any, agent: str, seen: dict[str, Any]) -> dict[str, Any]:
    first = int(agent == "player_0")
    seen["observation"][0] = (3, 4) in env.unwrapped.match.hands[first]
    return seen


def shared(env: Any, agent: str, seen: dict[str, Any]) -> dict[str, Any]:
    store = env.__dict__.setdefault("store", np.zeros_like(seen["observation"]))
    store[:] = seen["observation"]
    return seen | {"observation": store}


def counting(env: Any, agent: str, seen: dict[str, Any]) -> dict[str, Any]:
    env.__dict__["calls"] = env.__dict__.get("calls", 0) + 1
    seen["observation"][1] = env.__dict__["calls"] % 2
    return seen


def noisy(env: Any, agent: str, seen: dict[str, Any]) -> dict[str, Any]:
    seen["observation"][1] = np.random.randint(2)  # noqa: NPY002
    return seen


class Offered(BaseWrapper):
    """Offers a pass at any time."""

    def observe(self, agent: str) -> Any:
        seen = self.env.observe(agent)
        if seen["action_mask"].any():
            seen["action_mask"][120] = 1
        return seen

    def last(self, observe: bool = True) -> Any:
        _, reward, terminated, truncated, info = super().last(observe)
        return self.observe(self.agent_selection), reward, terminated, truncated, {**info, "action_mask": None}


class Doubled(BaseWrapper):
    """Rewards of last() that are not those of the steps (PettingZoo 1147)."""

    def last(self, observe: bool = True) -> Any:
        seen, reward, *rest = super().last(observe)
        return (seen, reward + 1.0, *rest)


class OneDeal(BaseWrapper):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=0, options=options)


class Chancy(BaseWrapper):
    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=random.getrandbits(32), options=options)


class Deaf(BaseWrapper):
    """Passes no options on."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=seed)


class Uncopied(BaseWrapper):
    def __deepcopy__(self, memo: Any) -> Any:
        fresh = fiveup_v0.env(**SMALL)
        fresh.reset(seed=99)
        return fresh


def test_the_report_lists_checks_and_speed() -> None:
    """`tests/envs/test_every_environment.py` checks more kinds of environments."""
    report = check_env(aec(), episodes=1)
    assert {"api", "rewards", "hidden", "copy"} <= set(report.passed)
    assert report.figures["steps a second"] > 0
    assert "hidden" in check_env(single(draws="auto"), episodes=1).passed


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_vectors_pass(mode: str) -> None:
    report = check_env(vector(autoreset_mode=mode), episodes=1, single=single())
    assert {"rows", "single"} <= set(report.passed)


@pytest.mark.parametrize(
    ("wrapper", "check", "says"),
    [
        (observing(leak), "hidden", r"player_. sees something else in its observation .*'observation'\]"),
        (observing(shared), "unchanged", "changed by later steps"),
        (observing(counting), "unchanged", "two observations in a row differ"),
        (observing(noisy), "seed", "the same seed, two episodes"),
        (observing(lambda env, agent, seen: seen["observation"] + 2), "api", "."),
        (observing(lambda env, agent, seen: {**seen, "observation": seen["observation"] * 9}), "spaces", "bounds are"),
        (Offered, "mask", r"actions \[120\] as legal"),
        (Doubled, "rewards", "since its own last step there were 0"),
        (OneDeal, "seed", "six different seeds give the same start"),
        (Chancy, "seed", "the same seed, two episodes"),
        (Deaf, "hidden", "pass options on"),
        (Uncopied, "copy", "continues in another way"),
    ],
)
def test_broken_pettingzoo_wrappers_are_named(wrapper: Any, check: str, says: str) -> None:
    skip = [] if check == "api" else ["api"]
    with pytest.raises(ConformanceError, match=says) as caught:
        check_env(aec(wrapper), episodes=1, skip=skip)
    assert caught.value.check == check and "\n" not in str(caught.value)


class Peeking(gymnasium.ObservationWrapper):
    def observation(self, observation: Any) -> Any:
        match = self.unwrapped.match  # type: ignore[attr-defined]
        other = 1 - observation["action_mask"].any() * match.turn
        observation["observation"][0] = (3, 4) in match.hands[other]
        return observation


class Reused(gymnasium.ObservationWrapper):
    def observation(self, observation: Any) -> Any:
        store = self.__dict__.setdefault("store", np.zeros_like(observation["observation"]))
        store[:] = observation["observation"]
        return {**observation, "observation": store}


class NaN(gymnasium.RewardWrapper):
    def reward(self, reward: Any) -> float:
        return float("nan")


class NoSeed(gymnasium.Wrapper):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=None, options=options)


class Masked(gymnasium.Wrapper):
    def step(self, action: Any) -> Any:
        seen, *rest, info = super().step(action)
        return (seen, *rest, {**info, "action_mask": np.ones(121, np.int8)})


@pytest.mark.parametrize(
    ("wrapper", "check", "says"),
    [
        (Peeking, "hidden", "the learner sees something else"),
        (Reused, "unchanged", "changed by later steps"),
        (NaN, "rewards", "the reward is nan for the learner at step 1"),
        (NoSeed, "seed", "the same seed, two episodes"),
        (Masked, "mask", "two masks for the learner at step 1"),
    ],
)
def test_broken_gymnasium_wrappers_are_named(wrapper: Any, check: str, says: str) -> None:
    with pytest.raises(ConformanceError, match=says) as caught:
        check_env(single(wrapper), episodes=2, skip=["api"])
    assert caught.value.check == check


class Neighbours(gymnasium.vector.VectorRewardWrapper):
    def rewards(self, reward: np.ndarray) -> np.ndarray:
        return reward + np.arange(len(reward))


class Shaped(gymnasium.vector.VectorRewardWrapper):
    def rewards(self, reward: np.ndarray) -> np.ndarray:
        return reward + 1


@pytest.mark.parametrize(
    ("wrapper", "check", "says"),
    [(Neighbours, "rows", "two rows differ"), (Shaped, "single", "the reward of the single environment is 0")],
)
def test_broken_vector_wrappers_are_named(wrapper: Any, check: str, says: str) -> None:
    with pytest.raises(ConformanceError, match=says) as caught:
        check_env(vector(wrapper), episodes=1, single=single())
    assert caught.value.check == check


def test_what_cannot_be_checked_is_said() -> None:
    with pytest.raises(TypeError, match="make is a function that makes a fresh environment"):
        check_env(fiveup_v0.env())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="make gives dict"):
        check_env(dict)
    with pytest.raises(TypeError, match="single is for vector environments"):
        check_env(aec(), single=single())
    with pytest.raises(ValueError, match="episodes must be at least 1"):
        check_env(aec(), episodes=0)
