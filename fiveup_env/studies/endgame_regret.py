"""Endgame regret: what agents' choices lose against the double-dummy solver once nothing is left to draw.

Positions come from given matches: every decision of them that leaves a choice, with an empty boneyard and not too many
tiles held. All agents are asked at the same positions, from the view of the seat to act, and each choice is compared
with the best one if all hands were known and everybody played perfectly on. Nobody who does not see the hands can reach
zero, so the figures tell agents apart rather than say how far from perfect they are. The unit of observation is the
match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.search.endgame import action_values
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.statistics import Estimate, mean_share, ratio_of_sums
from fiveup_env.reports.tables import Grid, percent, within
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import GAME
from fiveup_env.views.view import Views

LATE, MIDDLE = 6, 10  # tiles in all hands up to which a phase goes
PHASES = (f"up to {LATE} tiles", f"{LATE + 1} to {MIDDLE}", f"{MIDDLE + 1} and more", "all")
"""By the tiles in all hands."""
MOST_TILES = {2: 14, 3: 16, 4: 18}
"""Tiles in all hands, by the number of players, above which solving takes too long."""
EQUAL = 1e-6  # of a match: values that differ by less are equal (the tables are float32)


@dataclass(frozen=True)
class Endgames:
    """Positions and what is best in them.

    Attributes:
        num_players: of all matches.
        games: records [K], all hands in them.
        match: int64 [K]: which match each comes from.
        seeds: of the policies of that match, uint64 [K].
        values: what every action is worth as a chance to win the match, float64 [K, 121], -inf where illegal.
        matches: how many matches were looked through.
        too_large: positions left out because more tiles were held.
    """

    num_players: int
    games: np.ndarray
    match: np.ndarray
    seeds: np.ndarray
    values: np.ndarray
    matches: int
    too_large: int

    @property
    def phases(self) -> list[np.ndarray]:
        """Which positions belong to each of `PHASES`, bool [K]."""
        held = self.games["hand_sizes"][:, : self.num_players].sum(1)
        late, middle = held <= LATE, (held > LATE) & (held <= MIDDLE)
        return [late, middle, held > MIDDLE, np.ones(len(held), np.bool_)]


@dataclass(frozen=True)
class Regret:
    """What the choices of an agent lose in a phase; None where there is no position.

    Attributes:
        positions: how many.
        best: share of the choices that lose nothing.
        loss: mean loss in chance to win the match.
    """

    positions: int
    best: Estimate | None
    loss: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = {"best": self.best, "loss": self.loss}
        return {"positions": self.positions} | {name: e and e.as_dict() for name, e in told.items()}


def collect(
    matches: Iterable[tuple[Match, Sequence[int], int]],
    num_players: int,
    progress: Progress | None = None,
) -> Endgames:
    """Find and solve the positions.

    Args:
        matches: start, actions and policy seed of each; all of `num_players` players.
        num_players: 2, 3 or 4.
        progress: called with the numbers of positions that are solved and that there are.

    Raises:
        ValueError: if a match is of another number of players, or its variant is not the real game.
    """
    found: list[np.ndarray] = []
    origin: list[int] = []
    seeds: list[int] = []
    count = too_large = 0
    for number, (start, actions, seed) in enumerate(matches):
        if start.num_players != num_players:
            raise ValueError(f"match {number} is of {start.num_players} players, not of {num_players}")
        count += 1
        for record in _decisions(start, actions):
            if int(record["hand_sizes"].sum()) > MOST_TILES[num_players]:
                too_large += 1
                continue
            found.append(record)
            origin.append(number)
            seeds.append(seed)
    games = np.concatenate(found) if found else np.zeros(0, GAME)
    values = action_values(games, progress=progress)
    return Endgames(
        num_players, games, np.array(origin, np.int64), np.array(seeds, np.uint64), values, count, too_large
    )


def _decisions(start: Match, actions: Iterable[int]) -> Iterator[np.ndarray]:
    """Records [1] of the positions with an empty boneyard in which the next action was chosen."""
    match = start.copy()
    game = match._games
    for action in actions:
        if game["boneyard_next"][0] == game["boneyard_end"][0] and len(match.legal_actions()) > 1:
            yield game.copy()
        match.play(action)


def choices(agent: Agent, endgames: Endgames) -> np.ndarray:
    """What an agent chooses in every position, int64 [K].

    An agent that remembers starts from nothing in each of them.

    Raises:
        AgentError: if it fails or answers with something illegal.
    """
    games, seats = endgames.games, endgames.games["turn"].astype(np.int64)
    views, name = Views(games, seats), agent_name(agent)
    try:
        if is_policy(agent):
            actions = np.asarray(agent.act_many(views, keys_of(views, endgames.seeds)))
        else:
            asked = own_copy(agent)
            actions = np.array([_ask(asked, views, i, int(endgames.seeds[i])) for i in range(len(games))], np.int64)
    except Exception as error:  # whatever somebody else's code does
        raise AgentError(f"agent {name} failed in an endgame: {' '.join(str(error).split())}") from error
    if len(games):
        wrong = np.flatnonzero(~np.isfinite(endgames.values[np.arange(len(games)), actions]))
        if len(wrong):
            raise AgentError(f"agent {name} chose action {int(actions[wrong[0]])} in an endgame, which is not legal")
    return actions


def _ask(agent: Agent, views: Views, i: int, seed: int) -> int:
    agent.reset(seed)
    return checked_id(agent.act(views[i]))


def regrets(endgames: Endgames, actions: np.ndarray) -> list[Regret]:
    """What choices [K] lose, for each of `PHASES`."""
    rows = np.arange(len(actions))
    lost = endgames.values.max(1) - endgames.values[rows, actions] if len(rows) else np.zeros(0)
    found = []
    for phase in endgames.phases:
        if not phase.any():
            found.append(Regret(0, None, None))
            continue
        origin = endgames.match[phase]
        number = np.bincount(origin)
        there = number > 0
        per_match = number[there].astype(np.float64)
        good, loss = (np.bincount(origin, values[phase])[there] for values in (lost <= EQUAL, lost))
        best = ratio_of_sums(good, per_match)
        sure = best.value in (0, 1)  # then the spread says nothing
        share = mean_share(good / per_match) if sure else Estimate(best.value, max(0, best.low), min(1, best.high))
        mean = ratio_of_sums(loss, per_match)
        mean = Estimate(mean.value, max(0.0, mean.low), mean.high)  # nobody gains on the best choice
        found.append(Regret(int(phase.sum()), share, mean))
    return found


@dataclass(frozen=True)
class EndgameRegret:
    """What several agents' choices lose at the same positions.

    Attributes:
        endgames: the positions.
        names: of the agents.
        told: of every agent, for each of `PHASES`.
    """

    endgames: Endgames
    names: tuple[str, ...]
    told: tuple[tuple[Regret, ...], ...]

    @classmethod
    def of(cls, agents: Sequence[Agent], names: Sequence[str], endgames: Endgames) -> EndgameRegret:
        """Ask the agents.

        Raises:
            AgentError: as `choices`.
        """
        told = tuple(tuple(regrets(endgames, choices(agent, endgames))) for agent in agents)
        return cls(endgames, tuple(names), told)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        agents = {
            name: {phase: regret.as_dict() for phase, regret in zip(PHASES, phases, strict=True)}
            for name, phases in zip(self.names, self.told, strict=True)
        }
        about = {"matches": self.endgames.matches, "too_large": self.endgames.too_large}
        return {"num_players": self.endgames.num_players, **about, "agents": agents}

    def grid(self) -> Grid:
        """For people: an agent and phase a row."""
        rows = [
            (
                name,
                phase,
                f"{regret.positions:,}",
                within(regret.loss, lambda share: f"{100 * share:.2f}%"),
                within(regret.best, percent),
            )
            for at, phase in reversed(list(enumerate(PHASES)))
            for name, regret in ((name, phases[at]) for name, phases in zip(self.names, self.told, strict=True))
            if regret.positions
        ]
        notes = [
            f"{len(self.endgames.games):,} decisions with an empty boneyard in {self.endgames.matches:,} matches; "
            "the best choice is that of the double-dummy solver, who sees all hands: nobody else can lose nothing"
        ]
        if self.endgames.too_large:
            most = MOST_TILES[self.endgames.num_players]
            notes.append(f"{self.endgames.too_large:,} more were left out: over {most} tiles in the hands")
        head = ("agent", "phase", "positions", "loses of a match", "loses nothing")
        return Grid("Endgame regret", head, rows, notes, texts=2)
