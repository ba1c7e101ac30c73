"""Tables and reports of the studies: tournament, cross-play, endgame regret, exploitability, variance."""

from __future__ import annotations

import math

from fiveup_env.agents.pair import WITH
from fiveup_env.evaluation.statistics import METHOD
from fiveup_env.reports.behaviour_tables import agents_grid, partnerships_grid
from fiveup_env.reports.plots import intervals
from fiveup_env.reports.report_writer import ReportContent
from fiveup_env.reports.tables import Grid, between, percent, points, within
from fiveup_env.studies.cross_play import CrossPlay, labels
from fiveup_env.studies.endgame_regret import MOST_TILES, PHASES, EndgameRegret
from fiveup_env.studies.exact_exploitability import Exploitability
from fiveup_env.studies.exploit import Exploit
from fiveup_env.studies.tournament import RoundRobin
from fiveup_env.studies.variance import VarianceRow


def elo(value: float) -> str:
    """Elo points as text."""
    return f"{value:+.0f}"


def tournament_grids(result: RoundRobin) -> list[Grid]:
    """Ratings and crosstable, the best agent first."""
    first, r = result.match_ups[0], result.ratings
    order = sorted(range(len(result.agents)), key=lambda i: -r.ratings[i].value)
    rated = [(result.agents[i], elo(r.ratings[i].value), between(r.ratings[i], elo)) for i in order]
    notes = [f"{a} beats {b} beats {c} beats {a}" for a, b, c in result.circles] or ["no circle beyond the intervals"]
    if r.freedom:
        notes.append(f"one number per agent: T² {r.deviation:.1f} at {r.freedom}, p = {r.p_value:.3f}")
    notes += [f"{m.a} against {m.b}: forfeits {m.forfeits[0]:,} and {m.forfeits[1]:,}" for m in result.failed]
    cells = [(result.agents[i], *(_crossed(result, i, j) for j in order)) for i in order]
    title = f"Ratings: {first.num_players} players, {first.matches:,} matches per pair, seed {first.seed}"
    return [
        Grid(title, ("agent", "Elo", "95% interval"), rated, notes),
        Grid("Wins of the row; points per deal", ("", *(result.agents[i] for i in order)), cells),
    ]


def _crossed(result: RoundRobin, row: int, column: int) -> str:
    for (a, b), m in zip(result.pairs, result.match_ups, strict=True):
        half = (m.win_rate.high - m.win_rate.low) / 2
        if (a, b) == (row, column):
            return f"{percent(m.win_rate.value)} ± {percent(half)}; {points(m.points_per_round.value)}"
        if (b, a) == (row, column) and m.num_players != 3:
            return f"{percent(1 - m.win_rate.value)} ± {percent(half)}; {points(-m.points_per_round.value)}"
    return ""


def tournament_report(result: RoundRobin, endgame: EndgameRegret | None = None) -> ReportContent:
    """ReportContent card of a tournament: ratings, crosstable, behaviour, endgame regret."""
    players, conducts = result.match_ups[0].num_players, [result.conduct(i) for i in range(len(result.agents))]
    rated = sorted(zip(result.agents, result.ratings.ratings, strict=True), key=lambda pair: -pair[1].value)
    plot = intervals(rated, 0.0, elo, "Elo points", equal_name="mean")
    grids = [*tournament_grids(result), agents_grid(conducts, result.agents, players)]
    grids += [] if endgame is None else [endgame_grid(endgame)]
    content = result.as_dict() | {"endgame": endgame and endgame.as_dict()}
    own = zip(result.agents, conducts, strict=True)
    content["conduct"] = {name: conduct.as_dict().get("a", {}) for name, conduct in own}
    seconds = sum(m.seconds for m in result.match_ups)
    notes = [
        METHOD,
        "ratings: Bradley-Terry over the same deals for all pairs, intervals from their covariance",
        f"{sum(m.matches for m in result.match_ups):,} matches in {seconds:,.0f} s",
    ]
    return ReportContent(
        f"Tournament of {len(result.agents)} agents, {players} players", content, [plot, *grids], notes
    )


def cross_play_report(result: CrossPlay) -> ReportContent:
    """The matrix in points and wins, the gaps, and the behaviour of the partnerships."""
    names, first = labels((*result.agents, *result.others)), result.cells[0, 0]
    note = f"row with column, against {result.opponent}; {first.matches:,} matches each, seed {first.seed}"
    grids = []
    for title, figure, shown in (
        ("points per deal", lambda m: m.points_per_round, points),
        ("win rate", lambda m: m.win_rate, percent),
    ):
        rows = [
            (name, *(within(figure(result.cell(row, column)), shown) for column in range(len(names))))
            for row, name in enumerate(names[: len(result.agents)])
        ]
        grids.append(Grid(f"Cross-play: {title}", ("", *names), rows, (note,)))
    each = [(names[row], *result.of_agent(row)) for row in range(len(result.agents))]
    gaps = [
        (name, points(p.value), between(p, points), percent(w.value), between(w, percent))
        for name, p, w in [*each, ("all of them", result.points, result.wins)]
    ]
    head = ("", "points per deal", "95% interval", "win rate", "95% interval")
    about = ("intervals are over deals, for these runs; differences between training runs may be larger",)
    grids.append(Grid("Self-play minus cross-play", head, gaps, about))
    called = [names[row] if row == column else f"{names[row]}{WITH}{names[column]}" for row, column in result.cells]
    grids.append(partnerships_grid([m.results.conduct for m in result.cells.values()], called))
    return ReportContent(f"Cross-play of {', '.join(result.agents)} against {result.opponent}", result.as_dict(), grids)


def endgame_grid(result: EndgameRegret) -> Grid:
    """Loss of every agent in every phase."""
    rows = [
        (
            name,
            phase,
            f"{regret.positions:,}",
            within(regret.loss, lambda share: f"{100 * share:.2f}%"),
            within(regret.best, percent),
        )
        for at, phase in reversed(list(enumerate(PHASES)))
        for name, regret in ((name, phases[at]) for name, phases in zip(result.names, result.regrets, strict=True))
        if regret.positions
    ]
    positions = result.endgames
    notes = [
        f"{len(positions.games):,} decisions with an empty boneyard in {positions.matches:,} matches, compared with "
        "the double-dummy solver, which sees all hands; no agent without that knowledge can reach zero"
    ]
    if positions.too_large:
        most = MOST_TILES[positions.num_players]
        notes.append(f"{positions.too_large:,} more were left out: over {most} tiles in the hands")
    head = ("agent", "phase", "positions", "loss of win chance", "best choices")
    return Grid("Endgame regret", head, rows, notes, texts=2)


def endgame_report(result: EndgameRegret) -> ReportContent:
    """Endgame regret of several agents."""
    title = f"Endgame regret, {result.endgames.num_players} players"
    return ReportContent(title, result.as_dict(), [endgame_grid(result)])


def exploit_report(result: Exploit) -> ReportContent:
    """Scores of the responses to a policy."""
    first = result.responses[0].match_up
    rows = [
        (
            f"{r.kind}: {r.budget}",
            within(r.match_up.points_per_round, points),
            within(r.match_up.win_rate, percent),
            f"{r.match_up.matches:,}",
        )
        for r in result.responses
    ]
    notes = (
        f"{first.num_players} players; equal agents would have 0 points and {percent(first.chance)}; 95% intervals",
        "each is a lower bound on the gain of the best response; a weak response does not show that none exists",
    )
    head = ("response", "points per deal", "win rate", "matches")
    grid = Grid(f"Lower bounds of the exploitability of {result.agent}", head, rows, notes)
    return ReportContent(f"Exploitability of {result.agent}", result.as_dict(), [grid])


def exploitability_grid(result: Exploitability, title: str) -> Grid:
    """Exact best responses in both seats."""
    rows = tuple(
        (f"player_{seat}", f"{response.value:+.6f}", f"{response.decisions:,}", f"{response.positions:,}")
        for seat, response in enumerate(result.responses)
    )
    head = ("best response as", "expected reward", "decisions", "positions")
    return Grid(title, head, rows, (f"exploitability {result.value:.6f}, half of the sum",))


def variance_grid(rows: list[VarianceRow], title: str) -> Grid:
    """Estimates, and the deals needed for a given precision."""

    def share(own: float, plain: float) -> str:
        return f"{100 * own / plain:.0f}%" if plain > 0 and math.isfinite(own) else ""

    plain = rows[0]
    cells = [
        (
            r.name,
            points(r.points),
            f"{r.deals_for_points:,.0f}",
            share(r.deals_for_points, plain.deals_for_points),
            percent(r.wins),
            f"{r.deals_for_wins:,.0f}",
            share(r.deals_for_wins, plain.deals_for_wins),
        )
        for r in rows
    ]
    return Grid(title, ("measured by", "points", "for ±0.1", "of plain", "wins", "for ±1%", "of plain"), cells)
