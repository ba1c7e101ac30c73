"""What this round's public events say about where tiles came from, seat by seat (R3.2, D6).

A hidden deal is the hands as they were dealt and the order of the whole boneyard. Who drew which place of the
boneyard, and when, is public; so a deal is an assignment of tiles to *slots*: the dealt tiles of a seat and its
draws. Every public event limits one slot at a time:

- A turn that begins with a draw or a pass is *dry*: nothing the seat then held fitted the layout, nor did any tile
  it drew in that turn, except one that it laid at once.
- A tile laid right after a draw is the tile just drawn: its origin is known, it limits nothing else.
- Any other placement is free: the *chosen* tile was dealt, or drawn in an earlier turn without fitting, and while it
  was held it fitted at no dry turn.

Tiles that a seat took up between the same dry turns are interchangeable, so they form one *group*: group 0 is what
was dealt and what stayed of the first dry turn's draws, each later group what stayed of one later dry turn. A group
`g` has survived the dry turns g, g + 1, ... of its seat: its tiles show none of the pips that were open then. A tile
drawn last of all, with nothing done since, is a group that has survived nothing.

Blocks (D1) say no more: they are looked for only when the boneyard is empty, when what all other hands hold together
is known to every seat, and so is whether any of it fits.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.rules.actions import ACTION_TILE, DRAW, PASS
from fiveup_env.rules.game import BY_BLOCK, BY_DOMINO, GAME, MAX_PLAYERS, PLAYING, Game, clear_table
from fiveup_env.rules.kernels import kernel
from fiveup_env.rules.layout import lay
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.rules.turn import open_pips

MAX_GROUPS = 32
"""Between two placements of others a seat has at most one dry turn, and one group more may be pending."""

EVIDENCE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("past", GAME),  # the table, built up again action by action
                ("num_groups", "u1", MAX_PLAYERS),
                ("open_pips", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # pips open at the dry turn that began the group
                ("slots", "u1", (MAX_PLAYERS, MAX_GROUPS)),  # tiles of the group, chosen ones included
                ("dealt", "u1", MAX_PLAYERS),  # slots of group 0 that were dealt, the others were drawn
                ("num_chosen", "u1", MAX_PLAYERS),
                ("chosen", "u1", (MAX_PLAYERS, NUM_TILES)),  # chosen tiles in laying order, from the first dry turn on
                ("chosen_before", "u1", (MAX_PLAYERS, NUM_TILES)),  # they come from a group below this one
            ],
            align=True,
        ),
    )
)
"""dtype of the evidence of one round, by absolute seat."""


@kernel
def open_group(evidence: object, seat: int) -> None:
    """A dry turn begins: the pips open now have been survived by all that the seat holds."""
    pips = open_pips(evidence.past)  # type: ignore[attr-defined]
    group = int64(evidence.num_groups[seat])  # type: ignore[attr-defined]
    if group == 1 and evidence.open_pips[seat, 0] == 0:  # type: ignore[attr-defined]
        evidence.open_pips[seat, 0] = pips  # type: ignore[attr-defined]
        return
    evidence.open_pips[seat, group] = pips  # type: ignore[attr-defined]
    evidence.slots[seat, group] = 0  # type: ignore[attr-defined]
    evidence.num_groups[seat] = group + 1  # type: ignore[attr-defined]
