"""Conversion of a match, or of a seat's view of it, to a state of the registered game."""

from __future__ import annotations

import random
from functools import lru_cache

import numpy as np

from fiveup_env.adapters.openspiel.openspiel_game import (
    FiveUpGame,
    FiveUpState,
    dealt_and_drawn,
    load_game,
    parameters_of,
    play_events,
)
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.belief.resample import draw_past
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import MAX_HISTORY, PLAYING
from fiveup_env.views.view import View, Views


def world_of(view: View, seed: int) -> Match:
    """Sample a match that agrees with a view, uniformly from the exact belief, past draws included.

    A view does not record when the seat drew which of its tiles; that is sampled too.

    Args:
        view: view of a seat.
        seed: 0 to 2**64 - 1, the only source of randomness.
    """
    belief = Belief(view)
    world = Match.of(belief.sample(1, seed)[0])
    first = int(world.game.boneyard_next) - int(belief.evidence["num_draws"][0])
    chance = random.Random(seed)
    for seat in range(world.num_players):
        draw_past(world, belief.evidence, seat, first, chance)
    return world


def state_of(match: Match, *, episode: str = "match", reward: str = "win") -> FiveUpState:
    """State equivalent to a match, in a game that starts with the current round.

    Rounds depend on each other only through scores and opener (R2.5), so the continuations are the same. The state does
    not contain earlier rounds, and a discarded placement credit (R6.1) appears as one accepted from a lower score.

    Args:
        match: a match in progress that knows the tiles drawn in this round (see `world_of`).
        episode, reward: options of the game.

    Raises:
        ValueError: if the round is over, or its deal is not one of this variant.
    """
    game = match.game
    if game.phase != PLAYING:
        raise ValueError("the round is over: it has no state to act in")
    deal, draws = dealt_and_drawn(match)
    variant = match.variant
    num_tiles = int(game.in_play).bit_length()
    whole = int(game.in_play) == (1 << num_tiles) - 1
    if not whole or len(deal) != variant.num_players * variant.hand_size:
        raise ValueError("a round dealt by hand with other hand sizes or tiles than the variant's has no state")
    setup = Setup.of(
        variant.num_players,
        hand_size=variant.hand_size,
        target=variant.target,
        max_pip=variant.max_pip,
        episode=episode,
        reward=reward,
        scores=_scores_before(match),
        opener=match.opener,
        num_tiles=None if num_tiles == variant.num_tiles else num_tiles,
    )
    state = _game(setup).new_initial_state()
    for tile in deal:
        state.apply_action(tile)
    play_events(state, [action for _, action in match.history], draws)
    return state


@lru_cache(maxsize=256)
def _game(setup: Setup) -> FiveUpGame:
    return load_game(**parameters_of(setup))


def _scores_before(match: Match) -> list[int]:
    """Raw scores from which this round's credits, all accepted, lead to the current scores."""
    events, _ = Views(match._games, np.zeros(1, np.int64)).history(MAX_HISTORY)
    scores = list(match.scores)
    for (seat, action), (_, _, end_sum) in zip(match.history, events[0].tolist(), strict=False):
        if action < DRAW and end_sum % 5 == 0:
            scores[seat % match.num_sides] -= end_sum
    return scores
