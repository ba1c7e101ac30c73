"""Matches of a match-up: the same by every path, and the same as played by hand."""

from __future__ import annotations

import hashlib
import random

import numpy as np
import pytest

from fiveup_env.agents.baselines import Greedy, Random
from fiveup_env.agents.protocol import AgentError, Policy
from fiveup_env.evaluation import match_play as play
from fiveup_env.evaluation.match_plan import DEALS, POLICIES, MatchPlan, Results
from fiveup_env.evaluation.match_play import play_compiled, play_lockstep, play_matches
from fiveup_env.evaluation.match_play_kernels import new_observers, start_matches, take_choices
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, Variant, new_games
from fiveup_env.views.view import View, Views
from tests.agents.support import First, Last, OneByOne, Rng
from tests.rules.support import PLAYERS, scaled


def same(one: Results, other: Results) -> bool:
    return (
        np.array_equal(one.winner, other.winner)
        and np.array_equal(one.scores, other.scores)
        and np.array_equal(one.rounds, other.rounds)
        and np.allclose(one.luck, other.luck, atol=1e-9)
    )


def silent(done: int, total: int) -> None:
    """No progress."""


def by_hand(a, b, plan: MatchPlan, deal: int, seating: int) -> tuple[int | None, tuple[int, ...], int]:
    """One match with `Match` and `act`, draws and passes included: winner, scores, rounds."""
    match = Match(plan.num_players, seed=int(plan.seeds(DEALS)[deal]))
    for agent in (a, b):
        agent.reset(int(plan.seeds(POLICIES)[deal]))
    while match.winner is None and (not plan.max_rounds or match.round_number <= plan.max_rounds):
        scores = match.scores
        match.play((a if match.turn % plan.sides == seating else b).act(View.of(match)))
    if match.winner is None:
        return None, match.scores, plan.max_rounds
    assert scores != match.scores
    return match.winner, match.scores, match.round_number


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("max_rounds", [0, 3])
@pytest.mark.parametrize(("a", "b"), [(Greedy(), Random()), (Random(), Greedy()), (Random(), Random())])
def test_compiled_and_general_path_are_one(num_players, max_rounds, a, b):
    plan = MatchPlan(num_players, scaled(300, 0.01), 7, max_rounds)
    assert same(play_compiled(a, b, plan, silent), play_lockstep(a, b, plan, silent))


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("max_rounds", [0, 2])
def test_the_same_as_by_hand(num_players, max_rounds):
    plan = MatchPlan(num_players, scaled(3, 0.3), 8, max_rounds)
    for a, b in ((Greedy(), Random()), (First(), Last())):
        results = play_matches(a, b, plan, silent)
        for deal in range(plan.deals):
            for seating in range(plan.sides):
                winner, scores, rounds = by_hand(a, b, plan, deal, seating)
                assert results.winner[deal, seating] == (-1 if winner is None else winner)
                assert tuple(results.scores[deal, seating]) == scores
                assert results.rounds[deal, seating] == rounds


@pytest.mark.parametrize("num_players", PLAYERS)
def test_observers_change_no_match(num_players):
    games = new_games(scaled(40, 0.1), Variant(num_players))
    rows = np.arange(len(games))
    plan, observers = MatchPlan(num_players, len(games), 3), new_observers(len(games), num_players)
    start_matches(games, rows, plan.seeds(DEALS), plan.scores(), observers)
    bare = games.copy()
    while (rows := np.flatnonzero(games["phase"] == PLAYING)).size:
        views = Views(games[rows], games["turn"][rows].astype(np.int64))
        actions = First().act_many(views, np.zeros(len(rows), np.uint64))
        assert take_choices(games, rows, actions, 0, observers) == take_choices(bare, rows, actions, 0) == -1
        assert all(np.array_equal(games[name], bare[name]) for name in games.dtype.names)  # padding is not copied
    assert observers.luck.any() and observers.counts.any()


def test_kernel_agents_are_played_compiled(monkeypatch):
    monkeypatch.setattr(play, "play_lockstep", None)
    play_matches(Greedy(), Random(), MatchPlan(4, 2, 0), silent)


def test_nothing_depends_on_the_lanes(monkeypatch):
    """A match does not depend on the others, also for agents with their own random state."""
    plan = MatchPlan(4, scaled(5, 0.4), 9)
    for a, b in ((Random(), Last()), (Rng(), Random()), (Rng(), Rng())):
        results = []
        for lanes in (1, 7, 64):
            monkeypatch.setattr(play, "LANES", lanes)
            monkeypatch.setattr(play, "LANES_ONE_BY_ONE", lanes)
            results.append(play_lockstep(a, b, plan, silent))
        assert same(results[0], results[1]) and same(results[0], results[2])


def test_the_first_deals_do_not_depend_on_how_many_there_are():
    few, many = (play_lockstep(Rng(), First(), MatchPlan(4, deals, 3), silent) for deals in (4, 9))
    assert np.array_equal(few.scores, many.scores[:4])


def test_an_agent_without_act_many_plays_like_its_policy():
    """Greedy is deterministic, so the seeds of `reset` do not matter."""
    plan = MatchPlan(4, scaled(15, 0.2), 4)
    expected = play_compiled(Greedy(), Random(), plan, silent)
    assert same(play_matches(OneByOne(Greedy()), Random(), plan, silent), expected)


class Diary:
    """Records its calls and checks that it sees no hidden tile."""

    def __init__(self, pages: list) -> None:
        self.pages = pages

    def __deepcopy__(self, memo: dict) -> Diary:
        return Diary(self.pages)

    def reset(self, seed: int) -> None:
        self.seat = None
        self.rounds = []
        self.pages.append((seed, self))

    def act(self, view: View) -> int:
        assert self.seat in (None, view.seat), "a copy serves one seat"
        assert view.turn == view.seat and len(view.legal_actions()) > 1, "called only at decisions"
        hidden = [view.game.hands[s] for s in range(view.num_players) if s != view.seat]
        assert not any(hidden) and view.game.seed == 0, "R2.2"
        self.seat = view.seat
        self.rounds.append(view.round_number)
        assert self.rounds == sorted(self.rounds), "reset between matches"
        return view.legal_actions()[0]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_seat_of_every_match_has_its_own_agent(num_players, monkeypatch):
    monkeypatch.setattr(play, "LANES_ONE_BY_ONE", 3)
    pages: list = []
    plan = MatchPlan(num_players, scaled(4, 0.5), 5)
    play_matches(Diary(pages), Random(), plan, silent, strict=True)
    seats = 2 if num_players == 4 else 1  # A's seats in a match
    assert len(pages) == plan.matches * seats
    # The seatings of a deal give a seat the same seed; other seats and deals have others.
    assert len({seed for seed, _ in pages}) == plan.deals * num_players


def test_progress_is_reported():
    calls = []
    plan = MatchPlan(4, scaled(10, 0.2), 0)
    for a in (Greedy(), First()):
        calls.clear()
        play_matches(a, Random(), plan, lambda done, total: calls.append((done, total)))
        assert calls[-1] == (plan.matches, plan.matches)
        assert [done for done, _ in calls] == sorted({done for done, _ in calls})


class Wrong(Policy):
    """Returns the given answer."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        return self.answer(len(views))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.full(n, 119), r"agent Wrong: player_\d may not draw a tile \(action 119\); legal: "),
        (lambda n: np.full(n, 121), r"agent Wrong: an action is an integer from 0 to 120, not 121"),
        (lambda n: np.full(n, -1), r"agent Wrong: an action is an integer from 0 to 120, not -1"),
        (lambda n: np.zeros(n), r"agent Wrong: act_many must give 16 integers, not float64 \[16\]"),
        (lambda n: np.zeros(n + 1, int), r"agent Wrong: act_many must give 16 integers, not int64 \[17\]"),
        (lambda n: None, r"agent Wrong: act_many must give 16 integers, not object \[\]"),
    ],
)
def test_an_answer_that_is_no_legal_action(answer, message):
    with pytest.raises(AgentError, match=message):
        _all_lanes(Wrong(answer))


def _all_lanes(agent: Policy) -> None:
    """Let A act in sixteen lanes in which its side opens."""
    table = play._Lanes(16, MatchPlan(4, 8, 0), strict=True)
    table.start(np.arange(16), np.arange(16))
    table.a_side[:] = table.games["turn"] % 2
    table.ask(play._Batched(agent, play._Limit(strict=True)), 0)


def test_won_and_lead():
    """Share won and lead of A's side in each seating."""
    plan = MatchPlan(3, 2, 0)
    results = Results.empty(plan)
    results.winner[:] = [[0, 1, 0], [-1, 2, 2]]
    results.scores[0, 0] = [305, 100, 50]
    results.scores[1, 2] = [10, -20, 305]
    assert results.won.tolist() == [[1, 1, 0], [1 / 3, 0, 1]]
    assert results.lead[0, 0] == (305 - 75) / 5
    assert results.lead[1, 2] == (305 + 5) / 5


def test_deals_and_policies_have_different_seeds():
    plan = MatchPlan(4, 100, random.Random(0).getrandbits(64))
    assert not set(plan.seeds(DEALS)) & set(plan.seeds(POLICIES))


GOLDEN = {2: "4ce4d8a0a9ec", 3: "017428944f0c", 4: "35c601cfde9a"}


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_same_bits_everywhere(num_players):
    """Deals, lots and the baselines' choices by seed, with and without the compiler; a change is a new version."""
    results = play_matches(Greedy(), Random(), MatchPlan(num_players, 2, 5), silent)
    data = results.scores.tobytes() + results.rounds.tobytes()
    assert hashlib.sha256(data).hexdigest()[:12] == GOLDEN[num_players]


@pytest.mark.parametrize("num_players", PLAYERS)
def test_matches_may_start_at_other_scores(num_players):
    """The same in all seatings of a deal and on both paths, within the range, and different from deal to deal."""
    plan = MatchPlan(num_players, scaled(100), 11, 0, (50, 60))
    scores = plan.scores()
    assert np.array_equal(scores, MatchPlan(num_players, scaled(100) + 3, 11, 0, (50, 60)).scores()[: plan.deals])
    assert (scores[:, : plan.sides] >= 250).all() and (scores[:, : plan.sides] <= 300).all()
    assert (scores % 5 == 0).all() and (scores[:, plan.sides :] == 0).all()
    assert len(np.unique(scores[:, 0])) > 3
    results = play_compiled(Greedy(), Random(), plan, silent)
    assert same(results, play_lockstep(Greedy(), Random(), plan, silent))
    assert (
        results.rounds.mean() < play_compiled(Greedy(), Random(), MatchPlan(num_players, 100, 11), silent).rounds.mean()
    )
    assert not MatchPlan(num_players, 3, 0).scores().any()
