"""Reward schemes through the transition that all environments stand on."""

import random

import numpy as np
import pytest

from fiveup_env.envs.transition import GOES_ON, STEP_OPTIONS, TERMINATED, TRUNCATED
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import GAME, MATCH_OVER, PLAYING
from fiveup_env.views.rewards import EQUITY, POINTS, REWARDS, WIN, reward_index
from tests.rules.support import PLAYERS, any_choice, lead, on_end, play_all, scaled, starting_scores
from tests.views.view_kernels import advance

SCHEMES = {"win": WIN, "points": POINTS, "equity": EQUITY}


class Episode:
    """One record stepped by `transition` under one scheme."""

    def __init__(self, match, scheme, auto=False, skip_single=False, rounds=False, max_rounds=0):
        self.games = match._games.copy()
        self.options = np.array([(SCHEMES[scheme], auto, skip_single, False, rounds, max_rounds)], STEP_OPTIONS)
        self.sides = match.num_sides
        self.rewards = []
        self.status = GOES_ON

    @property
    def match(self):
        return Match.of(self.games[0])

    def step(self, action):
        rewards = np.full(self.sides, 9.0)
        self.status = advance(self.games, action, self.options, rewards)
        self.rewards.append(rewards)
        return rewards

    @property
    def total(self):
        return np.sum(self.rewards, axis=0)


def matches(num_players, seed, count):
    rng = random.Random(f"rewards/{num_players}/{seed}")
    for number in range(count):
        scores = [0] * (3 if num_players == 3 else 2)
        if number % 3:
            scores = starting_scores(rng, len(scores))
        yield Match(num_players, seed=rng.getrandbits(64), scores=scores), rng


def equity(scores, target=305):
    """(b - a) / (a + b), a and b the points to go of the own and of the best other side."""
    values = []
    for side, score in enumerate(scores):
        a = target - score
        b = min(target - other for i, other in enumerate(scores) if i != side)
        values.append((b - a) / (a + b))
    return np.array(values)


def lead_of(scores):
    """Own raw points minus the others' mean."""
    return np.array([own - (sum(scores) - own) / (len(scores) - 1) for own in scores])


def win(winner, sides):
    return np.array([1.0 if side == winner else -1 / (sides - 1) for side in range(sides)])


@pytest.mark.parametrize("num_players", PLAYERS)
def test_whole_matches(num_players):
    """R5.3, R6: every step's rewards from the events and the scores; sums over the episode."""
    for match, rng in matches(num_players, "whole", scaled(8, 0.25)):
        episodes = {scheme: Episode(match, scheme) for scheme in SCHEMES}
        start, sides = match.scores, match.num_sides
        while match.winner is None:
            before = match.scores
            action = any_choice(rng, match, match.legal_actions(), 0.3)
            gained = np.zeros(sides)
            for event in match.play(action):
                gained[event.side] += event.net * event.accepted
            found = {scheme: episode.step(action) for scheme, episode in episodes.items()}
            assert (np.array(match.scores) - before == gained).all()
            assert found["points"] == pytest.approx(lead_of(gained) / 305, abs=1e-12)
            assert found["equity"] == pytest.approx(equity(match.scores) - equity(before), abs=1e-12)
            over = match.winner is not None
            assert (found["win"] == (win(match.winner, sides) if over else 0)).all()
            assert abs(found["points"].sum()) < 1e-12 and found["win"].sum() == 0
            for episode in episodes.values():
                assert episode.status == (TERMINATED if over else GOES_ON)
                assert episode.match == match
        assert (equity(match.scores) == [1 if side == match.winner else -1 for side in range(sides)]).all()
        assert episodes["win"].total.tolist() == win(match.winner, sides).tolist()
        leads = (lead_of(match.scores) - lead_of(start)) / 305
        assert episodes["points"].total == pytest.approx(leads, abs=1e-9)
        assert episodes["equity"].total == pytest.approx(equity(match.scores) - equity(start), abs=1e-9)


@pytest.mark.parametrize("num_players", PLAYERS)
def test_equity_from_an_even_start(num_players):
    """A match sums to 1 for the side that wins and -1 for every other."""
    match = Match(num_players, seed=31)
    episode, rng = Episode(match, "equity"), random.Random(1)
    while episode.status == GOES_ON:
        now = episode.match
        episode.step(any_choice(rng, now, now.legal_actions(), 0.3))
    winner = episode.match.winner
    wanted = [1 if side == winner else -1 for side in range(episode.sides)]
    assert episode.total == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_round_episodes(num_players, scheme):
    """R8.5, D8: the round ends the episode; `win` goes to its winner, a tie to nobody; the next is not dealt."""
    seen = set()
    for match, rng in matches(num_players, "round", scaled(30, 0.3)):
        episode = Episode(match, scheme, rounds=True)
        while episode.status == GOES_ON:
            now = episode.match
            episode.step(any_choice(rng, now, now.legal_actions(), 0.3))
        after = episode.match
        assert episode.status == TERMINATED and after.round_number == 1 and after.game.phase != PLAYING
        winner = after.last_round["winner"]
        seen.add((after.last_round["end"], winner is None))
        if scheme == "win":
            assert episode.total.tolist() == (
                [0] * episode.sides if winner is None else win(winner, episode.sides).tolist()
            )
        elif scheme == "points":
            gained = (lead_of(after.scores) - lead_of(match.scores)) / 305
            assert episode.total == pytest.approx(gained, abs=1e-12)
    assert ("domino", False) in seen


def test_ends_of_round_episodes_worked_out_on_paper():
    """R8.5: (6, 6) blocks; 5 and 5 are tied, 5 and 9 are not. R6.2: a win in mid-round wins the round too."""
    for other, wanted in (((1, 4), [0, 0]), ((4, 5), [1, -1])):
        episode = Episode(Match.from_deal([[(6, 6), (0, 5)], [other]], [], 0), "win", rounds=True)
        assert episode.step(lead((6, 6))).tolist() == wanted and episode.status == TERMINATED
    hands = [[(4, 6), (3, 3)], [(0, 0)], [(0, 1)]]
    episode = Episode(Match.from_deal(hands, [(2, 2)], 0, [295, 0, 300]), "win", rounds=True)
    assert episode.step(lead((4, 6))).tolist() == [1, -0.5, -0.5] and episode.status == TERMINATED


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("max_rounds", [1, 3])
def test_truncation(num_players, max_rounds):
    """After that many rounds without a winner: truncated, nobody has won, the next round is not dealt."""
    statuses = set()
    for match, rng in matches(num_players, "truncated", scaled(20, 0.3)):
        episode = Episode(match, "win", max_rounds=max_rounds)
        while episode.status == GOES_ON:
            now = episode.match
            assert now.round_number <= max_rounds
            episode.step(any_choice(rng, now, now.legal_actions(), 0.3))
        statuses.add(episode.status)
        after = episode.match
        assert (episode.status == TERMINATED) == (after.game.phase == MATCH_OVER)
        if episode.status == TRUNCATED:
            assert not np.any(episode.rewards) and after.round_number == max_rounds
    assert TRUNCATED in statuses


PLAIN = [name for name in GAME.names if name != "num_events" and not name.startswith("event_")]


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("skip_single", [False, True])
def test_forced_actions_inside(num_players, scheme, skip_single):
    """R3.2: `auto` draws give the same game and the same rewards in sum; a choice is left at every stop."""
    for match, rng in matches(num_players, "auto", scaled(3, 0.34)):
        auto = Episode(match, scheme, auto=True, skip_single=skip_single)
        explicit = Episode(match, scheme)
        while auto.status == GOES_ON:
            now = auto.match
            action = any_choice(rng, now, now.legal_actions(), 0.3)
            reward = auto.step(action)
            steps = [explicit.step(action)]
            while explicit.status == GOES_ON:
                legal = explicit.match.legal_actions()
                if legal[0] < DRAW and not (skip_single and len(legal) == 1):
                    break
                steps.append(explicit.step(legal[0]))
            assert reward == pytest.approx(np.sum(steps, axis=0), abs=1e-12)
            assert auto.status == explicit.status
            assert all((auto.games[name] == explicit.games[name]).all() for name in PLAIN)


def test_events_add_up_over_forced_actions():
    """R3.2, D1: the placement's event, then the draw that blocks and its settlement, in one step."""
    # (0, 5) leads: 5. Seat 1 draws (4, 4), nobody can lay: 1 against 3 + 8 = 11: 10 for side 0.
    match = Match.from_deal([[(0, 5), (0, 1)], [(1, 2)]], [(4, 4)], 0)
    episode = Episode(match, "points", auto=True, rounds=True)
    # Seat 0's (0, 1) fits its own blank, so the round continues until it is laid.
    episode.step(lead((0, 5)))
    assert [event.net for event in episode.match.events] == [5] and episode.match.turn == 0
    match = Match.from_deal([[(0, 5), (1, 1)], [(1, 2)]], [(4, 4)], 0)
    episode = Episode(match, "points", auto=True, rounds=True)
    rewards = episode.step(lead((0, 5)))
    events = [(event.kind, event.side, event.net) for event in episode.match.events]
    assert events == [("placement", 0, 5), ("blocked", 0, 10)]  # 2 against 11: 9 gives 10
    assert rewards == pytest.approx([15 / 305, -15 / 305]) and episode.status == TERMINATED


def test_points_after_a_placement():
    """R5.3: 10 raw for one of three sides: 10/305 for it, -5/305 for each other."""
    match = Match.from_deal([[(0, 6), (3, 3)], [(4, 6), (1, 1)], [(0, 1)]], [(2, 2)], 0)
    play_all(match, lead((0, 6)))
    episode = Episode(match, "points")
    assert episode.step(on_end((4, 6), 6)).tolist() == [0, 0, 0]  # 0 + 4
    match = Match.from_deal([[(0, 5), (3, 3)], [(5, 5), (1, 1)], [(0, 1)]], [(2, 2)], 0)
    play_all(match, lead((0, 5)))
    episode = Episode(match, "points")
    assert episode.step(on_end((5, 5), 5)) == pytest.approx(np.array([-5, 10, -5]) / 305)


def test_scheme_names():
    assert [reward_index(name) for name in REWARDS] == [WIN, POINTS, EQUITY]
    for name in ("Win", "", None, 0, ["win"]):
        with pytest.raises(ValueError, match="reward must be one of 'win', 'points', 'equity', not "):
            reward_index(name)
