"""Behaviour counts against a count by hand from records; rates and intervals; pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fiveup_env.agents.protocol import AgentError
from fiveup_env.agents.registry import make_agent
from fiveup_env.evaluation import behaviour_kernels as c
from fiveup_env.evaluation import evaluate
from fiveup_env.evaluation.behaviour import ALL, FIRST, MEASURES, REGION_NAMES, SECOND, A, B, Conduct, Tally
from fiveup_env.evaluation.match_plan import MatchPlan, Results
from fiveup_env.evaluation.match_play import play_matches
from fiveup_env.evaluation.match_recording import record_match_up
from fiveup_env.records import parse_record
from fiveup_env.rules.match import Match
from tests.agents.support import Rng
from tests.evaluation.test_match_play import silent
from tests.rules.support import PLAYERS, scaled


def best_credit(match: Match, seat: int) -> int:
    """Display points of the best placement of a seat, were it to move now; found by trying all (R5, R6.1)."""
    best = 0
    game = match.copy().game
    game.turn = seat
    for action in Match.of(game).legal_actions():
        tried = Match.of(game)
        if action < 119:
            tried.play(action, deal=False)
            total = tried.layout.end_sum
            if total % 5 == 0 and match.scores[seat % match.num_sides] + total <= 305:
                best = max(best, total // 5)
    return best


def region(raw: int) -> int:
    return sum(raw >= 5 * bound for bound in (30, 50, 56))


def by_hand(record) -> np.ndarray:
    """The counts of a match, float64 [4, REGIONS, FIELDS]."""
    counts = np.zeros((4, c.REGIONS, c.FIELDS))
    for move, before, after in record.positions():
        seat, sides = move.seat, before.num_sides
        where = [region(score) for score in before.scores]
        row = counts[seat, where[seat % sides]]
        over = after.round_number != before.round_number or after.game.phase != 0
        for event in move.events:
            first = counts[event.side, where[event.side]]
            its = first if event.kind == "blocked" else row
            its[c.EVENTS] += event.net > 0
            if not event.accepted:
                its[c.OVERSHOTS] += 1
                its[c.LOST_POINTS] += event.net // 5
            else:
                field = {"placement": c.POINTS, "domino": c.OUT_POINTS, "blocked": c.BLOCK_POINTS}[event.kind]
                its[field] += event.net // 5
                its[c.HITS] += after.scores[event.side] == 305
        if move.action < 119:
            row[c.PLACEMENTS] += 1
            if not over:
                row[c.LEFT] += 1
                row[c.FOR_OPPONENT] += best_credit(after, (seat + 1) % before.num_players)
                if before.num_players == 4:
                    row[c.FOR_PARTNER] += best_credit(after, (seat + 2) % 4)
        if over:
            last = after.last_round
            for other in range(before.num_players):
                its = counts[other, where[other % sides]]
                its[c.ROUNDS] += 1
                if last["end"] == "blocked":
                    its[c.BLOCKS] += 1
                    its[c.BLOCKS_WON] += last["winner"] == other % sides
                elif last["end"] == "domino" and other == seat:
                    its[c.OUTS] += 1
                elif last["end"] == "domino" and other % sides == seat % sides:
                    its[c.PARTNER_OUTS] += 1
                    pips = sum(low + high for low, high in after.hands[other])
                    its[c.HAND_COST] += (pips + 2) // 5
    return counts


@pytest.mark.parametrize("num_players", PLAYERS)
@pytest.mark.parametrize("b", ["random", Rng()], ids=["compiled", "lockstep"])
def test_counts_are_those_of_the_records(num_players, b):
    plan = MatchPlan(num_players, scaled(8, 0.25), 12, 0, (0, 60))
    agents = make_agent("greedy"), make_agent(b)
    sides, counts = plan.sides, np.zeros((plan.deals, 4, c.REGIONS, c.FIELDS))
    for number in range(plan.matches):
        deal, seating = divmod(number, sides)
        own = by_hand(parse_record(record_match_up(*agents, plan, number).text()))
        order = sorted(range(4), key=lambda seat, s=seating: seat % sides != s)
        counts[deal] += own[order]
    expected, found = Conduct.of(counts, num_players), play_matches(*agents, plan, silent).conduct
    assert found.starts == plan.deals
    assert np.array_equal(found.sums, expected.sums)
    assert np.allclose(found.products, expected.products)
    assert found.sums[A, ALL, c.ROUNDS] > 0 and found.sums[B, ALL, c.OUTS] > 0
    assert (found.sums[[FIRST, SECOND]].sum() > 0) == (num_players == 4)


def test_parts_add_up():
    whole = play_matches(make_agent("greedy"), make_agent("random"), MatchPlan(4, 20, 3), silent)
    parts = [
        play_matches(make_agent("greedy"), make_agent("random"), MatchPlan(4, 20, 3).part(i, 5), silent)
        for i in range(0, 20, 5)
    ]
    joined = Results.joined(parts).conduct
    assert joined.starts == 20
    assert np.array_equal(joined.sums, whole.conduct.sums)
    assert np.array_equal(joined.products, whole.conduct.products)


def test_rates_and_their_intervals():
    """Against the plain formula over starts, and at the ends of the scale."""
    rng = np.random.default_rng(0)
    counts = np.zeros((400, 4, c.REGIONS, c.FIELDS), np.int32)
    counts[:, :, 0, c.ROUNDS] = rng.integers(3, 9, (400, 1))
    counts[:, 0, 0, c.OUTS] = rng.binomial(counts[:, 0, 0, c.ROUNDS], 0.3)
    counts[:, 0, 0, c.POINTS] = rng.poisson(4, 400)
    found = Conduct.of(counts, 4)
    points = found.estimate(MEASURES["points"], A)
    top, bottom = counts[:, 0, 0, c.POINTS], counts[:, 0, 0, c.ROUNDS]
    ratio = top.sum() / bottom.sum()
    error = ((top - ratio * bottom) / bottom.mean()).std(ddof=1) / 20
    assert points.value == pytest.approx(ratio) and points.high - ratio == pytest.approx(1.9659 * error, rel=1e-3)
    assert found.estimate(MEASURES["out"], A).low < 0.3 < found.estimate(MEASURES["out"], A).high
    never = found.estimate(MEASURES["hits"], A)
    assert never.value == 0 and 0 < never.high < 0.01  # a rate that was never seen still has an interval
    assert found.estimate(MEASURES["blocks_won"], A) is None  # there was no block
    assert found.estimate(MEASURES["out"], A, 1) is None  # nor a round in that region
    json.dumps(found.as_dict(), allow_nan=False)
    assert set(found.as_dict()["a"]) == {REGION_NAMES[0], "all"}


def test_a_single_start_has_no_interval():
    tally = Tally(1, 2)
    counts = c.new_counts(1)
    counts[0, 0, 0, [c.ROUNDS, c.OUTS, c.POINTS]] = [4, 2, 9]
    tally.note(np.array([0]), 0, counts)
    found = tally.conduct()
    assert str(found.estimate(MEASURES["out"], A)) == "0.500 [0.000, 1.000]"
    assert found.estimate(MEASURES["points"], A).high == float("inf")
    assert found.of_group(B).estimate(MEASURES["out"], A) is None


def test_a_pair_has_its_own_agents_at_its_seats():
    """Counts belong to the right partner: random scores less than greedy."""
    for name, good in (("pair:greedy with random", FIRST), ("pair:random with greedy", SECOND)):
        conduct = evaluate(name, "greedy", 4, scaled(400)).results.conduct
        per = [conduct.estimate(MEASURES["points"], group).value for group in (FIRST, SECOND)]
        assert per[good - FIRST] > 1.4 * per[SECOND - good], name
    whole = evaluate("greedy", "random", 4, 40).results
    assert np.array_equal(evaluate("pair:greedy with greedy", "random", 4, 40).results.scores, whole.scores)


def test_a_pair_of_agents_with_memory():
    one = evaluate("pair:tests.agents.support:Rng with random", "greedy", 4, 20)
    assert one.results.scores.tobytes() == evaluate(one.a, "greedy", 4, 20).results.scores.tobytes()
    assert make_agent("pair:pimc:worlds=4 with greedy").name == "pimc with greedy"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pair:greedy", "a pair is written 'pair:X with Y', not 'greedy'"),
        ("pair:a with b with c", "a pair is written 'pair:X with Y'"),
        ("pair:greedy with nobody", "there is no agent 'nobody'"),
        ("pair:duel-v1 with greedy", "agent duel-v1 plays matches of 2 players, not of 4"),
    ],
)
def test_bad_pairs(name, message):
    with pytest.raises(AgentError, match=message):
        make_agent(name)


def test_pairs_are_for_four():
    with pytest.raises(AgentError, match="agent greedy with random plays matches of 4 players, not of 2"):
        evaluate("pair:greedy with random", "greedy", 2, 2)
