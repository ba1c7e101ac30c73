"""Greedy self-play round by round from given scores, and match equities from what comes of it."""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import GREEDY, play_out_round
from fiveup_env.agents.search.equity import points_to_go, win_chance
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.random import stream
from fiveup_env.rules.record import MAX_PLAYERS, RAW_PER_POINT, start_match


@entry
def play_rounds(games: np.ndarray, to_go: np.ndarray, seed: int, ends: np.ndarray) -> None:
    """Play one greedy round for every state and deal; seat 0 opens.

    Args:
        games: one record with the variant, scratch.
        to_go: display points that every side still needs, int64 [states, sides].
        seed: of the deals; every state gets the same ones.
        ends: written, int16 [states, deals, sides + 2]: points to go after the round, 1 to `LONGEST`; who opens the
            next round (side, -1: a lot); who has won the match (side, -1: nobody).
    """
    game = games[0]
    sides = to_go.shape[1]
    policies = np.full(MAX_PLAYERS, GREEDY)
    for i in range(len(to_go)):
        for deal in range(ends.shape[1]):
            start_match(game, stream(seed, deal))
            game.opener = 0
            game.turn = 0
            for side in range(sides):
                game.scores[side] = int64(game.target) - RAW_PER_POINT * to_go[i, side]
            play_out_round(game, policies, 0)
            for side in range(sides):
                ends[i, deal, side] = points_to_go(game, side)
            ends[i, deal, sides] = -1 if game.next_opener < 0 else int64(game.next_opener) % sides
            ends[i, deal, sides + 1] = game.winner


@entry
def improve(games: np.ndarray, ends: np.ndarray, table: np.ndarray, chances: np.ndarray) -> None:
    """One step of value iteration: the mean chance of every side over the deals of each state.

    Args:
        games: one record with the variant, scratch.
        ends: as `play_rounds` wrote it.
        table: flat table (see `equity`) of the chances so far.
        chances: written, float64 [states, sides].
    """
    game = games[0]
    deals, sides = ends.shape[1], chances.shape[1]
    for i in range(len(ends)):
        chances[i] = 0.0
        for deal in range(deals):
            for side in range(sides):
                game.scores[side] = int64(game.target) - RAW_PER_POINT * int64(ends[i, deal, side])
            game.next_opener = ends[i, deal, sides]
            game.winner = ends[i, deal, sides + 1]
            for side in range(sides):
                chances[i, side] += win_chance(table, game, side)
        for side in range(sides):
            chances[i, side] /= deals
