"""`Sitting`: a match between people and agents, without input or output."""

from __future__ import annotations

from collections.abc import Sequence

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy, own_copy
from fiveup_env.records.recorder import Recorder
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import MAX_PLAYERS
from fiveup_env.views.view import View


class Sitting:
    """A match in which people sit at some seats. Forced draws and passes (R3.2) are played for everybody.

    Args:
        match: a match before its first move; it is copied.
        agents: agent of each seat; None for a person.
        seed: seed of the agents.

    Attributes:
        players: name of each seat, `you` for a person.
        recorder: the match and its record.
    """

    def __init__(self, match: Match, agents: Sequence[Agent | None], seed: int) -> None:
        streams = spread_seeds(seed, MAX_PLAYERS)
        self._start, self._seed = match.copy(), seed
        self._agents = [None if agent is None else own_copy(agent) for agent in agents]
        for seat, agent in enumerate(self._agents):
            if agent is not None:
                agent.reset(seed if is_policy(agent) else int(streams[seat]))
        self.players = ["you" if agent is None else agent_name(agent) for agent in agents]
        self.recorder = Recorder(match, self.players, policy_seed=seed)
        self._taken: list[int] = []
        self._decisions: list[int] = []  # indices in `_taken` of the choices of people

    @property
    def match(self) -> Match:
        """The current position; do not play on it."""
        return self.recorder.match

    @property
    def people(self) -> tuple[int, ...]:
        """Seats of people."""
        return tuple(seat for seat, agent in enumerate(self._agents) if agent is None)

    @property
    def can_undo(self) -> bool:
        """Whether a person has made a choice that can be taken back."""
        return bool(self._decisions)

    @property
    def person_acts(self) -> bool:
        """Whether a person has to place a tile now."""
        match = self.match
        return match.winner is None and self._agents[match.turn] is None and match.legal_actions()[0] < DRAW

    def advance(self) -> tuple[int, int] | None:
        """Play one action of an agent, or one forced draw or pass.

        Returns:
            (seat, action), or None if a person has to act or the match is over.

        Raises:
            AgentError: if an agent answers with an illegal action.
        """
        match = self.match
        if match.winner is not None or self.person_acts:
            return None
        seat, legal, agent = match.turn, match.legal_actions(), self._agents[match.turn]
        action = legal[0]
        if len(legal) > 1:
            assert agent is not None
            try:
                action = int(agent.act(View.of(match)))
                match.copy().play(action)
            except ValueError as error:
                raise AgentError(f"agent {agent_name(agent)} at player_{seat}: {error}") from None
        self._take(action)
        return seat, action

    def choose(self, action: int) -> None:
        """Play a person's action.

        Raises:
            ValueError: if it is illegal; the match is unchanged then.
        """
        self.match.copy().play(action)
        self._decisions.append(len(self._taken))
        self._take(action)

    def _take(self, action: int) -> None:
        self.recorder.play(action)
        self._taken.append(action)

    def undo(self) -> bool:
        """Take back everything since a person's last choice, that choice included; False if there is none.

        Agents that are not policies keep their memory.
        """
        if not self._decisions:
            return False
        kept = self._taken[: self._decisions.pop()]
        self.recorder = Recorder(self._start, self.players, policy_seed=self._seed)
        self._taken = []
        for action in kept:
            self._take(action)
        return True
