"""Exact counts of the deals that are consistent with what one seat has seen: dynamic programming over tiles.

The groups (see `evidence`) of one seat are nested: a tile that group g may hold may be in every later group too. So
for each other seat the unseen tiles fall into *levels*, by the first group that accepts them, and the number of origins
depends only on how many tiles of each level the seat holds. These numbers, over all other seats, are the digits of a
*state*: a mixed-radix number to which a tile of a level adds the level's stride.

`cells[i * num_states + s]` is the number of ways to hand out the tiles i, i + 1, ... to the seats and the boneyard from
state s. One way says who holds which tile, and for every other seat from which group each of its held and chosen tiles
came. Every way stands for the same number of deals (orders within groups and in the boneyard), so weighing by ways is
weighing by deals. The numbers are exact: the largest of any variant is far below 2**63.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.belief.evidence import EVIDENCE_FIELDS, first_group, read_evidence
from fiveup_env.jit.bits import count_bits, lowest_bit
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.record import BY_EXACT_HIT, MAX_PLAYERS, PLAYING, Game
from fiveup_env.rules.tiles import NUM_TILES, TILES_WITH
from fiveup_env.views.observation_kernels import unseen_tiles

MAX_LEVELS = 32

BeliefRecord: TypeAlias = Any
"""One record of dtype `BELIEF`, or inside kernels a reference to one."""

_FIELDS: list[tuple[Any, ...]] = [
    *EVIDENCE_FIELDS,
    # the levels of the other seats, grouped by seat, the last group's first
    ("first_level", "u1", MAX_PLAYERS + 1),  # relative seat -> its first level; one more entry ends the list
    ("level_tiles", "u4", MAX_LEVELS),  # set of unseen tiles
    ("level_group", "u1", MAX_LEVELS),  # first group that accepts them
    ("level_radix", "u1", MAX_LEVELS),  # 1 + how many of them the seat can hold
    ("level_stride", "i8", MAX_LEVELS),  # added to the state by one of them
    ("held", "u1", MAX_LEVELS),  # scratch: digits of a state
    ("group_shift", "u1", NUM_TILES + MAX_LEVELS),  # scratch: see `list_profiles`
    # the tiles to hand out
    ("num_tiles", "u1"),
    ("tiles", "u1", NUM_TILES),  # that some other seat may hold
    ("stride", "i8", (NUM_TILES, MAX_PLAYERS)),  # place in `tiles`, relative seat -> stride, 0: cannot hold it
    ("radix", "i8", (NUM_TILES, MAX_PLAYERS)),
    ("rest", "u4"),  # unseen tiles that only the boneyard can hold
    ("num_states", "i8"),
    ("num_players", "u1"),
    ("seat", "u1"),  # the seat whose belief this is
    ("ways", "i8"),  # number of ways in all
]

BELIEF = np.dtype((np.record, np.dtype(_FIELDS, align=True)))
"""dtype of the belief of one seat; its table is a separate int64 array, `cells`."""

CELLS = 1 << 17
"""Default length of `cells`: three times the largest need in 216,000 random beliefs of the real game."""

CHOOSE = np.array([[math.comb(n, k) for k in range(NUM_TILES + 1)] for n in range(NUM_TILES + 1)], np.int64)


def new_beliefs(count: int) -> np.ndarray:
    """Blank records for `prepare` [count]."""
    return np.zeros(count, BELIEF)


def new_cells(length: int = CELLS) -> np.ndarray:
    """Scratch for `prepare`, int64 [length]."""
    return np.empty(length, np.int64)


@kernel
def known_hand(game: Game, seat: int) -> int:
    """Set of the tiles that a seat can hold: its hand once a settlement has shown it (D5), all tiles before."""
    if game.phase == PLAYING or game.round_end == BY_EXACT_HIT:
        return -1
    return int64(game.revealed[seat])


@kernel
def list_levels(game: Game, belief: BeliefRecord, relative: int) -> None:
    """Sort the unseen tiles by the first group of one other seat that accepts them; multiply the states."""
    seat = (int64(belief.seat) + relative) % int64(belief.num_players)
    tiles = unseen_tiles(game, int64(belief.seat)) & known_hand(game, seat)
    level = int64(belief.first_level[relative])
    group = int64(belief.num_groups[seat])
    pips, room, size = 0, 0, int64(game.hand_sizes[seat])
    accepted = tiles & ~TILES_WITH[int64(belief.open_pips[seat, group - 1])]
    while group > 0:
        group -= 1
        pips |= int64(belief.open_pips[seat, group])
        room += int64(belief.slots[seat, group])
        earlier = 0
        if group > 0:
            earlier = accepted & ~TILES_WITH[pips | int64(belief.open_pips[seat, group - 1])]
        fresh = accepted & ~earlier
        accepted = earlier
        most = min(room, size, count_bits(fresh))
        if most > 0:
            belief.level_tiles[level] = fresh
            belief.level_group[level] = group
            belief.level_radix[level] = most + 1
            belief.level_stride[level] = belief.num_states
            belief.num_states = int64(belief.num_states) * (most + 1)
            level += 1
    belief.first_level[relative + 1] = level


@kernel
def list_tiles(game: Game, belief: BeliefRecord) -> None:
    """List the tiles to hand out, and the stride that each adds for each seat that may hold it."""
    unseen = unseen_tiles(game, int64(belief.seat))
    count, rest = 0, unseen
    while unseen:
        tile = lowest_bit(unseen)
        unseen &= unseen - 1
        found = False
        for relative in range(1, int64(belief.num_players)):
            belief.stride[count, relative] = 0
            for level in range(int64(belief.first_level[relative]), int64(belief.first_level[relative + 1])):
                if int64(belief.level_tiles[level]) >> tile & 1:
                    belief.stride[count, relative] = belief.level_stride[level]
                    belief.radix[count, relative] = belief.level_radix[level]
                    found = True
        if found:
            belief.tiles[count] = tile
            rest &= ~(1 << tile)
            count += 1
    belief.num_tiles = count
    belief.rest = rest


@kernel
def list_profiles(belief: BeliefRecord, seat: int, cells: np.ndarray, start: int) -> int:
    """List the ways in which the chosen tiles of a seat leave slots in its groups.

    Writes pairs (profile, ways) to `cells` from `start` and returns their number, or -1 if they do not fit. A profile
    packs the slots left in all groups: group g begins at bit `group_shift[g]` and has as many bits as its slots need,
    so the total is at most one bit per tile.
    """
    shift, profile = 0, 0
    for group in range(int64(belief.num_groups[seat])):
        slots = int64(belief.slots[seat, group])
        belief.group_shift[group] = shift
        profile |= slots << shift
        while slots:
            shift += 1
            slots >>= 1
    belief.group_shift[int64(belief.num_groups[seat])] = shift
    count = 1
    if start + 2 > len(cells):
        return -1
    cells[start], cells[start + 1] = profile, 1
    for chosen in range(int64(belief.num_chosen[seat])):
        count = take_chosen(belief, seat, chosen, cells, start, count)
        if count < 0:
            return -1
    return count


@kernel
def slots_left(belief: BeliefRecord, profile: int, group: int) -> int:
    """Slots that a profile leaves in a group."""
    shift = int64(belief.group_shift[group])
    width = int64(belief.group_shift[group + 1]) - shift
    return profile >> shift & ((1 << width) - 1)


@kernel
def take_chosen(belief: BeliefRecord, seat: int, chosen: int, cells: np.ndarray, start: int, count: int) -> int:
    """Let one chosen tile come from every possible group and replace the profiles; returns their number or -1."""
    last = int64(belief.chosen_groups[seat, chosen])
    first = first_group(belief, seat, int64(belief.chosen[seat, chosen]), last)
    old = start + 2 * count
    new = 0
    for i in range(count):
        profile, ways = cells[start + 2 * i], cells[start + 2 * i + 1]
        for group in range(first, last):
            if slots_left(belief, profile, group) > 0:
                new = add_profile(profile - (1 << int64(belief.group_shift[group])), ways, cells, old, new)
                if new < 0:
                    return -1
    for i in range(2 * new):
        cells[start + i] = cells[old + i]
    return new


@kernel
def add_profile(profile: int, ways: int, cells: np.ndarray, start: int, count: int) -> int:
    """Add a pair to the list at `start`, merging equal profiles; returns its length, or -1 if `cells` is full."""
    for i in range(count):
        if cells[start + 2 * i] == profile:
            cells[start + 2 * i + 1] += ways
            return count
    at = start + 2 * count
    if at + 2 > len(cells):
        return -1
    cells[at], cells[at + 1] = profile, ways
    return count + 1


@kernel
def origins(belief: BeliefRecord, relative: int, profile: int) -> int:
    """Number of ways in which the held tiles, counted by level in `held`, fill exactly the slots of a profile."""
    seat = (int64(belief.seat) + relative) % int64(belief.num_players)
    level, first = int64(belief.first_level[relative + 1]) - 1, int64(belief.first_level[relative])
    ways, waiting = 1, 0
    for group in range(int64(belief.num_groups[seat])):
        while level >= first and belief.level_group[level] == group:
            waiting += int64(belief.held[level])
            level -= 1
        slots = slots_left(belief, profile, group)
        if slots > waiting:
            return 0
        ways *= CHOOSE[waiting, slots]
        waiting -= slots
    return ways


@kernel
def fill_last_row(game: Game, belief: BeliefRecord, cells: np.ndarray) -> bool:
    """Fill the ways of the final states, where all tiles are handed out: who came from which group.

    Returns False if `cells` has no room for the profiles.
    """
    states = int64(belief.num_states)
    row = int64(belief.num_tiles) * states
    cells[row] = 1
    done = 1
    for relative in range(1, int64(belief.num_players)):
        seat = (int64(belief.seat) + relative) % int64(belief.num_players)
        first, end = int64(belief.first_level[relative]), int64(belief.first_level[relative + 1])
        number = 1
        for level in range(first, end):
            number *= int64(belief.level_radix[level])
        profiles = list_profiles(belief, seat, cells, row + states)
        if profiles < 0:
            return False
        for digits in range(number - 1, -1, -1):
            rest, size = digits, 0
            for level in range(first, end):
                radix = int64(belief.level_radix[level])
                belief.held[level] = rest % radix
                size += rest % radix
                rest //= radix
            ways = 0
            if size == game.hand_sizes[seat]:
                for i in range(profiles):
                    at = row + states + 2 * i
                    ways += origins(belief, relative, cells[at]) * cells[at + 1]
            for s in range(done):
                cells[row + digits * done + s] = cells[row + s] * ways
        done *= number
    return True


@kernel
def fill_rows(belief: BeliefRecord, cells: np.ndarray) -> None:
    """Fill the rows above the last: a tile goes to the boneyard, or to a seat that may hold it and has room."""
    states = int64(belief.num_states)
    for i in range(int64(belief.num_tiles) - 1, -1, -1):
        row, below = i * states, (i + 1) * states
        for s in range(states):
            cells[row + s] = cells[below + s]
        for relative in range(1, int64(belief.num_players)):
            stride = int64(belief.stride[i, relative])
            if stride > 0:
                block = stride * int64(belief.radix[i, relative])
                for start in range(0, states, block):
                    for s in range(start, start + block - stride):
                        cells[row + s] += cells[below + s + stride]


@kernel
def tiles_add_up(game: Game, seat: int) -> bool:
    """Whether the other hands and the boneyard hold as many tiles as are unseen; false for a made-up record."""
    hidden = int64(game.boneyard_end) - int64(game.boneyard_next)
    for other in range(int64(game.num_players)):
        if other != seat:
            hidden += int64(game.hand_sizes[other])
    return hidden == count_bits(unseen_tiles(game, seat))


@kernel
def prepare(game: Game, seat: int, belief: BeliefRecord, cells: np.ndarray) -> bool:
    """Compute the belief of `seat`: fill `belief` and the table `cells` from what the seat has seen.

    Args:
        game: a full record or a view's; hidden fields are never read.
        seat: the seat that looks.
        belief: record of dtype `BELIEF`, written.
        cells: scratch, int64 [any length], written.

    Returns:
        False if `cells` is too small; `belief` is invalid then. `belief.ways` is 0 if no deal is consistent
        (unreachable).
    """
    read_evidence(game, belief)
    belief.seat = seat
    belief.num_players = game.num_players
    belief.num_states = 1
    belief.first_level[1] = 0
    for relative in range(1, int64(belief.num_players)):
        list_levels(game, belief, relative)
    list_tiles(game, belief)
    belief.ways = 0
    if not tiles_add_up(game, seat):
        return True
    if (int64(belief.num_tiles) + 3) * int64(belief.num_states) > len(cells):
        return False
    if not fill_last_row(game, belief, cells):
        return False
    fill_rows(belief, cells)
    belief.ways = cells[0]
    return True


@kernel
def count_places(game: Game, belief: BeliefRecord, cells: np.ndarray, out: np.ndarray) -> None:
    """Count the ways in which each tile is at each place; divided by `belief.ways` these are the marginals.

    Args:
        game, belief, cells: as `prepare` left them; `cells` is written behind its table.
        out: written, int64 [players + 1, 28]: a row per relative seat (0 is the own, known hand), then the boneyard;
            laid tiles are nowhere.
    """
    players, states = int64(belief.num_players), belief.num_states
    for tile in range(28):
        for row in range(players + 1):
            out[row, tile] = 0
        if int64(game.hands[int64(belief.seat)]) >> tile & 1:
            out[0, tile] = belief.ways
        elif int64(belief.rest) >> tile & 1:
            out[players, tile] = belief.ways
    count = int64(belief.num_tiles)
    now, following = (count + 1) * states, (count + 2) * states
    for s in range(states):
        cells[now + s] = 0
    cells[now] = 1  # ways to reach each state with tiles 0 .. i - 1
    for i in range(count):
        tile, row = int64(belief.tiles[i]), (i + 1) * states
        left = belief.ways
        for s in range(states):
            cells[following + s] = cells[now + s]
        for relative in range(1, players):
            stride = belief.stride[i, relative]
            if stride > 0:
                held = hand_over(cells, states, now, following, row, stride, stride * belief.radix[i, relative])
                out[relative, tile] = held
                left -= held
        out[players, tile] = left
        now, following = following, now


@kernel
def hand_over(cells: np.ndarray, states: int, now: int, following: int, row: int, stride: int, block: int) -> int:
    """Let one seat take one tile from every state with room; returns the ways in which it does."""
    held = 0
    for start in range(0, states, block):
        for s in range(start, start + block - stride):
            ways = cells[now + s]
            cells[following + s + stride] += ways
            held += ways * cells[row + s + stride]
    return held
