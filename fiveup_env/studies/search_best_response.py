"""Best response by search, with the frozen policy of the other seats as playout.

For every decision, worlds are drawn from the seat's belief (uniform, or by `belief.choice_model`). The search tries
every legal action in each world, and the frozen policy plays the rest of the round for all seats. The value is the win
chance. The search takes another action than the frozen policy only if it is better by a number of standard errors of
the paired difference, so each decision is one step of policy iteration.

Its gain is a lower bound: a deeper search, or one that infers hands from the frozen policy's choices, may gain more.
"""

from __future__ import annotations

import numpy as np
from numpy import int64

from fiveup_env.agents.protocol import AgentError, Policy, agent_name, is_policy, keys_of
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.agents.search.equity import NO_TABLE, table_for, worth
from fiveup_env.agents.search.workspace import Scratch, Workspace, checked_count, checked_number
from fiveup_env.belief.choice_model import infer, sample_likely
from fiveup_env.belief.deal_counts import prepare
from fiveup_env.evaluation.match_play_kernels import take_choices
from fiveup_env.jit.compilation import entry
from fiveup_env.rules.match import Match
from fiveup_env.rules.random import mix, stream
from fiveup_env.rules.record import PLAYING, copy_games
from fiveup_env.rules.scoring import side_of
from fiveup_env.views.view import Views

AT_ONCE = 8192  # largest batch of positions for the frozen policy
MOST_WORLDS = 100_000


@entry
def _draw_worlds(
    games: np.ndarray,
    first: int,
    keys: np.ndarray,
    candidates: int,
    scratch: Scratch,
    worlds: np.ndarray,
    seeds: np.ndarray,
) -> int:
    """Write worlds[i, w] and a policy seed for each, from game `first` on; return as `race_many`."""
    for i in range(first, len(games)):
        if not prepare(games[i], int64(games[i].turn), scratch.beliefs[0], scratch.cells):
            return i
        infer(games[i], int64(games[i].turn), scratch.inferences[0])
        state = stream(keys[i], 0)
        for w in range(worlds.shape[1]):
            worlds[i, w] = games[i]
            state = sample_likely(
                scratch.beliefs[0], scratch.cells, scratch.inferences[0], candidates, worlds[i, w], np.uint64(state)
            )
            seeds[i, w] = mix(np.uint64(state))
    return len(games)


@entry
def _worths(games: np.ndarray, seats: np.ndarray, table: np.ndarray, out: np.ndarray) -> None:
    """Write the value of finished rounds to the sides of `seats`, float64 [N]."""
    for i in range(len(games)):
        out[i] = worth(table, games[i], side_of(games[i], int64(seats[i])))


class SearchBestResponse(Policy):
    """Policy that searches for a better action than the frozen policy's.

    Args:
        frozen: policy of all other seats.
        worlds: number of worlds per decision.
        candidates: worlds that each one is drawn from by likelihood, see `inference` of `pimc`; 1 for uniform.
        margin: standard errors by which an action must be better than the frozen policy's choice.

    Raises:
        AgentError: if the frozen agent is not a policy, or an argument is out of range.
    """

    together = 32

    def __init__(self, frozen: AgentSpec, worlds: int = 16, candidates: int = 4, margin: float = 2.0) -> None:
        agent = make_agent(frozen)
        if not is_policy(agent):
            raise AgentError(f"agent {agent_name(agent)} has no act_many; a search needs one")
        self.frozen = agent
        self.worlds = checked_count("worlds", worlds, 2, MOST_WORLDS)
        self.candidates = checked_count("candidates", candidates, 1, 1000)
        self.margin = checked_number("margin", margin, 0, 100)
        self.num_players = agent.num_players
        self.name = f"search against {agent_name(agent)}"

    def act_many(self, views: Views, keys: np.ndarray) -> np.ndarray:
        """Legal actions, int64 [N]; see `Policy.act_many`."""
        keys = np.asarray(keys, np.uint64)
        own = np.asarray(self.frozen.act_many(views, keys)).astype(np.int64)
        masks = views.observe(np.uint8)[1]
        if not (masks.sum(1) > 1).any():
            return own
        rows, actions = np.nonzero(masks * (masks.sum(1, keepdims=True) > 1))
        values = self._values(views, keys, rows, actions)
        chosen = own.copy()
        for row in np.unique(rows):
            here = rows == row
            legal, value = actions[here], values[here]
            gain = value - value[legal == own[row]]
            mean, error = gain.mean(1), gain.std(1, ddof=1) / np.sqrt(self.worlds)
            mean[mean <= self.margin * error] = 0.0
            if mean.max() > 0:
                chosen[row] = legal[mean.argmax()]
        return chosen

    def _values(self, views: Views, keys: np.ndarray, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Value of actions[k] in each world of view rows[k], float64 [K, worlds]."""
        worlds, seeds = self._draw(views, keys)
        games = worlds[rows].reshape(-1)
        takes = np.repeat(actions, self.worlds)
        policy_seeds = seeds[rows].reshape(-1)
        if take_choices(games, np.arange(len(games)), takes, 1) >= 0:
            raise AssertionError("a legal action is legal in every world")
        while len(playing := np.flatnonzero(games["phase"] == PLAYING)):
            for first in range(0, len(playing), AT_ONCE):
                some = playing[first : first + AT_ONCE]
                asked = Views(copy_games(games, some), games["turn"][some].astype(np.int64))
                answers = np.asarray(self.frozen.act_many(asked, keys_of(asked, policy_seeds[some]))).astype(np.int64)
                wrong = take_choices(games, some, answers, 1)
                if wrong >= 0:
                    raise AgentError(f"agent {agent_name(self.frozen)} chose {int(answers[wrong])}, which is not legal")
        values = np.empty(len(games))
        table = table_for(Match.of(views.games[0]).variant, True)
        _worths(games, np.repeat(views.seats[rows], self.worlds), table, values)
        return values.reshape(len(rows), self.worlds)

    def _draw(self, views: Views, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Worlds, records [N, worlds], and the policy seed in each, uint64 [N, worlds]."""
        shape = (len(views), self.worlds)
        worlds, seeds = np.empty(shape, views.games.dtype), np.empty(shape, np.uint64)
        Workspace(NO_TABLE).run(
            len(views),
            lambda first, scratch: _draw_worlds(views.games, first, keys, self.candidates, scratch, worlds, seeds),
        )
        return worlds, seeds
