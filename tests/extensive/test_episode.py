"""Positions of the extensive form agree with `Match`; illegal input is rejected."""

from __future__ import annotations

import copy
import itertools
import random

import numpy as np
import pytest

from fiveup_env import IllegalActionError, Match
from fiveup_env.extensive.episode import DRAWN, Episode, Stage
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.tiles import TILES
from tests.extensive.support import TINY, all_positions, chance_of, deal_of, random_positions

FIELDS = [
    "hands",
    "ends",
    "table",
    "in_play",
    "end_sum",
    "scores",
    "turn",
    "phase",
    "end_pips",
    "spinner_pips",
    "hand_sizes",
    "num_laid",
    "num_history",
    "spinners",
    "void",
    "drawn",
    "laid",
    "order",
    "parent",
    "port",
    "history",
    "round_end",
    "round_winner",
    "winner",
    "revealed",
    "opener",
    "round_number",
]


def follow(match: Match, episode: Episode, rng: random.Random) -> None:
    """Play a random match and the same episode; compare the full state."""
    while True:
        new_round = match.game.num_history == 0
        if new_round:
            lot = [match.opener] if episode.stage is Stage.LOT else []
            for outcome in (*lot, *deal_of(match)):
                episode.apply(outcome)
        for field in FIELDS:
            assert np.array_equal(match.game[field], episode.match.game[field]), field
        assert episode.legal_actions() == match.legal_actions()
        action = rng.choice(match.legal_actions())
        episode.apply(action)
        for outcome in chance_of(match, action):
            episode.apply(outcome)
        match.play(action)
        if match.winner is not None:
            return


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_plays_as_match_does(players: int) -> None:
    for seed in range(5):
        match = Match(players, seed)
        episode = Episode(Setup.of(players))
        follow(match, episode, random.Random(seed))
        assert episode.is_over
        assert episode.match.winner == match.winner
        sides = match.num_sides
        lost = -1 / (sides - 1)
        assert episode.utilities() == [1.0 if seat % sides == match.winner else lost for seat in range(players)]


def test_points_are_the_final_lead() -> None:
    *_, last = random_positions(Setup.of(3, reward="points", max_rounds=2, scores=[0, 100, 250]), 3)
    scores = np.array(last.match.scores)
    lead = scores - (scores.sum() - scores) / 2
    start = np.array([0, 100, 250]) - np.array([350, 250, 100]) / 2
    assert last.utilities() == pytest.approx((lead - start) / 305)


def test_a_match_ends_after_its_most_rounds_without_a_winner() -> None:
    *_, last = random_positions(Setup.of(2, max_rounds=3), 0)
    assert last.match.round_number == 3
    assert last.match.winner is None
    assert last.utilities() == [0.0, 0.0]


def test_copies_are_independent_and_equal() -> None:
    for episode in random_positions(Setup.of(2, max_rounds=2), 5):
        other = copy.deepcopy(episode)
        assert other.match == episode.match
        if not episode.is_over:
            before = (episode.stage, episode.dealt, episode.events, episode.match.copy())
            other.apply(other.chance_outcomes()[0][0] if other.is_chance else other.legal_actions()[0])
            assert before == (episode.stage, episode.dealt, episode.events, episode.match)


def test_utilities_sum_to_zero_and_stay_in_bounds() -> None:
    for setup in (
        Setup.of(2, hand_size=2, max_pip=2, episode="round"),
        Setup.of(3, hand_size=2, max_pip=3, reward="points", target=9),
        Setup.of(4, hand_size=2, max_pip=3, reward="points", episode="round", num_tiles=8),
        Setup.of(4, reward="equity", max_rounds=4, scores=[250, 300]),
    ):
        least, largest = setup.utilities
        for seed in range(20):
            *_, last = random_positions(setup, seed)
            utilities = last.utilities()
            assert sum(utilities) == pytest.approx(0, abs=1e-12)
            assert least <= min(utilities) <= max(utilities) <= largest
            assert len(last.events) <= setup.actions_per_round


def rounds_of_match() -> set[tuple[object, ...]]:
    """All rounds of the tiny game, from `Match` with every order of the tiles."""
    found = set()
    for order in itertools.permutations(TILES[:6]):
        if order[0] < order[1] and order[2] < order[3]:
            start = Match.from_deal([order[:2], order[2:4]], order[4:], 0, hand_size=2, max_pip=2)
            open_matches = [start]
            while open_matches:
                match = open_matches.pop()
                for action in match.legal_actions():
                    after = match.copy()
                    after.play(action, deal=False)
                    open_matches.append(after)
                if not match.legal_actions():
                    drawn = order[4 : 4 + int(match.game.boneyard_next)]
                    found.add((order[:4], match.history, drawn, match.scores))
    return found


def test_the_tree_is_all_ways_a_round_can_go() -> None:
    over = [p for p in all_positions(Episode(TINY)) if p.is_over]
    found = set()
    for position in over:
        dealt = tuple(TILES[tile] for tile in position.dealt)
        drawn = tuple(TILES[event - DRAWN] for event in position.events if event >= DRAWN)
        hands = (*sorted(dealt[:2]), *sorted(dealt[2:]))
        found.add((hands, position.match.history, drawn, position.match.scores))
    assert len(found) == len(over) > 400
    assert found == rounds_of_match()


def test_tiles_out_of_play_are_out() -> None:
    setup = Setup.of(4, hand_size=2, max_pip=3, num_tiles=8, episode="round")
    *_, last = random_positions(setup, 1)
    assert set(last.dealt) == set(range(8))
    assert int(last.match.game.in_play) == 255


def test_what_may_not_come_next_is_refused_and_changes_nothing() -> None:
    episode = Episode(Setup.of(2, hand_size=2, max_pip=2, episode="round"))
    with pytest.raises(IllegalActionError, match=r"chance cannot choose 2 \(lot\); possible: \[0, 1\]"):
        episode.apply(2)
    for outcome in (1, 0, 3):
        episode.apply(outcome)
    with pytest.raises(IllegalActionError, match="deal"):
        episode.apply(3)
    for outcome in (1, 2):
        episode.apply(outcome)
    for action in (DRAW, PASS, 0, 500):
        with pytest.raises(ValueError, match="action"):
            episode.apply(action)
    assert episode.stage is Stage.PLAY and episode.events == ()
    *_, last = random_positions(TINY, 0)
    with pytest.raises(IllegalActionError, match="over"):
        last.apply(PASS)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_players": 5}, "num_players must be"),
        ({"opener": 4}, "opener must be an integer from 0 to 3"),
        ({"num_tiles": 19}, "num_tiles must be an integer from 20 to 28"),
        ({"num_players": 3, "reward": "equity"}, "does not sum to zero"),
        ({"episode": "day"}, "episode must be one of"),
        ({"scores": [0, 3]}, "multiple of 5"),
        ({"max_rounds": 0}, "max_rounds"),
    ],
)
def test_a_wrong_setup_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Setup.of(**wrong)  # type: ignore[arg-type]
