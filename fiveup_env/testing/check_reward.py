"""`check_reward`: a function is a sound reward scheme (see `fiveup_env.envs.custom_reward`)."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from fiveup_env.belief.resample import resample
from fiveup_env.envs.custom_reward import RewardScheme, named_scheme
from fiveup_env.rules.match import Event, Match
from fiveup_env.testing.conformance import Broken, Checks, Report, other_global_chance, position_of

CHECKS = {
    "form": "one finite number per side",
    "unchanged": "it does not change the matches that it is shown",
    "seed": "asked twice it answers the same, in any state of the global generators",
    "hidden": "a side's reward does not depend on what one of its seats cannot know (R2.2, D6)",
    "winner": "over a match the winning side gets more than any other (R6.2)",
}
LOOKED_AT = 30
"""Number of steps of a match to look at in other worlds."""


@dataclass(frozen=True)
class RewardedStep:
    """A step and the rewards that the scheme gave for it, float64 [sides]."""

    before: Match
    after: Match
    events: tuple[Event, ...]
    rewards: np.ndarray


def check_reward(
    scheme: RewardScheme | str,
    num_players: int | None = None,
    *,
    matches: int = 4,
    seed: int = 0,
    skip: Collection[str] = (),
) -> Report:
    """Check a reward scheme on matches of random play, half of them from scores near the target.

    Args:
        scheme: a function (see `RewardScheme`), or the name of a built-in scheme.
        num_players: 2, 3 or 4; None for all.
        matches: number of matches per number of players.
        seed: seed of the matches.
        skip: names of checks to leave out: form, unchanged, seed, hidden, winner. Skip "hidden" for a privileged signal
            that only training uses.

    Returns:
        A report with `microseconds a step`, `mean return of the winner` and `largest sum over the sides of a match`
        (absolute; 0 for a zero-sum scheme).

    Raises:
        ConformanceError: at the first failing check; the text gives the fault and the position.
        ValueError: if there is no built-in scheme of that name or `skip` names an unknown check.
    """
    function = named_scheme(scheme) if isinstance(scheme, str) else scheme
    name = getattr(function, "__name__", type(function).__name__)
    checks = Checks(f"reward scheme {name}", CHECKS, skip)
    seconds: list[float] = []
    with checks.named("form"):  # the other checks look at the matches played here
        played = [
            _play(function, n, seed + 100 * n + k, near=k % 2 == 1, seconds=seconds)
            for n in ((2, 3, 4) if num_players is None else (num_players,))
            for k in range(matches)
        ]
    checks.passed("form")
    steps = [step for match in played for step in match]
    checks.run("unchanged", lambda step: _unchanged(function, step), steps)
    checks.run("seed", lambda step: _again(function, step, seed), steps)
    checks.run("hidden", lambda match: _hidden(function, match, seed), played)
    checks.run("winner", _winner, played)
    returns = [_return(match) for match in played]
    winners = [total[match[-1].after.winner] for total, match in zip(returns, played, strict=True)]
    checks.figures["microseconds a step"] = 1e6 * median(seconds)
    checks.figures["mean return of the winner"] = float(np.mean(winners))
    checks.figures["largest sum over the sides of a match"] = float(max(abs(np.sum(total)) for total in returns))
    return checks.report()


def _play(scheme: RewardScheme, num_players: int, seed: int, *, near: bool, seconds: list[float]) -> list[RewardedStep]:
    chance, sides = random.Random(seed), 3 if num_players == 3 else 2
    scores = [chance.randrange(200, 300, 5)] * sides if near else None  # even, so that the winner has gained most
    match, steps = Match(num_players, seed, scores=scores), list[RewardedStep]()
    while match.winner is None:
        before = match.copy()
        events = match.play(chance.choice(match.legal_actions()))
        begun = time.perf_counter()
        given = scheme(before.copy(), match.copy(), events)
        seconds.append(time.perf_counter() - begun)
        steps.append(RewardedStep(before, match.copy(), events, _checked(given, before)))
    return steps


def _checked(given: Any, match: Match) -> np.ndarray:
    where = f"({position_of(match)})"
    try:
        rewards = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise Broken(f"it gives {given!r}, right is one number per side [{match.num_sides}] {where}") from None
    if rewards.shape != (match.num_sides,):
        raise Broken(f"it gives the shape {list(rewards.shape)}, right is one per side [{match.num_sides}] {where}")
    if not np.isfinite(rewards).all():
        raise Broken(f"it gives {rewards.tolist()}, which is not finite {where}")
    return rewards


def _unchanged(scheme: RewardScheme, step: RewardedStep) -> None:
    before, after = step.before.copy(), step.after.copy()
    scheme(before, after, step.events)
    for match, truth, name in ((before, step.before, "before"), (after, step.after, "after")):
        if match != truth:
            raise Broken(f"it changes the match {name!r} that it is shown ({position_of(step.before)})")


def _again(scheme: RewardScheme, step: RewardedStep, seed: int) -> None:
    with other_global_chance(seed + 1):
        again = np.array(scheme(step.before.copy(), step.after.copy(), step.events), np.float64)
    if again.tobytes() != step.rewards.tobytes():
        answers = f"{step.rewards.tolist()} and {again.tolist()}"
        raise Broken(f"asked twice, it gives {answers} ({position_of(step.before)})")


def _hidden(scheme: RewardScheme, match: Sequence[RewardedStep], seed: int) -> None:
    """Compare in other worlds, except at steps that end a round, where hands are shown (D5)."""
    chance = random.Random(seed)
    hidden = [
        step for step in match if step.after.round_number == step.before.round_number and step.after.winner is None
    ]
    for step in chance.sample(hidden, min(LOOKED_AT, len(hidden))):
        for seat in range(step.before.num_players):
            side, number = seat % step.before.num_sides, chance.getrandbits(60)
            before, after = resample(step.before, seat, number), resample(step.after, seat, number)
            given = float(np.array(scheme(before, after, step.events), np.float64)[side])
            if given != step.rewards[side]:
                raise Broken(
                    f"the reward of side {side} is {step.rewards[side]:g}, and {given:g} in a world that player_{seat}"
                    f" of that side cannot tell apart ({position_of(step.before)}); skip this check for a signal that"
                    " only training may see"
                )


def _return(match: Sequence[RewardedStep]) -> np.ndarray:
    """Return the sum of rewards over a match, [sides]."""
    total: np.ndarray = np.sum([step.rewards for step in match], 0)
    return total


def _winner(match: Sequence[RewardedStep]) -> None:
    total, winner = _return(match), match[-1].after.winner
    assert winner is not None
    others = np.delete(total, winner)
    if not total[winner] > others.max():
        raise Broken(
            f"side {winner} won the match and got {total[winner]:g}, another side got {others.max():g}"
            f" ({position_of(match[0].before)})"
        )
