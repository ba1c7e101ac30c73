"""How an episode with a learner begins: the deal, the learner's seat, and who plays the seats around it.

Every seat has a policy: a kernel agent (RANDOM, GREEDY), LEARNER for whoever is trained, or PYTHON (and below, where
there are several) for an agent that compiled code cannot ask. All of an episode follows from (seed, episode number), in
the single and in the vector env alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import int64

from fiveup_env.agents.protocol import Agent
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.jit.compilation import kernel
from fiveup_env.rules.random import below, stream
from fiveup_env.rules.record import Game
from fiveup_env.rules.scoring import side_of

LEARNER, PYTHON = -1, -2

# Streams of a seed beside those of the deals, which are the numbers of the episodes.
SEAT_STREAM, POLICY_STREAM = 1 << 40, 1 << 41


@kernel
def take_seats(game: Game, row: Any) -> None:
    """Give the learner its seat (a fixed one, or the episode's lot) and put the agents around it.

    Reads `seed`, `episode`, `fixed_seat` (-1 for a lot) and `around` (policies by seat relative to the learner's) of
    `row`; writes its `seat`, `side`, `policies` (by seat) and `policy_seed`.
    """
    players = int64(game.num_players)
    seat = int64(row.fixed_seat)
    if seat < 0:
        seat, _ = below(stream(row.seed, SEAT_STREAM + row.episode), players)
    row.policy_seed = stream(row.seed, POLICY_STREAM + row.episode)
    row.seat = seat
    row.side = side_of(game, seat)
    for relative in range(players):
        row.policies[(seat + relative) % players] = row.around[relative]


def agents_around(
    opponents: AgentSpec | Sequence[AgentSpec], partner: AgentSpec | None, num_players: int
) -> list[Agent | None]:
    """Who plays the seats, by seat relative to the learner's; None is the learner.

    Args:
        opponents: one agent for all opposing seats, or a list of one for each, clockwise.
        partner: with four players: None if the learner plays both seats of its side.

    Raises:
        ValueError: if there is no such agent (`AgentError`), or their number is wrong.
    """
    if partner is not None and num_players != 4:
        raise ValueError(f"only four players have partners (R1.2): partner must be None, not {partner!r}")
    opposing = [relative for relative in range(1, num_players) if num_players != 4 or relative != 2]
    named: list[Any] = [*opponents] if isinstance(opponents, list | tuple) else [opponents] * len(opposing)
    if len(named) != len(opposing):
        raise ValueError(f"opponents must be one agent or {len(opposing)}, one per opposing seat, not {len(named)}")
    agents: list[Agent | None] = [None] * num_players
    for relative, spec in zip(opposing, named, strict=True):
        agents[relative] = make_agent(spec, num_players)
    if partner is not None:
        agents[2] = make_agent(partner, num_players)
    return agents


def checked_seat(seat: Any, num_players: int) -> int | None:
    """The learner's seat, None for "random".

    Raises:
        ValueError: if it is neither a seat nor "random".
    """
    if isinstance(seat, bool) or seat not in ("random", *range(num_players)):
        raise ValueError(f'seat must be "random" or from 0 to {num_players - 1}, not {seat!r}')
    return None if isinstance(seat, str) else int(seat)
