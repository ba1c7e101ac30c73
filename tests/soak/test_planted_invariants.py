"""Each invariant of the soak is found broken where it is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, copy_games
from tests.rules.support import positions, scaled
from tests.soak.invariants import (
    BLOCK,
    ENDS,
    GRAPH,
    INVARIANTS,
    OK,
    ORDER,
    SCORES,
    SIZES,
    SPINNERS,
    SUM,
    TILES,
    TURN,
    all_broken,
    is_stuck,
    mask_is_right,
)

Change = Callable[[Any], None]


def lose_a_tile(game: Any) -> None:
    game.hands[int(game.turn)] &= game.hands[int(game.turn)] - 1


def hold_a_laid_tile(game: Any) -> None:
    game.hands[0] |= 1 << int(game.laid[0])


def draw_a_tile_twice(game: Any) -> None:
    game.boneyard_next -= 1


def swap_laying_order(game: Any) -> None:
    game.order[int(game.laid[0])], game.order[int(game.laid[1])] = 2, 1


def join_to_itself(game: Any) -> None:
    game.parent[int(game.laid[1])] = int(game.laid[1]) + 1


def join_the_first(game: Any) -> None:
    game.port[int(game.laid[0])] = 1


def use_a_port_twice(game: Any) -> None:
    for child in (1, 2):
        game.parent[int(game.laid[child])] = int(game.laid[0]) + 1
        game.port[int(game.laid[child])] = game.port[int(game.laid[1])]


def set_field(name: str, change: Callable[[int], int], at: int | None = None) -> Change:
    def apply(game: Any) -> None:
        if at is None:
            setattr(game, name, change(int(getattr(game, name))))
        else:
            getattr(game, name)[at] = change(int(getattr(game, name)[at]))

    return apply


BREAKS: list[tuple[int, Change]] = [
    (TILES, lose_a_tile),
    (TILES, hold_a_laid_tile),
    (TILES, draw_a_tile_twice),
    (SIZES, set_field("hand_sizes", lambda size: size + 1, 1)),
    (ORDER, swap_laying_order),
    (ORDER, set_field("table", lambda tiles: tiles & (tiles - 1))),
    (GRAPH, join_to_itself),
    (GRAPH, use_a_port_twice),
    (GRAPH, join_the_first),
    (ENDS, set_field("end_pips", lambda pips: pips ^ 4)),
    (ENDS, set_field("ends", lambda tiles: tiles ^ 1, 5)),
    (SPINNERS, set_field("spinner_pips", lambda pips: pips ^ 8)),
    (SPINNERS, set_field("spinners", lambda state: (state + 1) % 6, 2)),
    (SUM, set_field("end_sum", lambda total: total + 5)),
    (SCORES, set_field("scores", lambda score: score + 1, 0)),
    (SCORES, set_field("scores", lambda score: 310, 1)),
    (SCORES, set_field("scores", lambda score: 305, 1)),
    (SCORES, set_field("winner", lambda winner: 0)),
    (TURN, set_field("num_history", lambda count: count - 1)),
    (TURN, set_field("drawn", lambda count: count + 1, 0)),
    (TURN, set_field("turn", lambda turn: turn ^ 1)),
]


@pytest.mark.parametrize("number", range(len(BREAKS)))
def test_what_is_broken_is_found(number: int) -> None:
    wanted, change = BREAKS[number]
    games = np.concatenate([match.copy()._games for match in positions(4, seed=2, matches=scaled(6))])
    games = games[(games["phase"] == PLAYING) & (games["num_laid"] >= 4) & (games["boneyard_next"] > 20)]
    games = copy_games(games[: scaled(200)])
    assert len(games) >= 10
    for game in games:
        change(game)
    assert set(all_broken(games)) == {wanted}, [INVARIANTS[what] for what in set(all_broken(games))]


@entry
def _probe(games: np.ndarray, ends: np.ndarray, spinners: np.ndarray, mask: np.ndarray, found: np.ndarray) -> None:
    found[0] = mask_is_right(games[0], ends, spinners, mask)
    found[1] = is_stuck(games[0], ends, spinners)


def test_a_wrong_mask_and_an_unnoticed_block_are_found() -> None:
    """No field of a record can make the mask wrong without breaking another invariant first: only the code can."""
    match = Match.from_deal([[(1, 2), (2, 3)], [(4, 4), (0, 2)]], [], 0)
    match.play(match.legal_actions()[0])  # [1|2]: player_1 may lay [0|2] on the 2
    found, mask = np.zeros(2, np.bool_), np.zeros(121, np.int8)
    for open_pips, wanted in (((1, 2), [True, False]), ((1, 4), [False, False]), ((1, 5), [False, True])):
        ends = np.zeros(7, np.int64)
        ends[list(open_pips)] = 1
        _probe(match._games, ends, np.zeros(7, np.int64), mask, found)
        assert found.tolist() == wanted
    assert BLOCK in range(len(INVARIANTS)) and OK == 0
