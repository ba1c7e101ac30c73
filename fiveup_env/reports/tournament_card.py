"""The report card of a tournament: ratings, crosstable, how the agents play, what they lose in endgames."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from fiveup_env.agents.protocol import AgentError
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.statistics import METHOD
from fiveup_env.reports.behaviour_tables import agents_grid
from fiveup_env.reports.html_page import grids_page, grids_text, write_folder
from fiveup_env.reports.plots import intervals
from fiveup_env.reports.tables import Grid
from fiveup_env.studies.endgame_regret import EndgameRegret, collect
from fiveup_env.studies.endgame_study import of_agent, regret_of
from fiveup_env.studies.tournament import RoundRobin, elo, grids
from fiveup_env.system.machine import describe_machine

NEUTRAL = "heuristic"
"""Whose matches endgames come from: good enough for sensible positions, and fast."""


def regret(
    result: RoundRobin, agents: Sequence[str], count: int, seed: int, watch: Callable[[str], Progress]
) -> EndgameRegret:
    """What the agents of a tournament lose at the same endgames.

    Raises:
        AgentError: if an agent fails, or has forfeited matches: who does that is not asked any further.
    """
    if result.failed:
        raise AgentError("matches were forfeited")
    players = result.match_ups[0].num_players
    played = list(of_agent(NEUTRAL, players, count, seed, watch(f"matches of {NEUTRAL}")))
    return regret_of(list(agents), collect(played, players, watch("endgames solved")), watch)


def card_grids(result: RoundRobin, endgame: EndgameRegret | None) -> list[Grid]:
    """All tables."""
    shown = range(len(result.agents))
    conducts = [result.conduct(i) for i in shown]
    tables = [*grids(result), agents_grid(conducts, result.agents, result.match_ups[0].num_players)]
    return tables if endgame is None else [*tables, endgame.grid()]


def write_report(
    result: RoundRobin, folder: str | os.PathLike[str], command: str, endgame: EndgameRegret | None = None
) -> Path:
    """Write `index.html`, `report.json` and `report.md` to a folder, which is made; returns the page's path.

    Raises:
        OSError: if they cannot be written.
    """
    shown, players = card_grids(result, endgame), result.match_ups[0].num_players
    rated = sorted(zip(result.agents, result.ratings.ratings, strict=True), key=lambda pair: -pair[1].value)
    lead = intervals(rated, 0.0, elo, "Elo points", equal_name="mean")
    content = result.as_dict() | {"endgame": endgame and endgame.as_dict()}
    content["conduct"] = {name: result.conduct(i).as_dict().get("a", {}) for i, name in enumerate(result.agents)}
    content |= {"command": command, "machine": describe_machine()}
    title = f"Tournament of {len(result.agents)} agents, {players} players"
    notes = [METHOD, "ratings: Bradley-Terry over the same deals for all pairs, intervals from their covariance"]
    seconds = sum(m.seconds for m in result.match_ups)
    notes.append(f"{sum(m.matches for m in result.match_ups):,} matches in {seconds:,.0f} s")
    return write_folder(
        folder, grids_page(title, shown, command, lead=lead, notes=notes), content, grids_text(shown, command)
    )
