"""Exact belief of one seat: counts, marginals and uniform samples of everything it cannot see.

All deals (other hands and the order of the boneyard) that agree with every public event of the round and with the
seat's own tiles are equally likely; players' choices are not modelled. `evidence` reads the events, `deal_counts`
counts the deals.

From Python: `Belief(view)`. From kernels, with scratch owned by the caller, one of each per thread:

    belief = new_beliefs(1)[0]                      record of dtype BELIEF; pass the array, index inside
    cells = new_cells()                             int64 scratch

    ok = prepare(game, seat, belief, cells)         once per decision; if False, retry with longer `cells`
    state = sample(belief, cells, world, state)     any number of times
    count_places(game, belief, cells, places)       counts behind the marginals; belief.ways is the denominator

`world` is a copy of `game`. `sample` writes the other seats' `hands` and the order of the remaining boneyard,
`boneyard[boneyard_next:boneyard_end]`. So a world can be played to the end of the round (`turn.play`), but it holds no
past draws, and later rounds follow from its `seed`, which a view lacks. `state` is a random state of `rules.random`.
After `prepare`, `sample` only reads `belief` and `cells`; `prepare` and `count_places` write to both.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import int64

from fiveup_env.belief.deal_counts import BeliefRecord, count_places, new_beliefs, new_cells, prepare
from fiveup_env.jit.bits import lowest_bit
from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.match import checked_seed
from fiveup_env.rules.random import GOLDEN, below, mix, stream
from fiveup_env.rules.record import Game
from fiveup_env.views.view import View


@kernel
def below_wide(state: int, n: int) -> tuple[int, int]:
    """A uniform integer from 0 to n - 1 (n up to 2**62), exact, and the next state; see `rules.random.below`."""
    if n <= 1 << 31:
        return below(state, n)
    mask = n - 1
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    while True:
        state = np.uint64(state) + GOLDEN
        value = int64(mix(state) & np.uint64(mask))
        if value < n:
            return value, state


@kernel
def deal_way(belief: BeliefRecord, cells: np.ndarray, index: int, world: Game) -> None:
    """Write the hands of way `index` (0 to `belief.ways` - 1) into `world`; the boneyard gets the rest, by tile."""
    states, players = belief.num_states, int64(belief.num_players)
    state, rest = 0, int64(belief.rest)
    seat = int64(belief.seat)
    for relative in range(1, players):
        world.hands[(seat + relative) % players] = 0
    for i in range(int64(belief.num_tiles)):
        tile, row = int64(belief.tiles[i]), (i + 1) * states
        ways = cells[row + state]
        if index < ways:
            rest |= 1 << tile
            continue
        index -= ways
        for relative in range(1, players):
            stride = belief.stride[i, relative]
            if stride > 0 and state // stride % belief.radix[i, relative] + 1 < belief.radix[i, relative]:
                ways = cells[row + state + stride]
                if index < ways:
                    state += stride
                    holder = (seat + relative) % players
                    world.hands[holder] = int64(world.hands[holder]) | 1 << tile
                    break
                index -= ways
    at = int64(world.boneyard_next)
    while rest:
        world.boneyard[at] = lowest_bit(rest)
        rest &= rest - 1
        at += 1


@kernel
def sample(belief: BeliefRecord, cells: np.ndarray, world: Game, state: int) -> int:
    """Write a uniformly random consistent deal into `world`; returns the next random state.

    Each (hands now, order of the remaining boneyard) has the share of the full deals, past draws included, that lead to
    it. `prepare` must have returned True and `belief.ways` must not be 0.
    """
    index, state = below_wide(state, belief.ways)
    deal_way(belief, cells, index, world)
    return shuffle_boneyard(world, state)


@kernel
def shuffle_boneyard(world: Game, state: int) -> int:
    """Shuffle what is left of the boneyard; returns the next random state."""
    first = int64(world.boneyard_next)
    for i in range(int64(world.boneyard_end) - 1, first, -1):
        j, state = below(state, i - first + 1)
        tile = world.boneyard[i]
        world.boneyard[i] = world.boneyard[first + j]
        world.boneyard[first + j] = tile
    return state


@entry
def _prepare(games: np.ndarray, seat: int, beliefs: np.ndarray, cells: np.ndarray) -> bool:
    return prepare(games[0], seat, beliefs[0], cells)


@entry
def _sample(beliefs: np.ndarray, cells: np.ndarray, worlds: np.ndarray, seed: int) -> None:
    state = stream(seed, 0)
    for i in range(len(worlds)):
        state = sample(beliefs[0], cells, worlds[i], state)


@entry
def _count_places(games: np.ndarray, beliefs: np.ndarray, cells: np.ndarray, out: np.ndarray) -> None:
    count_places(games[0], beliefs[0], cells, out)


class Belief:
    """Exact belief of one seat about the hidden tiles.

    After the settlement of a round its hands are public (D5), and only the order of the boneyard is open.

    Args:
        view: view of the seat; nothing else is used.

    Raises:
        ValueError: if no deal agrees with the view (a record that no game can reach).

    >>> belief = Belief(View.of(Match(num_players=4, seed=0), seat=2))
    >>> worlds = belief.sample(100, seed=1)  # records for `Match.of`
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._games = view.views.games
        self._record = new_beliefs(1)
        self._cells = new_cells(1 << 13)
        while not _prepare(self._games, view.seat, self._record, self._cells):
            self._cells = new_cells(2 * len(self._cells))
        if self._record["ways"][0] <= 0:
            raise ValueError(f"no deal agrees with what player_{view.seat} has seen: {view!r}")

    @property
    def evidence(self) -> np.ndarray:
        """The record of this belief [1], dtype `BELIEF`; `EVIDENCE_FIELDS` describes the origins of tiles."""
        return self._record

    @property
    def ways(self) -> int:
        """Number of ways, the unit of `place_counts`; each stands for `count // ways` deals."""
        return int(self._record["ways"][0])

    @property
    def count(self) -> int:
        """Number of consistent deals: the other hands as dealt, and the order of the whole boneyard.

        The seat's own dealt tiles and draws are known to it and the same in all deals.
        """
        game, record = self._games[0], self._record[0]
        total = self.ways * math.factorial(int(game.boneyard_end) - int(game.boneyard_next))
        for seat in range(int(game.num_players)):
            if seat != self.view.seat:
                slots = record.slots[seat, : int(record.num_groups[seat])]
                total *= math.prod(math.factorial(int(n)) for n in slots)
                total //= math.factorial(int(record.dealt[seat]))  # a dealt hand has no order
        return total

    @property
    def log_count(self) -> float:
        """Natural logarithm of `count`."""
        return math.log(self.count)

    def place_counts(self) -> np.ndarray:
        """Number of `ways` in which each tile is at each place, int64 [players + 1, 28]; rows as in `marginals`."""
        out = np.zeros((self.view.num_players + 1, 28), np.int64)
        _count_places(self._games, self._record, self._cells, out)
        return out

    def marginals(self) -> np.ndarray:
        """P(tile is there), float64 [players + 1, 28]: a row per relative seat (0 is the own hand), then the boneyard.

        The column of an unlaid tile in play sums to 1, that of a laid tile is 0.
        """
        return self.place_counts() / self.ways

    def sample(self, count: int, seed: int | None = None) -> np.ndarray:
        """Return independent uniform deals, records [count] of dtype `GAME`: the view with all hidden tiles filled in.

        Past draws stay erased (see `resample` for whole deals), and so does the seed of later rounds.

        Raises:
            ValueError: if `seed` is not an integer from 0 to 2**64 - 1 (None draws one).
        """
        worlds = np.repeat(self._games, count)
        _sample(self._record, self._cells, worlds, np.uint64(checked_seed(seed)))
        return worlds
