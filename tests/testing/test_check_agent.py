"""`check_agent` passes the package's agents and names what is wrong with deliberately broken ones."""

from __future__ import annotations

import inspect
import random
import time
from typing import Any, ClassVar

import numpy as np
import pytest

from fiveup_env.agents.protocol import Policy
from fiveup_env.testing import ConformanceError, check_agent
from fiveup_env.views.view import View, Views

SHORT: dict[str, Any] = {"num_players": 2, "matches": 2, "decisions": 12}


class Sound:
    """Draws from its own generator and remembers what it saw, rightly."""

    def reset(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seen = 0

    def act(self, view: View) -> int:
        self.seen += len(view.history)
        return self.rng.choice(view.legal_actions())


class Illegal(Sound):
    def act(self, view: View) -> int:
        return 120


class Text(Sound):
    def act(self, view: View) -> Any:
        return "greedy"


class Raises(Sound):
    def act(self, view: View) -> int:
        raise KeyError("no such plan")


class Writes(Sound):
    def act(self, view: View) -> int:
        action = super().act(view)
        view.game.scores[0] = 0 if view.game.scores[0] else 5
        return action


class Unseeded(Sound):
    def act(self, view: View) -> int:
        return random.choice(view.legal_actions())


class Numpys(Sound):
    def act(self, view: View) -> int:
        return int(np.random.choice(view.legal_actions()))  # noqa: NPY002


class Forgetless(Sound):
    """Keeps counting over matches."""

    count: ClassVar[list[int]] = [0]

    def act(self, view: View) -> int:
        self.count[0] += 1
        legal = view.legal_actions()
        return legal[self.count[0] % len(legal)]


class Whispers(Sound):
    """Partners and opponents share what they hold through the class."""

    hands: ClassVar[dict[int, Any]] = {}

    def reset(self, seed: int) -> None:
        self.hands.clear()

    def act(self, view: View) -> int:
        self.hands[view.seat] = view.hand
        told = sum(sum(tile) for seat, hand in self.hands.items() if seat != view.seat for tile in hand)
        legal = view.legal_actions()
        return legal[told % len(legal)]


class Peeks(Sound):
    """Looks for the match in its callers."""

    def act(self, view: View) -> int:
        frame = inspect.currentframe()
        match = None
        while frame is not None and match is None:
            match, frame = frame.f_locals.get("match"), frame.f_back
        assert match is not None
        hidden = sum(sum(tile) for seat, hand in enumerate(match.hands) if seat != view.seat for tile in hand)
        legal = view.legal_actions()
        return legal[hidden % len(legal)]


class Rows(Policy):
    """The answer for a row depends on its place in the batch."""

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        masks = views.observe()[1]
        return np.array([np.flatnonzero(mask)[row % mask.sum()] for row, mask in enumerate(masks)])


class Twofold(Policy):
    """Two different rules, alone and in a batch."""

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return views.observe()[1].argmax(1)

    def choose(self, view: View, key: int) -> int:
        return view.legal_actions()[-1]


class Duck(Sound):
    """A policy by its methods alone, with two different rules."""

    def act(self, view: View) -> int:
        return view.legal_actions()[-1]

    def choose(self, view: View, key: int) -> int:
        return view.legal_actions()[-1]

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return views.observe()[1].argmax(1)


class Flat(Policy):
    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return views.observe()[1].argmax(1) if len(views) == 1 else np.zeros((len(views), 1), np.int64)


class Uncopyable(Sound):
    def __init__(self) -> None:
        self.lines = (line for line in "ab")


@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_the_agents_of_the_package_pass(agent: str) -> None:
    report = check_agent(agent, matches=2, decisions=15)
    assert {"legal", "hidden", "batch", "match-up"} <= set(report.passed) and not report.skipped
    assert report.figures["microseconds per decision"] > 0
    assert "player_" not in str(report) and "ok       hidden" in str(report)


def test_an_agent_with_a_memory_of_its_own_passes() -> None:
    assert "own eyes" in check_agent(Sound(), **SHORT).passed
    assert "batch" not in check_agent(Sound(), **SHORT).passed


@pytest.mark.parametrize(
    ("agent", "check", "says"),
    [
        (Illegal(), "legal", r"120 \(pass\), which is not legal; legal: .* \(2 players, match seed 2000"),
        (Text(), "legal", "an action is an integer from 0 to 120, not 'greedy'"),
        (Raises(), "legal", "act raises KeyError: 'no such plan'"),
        (Writes(), "unchanged", "changed the view it was shown"),
        (Unseeded(), "seed", "draw all random numbers from the seed"),
        (Numpys(), "seed", "two answers"),
        (Forgetless(), "seed", "forget everything else there"),
        (Whispers(), "own eyes", "keep what it remembers in the instance"),
        (Peeks(), "hidden", "tiles that its seat cannot see"),
        (Rows(), "batch", "in the batch, .* in a batch of other rows"),
        (Twofold(), "batch", "asked alone by choose"),
        (Duck(), "batch", "asked alone by choose"),
        (Flat(), "batch", r"right is one integer a row \[24\]"),
        (Uncopyable(), "made", "cannot be copied for every seat"),
        (object(), "made", "reset"),
        ("gready", "made", "did you mean 'greedy'"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:12],
)
def test_what_is_broken_is_named(agent: Any, check: str, says: str) -> None:
    skip = ["hidden"] if isinstance(agent, Whispers) else []  # other worlds would find it too
    with pytest.raises(ConformanceError, match=says) as caught:
        check_agent(agent, **SHORT, skip=skip)
    assert caught.value.check == check
    assert "\n" not in str(caught.value)


def test_a_check_can_be_left_out() -> None:
    report = check_agent(Writes(), **SHORT, skip=["unchanged", "hidden", "own eyes", "seed"])
    assert "unchanged" in report.skipped and "unchanged" not in report.passed
    with pytest.raises(ValueError, match="no check 'speed' to skip: the checks are made, legal"):
        check_agent("greedy", **SHORT, skip=["speed"])
    with pytest.raises(ValueError, match="matches must be at least 1"):
        check_agent("greedy", matches=0)


def test_global_generators_are_left_as_they_were() -> None:
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = random.Random(3).random(), np.random.RandomState(3).random()
    check_agent("greedy", **SHORT)
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002


def test_speed_is_that_of_the_agent() -> None:
    class Slow(Sound):
        def act(self, view: View) -> int:
            time.sleep(0.002)
            return super().act(view)

    report = check_agent(Slow(), num_players=2, matches=1, decisions=5, skip=["match-up"])
    assert report.figures["microseconds per decision"] >= 2000
