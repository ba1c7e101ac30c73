"""Reference episodes, played by `Match` alone in plain Python, to compare every environment with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from fiveup_env.agents.protocol import Policy
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import ROUND_OVER
from fiveup_env.views.rewards import REWARDS
from fiveup_env.views.view import View, Views

# Close enough to the target that a match is over in a few rounds, far enough that it is not over in one.
CLOSE = (255, 240, 250)
ENDS: dict[str, dict[str, Any]] = {
    "match": {"episode": "match"},
    "truncated": {"episode": "match", "max_rounds": 2},
    "round": {"episode": "round"},
}


def sides_of(num_players: int) -> int:
    """Number of sides (R1.2)."""
    return 3 if num_players == 3 else 2


def choice(observation: np.ndarray, mask: np.ndarray) -> int:
    """A legal action that depends on nothing but what is seen, so that every environment is given the same ones."""
    legal = np.flatnonzero(mask)
    return int(legal[crc32(observation.tobytes()) % len(legal)])


class Chooser(Policy):
    """Plays `choice`; compiled code has to ask it."""

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return np.array([choice(*seen) for seen in zip(*views.observe(), strict=True)], np.int64)


@dataclass(frozen=True)
class Ply:
    """A decision: what is seen before it, and what comes of it.

    `belief` is None if it was not asked for. `gains`: reward scheme -> float per side.
    """

    seat: int
    observation: np.ndarray
    mask: np.ndarray
    belief: np.ndarray | None
    action: int
    gains: dict[str, list[float]]
    terminated: bool
    truncated: bool


@dataclass
class Trace:
    """An episode. `length` counts decisions, `rounds` those begun."""

    num_players: int
    plies: list[Ply] = field(default_factory=list)
    winner: int | None = None
    scores: tuple[int, ...] = ()
    rounds: int = 0

    def learner(self, seats: Sequence[int], reward: str) -> list[tuple[Ply, float]]:
        """The decisions of some seats of one side, each with the side's reward up to the next one."""
        side = seats[0] % sides_of(self.num_players)
        mine = [i for i, ply in enumerate(self.plies) if ply.seat in seats]
        decisions = []
        for number, i in enumerate(mine):
            following = mine[number + 1] if number + 1 < len(mine) else len(self.plies)
            total = 0.0
            for ply in self.plies[i if number else 0 : following]:
                total += ply.gains[reward][side]
            decisions.append((self.plies[i], total))
        return decisions


def exact(view: View) -> np.ndarray:
    """The section `belief`, by way of `Belief`."""
    return Belief(view).marginals()[1:].astype(np.float32)


def standing(match: Match, reward: str, side: int) -> float:
    """Potential of a side under "points" or "equity" (see `views.rewards`)."""
    others = [score for other, score in enumerate(match.scores) if other != side]
    if reward == "points":
        return (match.scores[side] - sum(others) / len(others)) / 305
    goal = 5 * match.variant.target
    own, best = goal - match.scores[side], goal - max(others)
    return (best - own) / (own + best)


def final_win(winner: int | None, sides: int) -> list[float]:
    """Rewards of "win" at the end."""
    if winner is None:
        return [0.0] * sides
    return [1.0 if side == winner else -1.0 / (sides - 1) for side in range(sides)]


def promised(match: Match, reward: str, side: int) -> float:
    """Sum of the rewards of a side in an episode from 0 : 0 to the position of the match."""
    if reward != "win":
        return standing(match, reward, side)
    winner = match.winner
    if winner is None and match.last_round is not None and match.game.phase == ROUND_OVER:
        winner = match.last_round["winner"]
    return final_win(winner, match.num_sides)[side]


def _forced(match: Match, skip_single: bool) -> bool:
    legal = match.legal_actions()
    return legal[0] >= DRAW or (skip_single and len(legal) == 1)


def play_out(
    num_players: int,
    seed: int,
    *,
    draws: str = "explicit",
    episode: str = "match",
    max_rounds: int | None = None,
    scores: Sequence[int] | None = None,
    skip_single: bool = False,
    belief: str = "none",
    **variant: int,
) -> Trace:
    """An episode in which every seat plays `choice`."""
    match = Match(num_players, seed=seed, scores=scores, **variant)
    trace, sides = Trace(num_players), match.num_sides
    ended, truncated = False, False

    def play(action: int) -> None:
        nonlocal ended, truncated
        number = match.round_number
        match.play(action)
        over = match.round_number != number
        trace.rounds, trace.winner = number, match.winner
        if episode == "round" and (over or match.winner is not None):
            assert match.last_round is not None
            trace.winner, ended = match.last_round["winner"], True
        ended = ended or match.winner is not None
        truncated = not ended and over and max_rounds is not None and number >= max_rounds

    while not (ended or truncated):
        view = View.of(match)
        seat, observation, mask = match.turn, view.observation(), match.action_mask()
        before = {name: [standing(match, name, side) for side in range(sides)] for name in ("points", "equity")}
        action = choice(observation, mask)
        play(action)
        while draws == "auto" and not (ended or truncated) and _forced(match, skip_single):
            play(match.legal_actions()[0])
        gains = {
            name: [standing(match, name, side) - start for side, start in enumerate(was)]
            for name, was in before.items()
        }
        gains["win"] = final_win(trace.winner, sides) if ended else [0.0] * sides
        believed = exact(view) if belief == "exact" else None
        trace.plies.append(Ply(seat, observation, mask, believed, action, gains, ended, truncated))
    trace.scores = match.scores
    return trace


def episodes(num_players: int, seed: int, **setting: Any) -> Iterator[Trace]:
    """The episodes that follow from a seed: the first is dealt from it, the later ones from its streams."""
    for number, dealt in enumerate(spread_seeds(seed, 64)):
        yield play_out(num_players, int(dealt) if number else seed, **setting)


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    """Equal dtypes, shapes and bits (so that -0.0 is not 0.0)."""
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


assert set(REWARDS) == {"win", "points", "equity"}
