"""Thoughts of an agent about a decision, in the format of records (`checked_info`): for hints and for replays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from fiveup_env.agents.baseline_kernels import GREEDY, choose, decision_key
from fiveup_env.agents.protocol import Agent, agent_name, is_policy, keys_of, own_copy
from fiveup_env.agents.registry import make_agent
from fiveup_env.agents.search.equity import table_for, win_chance
from fiveup_env.agents.search.pimc import PIMC
from fiveup_env.belief.exact_belief import Belief
from fiveup_env.jit.compilation import entry
from fiveup_env.records.record_reader import Record, parse_record
from fiveup_env.records.recorder import TILE_TEXTS, Recorder
from fiveup_env.rendering.replays import film, replay_page
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING
from fiveup_env.rules.turn import play
from fiveup_env.views.view import View, Views

WORLDS = 200
DIGITS = 4


@runtime_checkable
class Opinionated(Protocol):
    """An agent that reports the probabilities of its actions, as networks do."""

    def opinion(self, views: Views) -> tuple[np.ndarray, np.ndarray | None]:
        """Return probabilities [N, 121], and values of the positions [N] or None."""
        ...


def has_opinion(agent: object) -> TypeGuard[Opinionated]:
    """Whether the agent reports probabilities."""
    return isinstance(agent, Opinionated)


@entry
def _outlook(worlds: np.ndarray, key: int, table: np.ndarray, out: np.ndarray) -> None:
    """Play all rounds to their end greedily; add every side's chance to win the match to `out` [sides]."""
    for i in range(len(worlds)):
        game = worlds[i]
        while game.phase == PLAYING:
            play(game, choose(game, GREEDY, decision_key(key, game)))
        for side in range(len(out)):
            out[side] += win_chance(table, game, side)


class Thinker:
    """Thinks about decisions as the seat to act, from its view alone.

    Args:
        agent: agent whose choice, probabilities and value are reported; None for none.
        worlds: number of sampled deals in which every legal action is played out; 0 for no values.
        belief: whether to report where the unseen tiles may be.
        search: search used for playouts and values (`PIMC`).

    Calling it with a view and a key (64 random bits) returns an `info`:

    | key             | content                                                                                  |
    |-----------------|------------------------------------------------------------------------------------------|
    | `probabilities` | the agent's; an agent without any gives its choice in `note`                             |
    | `value`         | the agent's value of the position, if it reports one                                     |
    | `values`        | value of every legal action by search: chance to win the match; raw points of difference |
    |                 | if the target is above 61                                                                |
    | `win`           | each side's chance to win if the best action is taken, by the same search                |
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
        """Begin a match: forget what the agent remembers; every seat gets its own copy of the agent."""
        self._seed, self._seated = seed, dict[int, Agent]()

    def _at(self, agent: Agent, seat: int) -> Agent:
        if seat not in self._seated:
            self._seated[seat] = own_copy(agent)
            self._seated[seat].reset(self._seed)
        return self._seated[seat]

    def __call__(self, view: View, key: int) -> dict[str, Any]:
        """Return the thoughts at the turn of the view's seat."""
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
        """Chances of all sides: `own` for the side to act; greedy playouts divide the rest among the others."""
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
    """Exact belief about each seat's hand: tile text -> probability above 0; empty for the view's own seat."""
    places, found = Belief(view).marginals(), []
    for seat in range(view.num_players):
        row = places[(seat - view.seat) % view.num_players]
        held = {TILE_TEXTS[t]: round(float(p), DIGITS) for t, p in enumerate(row) if p > 0}
        found.append({} if seat == view.seat else held)
    return found


def think_over(
    record: Record, thinker: Thinker, progress: Callable[[int, int], None] = lambda done, total: None
) -> str:
    """Return the record's text with the thinker's thoughts at every decision, in place of recorded thoughts.

    The keys follow from the record's policy seed, so the same thinker writes the same text.

    Args:
        record: a record.
        thinker: see `Thinker`.
        progress: called with the number of moves done and the number of all moves.
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


def write_replay(
    record: Record,
    progress: Callable[[int, int], None],
    *,
    think: str | None = None,
    worlds: int | None = None,
    belief: bool = False,
    save: str | None = None,
    html: str | None = None,
    gif: str | None = None,
    **shown: Any,
) -> Record:
    """Write the files of `fiveup replay`; return the record, with thoughts if there are any.

    Args:
        record: a record.
        progress: see `think_over`.
        think: agent whose probabilities and value are added at every decision.
        worlds: number of sampled deals for the action values; None for `WORLDS` if `think` or `belief` is set.
        belief: whether to add where the unseen tiles may be.
        save: file for the record with these thoughts.
        html: file for a page.
        gif: file for a film.
        shown: arguments of `film`.

    Raises:
        ValueError: if an agent or an argument of the film is wrong, or `save` is set without thoughts.
        RenderingError: if the film needs an extra that is not installed.
        OSError: if a file cannot be written; its `filename` names it.
    """
    thinks = think is not None or worlds is not None or belief
    if save is not None and not thinks:
        raise ValueError("--save keeps a record with thoughts: add --think, --worlds or --belief")
    if thinks:
        agent = None if think is None else make_agent(think, record.start.num_players)
        thinker = Thinker(agent, worlds=WORLDS if worlds is None else worlds, belief=belief)
        text = think_over(record, thinker, progress)
        record = parse_record(text)
        if save is not None:
            Path(save).write_text(text, encoding="ascii", newline="\n")
    if html is not None:
        Path(html).write_text(replay_page(record), encoding="utf-8")
    if gif is not None:
        film(record, gif, **shown)
    return record
