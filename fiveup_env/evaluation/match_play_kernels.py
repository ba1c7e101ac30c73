"""The kernels that match-ups add: matches played on to where somebody has a choice, and what luck did meanwhile.

Luck is kept per match as float64 [5, 3], what chance gave to each side: display points by lot and deal, and by draws;
chance to win by the same two; last what a point is worth in this round. What it means stands in `evaluation.luck`.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.baseline_kernels import choose, decision_key, round_key
from fiveup_env.agents.search.equity import LONGEST, chance_at_start, mean_chance, points_of_sides
from fiveup_env.envs.transition import resolve_forced
from fiveup_env.evaluation.behaviour_kernels import best_credit, play_noted, proceed_noted
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.record import MAX_SIDES, PLAYING, RAW_PER_POINT, ROUND_OVER, Game, start_match, start_round
from fiveup_env.rules.scoring import side_of
from fiveup_env.rules.tiles import PIPS
from fiveup_env.rules.turn import can_lay, forced_move, is_legal, play

DEAL_POINTS, DRAW_POINTS, DEAL_WINS, DRAW_WINS, SLOPE = 0, 1, 2, 3, 4  # rows of a match's luck
STEP = 4  # display points to either side that the worth of a point is taken over
FEATURES = ("fits", "credit", "pips", "opponent_short", "hand", "credit_short")
"""What the value of a drawn tile is made of; see `write_features`."""
SHORT = 2  # tiles in a hand that is about to go out


@kernel
def shifted_chance(table: np.ndarray, game: Game, side: int, own: int, others: int) -> float:
    """Chance of `side` to win, whoever opens, if its score and all others' were so many points higher."""
    now = points_of_sides(game)
    higher = (own if side == 0 else others, own if side == 1 else others, own if side == 2 else others)
    to_go = (
        min(max(now[0] - higher[0], 1), LONGEST),
        min(max(now[1] - higher[1], 1), LONGEST),
        min(max(now[2] - higher[2], 1), LONGEST),
    )
    return mean_chance(table, to_go, int64(game.num_sides), side)


@kernel
def note_slopes(game: Game, table: np.ndarray, luck: np.ndarray) -> None:
    """What a display point of lead is worth in this round, in chance to win."""
    for side in range(int64(game.num_sides)):
        up = shifted_chance(table, game, side, STEP, 0) - shifted_chance(table, game, side, -STEP, 0)
        down = shifted_chance(table, game, side, 0, -STEP) - shifted_chance(table, game, side, 0, STEP)
        luck[SLOPE, side] = (up + down) / (4 * STEP)


@kernel
def note_deal(game: Game, deal: np.ndarray, lot: float, table: np.ndarray, luck: np.ndarray) -> None:
    """The luck of a round just dealt: of the lot, if there was one (R2.3, R2.5), and of the hands given the opener."""
    sides, players, opener = int64(game.num_sides), int64(game.num_players), int64(game.opener)
    opening = side_of(game, opener)
    note_slopes(game, table, luck)
    if game.next_opener < 0:
        for side in range(sides):
            luck[DEAL_POINTS, side] += lot if side == opening else -lot / (sides - 1)
            luck[DEAL_WINS, side] += chance_at_start(table, game, opening, side) - shifted_chance(
                table, game, side, 0, 0
            )
    for k in range(players):
        hand = int64(game.hands[(opener + k) % players])
        while hand:
            tile = lowest_bit(hand)
            hand &= hand - 1
            for j in range(sides):
                side = (opening + j) % sides
                luck[DEAL_POINTS, side] += deal[j, k, tile]
                luck[DEAL_WINS, side] += deal[j, k, tile] * luck[SLOPE, side]


@kernel
def write_features(game: Game, tile: int, shortest: int, out: np.ndarray) -> None:
    """What the seat that draws gets from a tile, float64 [6]; the tile is laid at once where it fits (R3.2).

    1 if it fits; its best credit in display points; its pips if it does not fit; 1 if it does not fit and an opponent
    has at most `SHORT` tiles; the drawer's number of tiles if it does not fit; the credit once more where an opponent
    is short.
    """
    seat = int64(game.turn)
    hand = int64(game.hands[seat])
    game.hands[seat] = 1 << tile
    fits, best = can_lay(game, seat), best_credit(game, seat)
    game.hands[seat] = hand
    out[0] = 1.0 if fits else 0.0
    out[1] = best / RAW_PER_POINT
    out[2] = 0.0 if fits else PIPS[tile]
    out[3] = 1.0 if not fits and shortest <= SHORT else 0.0
    out[4] = 0.0 if fits else int64(game.hand_sizes[seat])
    out[5] = out[1] if shortest <= SHORT else 0.0


@kernel
def note_draw(game: Game, draw: np.ndarray, features: np.ndarray, luck: np.ndarray) -> None:
    """The luck of the tile that is about to be drawn: its value less the mean over all that are left (R3.2)."""
    seat, sides = int64(game.turn), int64(game.num_sides)
    drawer, shortest = side_of(game, seat), 28
    for other in range(int64(game.num_players)):
        if side_of(game, other) != drawer:
            shortest = min(shortest, int64(game.hand_sizes[other]))
    first, end = int64(game.boneyard_next), int64(game.boneyard_end)
    actual = mean = 0.0
    for i in range(first, end):
        write_features(game, int64(game.boneyard[i]), shortest, features)
        value = 0.0
        for f in range(len(draw)):
            value += draw[f] * features[f]
        mean += value / (end - first)
        if i == first:
            actual = value
    for side in range(sides):
        change = actual - mean if side == drawer else (mean - actual) / (sides - 1)
        luck[DRAW_POINTS, side] += change
        luck[DRAW_WINS, side] += change * luck[SLOPE, side]


@kernel
def to_choice(
    game: Game,
    max_rounds: int,
    deal: np.ndarray,
    draw: np.ndarray,
    table: np.ndarray,
    features: np.ndarray,
    luck: np.ndarray,
    conduct: np.ndarray,
) -> None:
    """Whatever leaves no choice, as `envs.transition.resolve_forced` does it, with the luck and the counts of it."""
    while True:
        if game.phase == ROUND_OVER and (max_rounds == 0 or int64(game.round_number) < max_rounds):
            start_round(game)
            note_deal(game, deal, draw[len(draw) - 1], table, luck)
        if game.phase != PLAYING:
            return
        forced = forced_move(game, True)
        if forced == DRAW:
            note_draw(game, draw[: len(draw) - 1], features, luck)
        if forced < 0:
            return
        if forced >= DRAW:
            proceed_noted(game, forced, conduct)
        else:
            play_noted(game, forced, conduct)


@entry
def start_matches(
    games: np.ndarray,
    rows: np.ndarray,
    seeds: np.ndarray,
    scores: np.ndarray,
    deal: np.ndarray,
    draw: np.ndarray,
    table: np.ndarray,
    luck: np.ndarray,
    conduct: np.ndarray,
) -> None:
    """Begin games[rows[i]] with the first deal of seeds[i] (uint64 [K]) at raw points scores[i] (int16 [K, 4])."""
    for i in range(len(rows)):
        game = games[rows[i]]
        start_match(game, seeds[i])
        for side in range(MAX_SIDES):
            game.scores[side] = scores[i, side]
            for source in range(SLOPE):
                luck[rows[i], source, side] = 0.0
        conduct[rows[i]] = 0
        note_deal(game, deal, draw[len(draw) - 1], table, luck[rows[i]])


@entry
def take_choices(games: np.ndarray, rows: np.ndarray, actions: np.ndarray, max_rounds: int) -> int:
    """Take actions[i] in the match games[rows[i]], then whatever leaves no choice (lone legal actions, next deals).

    As `play_choices`, for those who do not ask what luck did.

    Args:
        games: records; a match that is over, or has played `max_rounds` rounds (0: no limit), has left phase PLAYING.
        rows, actions: int64 [K].
        max_rounds: see above.

    Returns:
        -1, or the first i whose action is illegal; rows from there on are untouched.
    """
    for i in range(len(rows)):
        game = games[rows[i]]
        if not is_legal(game, int64(actions[i])):
            return i
        play(game, int64(actions[i]))
        resolve_forced(game, True, False, max_rounds)
    return -1


@entry
def play_choices(
    games: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    max_rounds: int,
    deal: np.ndarray,
    draw: np.ndarray,
    table: np.ndarray,
    luck: np.ndarray,
    conduct: np.ndarray,
) -> int:
    """Take actions[i] in the match games[rows[i]], then whatever leaves no choice (lone legal actions, next deals).

    Args:
        games: records; a match that is over, or has played `max_rounds` rounds (0: no limit), has left phase PLAYING.
        rows, actions: int64 [K].
        deal, draw, table: see `evaluation.luck.Luck`.
        luck: float64 [N, 5, 3], added to.
        conduct: int32 [N, 4, REGIONS, FIELDS], added to; see `evaluation.behaviour_kernels`.

    Returns:
        -1, or the first i whose action is illegal; rows from there on are untouched.
    """
    features = np.empty(len(draw))
    for i in range(len(rows)):
        game = games[rows[i]]
        if not is_legal(game, int64(actions[i])):
            return i
        play_noted(game, int64(actions[i]), conduct[rows[i]])
        to_choice(game, max_rounds, deal, draw, table, features, luck[rows[i]], conduct[rows[i]])
    return -1


@entry
def play_kernels(
    games: np.ndarray,
    policies: np.ndarray,
    seeds: np.ndarray,
    max_rounds: int,
    deal: np.ndarray,
    draw: np.ndarray,
    table: np.ndarray,
    luck: np.ndarray,
    conduct: np.ndarray,
) -> None:
    """Play matches to their end with a kernel policy per seat (int64 [4]); `seeds` of the policies are uint64 [N]."""
    features = np.empty(len(draw))
    for i in range(len(games)):
        game = games[i]
        while game.phase == PLAYING:
            key = decision_key(round_key(seeds[i], game), game)
            play_noted(game, choose(game, policies[int64(game.turn)], key), conduct[i])
            to_choice(game, max_rounds, deal, draw, table, features, luck[i], conduct[i])
