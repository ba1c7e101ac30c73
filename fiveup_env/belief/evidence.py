"""Evidence: what the public events of a round reveal about the origin of tiles, seat by seat (R3.2, D6).

A hidden deal is the hands as dealt and the order of the whole boneyard. Which seat drew which place of the boneyard,
and when, is public; so a deal assigns tiles to *slots*: the dealt tiles of a seat and its draws. Every public event
limits one slot at a time:

- A turn that begins with a draw or a pass is *dry*: no tile that the seat then held fitted the layout, and no tile it
  drew in that turn did, except one laid at once.
- A tile laid right after a draw is the tile just drawn: its origin is known, and it limits nothing else.
- Any other placement is free: the *chosen* tile was dealt, or drawn in an earlier turn without fitting, and it fitted
  at no dry turn through which it was held.

Tiles that a seat took up between the same dry turns are interchangeable and form one *group*. Group 0 is the dealt
tiles and what stayed of the first dry turn's draws; each later group is what stayed of one later dry turn. Group g has
survived its seat's dry turns g, g + 1, ...: its tiles show none of the pips that were open then. A tile drawn last of
all, with no action since, is a separate group that has survived nothing yet.

Blocks (D1) add nothing: they can happen only when the boneyard is empty, and then every seat knows what all other
hands hold together, so it knows whether any of it fits.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.layout import lay
from fiveup_env.rules.record import GAME, MAX_PLAYERS, Game, clear_table
from fiveup_env.rules.scoring import next_of
from fiveup_env.rules.tiles import NO_TILE, NUM_TILES, TILES_WITH
from fiveup_env.rules.turn import open_pips

MAX_GROUPS = 32  # a seat has at most one dry turn between two placements of others, and one pending draw

Evidence: TypeAlias = Any
"""A record that has `EVIDENCE_FIELDS`, or inside kernels a reference to one."""

EVIDENCE_FIELDS: list[tuple[Any, ...]] = [
    ("past", GAME),  # scratch: the table, rebuilt action by action
    ("num_groups", "u1", MAX_PLAYERS),
    ("open_pips", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # pips open at the dry turn that began the group, 0 if none
    ("slots", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # tiles the group had, chosen ones included, known ones not
    ("dealt", "u1", MAX_PLAYERS),  # slots of group 0 that were dealt; its others were drawn
    ("num_chosen", "u1", MAX_PLAYERS),
    ("chosen", "u1", (MAX_PLAYERS, NUM_TILES)),  # tiles laid by choice after the first dry turn, in laying order
    ("chosen_groups", "u1", (MAX_PLAYERS, NUM_TILES)),  # groups there were then; the tile comes from one of them
    ("num_draws", "u1"),
    ("draw_seat", "u1", NUM_TILES),
    ("draw_group", "u1", NUM_TILES),  # the group the tile went to, if it was not laid at once
    ("draw_tile", "u1", NUM_TILES),  # the tile, if it was laid at once, else NO_TILE
]


@kernel
def read_evidence(game: Game, evidence: Evidence) -> None:
    """Sort the round's events into groups and chosen tiles, for every seat; reads only what is public."""
    clear_table(evidence.past)
    players = int64(game.num_players)
    for seat in range(players):
        evidence.num_groups[seat] = 1
        evidence.open_pips[seat, 0] = 0
        evidence.slots[seat, 0] = 0
        evidence.num_chosen[seat] = 0
    evidence.num_draws = 0
    seat, drawn = int64(game.opener), False
    for i in range(int64(game.num_history)):
        action = int64(game.history[i])
        note_action(evidence, seat, action, drawn)
        drawn = action == DRAW
        if not drawn:
            seat = next_of(seat, players)
    if drawn:
        add_group(evidence, seat, 0)
        keep_drawn(evidence, seat)
    for seat in range(players):
        note_dealt(evidence, seat, int64(game.hand_sizes[seat]))


@kernel
def note_action(evidence: Evidence, seat: int, action: int, drawn: bool) -> None:
    """Process one action; `drawn`: the previous action of the same turn was a draw."""
    if drawn:
        if action < DRAW:
            evidence.draw_tile[int64(evidence.num_draws) - 1] = ACTION_TILE[action]
        else:
            keep_drawn(evidence, seat)
    elif evidence.open_pips[seat, 0] == 0:
        if action >= DRAW:
            evidence.open_pips[seat, 0] = open_pips(evidence.past)
    elif action >= DRAW:
        add_group(evidence, seat, open_pips(evidence.past))
    else:
        note_chosen(evidence, seat, ACTION_TILE[action])
    if action < DRAW:
        lay(evidence.past, action)
    elif action == DRAW:
        note_drawn(evidence, seat)


@kernel
def note_drawn(evidence: Evidence, seat: int) -> None:
    """Note a draw; later actions tell more about its tile."""
    draw = int64(evidence.num_draws)
    evidence.draw_seat[draw] = seat
    evidence.draw_tile[draw] = NO_TILE
    evidence.num_draws = draw + 1


@kernel
def keep_drawn(evidence: Evidence, seat: int) -> None:
    """The tile drawn last did not fit, or is still in question: add it to the seat's newest group."""
    group = int64(evidence.num_groups[seat]) - 1
    evidence.slots[seat, group] += 1
    evidence.draw_group[int64(evidence.num_draws) - 1] = group


@kernel
def note_chosen(evidence: Evidence, seat: int, tile: int) -> None:
    """Note a tile laid by choice after the seat's first dry turn."""
    count = int64(evidence.num_chosen[seat])
    evidence.chosen[seat, count] = tile
    evidence.chosen_groups[seat, count] = evidence.num_groups[seat]
    evidence.num_chosen[seat] = count + 1


@kernel
def add_group(evidence: Evidence, seat: int, pips: int) -> None:
    """Begin the group of a later dry turn, or with `pips` 0 that of a pending draw."""
    group = int64(evidence.num_groups[seat])
    evidence.open_pips[seat, group] = pips
    evidence.slots[seat, group] = 0
    evidence.num_groups[seat] = group + 1


@kernel
def note_dealt(evidence: Evidence, seat: int, hand_size: int) -> None:
    """Count the dealt tiles: all that were not drawn. Tiles laid before the first dry turn are no slots."""
    filled = 0
    for group in range(int64(evidence.num_groups[seat])):
        filled += int64(evidence.slots[seat, group])
    dealt = hand_size + int64(evidence.num_chosen[seat]) - filled
    evidence.dealt[seat] = dealt
    evidence.slots[seat, 0] += dealt


@kernel
def first_group(evidence: Evidence, seat: int, tile: int, end: int) -> int:
    """First of the groups below `end` from which a tile may come; `end` if there is none.

    The tile fits at no dry turn from that group up to group `end` - 1.
    """
    pips = 0
    for group in range(end - 1, -1, -1):
        pips |= int64(evidence.open_pips[seat, group])
        if TILES_WITH[pips] >> tile & 1:
            return group + 1
    return 0
