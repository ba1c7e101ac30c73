"""`FiveUpVectorEnv`: the Gymnasium vector API over native matches, for one learning side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from fiveup_env.agents.protocol import Agent, AgentError, Policy, agent_name, is_policy, keys_of
from fiveup_env.agents.registry import AgentSpec, make_agent
from fiveup_env.belief.belief_section import BeliefWriter, belief_shape
from fiveup_env.envs import gymnasium_vector_kernels as engine
from fiveup_env.envs.env_options import (
    MAX_MATCHES,
    MatchBatch,
    action_space,
    check_integer,
    checked_dtype,
    checked_options,
    checked_reset_options,
    observation_space,
)
from fiveup_env.rules.actions import NUM_ACTIONS
from fiveup_env.rules.match import IllegalActionError
from fiveup_env.rules.record import MATCH_OVER, copy_games, new_games
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import Views

RESET_OPTIONS = ("reset_mask", "scores")


def checked_seat(seat: Any, num_players: int) -> int | None:
    """The learner's seat, None for "random".

    Raises:
        ValueError: if it is neither a seat nor "random".
    """
    if isinstance(seat, bool) or seat not in ("random", *range(num_players)):
        raise ValueError(f'seat must be "random" or from 0 to {num_players - 1}, not {seat!r}')
    return None if isinstance(seat, str) else int(seat)


def agents_around(
    opponents: AgentSpec | Sequence[AgentSpec], partner: AgentSpec | None, num_players: int
) -> list[Agent | None]:
    """Agents by seat relative to the learner's; None is the learner.

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


class FiveUpVectorEnv(MatchBatch, VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N matches in which one side learns; the other sides are played inside compiled code, or by batched agents.

    Steps, rewards and episodes are those of `FiveUpEnv`. Observations, rewards (float64 [N]) and flags are overwritten
    two steps later (two sets of arrays take turns). Infos hold `seat` and `side` [N] and `action_mask`. Where episodes
    ended they also hold, each with a mask `_...` by Gymnasium's convention, `final_obs` (objects [N], in SAME_STEP
    mode) and `final_info`: `winner` (side that won the match, with episode="round" the round; -1 for none),
    `is_success`, `scores`, `rounds`, `length` (decisions) and `return`.

    Match i of `reset(seed=s)` does not depend on the number of matches; `reset(seed=[...])` gives each its own seed,
    and its first deal is then that of `Match(seed=...)`.

    Args:
        num_envs: 1 to 262,144.
        num_players, opponents, partner, seat: as for `FiveUpEnv`; agents are kernel agents or policies.
        autoreset_mode: SAME_STEP (default), NEXT_STEP or DISABLED (then `reset(options={"reset_mask": ...})`).
        dtype: float32, or uint8 for bare codes.
        skip_single: with draws="auto", also take the lone legal action of every seat.
        continue_match: with episode="round", the next episode of a row is the next round of its match (with the scores,
            and opened by R2.5) until the match is won; the learner's seat is drawn again for each.
        options: see `EnvOptions` ("flat" observations without history only).

    Raises:
        ValueError: naming the option, the value given and the allowed values.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 4,
        *,
        opponents: AgentSpec | Sequence[AgentSpec] = "random",
        partner: AgentSpec | None = None,
        seat: int | str = "random",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        dtype: type = np.float32,
        skip_single: bool = False,
        continue_match: bool = False,
        **options: Any,
    ) -> None:
        check_integer("num_envs", num_envs, 1, MAX_MATCHES)
        self.options = checked_options({"num_players": num_players, **options})
        fixed_seat = checked_seat(seat, num_players)
        if self.options.observation != "flat" or self.options.history_length:
            raise ValueError("the vector env has flat observations without history only")
        if continue_match and self.options.episode != "round":
            raise ValueError('continue_match needs episode="round"')
        self._step_options = self.options.step_options(skip_single=skip_single)
        self._marginals = self.options.marginals()
        self.num_envs, self.dtype = num_envs, checked_dtype(dtype)
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(self.options, self.dtype)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._make_arrays()
        self._rows["fixed_seat"] = -1 if fixed_seat is None else fixed_seat
        self._rows["continues"] = continue_match
        self._agents: list[Policy | None] = []
        self.set_opponents(opponents, partner)

    def _make_arrays(self) -> None:
        count, size = self.num_envs, observation_size(self.options.num_players)
        self._hold(new_games(count, self.options.variant), np.zeros(count, engine.LEARNERS))
        finals = count if self.autoreset_mode == AutoresetMode.SAME_STEP else 0
        beliefs = (0 if self._marginals is None else count, *belief_shape(self.options.num_players))
        self._final: np.ndarray = np.zeros((finals, size), self.dtype)
        self._final_beliefs: np.ndarray = np.zeros(beliefs, np.float32)
        # Two sets take turns.
        self._observations: list[np.ndarray] = [np.zeros((count, size), self.dtype) for _ in range(2)]
        self._masks = [np.zeros((count, NUM_ACTIONS), np.int8) for _ in range(2)]
        self._outcomes = [np.zeros(count, engine.OUTCOMES) for _ in range(2)]
        self._beliefs: list[np.ndarray] = [np.zeros(beliefs, np.float32) for _ in range(2)]
        self._current = 0

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        partner: AgentSpec | None = None,
        *,
        rows: np.ndarray | None = None,
    ) -> None:
        """Change the agents of the other seats, in every row from its next episode on.

        Args:
            opponents, partner: as for the class.
            rows: the rows to change, bool [N]; None for all.

        Raises:
            ValueError: if there is no such agent, it cannot answer in batches, or their number is wrong.
        """
        wanted_rows = self._checked_rows("rows", rows)
        wanted = agents_around(opponents, partner, self.options.num_players)
        # Agents still playing, in other rows or in unfinished episodes, keep their numbers.
        playing = {*self._rows["around"][~wanted_rows].flat, *self._rows["policies"].flat}
        agents = [agent if engine.PYTHON - i in playing else None for i, agent in enumerate(self._agents)]
        around = np.full(4, engine.LEARNER, np.int8)
        for relative, agent in enumerate(wanted):
            if agent is not None:
                around[relative] = _batched_number(agent, agents)
        self._agents = agents
        self._rows["around"][wanted_rows] = around

    # reset

    def reset(
        self, *, seed: int | Sequence[int] | np.ndarray | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Deal all matches, or those of `options["reset_mask"]` (bool [N]), and play to the learner's decision.

        Args:
            seed: one for all, or one per match. None continues the streams of the last one (and, with
                `continue_match` and no `scores`, the matches of finished episodes).
            options: `reset_mask`; `scores`, raw points per side to start from, [S] or [N, S], kept for later episodes.

        Raises:
            ValueError: naming the argument that is wrong; the state does not change then.
        """
        given = checked_reset_options(options, RESET_OPTIONS)
        mask = self._checked_reset_mask(given.get("reset_mask"))
        table = self._checked_scores(given.get("scores"))
        if seed is not None or not self._started:
            self._rows["seed"][mask] = self._checked_seeds(seed)[mask]
            self._rows["episode"][mask] = 0
        else:
            # A finished episode has been counted already.
            self._rows["episode"][mask & (self._rows["status"] != engine.IDLE)] += 1
        if seed is not None or "scores" in given:
            self._games["phase"][mask] = MATCH_OVER  # no match is continued
        self._rows["scores"][mask] = table[mask]
        self._started = True
        self._current ^= 1
        self._begin(np.flatnonzero(mask))
        return self._shown(reset=mask)[0], self._info()

    def _begin(self, which: np.ndarray) -> None:
        """Deal new episodes in these rows and play to the learner's first decision."""
        if len(which):
            engine.begin_rows(self._games, which, self._rows, self._step_options)
            self._ask_agents(which, autoreset=True)

    # step

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take the learner's action in every match, integers [N].

        Raises:
            IllegalActionError: naming the first matches with an illegal action; no match has moved then.
            ValueError: if `actions` is not N integers or nothing was reset, or with autoreset_mode DISABLED a match is
                over and was not reset.
        """
        actions = self._checked_actions(actions)
        idle = self._rows["status"] == engine.IDLE
        which = self._all
        if idle.any():
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise ValueError(f"match {int(idle.argmax())} is over: reset it with options={{'reset_mask': ...}}")
            which = np.flatnonzero(~idle)
        if wrong := self._illegal(which, actions):
            raise IllegalActionError(f"{wrong}; no match was moved")
        self._current ^= 1
        same_step = self.autoreset_mode == AutoresetMode.SAME_STEP
        autoreset = same_step and self._marginals is None
        self._advance(which, actions, autoreset)
        self._ask_agents(which, autoreset)
        if same_step and self._marginals is not None:
            self._deal_after_beliefs(self._marginals)
        if idle.any():
            self._begin(np.flatnonzero(idle))
        observation, outcomes = self._shown(reset=idle)
        info = self._info()
        if (ended := outcomes["terminated"] | outcomes["truncated"]).any():
            info |= self._final_info(outcomes, ended)
        return observation, outcomes["reward"], outcomes["terminated"], outcomes["truncated"], info

    def _deal_after_beliefs(self, marginals: BeliefWriter) -> None:
        """Write the beliefs at the end of finished episodes, then deal the next ones."""
        over = np.flatnonzero(self._rows["status"] == engine.IDLE)
        if len(over):
            marginals.write_rows(copy_games(self._games, over), self._rows["seat"][over], over, self._final_beliefs)
            self._begin(over)

    def _advance(self, which: np.ndarray, actions: np.ndarray, autoreset: bool) -> None:
        games, rows, outcomes = self._games, self._rows, self._outcomes[self._current]
        engine.advance_rows(games, which, actions, autoreset, rows, self._step_options, outcomes, self._final)

    def _ask_agents(self, which: np.ndarray, autoreset: bool) -> None:
        """Let batched agents choose until no row of `which` waits for one."""
        if not self._agents:
            return
        while len(asking := which[self._rows["status"][which] == engine.ASKS]):
            seats = self._games["turn"][asking]
            numbers = engine.PYTHON - self._rows["policies"][asking, seats].astype(np.int64)
            answers = np.zeros(self.num_envs, np.int64)
            for number in np.unique(numbers):
                rows = asking[numbers == number]
                views = Views(self._games[rows], self._games["turn"][rows])
                keys = keys_of(views, self._rows["policy_seed"][rows])
                agent = self._agents[number]
                assert agent is not None, "rows only name agents that are there"
                answers[rows] = agent.act_many(views, keys)
                if wrong := self._illegal(rows, answers):
                    raise AgentError(f"agent {agent_name(agent)} answered with {wrong}")
            self._advance(asking, answers, autoreset)

    # observations and infos

    def _shown(self, reset: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Observation of every row, and the outcomes of the step; rows of `reset` have none."""
        outcomes = self._outcomes[self._current]
        if not reset.any():
            self._show_rows()
            return self._seen(), outcomes
        outcomes["terminated"][reset] = outcomes["truncated"][reset] = False
        kept = self._rows["reward"][reset].copy()
        self._show_rows()
        # Points scored before the first decision are part of the first reward.
        outcomes["reward"][reset] = 0.0
        self._rows["reward"][reset] = kept
        self._rows["total"][reset] = 0.0
        return self._seen(), outcomes

    def _show_rows(self) -> None:
        i = self._current
        engine.show_rows(self._games, self._rows, self._observations[i], self._masks[i], self._outcomes[i])

    def _seen(self) -> dict[str, np.ndarray]:
        """The current set of arrays as an observation."""
        seen = {"observation": self._observations[self._current], "action_mask": self._masks[self._current]}
        if self._marginals is not None:
            seen["belief"] = self._beliefs[self._current]
            self._marginals.write(self._games, self._rows["seat"], seen["belief"])
        return seen

    def _info(self) -> dict[str, Any]:
        outcomes = self._outcomes[self._current]
        return {"seat": outcomes["seat"], "side": outcomes["side"], "action_mask": self._masks[self._current]}

    def _final_info(self, outcomes: np.ndarray, ended: np.ndarray) -> dict[str, Any]:
        final = {name: outcomes[f"final_{name}"].copy() for name in ("winner", "rounds", "length", "return")}
        final["is_success"] = outcomes["final_winner"] == outcomes["final_side"]
        final["scores"] = outcomes["final_scores"][:, : self.options.variant.num_sides].copy()
        final |= {f"_{name}": ended for name in tuple(final)}
        info: dict[str, Any] = {"final_info": final, "_final_info": ended}
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            observations = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(ended):
                observations[i] = {"observation": self._final[i].copy(), "action_mask": np.zeros(NUM_ACTIONS, np.int8)}
                if self._marginals is not None:
                    observations[i]["belief"] = self._final_beliefs[i].copy()
            info |= {"final_obs": observations, "_final_obs": ended}
        return info

    def action_masks(self) -> np.ndarray:
        """Legal actions of the learner in every match, bool [N, 121] (a view of the latest mask)."""
        return self._masks[self._current].view(np.bool_)

    # checkpoints

    @property
    def agents(self) -> tuple[Policy | None, ...]:
        """Batched agents by their number in the rows; None where a number is free."""
        return tuple(self._agents)

    def set_state(
        self, state: dict[str, np.ndarray], agents: Sequence[Policy | None]
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Continue from `state` and `agents` of an env made with the same arguments; returns as `reset`.

        Raises:
            ValueError: if the state has another number of matches or is of another version.
        """
        self._restore(state)
        self._agents = list(agents)
        pending = self._rows.copy()
        self._show_rows()
        self._rows[:] = pending  # rewards that wait for the next step
        outcomes = self._outcomes[self._current]
        outcomes["reward"], outcomes["terminated"], outcomes["truncated"] = 0.0, False, False
        return self._seen(), self._info()


def _batched_number(agent: Any, agents: list[Policy | None]) -> int:
    """Number of an agent in the rows; a batched one gets a free place among `agents`."""
    if not is_policy(agent):
        raise ValueError(f"agent {agent_name(agent)} has no act_many, which the vector env needs (see agents.protocol)")
    if agent.kernel is not None:
        return agent.kernel
    if agent not in agents:
        if None not in agents:
            agents.append(None)
        agents[agents.index(None)] = agent
    if (number := engine.PYTHON - agents.index(agent)) < -128:
        raise ValueError("a vector env has room for 127 different batched agents at a time")
    return number


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode itself, or by its name or value: SAME_STEP, "same_step" or "SameStep"."""
    for known in AutoresetMode:
        if mode in (known, known.value, known.name, known.name.lower()):
            return known
    raise ValueError(f"autoreset_mode must be {', '.join(m.name for m in AutoresetMode)}, not {mode!r}")
