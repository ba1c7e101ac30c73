"""The endgame solver against exhaustive search."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from fiveup_env.agents.search.endgame import Solution, double_dummy
from fiveup_env.agents.search.equity import NO_TABLE, table_for, worth
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.tiles import TILES
from fiveup_env.rules.turn import is_legal, play
from fiveup_env.views.view import View
from tests.rules.support import any_choice, scaled, starting_scores

PLAYERS = [2, 3, 4]
ACTIONS = 121


@entry
def _take(games: np.ndarray, action: int, table: np.ndarray, out: np.ndarray) -> bool:
    """Take a legal action and return whether the round continues; if not, write the value of every side to `out`."""
    game = games[0]
    play(game, action)
    if game.phase == PLAYING:
        return True
    for side in range(len(out)):
        out[side] = worth(table, game, side)
    return False


@entry
def _legal(games: np.ndarray, legal: np.ndarray) -> int:
    count = 0
    for action in range(ACTIONS):
        if is_legal(games[0], action):
            legal[count] = action
            count += 1
    return count


def everything(games: np.ndarray, table: np.ndarray, sides: int) -> tuple[float, ...]:
    """Value to every side if every seat maximises that of its side: plain recursion without bounds or move order."""
    legal, best, mover = np.empty(ACTIONS, np.int64), None, int(games["turn"][0]) % sides
    for action in legal[: _legal(games, legal)]:
        after, out = games.copy(), np.zeros(sides)
        values = everything(after, table, sides) if _take(after, int(action), table, out) else tuple(out)
        if best is None or values[mover] > best[mover]:
            best = values
    assert best is not None
    return best


def endgame(rng: random.Random, num_players: int, most_tiles: int) -> Match | None:
    """A random position with an empty boneyard and two to `most_tiles` tiles held, or None."""
    tiles = rng.sample(TILES, rng.randint(num_players + 4, 18))
    hands: list[list[tuple[int, int]]] = [[] for _ in range(num_players)]
    for i, tile in enumerate(tiles):
        hands[i % num_players].append(tile)
    scores = starting_scores(rng, 3 if num_players == 3 else 2)
    match = Match.from_deal(hands, [], rng.randrange(num_players), scores, seed=1)
    while match.winner is None and match.round_number == 1 and sum(map(len, match.hands)) > most_tiles:
        match.play(any_choice(rng, match, match.legal_actions(), 0.3))
    late = match.winner is None and not match.boneyard and match.legal_actions()
    return match if late and match.game.num_laid else None


@pytest.mark.parametrize("equity", [True, False])
@pytest.mark.parametrize("num_players", PLAYERS)
def test_equal_to_plain_exhaustive_search(num_players, equity):
    rng, solved, choices = random.Random(f"{num_players} {equity}"), 0, 0
    while solved < scaled(700, 0.01):
        match = endgame(rng, num_players, rng.choice((4, 5, 6)))
        if match is None:
            continue
        table, sides = table_for(match.variant, equity), match.num_sides
        solution, mover = double_dummy(match, equity=equity), match.turn % match.num_sides
        assert list(solution.actions) == match.legal_actions()
        for action, value in zip(solution.actions, solution.values, strict=True):
            after, out = match.copy()._games, np.zeros(sides)
            values = everything(after, table, sides) if _take(after, action, table, out) else out
            assert value == pytest.approx(values[mover], abs=1e-6)
        solved += 1
        choices += len(set(solution.values)) > 1
    assert choices > solved / 10


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_best_line_leads_to_the_best_value(num_players):
    rng, solved = random.Random(num_players), 0
    while solved < scaled(100, 0.05):
        match = endgame(rng, num_players, 6)
        if match is None:
            continue
        solution, sides, mover = double_dummy(match, equity=False), match.num_sides, match.turn % match.num_sides
        games, out = match.copy()._games, np.zeros(sides)
        for i, action in enumerate(solution.line):
            assert _take(games, action, NO_TABLE, out) == (i + 1 < len(solution.line))
        assert out[mover] == pytest.approx(max(solution.values))
        solved += 1


@pytest.mark.parametrize("num_players", PLAYERS)
def test_pimc_uses_the_solver(num_players):
    """With two players and an empty boneyard the other hand is known, so the choice is the solver's."""
    rng, solved = random.Random(num_players), 0
    while solved < scaled(40, 0.1):
        match = endgame(rng, num_players, 7)
        if match is None or len(match.legal_actions()) == 1:
            continue
        action = PIMC(worlds=2, endgame=8).choose(View.of(match), 5)
        assert action in match.legal_actions()
        if num_players == 2:
            solution = double_dummy(match)
            value = dict(zip(solution.actions, solution.values, strict=True))[action]
            assert value == pytest.approx(max(solution.values), abs=1e-6)
        solved += 1


def test_positions_that_are_refused():
    with pytest.raises(ValueError, match="18 tiles are left to draw: only an empty boneyard"):
        double_dummy(Match(2, seed=0))
    match = Match.from_deal([TILES[:9], TILES[9:18]], [], 0)
    with pytest.raises(ValueError, match="18 tiles are held, more than 14"):
        double_dummy(match)


def test_a_finished_round_has_no_actions():
    """[6|6] blocks the round (R3.3), and the next one is not dealt yet."""
    match = Match.from_deal([[(6, 6), (0, 1)], [(2, 3)]], [], 0)
    match.play(27, deal=False)
    assert double_dummy(match) == Solution((), (), ())


def test_a_known_deal_needs_one_world():
    """With two players and an empty boneyard, more worlds or more time are not used."""
    match = Match.from_deal([[(0, 1), (1, 5), (5, 5)], [(1, 2), (2, 5)]], [], 0)
    view = View.of(match)
    start = time.perf_counter()
    actions = {agent.choose(view, 1) for agent in (PIMC(worlds=1), PIMC(worlds=10**7), PIMC(ms=10**6))}
    assert len(actions) == 1
    assert time.perf_counter() - start < 200
