"""`Table`: a match with a learner and the agents around it, played from one decision of the learner to its next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy
from fiveup_env.envs.env_options import EnvOptions
from fiveup_env.envs.learner_seat import LEARNER, PYTHON
from fiveup_env.envs.opponents import (
    ACTED_SHIFT,
    ASKS,
    COUNT,
    DEALT,
    GO_ON,
    ILLEGAL,
    OF_EPISODE,
    OF_SEED,
    SCORED_SHIFT,
    SEAT,
    SEAT_SHIFT,
    STATUS,
    TABLE,
    advance,
    begin,
    new_table,
    recall,
)
from fiveup_env.envs.pettingzoo_aec_kernels import decoded_event
from fiveup_env.envs.transition import GOES_ON
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.views.history import HISTORY_COLUMNS
from fiveup_env.views.observation import observation_size, split
from fiveup_env.views.view import View


class Table:
    """One match and who plays its seats.

    Attributes:
        options: see `EnvOptions`.
        seat: the learner's seat that is to act, or acted last.
        side: its side.
        actions: what everybody did since the learner's last decision, its own action first, as (seat, action).
        events: the scoring events of that time.
    """

    def __init__(self, options: EnvOptions) -> None:
        self.options = options
        self.seat = self.side = 0
        self.actions: list[tuple[int, int]] = []
        self.events: list[Event] = []
        self._agents: Sequence[Agent | None] = ()
        self._marginals = options.marginals()
        self._hold(new_table(options))

    def _hold(self, table: np.ndarray) -> None:
        """Take over a record, and keep arrays of its fields at hand."""
        game = table["game"]
        self._table = table
        self._vector = table["observation"][0, : observation_size(self.options.num_players)]
        self._mask = table["mask"][0]
        self._reward = table["reward"]
        self._acted = table["acted"][0]
        self._scored = table["scored"][0]
        self._scores = game["scores"][0, : self.options.variant.num_sides]
        self._round_number = game["round_number"]

    # an episode

    def begin(
        self,
        agents: Sequence[Agent | None],
        seed: int,
        episode: int,
        *,
        seat: int | None = None,
        deal: int | Match | None = None,
        scores: Sequence[int] | None = None,
    ) -> int:
        """Begin episode number `episode` of `seed`; returns as `play` does.

        Args:
            agents: by seat relative to the learner's, None for the learner.
            seat: the learner's; None for the episode's lot.
            deal: a seed of deals, or a match of the right variant that is going on (it is copied), instead of the
                episode's own deal.
            scores: raw points per side; None keeps those of a match, or is what the options say.
        """
        table = self._table
        table["seed"], table["episode"] = seed, episode
        table["fixed_seat"] = -1 if seat is None else seat
        table["around"][0, : len(agents)] = [policy_number(agent) for agent in agents]
        if isinstance(deal, Match):
            table["game"][0] = deal.game
            if scores is not None:
                self._scores[:] = scores
            begin(table, DEALT, np.uint64(0))
        else:
            table["scores"][0, : len(self._scores)] = self.options.scores if scores is None else scores
            begin(table, OF_EPISODE if deal is None else OF_SEED, np.uint64(deal or 0))
        self.seat, self.side = int(table["seat"][0]), int(table["side"][0])
        self._agents = [agents[(absolute - self.seat) % len(agents)] for absolute in range(len(agents))]
        self._reset_agents()
        return self.play(GO_ON)

    def _reset_agents(self) -> None:
        """Policies share the episode's policy seed, as kernel agents do; other agents get streams of it by seat."""
        seeds: list[int] | None = None
        policy_seed = self._table["policy_seed"][0]
        for seat, agent in enumerate(self._agents):
            if agent is None:
                continue
            if is_policy(agent):
                agent.reset(int(policy_seed))
                continue
            if seeds is None:
                seeds = spread_seeds(policy_seed, len(self._agents)).tolist()
            agent.reset(seeds[seat])

    # play

    def play(self, action: int) -> int:
        """Take an action of the learner and go on.

        Returns:
            DECIDES when the learner is to act again, TERMINATED or TRUNCATED at the end of the episode, ILLEGAL if the
            rules do not allow the action; then nothing has changed.

        Raises:
            AgentError: if an agent answers what the rules do not allow.
        """
        self.actions, self.events = [], []
        result = self._advance(action)
        while (now := result & STATUS) in (GOES_ON, ASKS):
            result = self._answered(result >> SEAT_SHIFT & SEAT) if now == ASKS else self._advance(GO_ON)
        self.seat = result >> SEAT_SHIFT & SEAT
        return now

    def _advance(self, action: int) -> int:
        """Call the compiled part and keep what it logged."""
        result: int = advance(self._table, action)
        if acted := result >> ACTED_SHIFT & COUNT:
            self.actions += [(code >> 8, code & 255) for code in self._acted[:acted].tolist()]
        if scored := result >> SCORED_SHIFT & COUNT:
            self.events += [decoded_event(code) for code in self._scored[:scored].tolist()]
        return result

    def _answered(self, seat: int) -> int:
        """Ask the agent of a seat, and play on with its answer."""
        agent = self._agents[seat]
        assert agent is not None
        answer: Any = agent.act(View(self._table["game"][0], seat))
        try:
            result = self._advance(checked_id(answer))
            if result & STATUS == ILLEGAL:
                self.match.play(answer)  # raises, and says what would be right
        except ValueError as error:
            raise AgentError(f"agent {agent_name(agent)} at player_{seat}: {error}") from None
        return result

    # what is seen

    def observation(self) -> dict[str, Any]:
        """What the learner's seat sees, in arrays of their own."""
        vector = self._vector.copy()
        seen: dict[str, Any] = {
            "observation": vector if self.options.observation == "flat" else split(vector, self.options.num_players),
            "action_mask": self._mask.copy(),
        }
        if length := self.options.history_length:
            seen["history"] = np.empty((length, HISTORY_COLUMNS), np.int16)
            seen["history_mask"] = np.empty(length, np.int8)
            recall(self._table, seen["history"], seen["history_mask"])
        if self._marginals is not None:
            seen["belief"] = self._marginals.seen_by(self._table["game"], self.seat)
        return seen

    @property
    def mask(self) -> np.ndarray:
        """Legal actions of the learner's seat to act, int8 [121], live."""
        return self._mask

    @property
    def scores(self) -> tuple[int, ...]:
        """Raw points per side."""
        return tuple(self._scores.tolist())

    @property
    def round_number(self) -> int:
        """1 in the first round."""
        return int(self._round_number[0])

    @property
    def winner(self) -> int | None:
        """Side that has won the episode: the match, or with episode="round" the round; None if none has."""
        field = "round_winner" if self.options.episode == "round" else "winner"
        winner = int(self._table["game"][field][0])
        return None if winner < 0 else winner

    @property
    def players(self) -> list[str]:
        """Names of who plays, by seat; "learner" for the learner."""
        return ["learner" if agent is None else agent_name(agent) for agent in self._agents]

    @property
    def match(self) -> Match:
        """A copy of the match, hidden hands included."""
        return Match.of(self._table["game"][0])

    def take_reward(self) -> float:
        """What the learner's side got since the last call."""
        reward = float(self._reward[0])
        self._reward[0] = 0.0
        return reward

    # copies: the arrays held are views of the record

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if not isinstance(value, np.ndarray)}
        return kept | {"_table": self._table.tobytes()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        data = kept["_table"]
        if len(data) != TABLE.itemsize:
            raise ValueError(
                f"this pickle of an environment holds {len(data)} bytes, this version needs {TABLE.itemsize}"
            )
        self.__dict__.update(kept)
        self._hold(np.frombuffer(data, TABLE).copy())


def policy_number(agent: Agent | None) -> int:
    """What compiled code needs to know of who plays a seat; None is the learner."""
    if agent is None:
        return LEARNER
    kernel: int | None = getattr(agent, "kernel", None)
    return PYTHON if kernel is None else kernel
