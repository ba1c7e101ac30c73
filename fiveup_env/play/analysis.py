"""Analysis of a position: value of each legal action, belief about hidden tiles, endgame solution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fiveup_env.agents.baselines import Greedy
from fiveup_env.agents.search.endgame import DEFAULT_MOST_TILES, Solution, double_dummy
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.evaluation.statistics import Estimate, t_quantile
from fiveup_env.rendering.text_board import text_board
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.record import RAW_PER_POINT
from fiveup_env.rules.tiles import tile_name
from fiveup_env.views.view import View

WORLDS = 2000


@dataclass(frozen=True)
class Candidate:
    """One legal action.

    Attributes:
        action: its id.
        value: value to the side to act: chance to win the match, or raw points of difference.
        behind: value of the best action minus `value`, paired over the same worlds; zero for the best.
    """

    action: int
    value: Estimate
    behind: Estimate


@dataclass(frozen=True)
class Analysis:
    """Analysis of a position.

    Attributes:
        match: the position; only `solution` uses tiles hidden from the seat to act.
        worlds: number of sampled deals in which every action was played out.
        equity: whether values are chances to win the match; else differences of raw points.
        candidates: legal actions, best first.
        belief: exact belief of the seat to act.
        solution: perfect play with all hands known; None if tiles are left to draw or too many are held.
    """

    match: Match
    worlds: int
    equity: bool
    candidates: tuple[Candidate, ...]
    belief: Belief
    solution: Solution | None


def position_of_seed(seed: int, plies: int = 0, num_players: int = 4) -> Match:
    """Return the first decision of a match after at least `plies` actions of greedy players.

    Raises:
        ValueError: if the match ends before.
    """
    match, greedy = Match(num_players, checked_seed(seed)), Greedy()
    greedy.reset(seed)
    done = 0
    while match.winner is None and (done < plies or len(match.legal_actions()) == 1):
        match.play(greedy.act(View.of(match)))
        done += 1
    if match.winner is not None:
        raise ValueError(f"the match of seed {seed} is over after {done} actions: no decision at {plies} or later")
    return match


def analyse(match: Match, *, worlds: int = WORLDS, seed: int = 0, equity: bool = True, endgame: int = 0) -> Analysis:
    """Estimate every legal action of the seat to act, from its view alone, with greedy playouts in the same worlds.

    Args:
        match: a match that is not over.
        worlds: number of worlds, at least 2.
        seed: seed of the worlds.
        equity: whether a round's value is the chance to win the match after it, else the difference of raw scores.
        endgame: see `PIMC`.

    Raises:
        ValueError: if the match is over or a number is out of range.
    """
    if match.winner is not None:
        raise ValueError("the match is over: no seat is to act")
    if isinstance(worlds, bool) or not hasattr(worlds, "__index__") or not 2 <= worlds <= 10**6:
        raise ValueError(f"worlds must be an integer from 2 to 1000000, not {worlds!r}")
    view = View.of(match)
    agent = PIMC(endgame=endgame, equity=equity)
    legal, values = agent.outcomes(view, checked_seed(seed), int(worlds))
    best = int(values.mean(0).argmax())
    candidates = [
        Candidate(action, _mean(values[:, i]), _mean(values[:, best] - values[:, i])) for i, action in enumerate(legal)
    ]
    candidates.sort(key=lambda candidate: -candidate.value.value)
    held = sum(len(hand) for hand in match.hands)
    solved = not match.boneyard and held <= DEFAULT_MOST_TILES
    return Analysis(
        match=match,
        worlds=int(worlds),
        equity=agent.values_are_chances(match.variant),
        candidates=tuple(candidates),
        belief=Belief(view),
        solution=double_dummy(match, equity=equity) if solved else None,
    )


def _mean(values: np.ndarray) -> Estimate:
    mean = float(values.mean())
    half = t_quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


def analysis_report(analysis: Analysis) -> Group:
    """The analysis as text and tables for a rich console."""
    parts: list[RenderableType] = [Text(text_board(View.of(analysis.match))), _actions_table(analysis)]
    unit = "chance to win the match" if analysis.equity else "points of difference after the round"
    parts.append(Text(f"value: {unit}; {analysis.worlds:,} worlds, greedy playouts; 95% intervals", style="dim"))
    parts.append(_belief_table(analysis.belief))
    parts.append(Text(_solver_line(analysis), style="" if analysis.solution else "dim"))
    return Group(*parts)


def _actions_table(analysis: Analysis) -> Table:
    """One row per legal action, best first."""
    shown = _percent if analysis.equity else _points
    solved = dict(zip(analysis.solution.actions, analysis.solution.values, strict=True)) if analysis.solution else {}
    table = Table(title=Text("Legal actions"), title_justify="left")
    table.add_column("action", no_wrap=True)
    for heading in ("id", "value", "95% interval", "behind the best", *(["all hands known"] if solved else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    for c in analysis.candidates:
        half = (c.behind.high - c.behind.low) / 2
        behind = "" if c is analysis.candidates[0] else f"{shown(c.behind.value)} ± {shown(half)}"
        row = [
            describe(c.action),
            str(c.action),
            shown(c.value.value),
            f"{shown(c.value.low)} to {shown(c.value.high)}",
        ]
        table.add_row(*row, behind, *([shown(solved[c.action])] if solved else []))
    return table


def _belief_table(belief: Belief) -> Table:
    """Exact probabilities of the place of every unseen tile, in percent."""
    view, places = belief.view, belief.marginals()
    players = view.num_players
    table = Table(title=Text(f"Where unseen tiles are: {belief.count:,} deals agree"), title_justify="left")
    table.add_column("tile", no_wrap=True)
    for relative in range(1, players):
        table.add_column(f"player_{(view.seat + relative) % players}", justify="right", no_wrap=True)
    table.add_column("boneyard", justify="right", no_wrap=True)
    for tile in range(places.shape[1]):
        if places[1:, tile].any():
            table.add_row(tile_name(tile), *(_percent(float(p)) if p else "·" for p in places[1:, tile]))
    return table


def _solver_line(analysis: Analysis) -> str:
    if analysis.solution is None:
        return f"endgame solver: needs an empty boneyard and at most {DEFAULT_MOST_TILES} tiles held"
    line = ", then ".join(describe(action) for action in analysis.solution.line)
    return f"endgame solver, all hands known, best line: {line}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _points(raw: float) -> str:
    return f"{raw / RAW_PER_POINT:+.2f}"
