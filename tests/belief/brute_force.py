"""Beliefs by trying every deal: every deal is possible that the rules, replayed from it, do not contradict.

Nothing here knows of groups or levels. A deal is tried by playing the round's public history through the rules: every
action must be legal when it is its turn, the round must last as long as it did, and end as it did.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product, zip_longest

import numpy as np
from numpy import int64

from fiveup_env.jit.bits import count_bits, lowest_bit
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.random import below, stream
from fiveup_env.rules.record import GAME, PLAYING, Variant, new_games, start_match
from fiveup_env.rules.turn import count_legal, is_legal, nth_legal, open_pips, play


@dataclass
class Position:
    """A round as dealt and the same round some actions later; both full records [1]."""

    start: np.ndarray
    now: np.ndarray
    num_players: int

    @property
    def boneyard_left(self) -> int:
        return int(self.now[0].boneyard_end) - int(self.now[0].boneyard_next)


@entry
def _start(games, seed):
    start_match(games[0], seed)


@kernel
def closing_action(game, scratch, tries, state):
    """Of some random actions the one after which the fewest pip counts are open, so that others have to draw."""
    best, least = -1, 8
    for _ in range(tries):
        choice, state = below(state, count_legal(game))
        action = nth_legal(game, choice)
        scratch[0] = game
        play(scratch[0], action)
        opened = count_bits(open_pips(scratch[0]))
        if opened < least:
            best, least = action, opened
    return best, state


@entry
def _play(games, actions, tries, state):
    """Play up to that many actions of a round."""
    scratch = games.copy()
    for _ in range(actions):
        if games[0].phase != PLAYING:
            break
        action, state = closing_action(games[0], scratch, tries, state)
        play(games[0], action)


def random_position(variant: Variant, seed: int, moment: float, tries: int = 3) -> Position:
    """The first round of a match at a moment from 0 (the deal) to 1 (it is settled; the next is not dealt).

    Play is random; the more `tries`, the fewer pip counts are left open and the more is drawn.
    """
    start = new_games(1, variant)
    _start(start, np.uint64(seed))
    now = start.copy()
    _play(now, 1000, tries, np.uint64(seed + 1))
    actions = round(moment * int(now[0].num_history))
    now = start.copy()
    _play(now, actions, tries, np.uint64(seed + 1))
    return Position(start, now, variant.num_players)


def positions(variant: Variant, seed: int, earliest: float = 0.3) -> Iterator[tuple[Position, int]]:
    """Random positions, mostly in the later part of a round, each with a random seat that looks.

    Take as many as a test needs; one that finds too few to its liking fails in the end.
    """
    rng = np.random.default_rng(seed)
    for _ in range(20_000):
        moment = rng.choice([0, 1, *rng.uniform(earliest, 1, size=18)])
        position = random_position(variant, int(rng.integers(1 << 40)), float(moment))
        yield position, int(rng.integers(variant.num_players))
    raise AssertionError(f"too few positions of the wanted kind with {variant}")


@kernel
def agrees(world, now):
    """Whether the history of `now` can be played from the deal in `world`; `world` is played on."""
    for i in range(int64(now.num_history)):
        action = int64(now.history[i])
        if world.phase != PLAYING or not is_legal(world, action):
            return False
        play(world, action)
    if world.phase != now.phase:
        return False
    if now.phase != PLAYING:
        for seat in range(4):
            if world.revealed[seat] != now.revealed[seat]:
                return False
    return True


@kernel
def hidden_tiles(start, seat, own_draws):
    """Set of the tiles that the seat was not dealt and did not draw."""
    tiles = int64(start.in_play) & ~int64(start.hands[seat])
    for place in range(int64(start.boneyard_next), int64(start.boneyard_end)):
        if own_draws >> place & 1:
            tiles &= ~(1 << int64(start.boneyard[place]))
    return tiles


@kernel
def slots_of(start, seat, own_draws, slots):
    """Slots of the hidden tiles, ascending: seat for each dealt tile, 4 + place for each place of the boneyard."""
    count = 0
    for other in range(int64(start.num_players)):
        if other != seat:
            for _ in range(int64(start.hand_sizes[other])):
                slots[count] = other
                count += 1
    for place in range(int64(start.boneyard_next), int64(start.boneyard_end)):
        if not own_draws >> place & 1:
            slots[count] = 4 + place
            count += 1
    return count


@kernel
def deal_out(world, tiles, seat, slots):
    """Give the hidden tiles, in ascending order, to their slots."""
    for other in range(int64(world.num_players)):
        if other != seat:
            world.hands[other] = 0
    i = 0
    while tiles:
        tile = lowest_bit(tiles)
        tiles &= tiles - 1
        if slots[i] < 4:
            world.hands[slots[i]] = int64(world.hands[slots[i]]) | 1 << tile
        else:
            world.boneyard[slots[i] - 4] = tile
        i += 1


@kernel
def next_arrangement(slots, count):
    """The next distinct arrangement in lexicographic order; False after the last."""
    i = count - 2
    while i >= 0 and slots[i] >= slots[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = count - 1
    while slots[j] <= slots[i]:
        j -= 1
    slots[i], slots[j] = slots[j], slots[i]
    low, high = i + 1, count - 1
    while low < high:
        slots[low], slots[high] = slots[high], slots[low]
        low += 1
        high -= 1
    return True


@kernel
def add_places(world, seat, places):
    """Count where the tiles of a played world are now."""
    players = int64(world.num_players)
    for relative in range(players):
        hand = int64(world.hands[(seat + relative) % players])
        for tile in range(28):
            places[relative, tile] += hand >> tile & 1
    for place in range(int64(world.boneyard_next), int64(world.boneyard_end)):
        places[players, int64(world.boneyard[place])] += 1


@entry
def _try_all(start, now, seat, own_draws, deals, worlds, places):
    scratch = start.copy()
    slots = np.zeros(28, np.int64)
    tiles = hidden_tiles(start[0], seat, own_draws)
    size = slots_of(start[0], seat, own_draws, slots)
    count = 0
    while True:
        scratch[0] = start[0]
        deal_out(scratch[0], tiles, seat, slots)
        if count < len(deals):
            deals[count] = scratch[0]
        if agrees(scratch[0], now[0]):
            add_places(scratch[0], seat, places)
            if count < len(worlds):
                worlds[count] = scratch[0]
            count += 1
        if not next_arrangement(slots, size):
            return count


@entry
def _try_at_random(start, now, seat, own_draws, tries, seed, places):
    scratch = start.copy()
    slots = np.zeros(28, np.int64)
    tiles = hidden_tiles(start[0], seat, own_draws)
    size = slots_of(start[0], seat, own_draws, slots)
    state = stream(seed, 0)
    count = 0
    for _ in range(tries):
        for i in range(size - 1, 0, -1):
            j, state = below(state, i + 1)
            slots[i], slots[j] = slots[j], slots[i]
        scratch[0] = start[0]
        deal_out(scratch[0], tiles, seat, slots)
        if agrees(scratch[0], now[0]):
            add_places(scratch[0], seat, places)
            count += 1
    return count


@entry
def _replay(deals, now, agree):
    for i in range(len(deals)):
        agree[i] = agrees(deals[i], now[0])


def replay(deals: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Play the history of `now` [1] from each of the deals, in place, as far as it is legal; which agree, bool [N]."""
    agree = np.zeros(len(deals), np.bool_)
    _replay(deals, now, agree)
    return agree


def deals_to_try(position: Position, seat: int) -> int:
    """Number of deals that `try_all` tries."""
    game = position.start[0]
    hands = [int(size) for size in game.hand_sizes[: position.num_players]]
    mine = [place for place, who, _ in draws(position) if who == seat]
    number = math.factorial(int(game.in_play).bit_count() - hands[seat] - len(mine))
    return number // math.prod(math.factorial(n) for other, n in enumerate(hands) if other != seat)


def own_draws(position: Position, seat: int) -> int:
    """Set of the places of the boneyard that the seat has drawn."""
    return sum(1 << place for place, who, _ in draws(position) if who == seat)


def draws(position: Position) -> list[tuple[int, int, int | None]]:
    """All draws of the round: place in the boneyard, who drew, the tile if it was laid at once."""
    game = position.now[0]
    history = [int(action) for action in game.history[: int(game.num_history)]]
    seat, place, found = int(game.opener), int(position.start[0].boneyard_next), []
    for action, following in zip_longest(history, history[1:]):
        if action == DRAW:
            at_once = following is not None and following < DRAW
            found.append((place, seat, int(ACTION_TILE[following]) if at_once else None))
            place += 1
        else:
            seat = (seat + 1) % position.num_players
    return found


@dataclass
class Found:
    """Result of trying all deals: the number that agree, counts of tiles by place, and `keep` of them."""

    count: int
    places: np.ndarray
    deals: np.ndarray
    worlds: np.ndarray


def try_all(position: Position, seat: int, keep: int = 0) -> Found:
    deals, worlds = np.zeros(keep + 1, GAME), np.zeros(keep, GAME)
    places = np.zeros((position.num_players + 1, 28), np.int64)
    mine = own_draws(position, seat)
    count = _try_all(position.start, position.now, seat, mine, deals, worlds, places)
    return Found(count, places, deals[: min(count, keep)], worlds[:count])


def try_at_random(position: Position, seat: int, tries: int, seed: int) -> Found:
    """Rejection sampling: uniform deals, those that do not agree thrown away."""
    places = np.zeros((position.num_players + 1, 28), np.int64)
    mine = own_draws(position, seat)
    count = _try_at_random(position.start, position.now, seat, mine, tries, np.uint64(seed), places)
    return Found(count, places, np.zeros(0, GAME), np.zeros(0, GAME))


def tiles_of(bits: int) -> list[int]:
    return [tile for tile in range(28) if int(bits) >> tile & 1]


def laid_by_choice(position: Position) -> dict[int, list[int]]:
    """Tiles laid otherwise than right after they were drawn, by seat."""
    at_once = {tile for _, _, tile in draws(position)}
    game, seat = position.now[0], int(position.now[0].opener)
    laid: dict[int, list[int]] = {other: [] for other in range(position.num_players)}
    for action in game.history[: int(game.num_history)]:
        if action < DRAW and (tile := int(ACTION_TILE[action])) not in at_once:
            laid[seat].append(tile)
        seat = seat if action == DRAW else (seat + 1) % position.num_players
    return laid


def partitions(tiles: frozenset[int], sizes: dict[int, int]) -> Iterator[dict[int, tuple[int, ...]]]:
    """All ways to give each seat its number of tiles; what is left is the boneyard."""
    if not sizes:
        yield {}
        return
    seat, *others = sizes
    for hand in combinations(sorted(tiles), sizes[seat]):
        for rest in partitions(tiles - set(hand), {other: sizes[other] for other in others}):
            yield {seat: hand, **rest}


def try_late(position: Position, seat: int, limit: int) -> Found | None:
    """Like `try_all`, but only deals in which everyone has laid what it laid, and one order of what is left to draw.

    Tiles that were laid right after a draw stay that draw. None if more than `limit` deals would have to be tried.
    """
    game, laid = position.now[0], laid_by_choice(position)
    others = [other for other in range(position.num_players) if other != seat]
    unseen = frozenset(tiles_of(int(game.in_play) & ~int(game.table) & ~int(game.hands[seat])))
    sizes = {other: int(game.hand_sizes[other]) for other in others}
    kept = {o: [place for place, who, tile in draws(position) if who == o and tile is None] for o in others}
    number = math.factorial(len(unseen)) // math.factorial(len(unseen) - sum(sizes.values()))
    for other in others:
        number = number // math.factorial(sizes[other])
        number *= math.perm(sizes[other] + len(laid[other]), len(kept[other]))
    if number > limit:
        return None
    deals = np.repeat(position.start, number)
    filled = 0
    for hands in partitions(unseen, sizes):
        left = sorted(unseen.difference(*hands.values()))
        pasts = [
            [(other, drawn) for drawn in permutations([*laid[other], *hands[other]], len(kept[other]))]
            for other in others
        ]
        for past in product(*pasts):
            deal = deals[filled]
            filled += 1
            for other, drawn in past:
                dealt = {*laid[other], *hands[other]}.difference(drawn)
                deal.hands[other] = sum(1 << tile for tile in dealt)
                deal.boneyard[kept[other]] = drawn
            deal.boneyard[int(game.boneyard_next) : int(game.boneyard_end)] = left
    assert filled == number
    worlds = deals[replay(deals, position.now)]
    return Found(len(worlds), places_of(worlds, seat), deals[:0], worlds)


def places_of(worlds: np.ndarray, seat: int) -> np.ndarray:
    """In how many of the worlds each tile is where: a row per relative seat, the boneyard last."""
    players, first, end = (int(worlds[0][name]) for name in ("num_players", "boneyard_next", "boneyard_end"))
    hands = np.roll(worlds["hands"][:, :players], -seat, axis=1)
    held = (hands[:, :, None] >> np.arange(28, dtype=np.uint32) & 1).sum(axis=0)
    left = np.bincount(worlds["boneyard"][:, first:end].ravel(), minlength=28)
    return np.vstack([held, left]).astype(np.int64)


def assert_fits(seen: Mapping[Hashable, int], expected: Mapping[Hashable, float]) -> None:
    """Chi-square test of counts against probabilities, 5 standard deviations of the statistic; seeds are fixed."""
    assert seen.keys() <= expected.keys()
    number = sum(seen.values())
    statistic = sum((seen.get(key, 0) - number * p) ** 2 / (number * p) for key, p in expected.items())
    freedom = len(expected) - 1
    assert abs(statistic - freedom) < 5 * math.sqrt(2 * freedom) + 5
