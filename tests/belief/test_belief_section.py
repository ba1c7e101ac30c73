"""The observation section `belief` for many matches at once, of both kinds: sums, threads, scratch, nothing hidden."""

from __future__ import annotations

import copy
import pickle
import random

import numba
import numpy as np
import pytest

from fiveup_env.belief import belief_section
from fiveup_env.belief.belief_section import BELIEF_WRITERS, EXACT, LIKELY, Marginals, belief_writer, beliefs_of
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import Variant
from fiveup_env.rules.tiles import tile_index, tiles_in
from fiveup_env.views.view import View, Views
from tests.belief.brute_force import random_position
from tests.rules.support import PLAYERS, lead, play_all, scaled
from tests.views.worlds import reshuffled

TINY = {2: Variant(2, 2, max_pip=2), 3: Variant(3, 2, max_pip=3), 4: Variant(4, 2, max_pip=3)}


def some(num_players: int, count: int, *, tiny: bool = JIT_DISABLED) -> tuple[np.ndarray, np.ndarray]:
    """Records from all over rounds [count], and seats that look."""
    variant = TINY[num_players] if tiny else Variant(num_players)
    games = [random_position(variant, seed, seed / count, 1 + seed % 3).now for seed in range(count)]
    return np.concatenate(games), np.arange(count) % num_players


def one_by_one(games: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Marginals of `Belief` for every match."""
    views = (View(game, int(seat)) for game, seat in zip(games, seats, strict=True))
    return np.array([Belief(view).marginals()[1:] for view in views], np.float32)


@pytest.mark.parametrize("tiny", [pytest.param(False, marks=pytest.mark.jit), True])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_they_are_those_of_the_exact_belief(num_players: int, tiny: bool) -> None:
    games, seats = some(num_players, scaled(60, 0.3), tiny=tiny)
    views = Views(games, seats)
    seen = beliefs_of(views)
    assert seen.shape == (len(games), num_players, 28) and seen.dtype == np.float32
    assert seen.tobytes() == one_by_one(games, seats).tobytes()
    assert all(beliefs_of(views[i].views)[0].tobytes() == seen[i].tobytes() for i in range(len(games)))
    full = np.empty_like(seen)
    Marginals().write(games, seats, full)  # whole records: what a view hides is not read
    assert full.tobytes() == seen.tobytes()


@pytest.mark.parametrize(("kind", "error"), [(EXACT, 1e-4), (LIKELY, 0.35)])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_rows_add_up_to_hands_and_columns_to_tiles(num_players: int, kind: str, error: float) -> None:
    """Columns sum to 1 and rows to the number of tiles there, which "likely" only approximates."""
    games, seats = some(num_players, scaled(60, 0.3))
    for game, seat, seen in zip(games, seats, beliefs_of(Views(games, seats), kind), strict=True):
        view = View(game, int(seat))
        assert (seen >= 0).all() and (seen <= 1 + 1e-6).all()
        sizes = [view.hand_sizes[(seat + r) % num_players] for r in range(1, num_players)]
        assert seen.sum(1) == pytest.approx([*sizes, view.boneyard_size], abs=error)
        known = {tile_index(tile) for tile in (*view.hand, *view.layout.tiles)}
        unseen = [t for t in range(28) if int(game.in_play) >> t & 1 and t not in known]
        assert seen[:, unseen].sum(0) == pytest.approx(1, abs=1e-5)
        assert not np.delete(seen, unseen, 1).any()
        for r in range(1, num_players):
            held = np.flatnonzero(seen[r - 1] > 0)
            assert set(held) <= set(map(tile_index, view.may_hold((int(seat) + r) % num_players)))
            truth = map(tile_index, tiles_in(int(game.hands[(seat + r) % num_players])))
            assert kind == LIKELY or all(seen[r - 1, tile] > 0 for tile in truth)


@pytest.mark.parametrize("kind", BELIEF_WRITERS)
@pytest.mark.parametrize("num_players", PLAYERS)
def test_hidden_tiles_change_nothing(num_players: int, kind: str) -> None:
    games, seats = some(num_players, scaled(60, 0.3))
    rng, moved = random.Random(num_players), np.empty_like(games)
    for i, (game, seat) in enumerate(zip(games, seats, strict=True)):
        moved[i] = reshuffled(Match.of(game), int(seat), rng).game
    assert (moved["hands"] != games["hands"]).any(1).sum() > len(games) / 3
    seen, again = np.empty((2, len(games), num_players, 28), np.float32)
    belief_writer(kind).write(games, seats, seen)  # full records: hidden fields are not read
    belief_writer(kind).write(moved, seats, again)
    assert seen.tobytes() == again.tobytes() == beliefs_of(Views(games, seats), kind).tobytes()


def test_a_small_deal_by_hand() -> None:
    """Four tiles unseen, two of them in the other hand: at first any, and none with a 0 once it had to draw (R3.2)."""
    match = Match.from_deal([[(0, 0), (1, 1)], [(0, 1), (1, 2)]], [(0, 2), (2, 2)], 0)
    seen = beliefs_of(View.of(match, 0).views)[0]
    assert seen.shape == (2, 28)
    assert seen[:, [tile_index(tile) for tile in ((0, 1), (1, 2), (0, 2), (2, 2))]].tolist() == [[0.5] * 4] * 2
    match = Match.from_deal([[(0, 0), (1, 1)], [(1, 2), (2, 2)]], [(0, 1), (0, 2)], 0)
    play_all(match, lead((0, 0)))
    assert match.legal_actions() == [119]
    match.play(119)
    seen = beliefs_of(View.of(match, 0).views)[0]
    # It held (1, 2) and (2, 2), and drew (0, 1) or (0, 2).
    expected = [[1, 1, 0.5, 0.5], [0, 0, 0.5, 0.5]]
    assert seen[:, [tile_index(tile) for tile in ((1, 2), (2, 2), (0, 1), (0, 2))]].tolist() == expected


def test_cells_grow_until_they_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    games, seats = some(4, scaled(30, 0.3))
    wanted = one_by_one(games, seats)
    monkeypatch.setattr(belief_section, "FEW_CELLS", 1)
    writer, seen = Marginals(), np.empty_like(wanted)
    assert writer._cells.shape == (1, 1)
    writer.write(games, seats, seen)
    assert writer._cells.shape[1] > 8 and seen.tobytes() == wanted.tobytes()


@pytest.mark.jit
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one core only")
@pytest.mark.parametrize("kind", BELIEF_WRITERS)
@pytest.mark.parametrize("count", [1, 2, 31])
def test_threads_do_not_change_a_bit(count: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    games, seats = some(3, count)
    monkeypatch.setattr(belief_section, "FEW_CELLS", 64)
    seen, again = np.zeros((2, count, 3, 28), np.float32)
    belief_writer(kind).write(games, seats, seen)
    belief_writer(kind, threads=2).write(games, seats, again)
    assert seen.tobytes() == again.tobytes() and seen.any()


@pytest.mark.parametrize("kind", BELIEF_WRITERS)
def test_rows_behind_those_of_a_match_are_zero(kind: str) -> None:
    games = np.concatenate([some(n, 2)[0] for n in PLAYERS])
    seen = np.full((6, 4, 28), 7, np.float32)
    belief_writer(kind).write(games, np.zeros(6), seen)
    for i, num_players in enumerate((2, 2, 3, 3, 4, 4)):
        wanted = beliefs_of(Views(games[i : i + 1], [0]), kind)[0]
        assert seen[i, :num_players].tobytes() == wanted.tobytes() and wanted.any() and not seen[i, num_players:].any()


def test_no_deal_that_agrees_is_all_zero() -> None:
    """No game gets there; a record that somebody changed may."""
    games, _ = some(2, 2)
    games["hand_sizes"][1, 1] += 1
    seen = np.full((2, 2, 28), 7, np.float32)
    Marginals().write(games, [0, 0], seen)
    assert seen[0].any() and not seen[1].any()


@pytest.mark.parametrize(("kind", "scratch"), [(EXACT, "_cells"), (LIKELY, "_scratch")])
def test_copies_have_separate_scratch(kind: str, scratch: str) -> None:
    games, seats = some(2, 3)
    writer, first = belief_writer(kind, threads=2), np.zeros((3, 2, 28), np.float32)
    writer.write(games, seats, first)
    for twin in (copy.copy(writer), copy.deepcopy(writer), pickle.loads(pickle.dumps(writer))):
        assert twin.threads == 2 and not np.shares_memory(getattr(twin, scratch), getattr(writer, scratch))
        again = np.zeros_like(first)
        twin.write(games, seats, again)
        assert first.tobytes() == again.tobytes()


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ValueError, match="belief must be one of 'exact', 'likely', not 'sure'"):
        belief_writer("sure")
