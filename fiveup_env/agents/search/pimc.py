"""The agent `pimc`: perfect-information Monte Carlo over worlds sampled from the belief of the seat to act."""

from __future__ import annotations

import numpy as np

from fiveup_env.agents.search.equity import table_for
from fiveup_env.agents.search.pimc_kernels import BLOCK, Estimates, estimate_many, race_many
from fiveup_env.agents.search.workspace import (
    SETTINGS,
    Searcher,
    Workspace,
    checked_count,
    checked_flag,
    checked_milliseconds,
    checked_number,
    checked_playout,
)
from fiveup_env.rules.record import Variant
from fiveup_env.views.view import View, Views


class PIMC(Searcher):
    """Sample worlds, play out every legal action in each of them, and choose the best mean; see `pimc_kernels`.

    Args:
        worlds: rollouts per legal action on average; clearly worse actions leave theirs to the others.
        playout: kernel policy that plays the rest of the round for all seats.
        near: number of first actions of a playout that the policy `heuristic` takes.
        equity: value a round by the chance to win the match; otherwise by the difference of raw scores.
        endgame: solve exactly once the boneyard is empty and at most this many tiles are held; 0 disables this.
        inference: number of candidate worlds from which each world is drawn by the likelihood of the others' choices;
            1 samples uniformly from the deals that agree with the public events.
        prior: weight of the opinion of `heuristic`, in worlds; 0 disables it.
        ms: milliseconds per decision instead of a number of worlds. The choices then depend on the speed of the machine
            and are not reproducible.

    Raises:
        AgentError: if an argument is out of range.
    """

    name = "pimc"

    def __init__(
        self,
        worlds: int = 128,
        playout: str = "greedy",
        near: int = 4,
        equity: bool = True,
        endgame: int = 0,
        inference: int = 4,
        prior: float = 16,
        ms: float | None = None,
    ) -> None:
        self.worlds = checked_count("worlds", worlds, 1, 10**7)
        self.settings = np.zeros(1, SETTINGS)
        self.settings["budget"] = self.worlds
        self.settings["playout"] = checked_playout(playout)
        self.settings["near"] = checked_count("near", near, 0, 1000)
        self.equity = checked_flag("equity", equity)
        self.settings["endgame"] = checked_count("endgame", endgame, 0, 28)
        self.settings["inference"] = checked_count("inference", inference, 1, 1000)
        self.settings["prior"] = checked_number("prior", prior, 0, 1e6)
        self.ms = checked_milliseconds(ms)

    def outcomes(self, view: View, key: int, worlds: int) -> tuple[list[int], np.ndarray]:
        """Legal actions, and the value of each in each sampled world, float64 [worlds, actions].

        No action is dropped. All actions are tried in the same worlds, so their differences are paired.
        """
        legal = view.legal_actions()
        values = np.zeros((worlds, len(legal)))
        settings, workspace = self.settings.copy(), self.workspace(view.views)
        settings["budget"] = worlds
        games, keys = view.views.games, np.array([key], np.uint64)
        self._race(workspace, games, keys, np.empty(1, np.int64), settings, values)
        return legal, values

    def _search(
        self, workspace: Workspace, games: np.ndarray, keys: np.ndarray, actions: np.ndarray, chunk: int | None = None
    ) -> bool:
        settings = self._settings(chunk, BLOCK * ((chunk or 0) + 1))
        self._race(workspace, games, keys, actions, settings, np.empty((0, 0)), resume=bool(chunk))
        return int(workspace.scratch.race["num_running"][0]) > 1

    def _race(
        self,
        workspace: Workspace,
        games: np.ndarray,
        keys: np.ndarray,
        actions: np.ndarray,
        settings: np.ndarray,
        outcomes: np.ndarray,
        resume: bool = False,
    ) -> None:
        workspace.run(
            len(games),
            lambda first, scratch: race_many(games, first, keys, resume, settings, scratch, outcomes, actions),
        )


class Estimator:
    """Estimates of the values of actions by a `pimc` agent, for many views at once.

    Args:
        agent: an agent with a number of worlds (not milliseconds).
        num_players: number of players of the matches, which are of the full game (`equity.table_for`).
    """

    def __init__(self, agent: PIMC, num_players: int) -> None:
        self.agent = agent
        self._workspace = Workspace(table_for(Variant(num_players), agent.equity))

    def __call__(
        self, views: Views, keys: np.ndarray, candidates: np.ndarray, rollouts: np.ndarray | None = None
    ) -> Estimates:
        """Estimate some actions of N views whose seats are to act.

        Args:
            views: N views.
            keys: uint64 [N], the only source of randomness.
            candidates: int8 [N, 121], not zero for the legal actions to examine, at least one per row. A single
                candidate is not examined.
            rollouts: int64 [N], for all candidates of a view together; default: the agent's worlds for each of them.
        """
        if rollouts is None:
            rollouts = self.agent.worlds * (candidates != 0).sum(1)
        out = Estimates(
            np.full(candidates.shape, -np.inf, np.float32),
            np.zeros(candidates.shape, np.int32),
            np.zeros(len(candidates), np.float32),
        )
        settings, games = self.agent.settings, views.games
        self._workspace.run(
            len(games),
            lambda first, scratch: estimate_many(games, first, keys, rollouts, candidates, settings, scratch, out),
        )
        return out


def in_the_race(worlds: np.ndarray) -> np.ndarray:
    """Actions that were examined to the end, bool [N, 121], from the number of worlds of each."""
    found: np.ndarray = worlds == worlds.max(1, keepdims=True)
    return found & (worlds > 0)
