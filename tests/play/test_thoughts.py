"""Thoughts about decisions: from the seat's view alone, in the format of records, reproducible."""

import random

import numpy as np
import pytest

from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.belief.resample import resample
from fiveup_env.play.thoughts import Thinker, beliefs, think_over
from fiveup_env.records import parse_record
from fiveup_env.records.recorder import checked_info
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES
from fiveup_env.views.view import View
from tests.records.support import played
from tests.rules.support import PLAYERS

RELEASED = {2: "duel-v1", 3: "trio-v1", 4: "partnership-v1"}


def choices(num_players, seed, count):
    """Decisions of a random match."""
    rng, match, found = random.Random(seed), Match(num_players, seed=seed), []
    while len(found) < count and match.winner is None:
        if len(match.legal_actions()) > 1:
            found.append(match.copy())
        match.play(rng.choice(match.legal_actions()))
    return found


@pytest.mark.parametrize("num_players", PLAYERS)
def test_thoughts_are_an_info_of_the_view_alone(num_players):
    """R2.2, D6: another deal with the same view gives the same thoughts."""
    thinker = Thinker(make_agent(RELEASED[num_players]), worlds=16, belief=True)
    for match in choices(num_players, 3, 8):
        view = View.of(match)
        thought = thinker(view, 5)
        assert set(thought) == {"probabilities", "value", "values", "win", "belief"}
        checked = checked_info(thought, match)
        assert set(checked["values"]) == set(checked["probabilities"]) == {str(a) for a in match.legal_actions()}
        assert sum(thought["probabilities"].values()) == pytest.approx(1, abs=1e-3)
        assert sum(thought["win"]) == pytest.approx(1, abs=1e-3)
        assert thought["win"][match.turn % match.num_sides] == max(thought["values"].values())
        assert thinker(View.of(resample(match, match.turn, rng=1)), 5) == thought


def test_values_are_those_of_the_search():
    match = choices(4, 1, 5)[-1]
    legal, outcomes = PIMC().outcomes(View.of(match), 9, 64)
    assert Thinker(None, worlds=64)(View.of(match), 9)["values"] == {
        action: round(float(value), 4) for action, value in zip(legal, outcomes.mean(0), strict=True)
    }


def test_other_sides_divide_the_rest_by_their_chances():
    """Three players: a side close to the target gets more than the others."""
    match = Match(3, seed=5, scores=[0, 280, 0])
    while match.turn == 1 or len(match.legal_actions()) < 2:
        match.play(match.legal_actions()[0])
    win = Thinker(None, worlds=200)(View.of(match), 1)["win"]
    assert win[1] > max(win[0], win[2]) > 0


def test_beliefs_name_every_unseen_tile_once():
    match = choices(3, 8, 6)[-1]
    seat, told = match.turn, beliefs(View.of(match))
    assert told[seat] == {}
    total = np.zeros(28)
    for held in told:
        for tile, chance in held.items():
            total[TILES.index(tuple(map(int, tile.split("|"))))] += chance
    own = set(match.hands[seat]) | set(match.layout.tiles)
    assert all((total[i] == 0) == (tile in own) for i, tile in enumerate(TILES)) and total.max() <= 1.001
    sizes = [len(hand) for hand in match.hands]
    assert [round(sum(held.values()), 1) for held in told] == [0 if s == seat else sizes[s] for s in range(3)]


def test_agents_without_probabilities_report_their_choice():
    match = choices(2, 4, 3)[-1]
    assert Thinker(make_agent("greedy"), worlds=0)(View.of(match), 1)["note"].startswith("greedy would lay [")
    assert Thinker(None, worlds=0)(View.of(match), 1) == {}
    for worlds in (-1, 1.5, True, 10**7):
        with pytest.raises(ValueError, match="worlds must be an integer from 0 to 1000000"):
            Thinker(None, worlds=worlds)


def test_thoughts_are_added_to_a_record():
    """Every decision gets thoughts, the same every time; the match is unchanged."""
    record = parse_record(played(2, 0, 40).text())
    thinker, told = Thinker(make_agent("duel-v1"), worlds=8), []
    text = think_over(record, thinker, lambda done, total: told.append((done, total)))
    thought = parse_record(text)
    assert thought.final == record.final and [m.action for m in thought.moves] == [m.action for m in record.moves]
    forced = [len(before.legal_actions()) == 1 for _, before, _ in record.positions()]
    assert [move.info is None for move in thought.moves] == forced
    assert told[-1] == (len(record.moves), len(record.moves))
    assert think_over(thought, Thinker(make_agent("duel-v1"), worlds=8)) == text
