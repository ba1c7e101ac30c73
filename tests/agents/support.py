"""Agents and positions shared by the tests of agents and of evaluation."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from fiveup_env.agents.protocol import Policy
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, copy_games
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.views.view import View, Views
from tests.rules.support import positions


class First(Policy):
    """The first legal action, one view at a time."""

    def choose(self, view: View, key: int) -> int:
        return view.legal_actions()[0]


class Last(Policy):
    """The last legal action, in batches."""

    name = "last"

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        masks = views.observe(np.uint8)[1]
        return 120 - masks[:, ::-1].argmax(1)


class Rng:
    """An agent with a private random generator and no `act_many`."""

    def reset(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def act(self, view: View) -> int:
        return self.rng.choice(view.legal_actions())


class OneByOne:
    """An agent that hides the `act_many` of a policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def reset(self, seed: int) -> None:
        self.policy.reset(seed)

    def act(self, view: View) -> int:
        return self.policy.act(view)


def undecided(num_players: int, seed: int, matches: int = 5, greed: float = 0.3) -> Iterator[Match]:
    """The positions of random matches, final ones excluded."""
    return (match for match in positions(num_players, seed, matches, greed) if match.winner is None)


def collected(num_players: int, seed: int, matches: int = 5) -> np.ndarray:
    """Records of such positions [N]."""
    return np.concatenate([match.copy()._games for match in undecided(num_players, seed, matches)])


def repeated(match: Match, count: int) -> np.ndarray:
    """`count` copies of the record of a match [N]."""
    return copy_games(match._games, np.zeros(count, np.int64))


def reshuffled(match: Match, rng: random.Random) -> Match:
    """A match with the same view for the seat to act: all hidden tiles change places, and the seed is another.

    The hands may contradict earlier draws and passes, which a player that uses only the view cannot notice.
    """
    other = match.copy()
    game, seat = other.game, other.turn
    seats = [s for s in range(other.num_players) if s != seat]
    rest = range(int(game.boneyard_next), int(game.boneyard_end))
    hidden = [t for t in range(NUM_TILES) if any(int(game.hands[s]) >> t & 1 for s in seats)]
    hidden += [int(game.boneyard[i]) for i in rest]
    rng.shuffle(hidden)
    for s in seats:
        game.hands[s] = sum(1 << hidden.pop() for _ in range(int(game.hand_sizes[s])))
    for i in rest:
        game.boneyard[i] = hidden.pop()
    assert not hidden and game.phase == PLAYING
    game.seed = rng.getrandbits(64)
    return other
