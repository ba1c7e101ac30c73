"""From a match, or from what one seat sees of it, to a state of the registered game."""

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
    """A match that agrees with a view, drawn uniformly from the exact belief, past draws included.

    A view does not say which of its own tiles the seat drew when; that is drawn too.

    Args:
        view: what the seat sees.
        seed: 0 to 2**64 - 1; all chance comes from it.
    """
    belief = Belief(view)
    world = Match.of(belief.sample(1, seed)[0])
    first = int(world.game.boneyard_next) - int(belief.evidence["num_draws"][0])
    chance = random.Random(seed)
    for seat in range(world.num_players):
        draw_past(world, belief.evidence, seat, first, chance)
    return world


def state_of(match: Match, *, episode: str = "match", reward: str = "win") -> FiveUpState:
    """The state that stands where a match stands, in a game that begins with its present round.

    Rounds depend on each other by scores and opener alone (R2.5), so all that may follow is the same. What was before
    this round is not part of it, and a placement credit that was discarded (R6.1) is told as one accepted from a lower
    score.

    Args:
        match: a match that goes on; the tiles drawn in this round must be known to it (`world_of` makes such a match).
        episode, reward: of the game.

    Raises:
        ValueError: if the round is over, or it was not dealt as this variant's rounds are.
    """
    game = match.game
    if game.phase != PLAYING:
        raise ValueError("the round is over: there is nothing to play")
    deal, draws = dealt_and_drawn(match)
    variant = match.variant
    num_tiles = int(game.in_play).bit_length()
    whole = int(game.in_play) == (1 << num_tiles) - 1
    if not whole or len(deal) != variant.num_players * variant.hand_size:
        raise ValueError("a round that was dealt by hand, with other sizes or tiles than the variant's, has no state")
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
    """Raw scores from which this round's credits, all accepted, lead to those of now."""
    events, _ = Views(match._games, np.zeros(1, np.int64)).history(MAX_HISTORY)
    scores = list(match.scores)
    for (seat, action), (_, _, end_sum) in zip(match.history, events[0].tolist(), strict=False):
        if action < DRAW and end_sum % 5 == 0:
            scores[seat % match.num_sides] -= end_sum
    return scores
