"""What an agent thinks of a decision, as records keep it (`records.move_info`): for hints, and for looking back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, choose, decision_key
from fiveup_env.agents.protocol import Agent, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.search.equity import table_for, win_chance
from fiveup_env.agents.search.search_agents import PIMC
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import entry
from fiveup_env.records.record_reader import Record
from fiveup_env.records.recorder import TILE_TEXTS, Recorder
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.turn import play
from fiveup_env.views.view import View, Views

WORLDS = 200
DIGITS = 4


@runtime_checkable
class Opinionated(Protocol):
    """An agent that tells the probabilities of its actions, as networks do."""

    def opinion(self, views: Views) -> tuple[np.ndarray, np.ndarray | None]:
        """Probabilities [N, 121], and what each position is worth [N] or None."""
        ...


def has_opinion(agent: object) -> TypeGuard[Opinionated]:
    """Whether the agent tells probabilities."""
    return isinstance(agent, Opinionated)


@entry
def _outlook(worlds: np.ndarray, key: int, table: np.ndarray, out: np.ndarray) -> None:
    """Play all rounds to their end greedily; adds every side's chance to win the match to out [sides]."""
    for i in range(len(worlds)):
        game = worlds[i]
        while game.phase == PLAYING:
            play(game, choose(game, GREEDY, decision_key(key, game)))
        for side in range(len(out)):
            out[side] += win_chance(table, game, side)


class Thinker:
    """Thinks about decisions as the seat to act, from its view alone.

    Args:
        agent: whose choice, probabilities and value are told; None for nobody's.
        worlds: sampled deals that every legal action is played out in for its value; 0 for no values.
        belief: tell where the unseen tiles may be.
        search: whose playouts and values are used, as of `PIMC`.

    Calling it with a view and a key (64 random bits) gives an `info`:

    | key             | what                                                                                     |
    |-----------------|------------------------------------------------------------------------------------------|
    | `probabilities` | of the agent's policy; an agent that tells none says in `note` what it would do          |
    | `value`         | the agent's own, where it tells one                                                      |
    | `values`        | of every legal action by search: chance to win the match, or raw points of difference    |
    |                 | in matches to more than 61                                                               |
    | `win`           | chance of every side if the best action is taken, by the same search                     |
    | `belief`        | exact marginals of the other hands                                                       |
    """

    def __init__(
        self, agent: Agent | None, *, worlds: int = WORLDS, belief: bool = False, search: PIMC | None = None
    ) -> None:
        given: Any = worlds
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= 10**6:
            raise ValueError(f"worlds must be an integer from 0 to 1000000, not {worlds!r}")
        self.agent, self.worlds, self.belief = agent, worlds, belief
        self._search = PIMC() if search is None else search
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Begin a match: whatever the agent remembers is forgotten, and every seat gets an agent of its own."""
        self._seed, self._seated = seed, dict[int, Agent]()

    def _at(self, agent: Agent, seat: int) -> Agent:
        if seat not in self._seated:
            self._seated[seat] = own_copy(agent)
            self._seated[seat].reset(self._seed)
        return self._seated[seat]

    def __call__(self, view: View, key: int) -> dict[str, Any]:
        """What is thought at the turn of the view's seat."""
        info: dict[str, Any] = {}
        if self.agent is not None:
            info |= self._agent(self.agent, view, key)
        if self.worlds:
            info |= self._values(view, key)
        if self.belief:
            info["belief"] = beliefs(view)
        return info

    def _agent(self, agent: Agent, view: View, key: int) -> dict[str, Any]:
        if not has_opinion(agent):
            choice = agent.choose(view, key) if is_policy(agent) else int(self._at(agent, view.seat).act(view))
            return {"note": f"{agent_name(agent)} would {describe(choice)}"}
        probabilities, value = agent.opinion(view.views)
        info: dict[str, Any] = {
            "probabilities": {a: round(float(probabilities[0, a]), DIGITS) for a in view.legal_actions()}
        }
        return info if value is None else info | {"value": round(float(value[0]), DIGITS)}

    def _values(self, view: View, key: int) -> dict[str, Any]:
        variant = Match.of(view.game).variant
        legal, outcomes = self._search.outcomes(view, key, self.worlds)
        means = outcomes.mean(0)
        info: dict[str, Any] = {"values": {a: round(float(v), DIGITS) for a, v in zip(legal, means, strict=True)}}
        if self._search.values_are_chances(variant):
            info["win"] = self._chances(view, key, float(means.max()))
        return info

    def _chances(self, view: View, key: int, own: float) -> list[float]:
        """The side to act has `own`; the others share the rest as in greedy playouts of the same number of worlds."""
        match = Match.of(view.game)
        sides = match.num_sides
        side, shares = view.turn % sides, np.ones(sides)
        if sides > 2:
            worlds = Belief(view).sample(self.worlds, key)
            shares = np.full(sides, 1e-9)
            _outlook(worlds, np.uint64(key), table_for(match.variant, True), shares)
        shares[side] = 0
        chances = shares * ((1 - own) / shares.sum())
        chances[side] = own
        return [round(float(chance), DIGITS) for chance in chances.clip(0, 1)]


def beliefs(view: View) -> list[dict[str, float]]:
    """Per seat what the view's seat must believe of its hand: tile text -> probability above 0; nothing of its own."""
    places, told = Belief(view).marginals(), []
    for seat in range(view.num_players):
        row = places[(seat - view.seat) % view.num_players]
        held = {TILE_TEXTS[t]: round(float(p), DIGITS) for t, p in enumerate(row) if p > 0}
        told.append({} if seat == view.seat else held)
    return told


def think_over(
    record: Record, thinker: Thinker, progress: Callable[[int, int], None] = lambda done, total: None
) -> str:
    """The record with what the thinker thinks written beside every choice, in place of what was written there.

    The key of a decision comes from the record's policy seed, so the same thinker writes the same text.

    Args:
        record: a match that was read.
        thinker: see `Thinker`.
        progress: called with moves done and moves in all.
    """
    recorder = Recorder(record.start, record.players, policy_seed=record.policy_seed)
    seeds = np.array([record.policy_seed or 0], np.uint64)
    thinker.reset(record.policy_seed or 0)
    for number, move in enumerate(record.moves):
        info = None
        if len(recorder.match.legal_actions()) > 1:
            view = View.of(recorder.match)
            info = thinker(view, int(keys_of(view.views, seeds)[0]))
        recorder.play(move.action, info)
        progress(number + 1, len(record.moves))
    return recorder.text()
