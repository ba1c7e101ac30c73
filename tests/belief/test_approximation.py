"""The observation section `belief="likely"`: against worlds weighed one by one, and against what the hands were."""

from __future__ import annotations

import copy
import pickle
import random

import numba
import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy
from fiveup_env.belief.belief_section import LikelyHands, belief_writer, beliefs_of
from fiveup_env.belief.choice_model import infer, likelihood, new_inferences
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import tile_index
from fiveup_env.views.view import View, Views
from tests.belief.test_marginals import some
from tests.rules.support import PLAYERS, scaled
from tests.views.worlds import reshuffled


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
def test_columns_add_up_to_one_and_rows_nearly_to_hands(num_players: int) -> None:
    games, seats = some(num_players, scaled(60, 0.3))
    for game, seat, seen in zip(games, seats, beliefs_of(Views(games, seats), "likely"), strict=True):
        view = View(game, int(seat))
        assert (seen >= 0).all() and (seen <= 1 + 1e-6).all()
        sizes = [view.hand_sizes[(seat + r) % num_players] for r in range(1, num_players)]
        assert seen.sum(1) == pytest.approx([*sizes, view.boneyard_size], abs=0.35)
        known = {tile_index(tile) for tile in (*view.hand, *view.layout.tiles)}
        unseen = [t for t in range(28) if int(game.in_play) >> t & 1 and t not in known]
        assert seen[:, unseen].sum(0) == pytest.approx(1, abs=1e-5)
        assert not np.delete(seen, unseen, 1).any()
        for r in range(1, num_players):
            held = np.flatnonzero(seen[r - 1] > 0)
            assert set(held) <= set(map(tile_index, view.may_hold((int(seat) + r) % num_players)))


@pytest.mark.parametrize("num_players", PLAYERS)
def test_before_any_choice_all_unseen_tiles_are_alike(num_players: int) -> None:
    view = View.of(Match(num_players, seed=3))
    assert beliefs_of(view.views, "likely")[0] == pytest.approx(beliefs_of(view.views, "exact")[0], abs=1e-6)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_hidden_tiles_change_nothing(num_players: int) -> None:
    games, seats = some(num_players, scaled(60, 0.3))
    rng, moved = random.Random(num_players), np.empty_like(games)
    for i, (game, seat) in enumerate(zip(games, seats, strict=True)):
        moved[i] = reshuffled(Match.of(game), int(seat), rng).game
    seen, again = np.empty((2, len(games), num_players, 28), np.float32)
    LikelyHands().write(games, seats, seen)  # whole records: what a view hides is not read
    LikelyHands().write(moved, seats, again)
    assert seen.tobytes() == again.tobytes() == beliefs_of(Views(games, seats), "likely").tobytes()


@pytest.mark.jit
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core only")
def test_threads_do_not_change_a_bit() -> None:
    games, seats = some(3, 31)
    seen, again = np.zeros((2, 31, 3, 28), np.float32)
    LikelyHands().write(games, seats, seen)
    LikelyHands(threads=2).write(games, seats, again)
    assert seen.tobytes() == again.tobytes() and seen.any()


def test_rows_behind_those_of_a_match_are_zero() -> None:
    games = np.concatenate([some(n, 2)[0] for n in PLAYERS])
    seen = np.full((6, 4, 28), 7, np.float32)
    LikelyHands().write(games, np.zeros(6), seen)
    for i, num_players in enumerate((2, 2, 3, 3, 4, 4)):
        assert seen[i, :num_players].any() and not seen[i, num_players:].any()


def test_copies_have_scratch_of_their_own() -> None:
    writer = LikelyHands(threads=2)
    for twin in (copy.copy(writer), copy.deepcopy(writer), pickle.loads(pickle.dumps(writer))):
        assert twin.threads == 2 and not np.shares_memory(twin._scratch, writer._scratch)


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="belief must be one of 'exact', 'likely', not 'sure'"):
        belief_writer("sure")
