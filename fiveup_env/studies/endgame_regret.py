"""Endgame regret: loss of agents' choices against the double-dummy solver when the boneyard is empty.

Positions are all decisions of given matches with an empty boneyard and at most `MOST_TILES` tiles in the hands. All
agents choose at the same positions from the view of the seat to act. Each choice is compared with the best one under
full information and perfect play. No agent that does not see the hands can reach zero, so the figures rank agents; they
do not measure the distance from perfect play. The unit of observation is the match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.agents.search.endgame import action_values
from fiveup_env.evaluation.match_plan import MatchPlan
from fiveup_env.evaluation.match_play import Progress
from fiveup_env.evaluation.match_recording import record_match_up, recorded
from fiveup_env.evaluation.matchup import MatchUp
from fiveup_env.evaluation.statistics import Estimate, mean_share, ratio_of_sums
from fiveup_env.records.record_reader import Record, RecordError, read_record
from fiveup_env.records.recorder import Recorder, beginning
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.rules.record import GAME, Variant
from fiveup_env.studies.tournament import RoundRobin
from fiveup_env.views.view import Views

LATE, MIDDLE = 6, 10  # largest numbers of tiles in all hands of the late and the middle phase
PHASES = (f"up to {LATE} tiles", f"{LATE + 1} to {MIDDLE}", f"{MIDDLE + 1} and more", "all")
"""Phases by the number of tiles in all hands."""
MOST_TILES = {2: 14, 3: 16, 4: 18}
"""Largest number of tiles in all hands, by number of players; solving larger positions takes too long."""
EQUAL = 1e-6  # win chances that differ by less are equal (the equity tables are float32)


@dataclass(frozen=True)
class Endgames:
    """Positions with the values of their actions.

    Attributes:
        num_players: number of players of all matches.
        games: records [K] with all hands.
        match: number of the match of each position, int64 [K].
        seeds: policy seed of that match, uint64 [K].
        values: win chance after every action, float64 [K, 121], -inf where illegal.
        matches: number of matches searched.
        too_large: number of positions left out because of `MOST_TILES`.
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
        """Membership of the positions in each of `PHASES`, bool [K]."""
        held = self.games["hand_sizes"][:, : self.num_players].sum(1)
        late, middle = held <= LATE, (held > LATE) & (held <= MIDDLE)
        return [late, middle, held > MIDDLE, np.ones(len(held), np.bool_)]


@dataclass(frozen=True)
class Regret:
    """Loss of an agent's choices in a phase; None where there is no position.

    Attributes:
        positions: number of positions.
        best: share of choices without loss.
        loss: mean loss of win chance.
    """

    positions: int
    best: Estimate | None
    loss: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        estimates = {"best": self.best, "loss": self.loss}
        return {"positions": self.positions} | {name: e and e.as_dict() for name, e in estimates.items()}


def collect(
    matches: Iterable[tuple[Match, Sequence[int], int]],
    num_players: int,
    progress: Progress | None = None,
) -> Endgames:
    """Find and solve the positions.

    Args:
        matches: start, actions and policy seed of each; all with `num_players` players.
        num_players: 2, 3 or 4.
        progress: called with the number of solved positions and of all positions.

    Raises:
        ValueError: if a match has another number of players or is not the standard variant.
    """
    found: list[np.ndarray] = []
    origin: list[int] = []
    seeds: list[int] = []
    count = too_large = 0
    for number, (start, actions, seed) in enumerate(matches):
        if start.num_players != num_players:
            raise ValueError(f"match {number} has {start.num_players} players, not {num_players}")
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
    """Records [1] of the decisions with an empty boneyard."""
    match = start.copy()
    game = match._games
    for action in actions:
        if game["boneyard_next"][0] == game["boneyard_end"][0] and len(match.legal_actions()) > 1:
            yield game.copy()
        match.play(action)


def choices(agent: Agent, endgames: Endgames) -> np.ndarray:
    """Choices of an agent, int64 [K]. An agent with memory is reset before each position.

    Raises:
        AgentError: if the agent fails or chooses an illegal action.
    """
    games, seats = endgames.games, endgames.games["turn"].astype(np.int64)
    views, name = Views(games, seats), agent_name(agent)
    try:
        if is_policy(agent):
            actions = np.asarray(agent.act_many(views, keys_of(views, endgames.seeds)))
        else:
            asked = own_copy(agent)
            actions = np.array([_ask(asked, views, i, int(endgames.seeds[i])) for i in range(len(games))], np.int64)
    except Exception as error:
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
    """Loss of choices [K], for each of `PHASES`."""
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
        sure = best.value in (0, 1)  # then the spread is zero
        share = mean_share(good / per_match) if sure else Estimate(best.value, max(0, best.low), min(1, best.high))
        mean = ratio_of_sums(loss, per_match)
        mean = Estimate(mean.value, max(0.0, mean.low), mean.high)  # no choice is better than the best one
        found.append(Regret(int(phase.sum()), share, mean))
    return found


@dataclass(frozen=True)
class EndgameRegret:
    """Regret of several agents at the same positions.

    Attributes:
        endgames: the positions.
        names: names of the agents.
        regrets: per agent, one for each of `PHASES`.
    """

    endgames: Endgames
    names: tuple[str, ...]
    regrets: tuple[tuple[Regret, ...], ...]

    @classmethod
    def of(cls, agents: Sequence[Agent], names: Sequence[str], endgames: Endgames) -> EndgameRegret:
        """Let the agents choose at the positions.

        Raises:
            AgentError: as `choices`.
        """
        found = tuple(tuple(regrets(endgames, choices(agent, endgames))) for agent in agents)
        return cls(endgames, tuple(names), found)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        agents = {
            name: {phase: regret.as_dict() for phase, regret in zip(PHASES, phases, strict=True)}
            for name, phases in zip(self.names, self.regrets, strict=True)
        }
        about = {"matches": self.endgames.matches, "too_large": self.endgames.too_large}
        return {"num_players": self.endgames.num_players, **about, "agents": agents}


# Matches that positions are taken from.


def of_records(records: Iterable[Record]) -> Iterator[tuple[Match, list[int], int]]:
    """Start, actions and policy seed of recorded matches."""
    for record in records:
        yield record.start, [move.action for move in record.moves], record.policy_seed or 0


def of_recorders(recorders: Iterable[Recorder]) -> Iterator[tuple[Match, list[int], int]]:
    """Start, actions and policy seed of matches just played."""
    for recorder in recorders:
        header = recorder.lines[0]
        actions = [line["action"] for line in recorder.lines if line["type"] == "move"]
        yield beginning(header["variant"], header["seed"], header["scores"]), actions, header["policy_seed"]


def of_match_up(
    result: MatchUp, a: AgentSpec, b: AgentSpec, count: int, progress: Progress | None = None
) -> EndgameRegret:
    """Regret of both agents of a match-up, at the endgames of its first matches.

    Raises:
        AgentError: if matches were forfeited; as `choices`.
    """
    if sum(result.forfeits):
        raise AgentError("matches were forfeited")
    played = of_recorders(recorder for recorder, _ in recorded(result, a, b, count))
    agents = [make_agent(spec, result.num_players) for spec in (a, b)]
    return EndgameRegret.of(agents, (result.a, result.b), collect(played, result.num_players, progress))


def of_agent(
    by: AgentSpec, num_players: int, count: int, seed: int, progress: Progress | None = None
) -> Iterator[tuple[Match, list[int], int]]:
    """Start, actions and policy seed of matches of an agent against itself.

    Raises:
        AgentError: if the agent cannot be made or fails.
    """
    agent, sides = make_agent(by, num_players), Variant(num_players).num_sides
    plan = MatchPlan(num_players, -(-count // sides), checked_seed(seed))
    # All seatings of a deal are the same match here, so every deal is played once.
    for deal in range(count):
        if progress:
            progress(deal, count)
        yield from of_recorders([record_match_up(agent, agent, replace(plan, deals=count), deal * sides)])


def read_folder(folder: Path) -> Iterator[Record]:
    """Records in a folder, in order of their names.

    Raises:
        ValueError: one line, if there is no record or one cannot be read.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise ValueError(f"{folder} holds no records (*.jsonl)")
    for file in files:
        try:
            yield read_record(file)
        except OSError as error:
            raise ValueError(f"cannot read {file}: {error.strerror or error}") from error
        except RecordError as error:
            raise ValueError(f"{file}, {error}") from error


def regret_of(
    agents: Sequence[str], positions: Endgames, watch: Callable[[str], Progress] | None = None
) -> EndgameRegret:
    """Regret of agents given by name.

    Raises:
        ValueError: if an agent is given twice, cannot be made, or fails.
    """
    if twice := [name for name in agents if agents.count(name) > 1]:
        raise ValueError(f"agent {twice[0]} is given twice")
    found = []
    for name in agents:
        if watch:
            watch(f"choices of {name}")
        found.append(tuple(regrets(positions, choices(make_agent(name, positions.num_players), positions))))
    return EndgameRegret(positions, tuple(agents), tuple(found))


NEUTRAL = "heuristic"
"""Agent whose matches supply the endgames of a tournament: fast, and its positions are sensible."""


def regret_of_tournament(
    result: RoundRobin, agents: Sequence[str], count: int, seed: int, watch: Callable[[str], Progress]
) -> EndgameRegret:
    """Regret of the agents of a tournament at endgames of `NEUTRAL`.

    Raises:
        AgentError: if matches were forfeited or an agent fails.
    """
    if result.failed:
        raise AgentError("matches were forfeited")
    players = result.match_ups[0].num_players
    played = list(of_agent(NEUTRAL, players, count, seed, watch(f"matches of {NEUTRAL}")))
    return regret_of(list(agents), collect(played, players, watch("endgames solved")), watch)
