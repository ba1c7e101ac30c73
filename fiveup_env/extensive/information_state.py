"""Information states with perfect recall: everything that a seat has seen since the start of the match.

They contain the scores before every round, its opener, the seat's own hand as dealt, every action, the tiles it drew,
and the hands shown at settlements (D5, D6). A seat sees nothing else, so two histories that look the same to
it have the same information state.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from fiveup_env.extensive.episode import DRAWN, Episode, Round, Stage
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW, Lay, Lead, Pass, decode
from fiveup_env.rules.tiles import NUM_TILES, tile_index, tile_name, tiles_in


class Seen(NamedTuple):
    """Hashable information state, equal if and only if the seat cannot distinguish the positions.

    Attributes:
        seat: the observing seat.
        drawing: whether the seat to act is about to draw.
        rounds: the visible part of every round: `dealt` is the seat's own hand (empty until the deal is complete), and
            draws of others are `DRAW` without the tile.
    """

    seat: int
    drawing: bool
    rounds: tuple[Round, ...]


def seen_by(episode: Episode, seat: int) -> Seen:
    """Information state of a seat."""
    size, players = episode.setup.variant.hand_size, episode.setup.variant.num_players
    rounds = tuple(_seen(round_, seat, size, players) for round_ in (*episode.past, episode.round))
    return Seen(seat, episode.stage is Stage.DRAWING, rounds)


@lru_cache(maxsize=1024)  # earlier rounds are requested repeatedly
def _seen(round_: Round, seat: int, hand_size: int, num_players: int) -> Round:
    dealt = round_.dealt[seat * hand_size : (seat + 1) * hand_size]
    events, turn = [], round_.opener
    for event in round_.events:
        if event >= DRAWN:
            events.append(event if turn == seat else DRAW)
        else:
            events.append(event)
            turn = (turn + 1) % num_players
    hand = dealt if len(round_.dealt) == hand_size * num_players else ()
    return round_._replace(dealt=hand, events=tuple(events))


@cache
def _event_text(event: int) -> str:
    if event >= DRAWN:
        return f"draw{tile_name(event - DRAWN)}"
    named = decode(event)
    if isinstance(named, Lead):
        return tile_name(tile_index(named.tile))
    if isinstance(named, Lay):
        return f"{tile_name(tile_index(named.tile))}{'-' if named.onto == 'end' else '+'}{named.pip}"
    return "pass" if isinstance(named, Pass) else "draw"


def _tiles_text(tiles: Iterable[int]) -> str:
    return "".join(tile_name(tile) for tile in tiles) or "none"


@lru_cache(maxsize=1024)
def _round_text(round_: Round, hands: str) -> str:
    opener = "the lot" if round_.opener < 0 else f"player_{round_.opener}"
    parts = [f"{':'.join(map(str, round_.scores))} {opener} opens", f"dealt {hands}"]
    if round_.events:
        parts.append(" ".join(map(_event_text, round_.events)))
    if round_.shown is not None:
        shown = (_tiles_text(map(tile_index, tiles_in(hand))) for hand in round_.shown)
        parts.append(f"shown {'/'.join(shown)}")
    return ", ".join(parts)


def information_text(episode: Episode, seat: int) -> str:
    """Information state of a seat as text, one line per round; equal if and only if `seen_by` is equal.

    A tile laid on an end is `[1|4]-4`, on a spinner `[1|4]+4`.
    """
    seen = seen_by(episode, seat)
    lines = [f"player_{seat} of {episode.match.num_players}"]
    lines += [_round_text(round_, _tiles_text(round_.dealt)) for round_ in seen.rounds]
    return "\n".join(lines) + (", drawing" if seen.drawing else "")


def full_text(episode: Episode) -> str:
    """Full history as text, hidden tiles included, one line per round."""
    size, players = episode.setup.variant.hand_size, episode.setup.variant.num_players
    lines = []
    for round_ in (*episode.past, episode.round):
        hands = [_tiles_text(round_.dealt[size * seat : size * (seat + 1)]) for seat in range(players)]
        lines.append(_round_text(round_, "/".join(hands)))
    return "\n".join(lines) + (", drawing" if episode.stage is Stage.DRAWING else "")


EVENT_SCALE = 1 / 128
SCORE_SCALE = 1 / 512


class InformationTensor:
    """Tensor layout of information states, for one game.

    Attributes:
        shapes: name -> shape of each piece, in order. `player` is one-hot, `drawing` 0 or 1. The others have one row
            per round: `scores` (raw points / 512), `opener` (one-hot), `dealt` (own tiles, 0 or 1), `events`
            ((1 + action) / 128 and, for own draws, (1 + tile) / 128), `over` (1 if hands were shown) and `shown` (those
            hands by absolute seat, 0 or 1).
        size: length of the flat vector.
    """

    def __init__(self, setup: Setup) -> None:
        players, rounds = setup.variant.num_players, setup.num_rounds
        self.shapes: dict[str, tuple[int, ...]] = {
            "player": (players,),
            "drawing": (1,),
            "scores": (rounds, setup.variant.num_sides),
            "opener": (rounds, players),
            "dealt": (rounds, NUM_TILES),
            "events": (rounds, setup.actions_per_round, 2),
            "over": (rounds,),
            "shown": (rounds, players, NUM_TILES),
        }
        self.size = sum(int(np.prod(shape)) for shape in self.shapes.values())

    def split(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Pieces of a vector [size], as views into it."""
        pieces, at = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            pieces[name] = vector[at : at + size].reshape(shape)
            at += size
        return pieces

    def write(self, episode: Episode, seat: int, pieces: dict[str, np.ndarray]) -> None:
        """Write the information state of a seat into zeroed float32 pieces; see `split`."""
        seen = seen_by(episode, seat)
        pieces["player"][seat] = 1
        pieces["drawing"][0] = seen.drawing
        for row, round_ in enumerate(seen.rounds):
            pieces["scores"][row] = np.array(round_.scores) * SCORE_SCALE
            if round_.opener >= 0:
                pieces["opener"][row, round_.opener] = 1
            pieces["dealt"][row, list(round_.dealt)] = 1
            if round_.events:
                events = np.array(round_.events)
                drawn = events >= DRAWN
                shown = pieces["events"][row, : len(events)]
                shown[:, 0] = (1 + np.where(drawn, DRAW, events)) * EVENT_SCALE
                shown[drawn, 1] = (1 + events[drawn] - DRAWN) * EVENT_SCALE
            if round_.shown is not None:
                pieces["over"][row] = 1
                for other, hand in enumerate(round_.shown):
                    pieces["shown"][row, other] = [hand >> tile & 1 for tile in range(NUM_TILES)]
