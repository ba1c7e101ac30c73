"""Match equity: look-up, unfolding of tables, the shipped tables, and the script that computes them."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.agents.search.equity import LONGEST, NO_TABLE, TABLES, shipped_table, table_for, unfold, worth
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.record import Variant, new_games
from training.equity_table import THREE_GRID, main, make_table, stored

PLAYERS = [2, 3, 4]


@entry
def _worth(games: np.ndarray, table: np.ndarray, side: int) -> float:
    return worth(table, games[0], side)


def shaped(num_players: int) -> np.ndarray:
    """The shipped table: axes are points to go less one, from the opener's side on; the last axis is the side."""
    sides = Variant(num_players).num_sides
    return shipped_table(num_players).reshape(*[LONGEST] * sides, sides)


def ended(num_players: int, to_go: list[int], opener: int, winner: int = -1) -> np.ndarray:
    """A record at the end of a round, by display points to go per side and the next opener's seat (-1: a lot)."""
    games = new_games(1, Variant(num_players))
    games["scores"][0, : len(to_go)] = [305 - 5 * points for points in to_go]
    games["next_opener"], games["winner"] = opener, winner
    return games


@pytest.mark.parametrize("num_players", PLAYERS)
def test_shipped_tables_hold_probabilities(num_players):
    table = shaped(num_players)
    assert np.isfinite(table).all() and table.min() >= 0 and table.max() <= 1
    assert np.allclose(table.sum(-1), 1, atol=1e-5)
    assert TABLES.stat().st_size < 300_000


@pytest.mark.parametrize("num_players", PLAYERS)
def test_shipped_tables_are_plausible(num_players):
    """Opening helps at the start, a large lead is nearly won, and fewer points to go are better on average."""
    table = shaped(num_players)
    sides = table.shape[-1]
    start = table[(-1,) * sides]
    assert 1 / sides < start[0] < 1 / sides + 0.06
    ahead = table[(9, *[60] * (sides - 1))]
    assert ahead[0] > 0.9
    own = table[(slice(None), *[30] * (sides - 1), 0)]
    by_ten = [own[i : i + 10].mean() for i in range(0, 60, 10)]
    assert by_ten == sorted(by_ten, reverse=True)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_look_up_is_relative_to_the_opener(num_players):
    table, sides = shaped(num_players), Variant(num_players).num_sides
    to_go = [7, 20, 33][:sides]
    for opener in range(num_players):
        opening = opener % sides
        turned = to_go[opening:] + to_go[:opening]
        for side in range(sides):
            expected = table[(*[points - 1 for points in turned], (side - opening) % sides)]
            value = _worth(ended(num_players, to_go, opener), table.reshape(-1), side)
            assert value == pytest.approx(expected, abs=1e-7)
    games = [ended(num_players, to_go, opener) for opener in range(sides)]
    for side in range(sides):
        lot = _worth(ended(num_players, to_go, -1), table.reshape(-1), side)
        assert lot == pytest.approx(np.mean([_worth(game, table.reshape(-1), side) for game in games]), abs=1e-6)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_finished_match_is_won_or_lost(num_players):
    sides = Variant(num_players).num_sides
    games = ended(num_players, [0, 5, 9][:sides], -1, winner=0)
    assert [_worth(games, shipped_table(num_players), side) for side in range(sides)] == [1.0, *[0.0] * (sides - 1)]


def test_scores_below_zero_count_as_zero():
    """Scores have no lower limit (D3); the table has one."""
    table = shipped_table(4)
    assert _worth(ended(4, [70, 30], 0), table, 0) == _worth(ended(4, [61, 30], 0), table, 0)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_without_a_table_the_lead_counts(num_players):
    sides = Variant(num_players).num_sides
    games = ended(num_players, [10, 20, 40][:sides], 0)
    leads = [_worth(games, NO_TABLE, side) for side in range(sides)]
    assert leads[0] == (5 * 10 if sides == 2 else 5 * 20)
    assert sum(leads) == pytest.approx(0)
    games["winner"] = 0
    assert _worth(games, NO_TABLE, 0) > leads[0] + 300


def test_unfolding_interpolates():
    grid = np.array([1, 3, 61])
    table = unfold(np.stack([np.array([1.0, 0.5, 0.0])] * 2, -1), grid).reshape(61, 2)
    assert table[:3, 0] == pytest.approx([1, 0.75, 0.5])
    assert table[60, 1] == 0 and table[31, 0] == pytest.approx(0.25)


def test_variants_with_a_table():
    assert table_for(Variant(4), True) is shipped_table(4)
    assert table_for(Variant(4), False) is NO_TABLE
    assert table_for(Variant(2, target=100), True) is NO_TABLE
    with pytest.raises(ValueError, match="read-only"):
        shipped_table(4)[0] = 1


@pytest.mark.jit
def test_the_script_computes_tables(tmp_path, monkeypatch, capsys):
    """A run with 60 deals per state is close to the shipped table."""
    table = make_table(2, 60, 5)
    assert np.abs(table - shaped(2)).mean() < 0.03
    assert np.array_equal(table, make_table(2, 60, 5))
    assert (stored(table).astype(int).sum(-1) == 65535).all()
    assert THREE_GRID[0] == 1 and THREE_GRID[-1] == LONGEST
    monkeypatch.setattr("training.equity_table.make_table", lambda n, rounds, seed: table[..., :2])
    main(rounds=1, seed=0, out=tmp_path / "new" / "equity.npz")
    with np.load(tmp_path / "new" / "equity.npz") as arrays:
        assert set(arrays) == {f"{what}_{n}" for what in ("players", "grid") for n in PLAYERS}
    assert "3,721 states" in capsys.readouterr().out
