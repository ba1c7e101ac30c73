"""The observation section `belief="likely"`: against worlds weighed one by one, and against what the hands were."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy
from fiveup_env.belief.belief_section import beliefs_of
from fiveup_env.belief.choice_model import infer, likelihood, new_inferences
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import tile_index
from fiveup_env.views.view import View
from tests.rules.support import PLAYERS, scaled


@entry
def _weigh(view: np.ndarray, seat: int, worlds: np.ndarray, records: np.ndarray, out: np.ndarray) -> None:
    infer(view[0], seat, records[0])
    for i in range(len(worlds)):
        out[i] = likelihood(worlds[i], records[0])


def by_greedy(num_players: int, seed: int, actions: int) -> Match | None:
    """A first round after some actions of `greedy`, None if it is over by then."""
    match, greedy = Match(num_players, seed), Greedy()
    for _ in range(actions):
        match.play(greedy.act(View.of(match)))
        if match.winner is not None or match.round_number > 1:
            return None
    return match


def matches_by_greedy(num_players: int, count: int) -> list[Match]:
    """Rounds in the middle, by `greedy`."""
    found = (by_greedy(num_players, seed, 2 * num_players + seed % 5) for seed in range(count))
    return [match for match in found if match is not None]


def by_sampling(match: Match, worlds: int) -> np.ndarray:
    """Marginals [n, 28] of worlds of the exact belief, each with its likelihood as weight."""
    seat, players, view = match.turn, match.num_players, View.of(match)
    games = Belief(view).sample(worlds, seed=1)
    weights = np.zeros(len(games))
    _weigh(view.views.games, seat, games, new_inferences(1), weights)
    places = np.zeros((players, 28))
    for row in range(players - 1):
        hands = games["hands"][:, (seat + row + 1) % players].astype(np.int64)
        places[row] = (weights[:, None] * (hands[:, None] >> np.arange(28) & 1)).sum(0) / weights.sum()
    unseen = beliefs_of(view.views)[0].sum(0) > 0
    places[-1] = np.where(unseen, 1 - places[:-1].sum(0), 0)
    return places


@pytest.mark.parametrize("num_players", PLAYERS)
def test_it_is_near_the_worlds_weighed_one_by_one(num_players: int) -> None:
    """The model's own marginals, by brute force; the exact belief, which knows no choices, is far from them."""
    near, far = [], []
    for match in matches_by_greedy(num_players, scaled(40, 0.1)):
        model = by_sampling(match, scaled(4000, 0.1))
        view = View.of(match)
        near.append(np.abs(beliefs_of(view.views, "likely")[0] - model).sum())
        far.append(np.abs(beliefs_of(view.views)[0] - model).sum())
    assert np.mean(near) < 0.5 * np.mean(far), (np.mean(near), np.mean(far))


@pytest.mark.jit
@pytest.mark.parametrize("num_players", PLAYERS)
def test_it_knows_more_of_the_true_hands_than_the_exact_belief(num_players: int) -> None:
    """Summed over many positions of `greedy`, the others' true tiles are likelier than with all deals alike."""
    gained = 0.0
    for match in matches_by_greedy(num_players, 150):
        view, others = View.of(match), [(match.turn + r) % num_players for r in range(1, num_players)]
        places = [(row, tile_index(tile)) for row, other in enumerate(others) for tile in match.hands[other]]
        for kind, sign in (("likely", 1), ("exact", -1)):
            seen = beliefs_of(view.views, kind)[0]
            gained += sign * sum(float(np.log(max(seen[place], 1e-6))) for place in places)
    assert gained > 10


@pytest.mark.parametrize("num_players", PLAYERS)
def test_before_any_choice_all_unseen_tiles_are_alike(num_players: int) -> None:
    view = View.of(Match(num_players, seed=3))
    assert beliefs_of(view.views, "likely")[0] == pytest.approx(beliefs_of(view.views, "exact")[0], abs=1e-6)
