"""The match record: one NumPy structured record of fixed size per match, and the deal.

Kernels take a record (`game = games[i]`) and read `game.scores[side]`; copying a match is copying a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy import int64

from fiveup_env.jit.compilation import entry, kernel
from fiveup_env.rules.random import below, stream
from fiveup_env.rules.tiles import MAX_PIP, NUM_TILES, set_size

MAX_PLAYERS = 4
MAX_SIDES = 3
MAX_EVENTS = 5
MAX_HISTORY = 136
RAW_PER_POINT = 5

# phases
PLAYING, ROUND_OVER, MATCH_OVER = 0, 1, 2
# how the last round ended
NOT_ENDED, BY_DOMINO, BY_BLOCK, BY_EXACT_HIT = 0, 1, 2, 3
# kinds of scoring events
PLACEMENT, DOMINO, BLOCKED = 0, 1, 2
# states of a spinner (R4)
ABSENT, ALONE, TERMINAL, TWO_ARMS, ONE_ARM, CLOSED = 0, 1, 2, 3, 4, 5
# codes of ports; a non-double has the first two, a double the other four
NO_PORT, SMALL, BIG, LINE_A, LINE_B, ARM_A, ARM_B = 0, 1, 2, 3, 4, 5, 6

Game: TypeAlias = Any
"""One record of dtype `GAME`, or inside kernels a reference to one."""

_FIELDS: list[tuple[Any, ...]] = [
    # the layout, what legality and scoring need
    ("hands", "u4", 4),  # set of tiles each seat holds
    ("ends", "u4", 7),  # per pip, the laid tiles (by place in the laying order) with a free single half of it
    ("table", "u4"),  # set of laid tiles
    ("in_play", "u4"),  # set of all tiles of this round
    ("end_sum", "i2"),  # sum of the counted ends (R5.1), raw
    ("scores", "i2", 4),  # raw points per side (R1.2)
    ("target", "i2"),  # raw points that win (R1.1)
    ("num_players", "u1"),
    ("num_sides", "u1"),
    ("turn", "u1"),  # seat to act; after the round the seat that acted last
    ("phase", "u1"),  # PLAYING, ROUND_OVER, MATCH_OVER
    ("end_pips", "u1"),  # set of pip counts with at least one single end
    ("spinner_pips", "u1"),  # set of pip counts whose spinner has a free place
    ("hand_sizes", "u1", 4),
    ("boneyard_next", "u1"),  # index into `boneyard` of the next tile to draw
    ("boneyard_end", "u1"),  # index after the last one
    ("num_laid", "u1"),
    ("num_history", "u1"),
    ("num_events", "u1"),  # scoring events of the last step
    ("just_drew", "u1"),  # 1 if the last event is a draw by the seat to act
    ("spinners", "u1", 7),  # per double, ABSENT .. CLOSED
    ("void", "u1", 4),  # per seat, pips that none of its tiles but the one just drawn showed at its last draw or pass
    ("drawn", "u1", 4),  # tiles drawn this round per seat
    # the laid graph
    ("laid", "u1", 28),  # laying order -> tile
    ("order", "u1", 28),  # tile -> 1 + its place in the laying order, 0 if not laid
    ("parent", "u1", 28),  # tile -> 1 + the tile it was laid on, 0 if none
    ("port", "u1", 28),  # tile -> port of the parent it was laid on, NO_PORT .. ARM_B
    # what happened
    ("history", "u1", 136),  # the actions of this round in order; the seats follow from `opener`
    ("event_net", "i2", 5),
    ("event_kind", "u1", 5),
    ("event_side", "u1", 5),
    ("event_accepted", "u1", 5),
    ("round_end", "u1"),  # how the last round ended
    ("round_winner", "i1"),  # side that won the last round, -1 for a tie (R8.5, D8)
    ("next_opener", "i1"),  # seat that opens the next round, -1 if a lot decides (R2.5)
    ("winner", "i1"),  # side that won the match, -1 before (R6.2)
    ("revealed", "u4", 4),  # hands shown at the last settlement (D5)
    # deal and configuration
    ("opener", "u1"),
    ("hand_size", "u1"),
    ("max_pip", "u1"),
    ("boneyard", "u1", 28),  # in drawing order, drawn tiles included
    ("round_number", "u4"),  # 1 for the first round
    ("seed", "u8"),
]


def record_dtype(fields: list[tuple]) -> np.dtype:
    """Aligned dtype whose records kernels and Python read by attribute."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


GAME = record_dtype(_FIELDS)
"""dtype of one match."""


@dataclass(frozen=True)
class Variant:
    """Players, hand size, target and set. Only the default is called Five Up.

    Attributes:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        hand_size: tiles dealt to each player (R2.1).
        target: display points that win (R1.1).
        max_pip: highest pip count of the set, 6 for double-six (R1.1).

    Raises:
        ValueError: if a value is out of range or the set is too small for the hands.
    """

    num_players: int = 4
    hand_size: int = 5
    target: int = 61
    max_pip: int = MAX_PIP

    def __post_init__(self) -> None:
        for name, low, high in (
            ("num_players", 2, MAX_PLAYERS),
            ("hand_size", 1, NUM_TILES),
            ("target", 1, 6000),
            ("max_pip", 1, MAX_PIP),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__") or not low <= value <= high:
                raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
            object.__setattr__(self, name, int(value))
        if self.num_players * self.hand_size > self.num_tiles:
            raise ValueError(
                f"{self.num_players} hands of {self.hand_size} tiles do not fit into the "
                f"{self.num_tiles} tiles of a double-{self.max_pip} set"
            )

    @property
    def num_tiles(self) -> int:
        """Number of tiles in the set."""
        return set_size(self.max_pip)

    @property
    def num_sides(self) -> int:
        """Number of sides that score: one per player, two partnerships for four (R1.2)."""
        return 3 if self.num_players == 3 else 2


def new_games(count: int, variant: Variant | None = None) -> np.ndarray:
    """Array of `count` records of a variant, nothing dealt yet (see `start_match`)."""
    variant = variant or Variant()
    games = np.zeros(count, GAME)
    games["num_players"] = variant.num_players
    games["num_sides"] = variant.num_sides
    games["hand_size"] = variant.hand_size
    games["target"] = variant.target * RAW_PER_POINT
    games["max_pip"] = variant.max_pip
    games["winner"] = games["round_winner"] = games["next_opener"] = -1
    return games


def copy_games(games: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Copies of games[rows], or of all, as an array of records [K].

    They are copied as plain bytes: NumPy copies structured records field by field, which is 10 to 40 times slower.
    """
    plain = np.ascontiguousarray(games, GAME).view(f"V{GAME.itemsize}")
    return (plain.copy() if rows is None else plain[rows]).view(GAME)


@kernel
def clear_table(game: Game) -> None:
    """Clear the table, as before a deal."""
    game.end_sum = 0
    game.table = 0
    game.end_pips = 0
    game.spinner_pips = 0
    game.num_laid = 0
    game.num_history = 0
    game.just_drew = 0
    for pip in range(7):
        game.ends[pip] = 0
        game.spinners[pip] = 0
    for seat in range(4):
        game.hands[seat] = 0
        game.hand_sizes[seat] = 0
        game.void[seat] = 0
        game.drawn[seat] = 0
    for tile in range(28):
        game.laid[tile] = 0
        game.order[tile] = 0
        game.parent[tile] = 0
        game.port[tile] = 0
    game.history[:] = 0


@kernel
def start_round(game: Game) -> None:
    """Deal the next round (R2.1) from (seed, round number) and determine its opener (R2.3, R2.5)."""
    clear_table(game)
    game.round_number += 1
    game.phase = PLAYING
    state = stream(game.seed, game.round_number)
    players = int64(game.num_players)
    lot, state = below(state, players)
    opener = int64(game.next_opener)
    if opener < 0:
        opener = lot
    game.opener = opener
    game.turn = opener
    count = (int64(game.max_pip) + 1) * (int64(game.max_pip) + 2) // 2
    game.in_play = (1 << count) - 1
    tiles = game.boneyard
    for i in range(count):
        tiles[i] = i
    for i in range(count - 1, 0, -1):
        j, state = below(state, i + 1)
        swapped = tiles[i]
        tiles[i] = tiles[j]
        tiles[j] = swapped
    size = int64(game.hand_size)
    for seat in range(players):
        hand = 0
        for i in range(seat * size, seat * size + size):
            hand |= 1 << int64(tiles[i])
        game.hands[seat] = hand
        game.hand_sizes[seat] = size
    game.boneyard_next = players * size
    game.boneyard_end = count


@kernel
def start_match(game: Game, seed: int) -> None:
    """Begin a match at 0 : 0 with the first deal of `seed`; the variant stays."""
    game.seed = np.uint64(seed)
    game.round_number = 0
    game.winner = -1
    game.round_winner = -1
    game.next_opener = -1
    game.round_end = NOT_ENDED
    game.num_events = 0
    for i in range(5):
        game.event_net[i] = 0
        game.event_kind[i] = 0
        game.event_side[i] = 0
        game.event_accepted[i] = 0
    for side in range(4):
        game.scores[side] = 0
        game.revealed[side] = 0
    start_round(game)


@entry
def deal_matches(games: np.ndarray, rows: np.ndarray, seeds: np.ndarray) -> None:
    """Begin the matches games[rows[i]] at 0 : 0 from seeds[i]; `rows` is int64 [K], `seeds` uint64 [K]."""
    for i in range(len(rows)):
        start_match(games[rows[i]], seeds[i])
