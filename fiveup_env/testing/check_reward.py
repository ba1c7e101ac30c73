"""`check_reward`: whether a function is a sound reward scheme (see `fiveup_env.envs.custom_reward`)."""

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
from fiveup_env.testing.conformance_report import Broken, Checks, Report
from fiveup_env.testing.same_bits import other_global_chance

CHECKS = {
    "form": "one finite number per side",
    "unchanged": "it changes nothing of the matches that it is shown",
    "seed": "the same question twice, the same answer, whatever state global generators are in",
    "hidden": "a side's reward does not depend on what one of its seats cannot know (R2.2, D6)",
    "winner": "over a match the side that wins gets more than any other (R6.2)",
}
LOOKED_AT = 30  # steps of a match in other worlds


@dataclass(frozen=True)
class Told:
    """A step, and what the scheme gave for it."""

    before: Match
    after: Match
    events: tuple[Event, ...]
    rewards: np.ndarray

    @property
    def where(self) -> str:
        """For people."""
        match = self.before
        return (
            f"{match.num_players} players, match seed {match.seed}, round {match.round_number},"
            f" after {len(match.history)} actions"
        )


def check_reward(
    scheme: RewardScheme | str,
    num_players: int | None = None,
    *,
    matches: int = 4,
    seed: int = 0,
    skip: Collection[str] = (),
) -> Report:
    """Check a reward scheme on whole matches of random play, some of them from scores near the target.

    Args:
        scheme: a function (see `RewardScheme`), or the name of a built-in one.
        num_players: 2, 3 or 4; None for all.
        matches: to play for every number of players.
        seed: of the matches.
        skip: names of checks to leave out: form, unchanged, seed, hidden, winner. A privileged signal, for training
            only, leaves out "hidden".

    Returns:
        A report with `microseconds a step`, `mean return of the winner` and `largest sum over the sides of a match`
        (in absolute value: 0 for a zero-sum scheme).

    Raises:
        ConformanceError: at the first check that fails; the text says what broke and in which position.
        ValueError: if there is no built-in scheme of that name or `skip` names no check.
    """
    function = named_scheme(scheme) if isinstance(scheme, str) else scheme
    name = getattr(function, "__name__", type(function).__name__)
    checks = Checks(f"reward scheme {name}", CHECKS, skip)
    played: list[list[Told]] = []
    seconds: list[float] = []

    def play_all() -> None:
        for n in (2, 3, 4) if num_players is None else (num_players,):
            for k in range(matches):
                played.append(_play(function, n, seed + 100 * n + k, near=k % 2 == 1, seconds=seconds))

    with checks.named("form"):
        play_all()
    checks.run("form", lambda: None)
    steps = [told for match in played for told in match]
    checks.each("unchanged", lambda told: _unchanged(function, told), steps)
    checks.each("seed", lambda told: _again(function, told, seed), steps)
    checks.each("hidden", lambda match: _hidden(function, match, seed), played)
    checks.each("winner", _winner, played)
    returns = [_return(match) for match in played]
    winners = [total[match[-1].after.winner] for total, match in zip(returns, played, strict=True)]
    checks.figures["microseconds a step"] = 1e6 * median(seconds)
    checks.figures["mean return of the winner"] = float(np.mean(winners))
    checks.figures["largest sum over the sides of a match"] = float(max(abs(np.sum(total)) for total in returns))
    return checks.report()


def _play(scheme: RewardScheme, num_players: int, seed: int, *, near: bool, seconds: list[float]) -> list[Told]:
    chance, sides = random.Random(seed), 3 if num_players == 3 else 2
    scores = [chance.randrange(200, 300, 5)] * sides if near else None  # even: the winner has gained most
    match, told = Match(num_players, seed, scores=scores), list[Told]()
    while match.winner is None:
        before = match.copy()
        events = match.play(chance.choice(match.legal_actions()))
        begun = time.perf_counter()
        given = scheme(before.copy(), match.copy(), events)
        seconds.append(time.perf_counter() - begun)
        told.append(Told(before, match.copy(), events, _checked(given, match, before)))
    return told


def _checked(given: Any, match: Match, before: Match) -> np.ndarray:
    where = f"({match.num_players} players, match seed {before.seed}, round {before.round_number})"
    try:
        rewards = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise Broken(f"it gives {given!r}, right is one number per side [{match.num_sides}] {where}") from None
    if rewards.shape != (match.num_sides,):
        raise Broken(f"it gives the shape {list(rewards.shape)}, right is one per side [{match.num_sides}] {where}")
    if not np.isfinite(rewards).all():
        raise Broken(f"it gives {rewards.tolist()}, which is not finite {where}")
    return rewards


def _unchanged(scheme: RewardScheme, told: Told) -> None:
    before, after = told.before.copy(), told.after.copy()
    scheme(before, after, told.events)
    for match, truth, name in ((before, told.before, "before"), (after, told.after, "after")):
        if match != truth:
            raise Broken(f"it changes the match {name!r} that it is shown ({told.where})")


def _again(scheme: RewardScheme, told: Told, seed: int) -> None:
    with other_global_chance(seed + 1):
        again = np.array(scheme(told.before.copy(), told.after.copy(), told.events), np.float64)
    if again.tobytes() != told.rewards.tobytes():
        raise Broken(f"asked twice, it gives {told.rewards.tolist()} and {again.tolist()} ({told.where})")


def _hidden(scheme: RewardScheme, match: Sequence[Told], seed: int) -> None:
    chance = random.Random(seed)
    hidden = [told for told in match if told.after.round_number == told.before.round_number and not _over(told)]
    for told in chance.sample(hidden, min(LOOKED_AT, len(hidden))):
        for seat in range(told.before.num_players):
            side, number = seat % told.before.num_sides, chance.getrandbits(60)
            before, after = resample(told.before, seat, number), resample(told.after, seat, number)
            given = float(np.array(scheme(before, after, told.events), np.float64)[side])
            if given != told.rewards[side]:
                raise Broken(
                    f"the reward of side {side} is {told.rewards[side]:g}, and {given:g} in a world that player_{seat}"
                    f" of that side cannot tell apart ({told.where}); leave this check out for a signal that only"
                    " training may see"
                )


def _over(told: Told) -> bool:
    return told.after.winner is not None


def _return(match: Sequence[Told]) -> np.ndarray:
    """Of every side over a match."""
    total: np.ndarray = np.sum([told.rewards for told in match], 0)
    return total


def _winner(match: Sequence[Told]) -> None:
    total, winner = _return(match), match[-1].after.winner
    assert winner is not None
    others = np.delete(total, winner)
    if not total[winner] > others.max():
        raise Broken(
            f"side {winner} won the match and got {total[winner]:g}, another side got {others.max():g}"
            f" (the match of seed {match[0].before.seed}, {match[0].before.num_players} players)"
        )
