"""What this round's public events say about where tiles came from, seat by seat (R3.2, D6).

A hidden deal is the hands as they were dealt and the order of the whole boneyard. Who drew which place of the
boneyard, and when, is public; so a deal is an assignment of tiles to *slots*: the dealt tiles of a seat and its
draws. Every public event limits one slot at a time:

- A turn that begins with a draw or a pass is *dry*: nothing the seat then held fitted the layout, nor did any tile
  it drew in that turn, except one that it laid at once.
- A tile laid right after a draw is the tile just drawn: its origin is known, and it limits nothing else.
- Any other placement is free: the *chosen* tile was dealt, or drawn in an earlier turn without fitting, and it fitted
  at no dry turn through which it was held.

Tiles that a seat took up between the same dry turns are interchangeable, so they form one *group*: group 0 is what
was dealt and what stayed of the first dry turn's draws, each later group what stayed of one later dry turn. Group g
has survived its seat's dry turns g, g + 1, ...: its tiles show none of the pips that were open then. A tile drawn
last of all, with nothing done since, is a group of its own that has survived nothing yet.

Blocks (D1) say no more: they are looked for only when the boneyard is empty, and then every seat knows what all
other hands hold together, so it knows whether any of it fits.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from numpy import int64

from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.layout import lay
from fiveup_env.rules.record import GAME, MAX_PLAYERS, Game, clear_table
from fiveup_env.rules.tiles import NO_TILE, NUM_TILES, TILES_WITH
from fiveup_env.rules.turn import open_pips

MAX_GROUPS = 32  # a seat has at most one dry turn between two placements of others, and one pending draw

Evidence: TypeAlias = Any
"""A record that has `EVIDENCE_FIELDS`, or inside kernels a reference to one."""

EVIDENCE_FIELDS: list[tuple[Any, ...]] = [
    ("past", GAME),  # scratch: the table, built up again action by action
    ("num_groups", "u1", MAX_PLAYERS),
    ("open_pips", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # pips open at the dry turn that began the group, 0 if none
    ("slots", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # tiles the group had, chosen ones included, known ones not
    ("dealt", "u1", MAX_PLAYERS),  # slots of group 0 that were dealt; its others were drawn
    ("num_chosen", "u1", MAX_PLAYERS),
    ("chosen", "u1", (MAX_PLAYERS, NUM_TILES)),  # tiles laid by choice after the first dry turn, in laying order
    ("chosen_groups", "u1", (MAX_PLAYERS, NUM_TILES)),  # groups there were then; the tile comes from one of them
    ("num_draws", "u1"),
    ("draw_seat", "u1", NUM_TILES),  # who drew
    ("draw_group", "u1", NUM_TILES),  # the group the tile went to, if it was not laid at once
    ("draw_tile", "u1", NUM_TILES),  # the tile, if it was laid at once, else NO_TILE
]


@kernel
def read_evidence(game: Game, evidence: Evidence) -> None:
    """Sort the round's events into groups and chosen tiles, for every seat; looks only at what is public."""
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
            seat = 0 if seat + 1 == players else seat + 1
    if drawn:
        add_group(evidence, seat, 0)
        keep_drawn(evidence, seat)
    for seat in range(players):
        note_dealt(evidence, seat, int64(game.hand_sizes[seat]))


@kernel
def note_action(evidence: Evidence, seat: int, action: int, drawn: bool) -> None:
    """Take in one action; `drawn` says whether the same turn's last action was a draw."""
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
    """A tile is drawn; what follows says more about it."""
    draw = int64(evidence.num_draws)
    evidence.draw_seat[draw] = seat
    evidence.draw_tile[draw] = NO_TILE
    evidence.num_draws = draw + 1


@kernel
def keep_drawn(evidence: Evidence, seat: int) -> None:
    """The tile drawn last did not fit, or is still in question: it belongs to the seat's newest group."""
    group = int64(evidence.num_groups[seat]) - 1
    evidence.slots[seat, group] += 1
    evidence.draw_group[int64(evidence.num_draws) - 1] = group


@kernel
def note_chosen(evidence: Evidence, seat: int, tile: int) -> None:
    """A tile is laid by choice after the seat's first dry turn."""
    count = int64(evidence.num_chosen[seat])
    evidence.chosen[seat, count] = tile
    evidence.chosen_groups[seat, count] = evidence.num_groups[seat]
    evidence.num_chosen[seat] = count + 1


@kernel
def add_group(evidence: Evidence, seat: int, pips: int) -> None:
    """A later dry turn begins, or with `pips` 0 a draw is pending."""
    group = int64(evidence.num_groups[seat])
    evidence.open_pips[seat, group] = pips
    evidence.slots[seat, group] = 0
    evidence.num_groups[seat] = group + 1


@kernel
def note_dealt(evidence: Evidence, seat: int, hand_size: int) -> None:
    """Whatever has not been drawn was dealt; tiles laid before the first dry turn are no slots."""
    filled = 0
    for group in range(int64(evidence.num_groups[seat])):
        filled += int64(evidence.slots[seat, group])
    dealt = hand_size + int64(evidence.num_chosen[seat]) - filled
    evidence.dealt[seat] = dealt
    evidence.slots[seat, 0] += dealt


@kernel
def first_group(evidence: Evidence, seat: int, tile: int, end: int) -> int:
    """The first of the groups below `end` from which a tile may come; `end` if from none.

    It fits at no dry turn from then on up to that of group `end` - 1.
    """
    pips = 0
    for group in range(end - 1, -1, -1):
        pips |= int64(evidence.open_pips[seat, group])
        if TILES_WITH[pips] >> tile & 1:
            return group + 1
    return 0
