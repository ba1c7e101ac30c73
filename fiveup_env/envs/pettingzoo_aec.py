"""`FiveUpAEC`: the PettingZoo AEC environment, `raw_env` of `fiveup_env.fiveup_v0`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np
from gymnasium import logger, spaces
from pettingzoo import AECEnv

from fiveup_env.envs.env_options import (
    action_space,
    checked_options,
    checked_reset_options,
    first_match,
    full_observation,
    next_episode,
    observation_space,
    restored_record,
    state_space,
    wanted_start,
)
from fiveup_env.envs.pettingzoo_aec_kernels import (
    AEC,
    BEGIN,
    DEAL,
    FORCED,
    ILLEGAL,
    PAID,
    SCORED,
    SEAT_SHIFT,
    STATUS,
    advance_aec,
    write_seen,
)
from fiveup_env.envs.transition import TERMINATED, decoded_event, direct_call
from fiveup_env.records.recorder import Recorder
from fiveup_env.rendering.render_modes import FPS, RENDER_MODES, Frame, Renderer
from fiveup_env.rules.actions import NUM_ACTIONS, PASS, checked_id
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.record import new_games
from fiveup_env.views.observation import observation_size
from fiveup_env.views.observation_kernels import write_states
from fiveup_env.views.view import View

Info = dict[str, Any]
Observation = dict[str, Any]

RESET_OPTIONS = ("deal", "scores")
_DERIVED = ("_advance", "_blank", "_vector", "_mask", "_side_rewards", "_event_codes")
_NO_ACTIONS = np.zeros(NUM_ACTIONS, np.int8)
_NO_ACTIONS.setflags(write=False)


class FiveUpAEC(AECEnv[str, Observation, int]):
    """Exact 61 Five Up for two to four agents `player_0` .. `player_3`, one acting at a time.

    Every agent can be observed at any time, from its perspective (see `env_options.observation_space`); the mask is all
    zero for agents that do not act.

    Rewards (`fiveup_env.views.rewards`) are per side, partners get the same. `last()` returns everything the side of an
    agent gained since the agent's last step, including the actions of the others.

    Infos, for every agent:

    | key           | content                                                                                   |
    | ------------- | ----------------------------------------------------------------------------------------- |
    | `action_mask` | int8 [121] as in the observation; read-only zeros for agents that do not act              |
    | `events`      | scoring events of the last step in order (`fiveup_env.Event`, net in raw points)          |
    | `forced`      | with draws="auto": draws (119) and passes (120) that the last step took automatically, as |
    |               | (agent, action) in order; only the drawing agent sees the tile (D6)                       |

    The episode ends for all agents at once; each is then stepped once more, with None.

    Args:
        render_mode: as for `FiveUpEnv`.
        record: keep a record of the episode in `recorder`.
        options: see `EnvOptions`.

    Attributes:
        recorder: with record=True the `Recorder` of the episode (it shows all hands), None before the first reset.

    Raises:
        TypeError: if there is no such option.
        ValueError: naming the option, the value given and the allowed values.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "fiveup_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": FPS,
    }

    def __init__(self, *, render_mode: str | None = None, record: bool = False, **options: Any) -> None:
        super().__init__()
        self.options = checked_options(options)
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode)
        self.recorder: Recorder | None = None
        self._recording = record
        self.possible_agents = [f"player_{seat}" for seat in range(self.options.num_players)]
        self.observation_spaces = {agent: observation_space(self.options) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self.state_space = state_space(self.options.num_players)
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self.terminations: dict[str, bool] = {}
        self.truncations: dict[str, bool] = {}
        self.infos: dict[str, Info] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self._seed: int | None = None
        self._episode = 0
        sides = self.options.variant.num_sides
        self._sides = {agent: seat % sides for seat, agent in enumerate(self.possible_agents)}
        self._paid = False  # whether any of the rewards is not zero
        self._marginals = self.options.marginals()
        self._plain = self.options.observation == "flat" and not (self.options.history_length or self._marginals)
        self._skip_agent_selection: str | None = None
        self._blank = self._new_record()
        self._hold(self._blank.copy())

    def _new_record(self) -> np.ndarray:
        """Record [1] of dtype `AEC` with nothing dealt."""
        state = np.zeros(1, AEC)
        state["game"] = new_games(1, self.options.variant)
        state["options"] = self.options.step_options()
        return state

    def _hold(self, state: np.ndarray) -> None:
        """Take over a record and keep views of its fields at hand."""
        self._state = state
        self._vector = state["observation"][0, : observation_size(self.options.num_players)]
        self._mask = state["mask"][0]
        self._side_rewards = state["rewards"][0]
        self._event_codes = state["events"][0]

    def observation_space(self, agent: str) -> spaces.Dict:
        """Space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent] if agent in self._sides else self._unknown(agent)

    def action_space(self, agent: str) -> spaces.Discrete:
        """The 121 actions, the same object at every call."""
        return self.action_spaces[agent] if agent in self._sides else self._unknown(agent)

    def _unknown(self, agent: object) -> NoReturn:
        raise ValueError(f"there is no agent {agent!r}: the agents are {', '.join(self.possible_agents)}")

    # reset

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal a new episode.

        Args:
            seed: from 0 to 2**64 - 1; decides this deal, that of `Match(seed=seed)`, and all later episodes: a reset
                without a seed continues its stream. The first reset without one draws one from the system.
            options: `deal` and `scores`, for this episode (see `env_options.wanted_start`).

        Raises:
            ValueError: if an argument is wrong; the state does not change then.
        """
        first, episode = next_episode(seed, self._seed, self._episode)
        # PettingZoo's tests pass an option "options" that must be accepted.
        given = {name: value for name, value in (options or {}).items() if name != "options"}
        match, scores = wanted_start(self.options, checked_reset_options(given, RESET_OPTIONS), first, episode)
        state, how = self._blank.copy(), DEAL
        state["seed"], state["episode"] = np.uint64(first), episode
        state["scores"][0, : len(scores)] = scores
        if match is not None:
            state["game"][0], how = match.game, BEGIN
        recorder = None
        if self._recording:
            start = first_match(self.options, first, episode, scores) if match is None else match
            recorder = Recorder(start, self.possible_agents)
        self._advance = direct_call(advance_aec, AEC)
        outcome = self._advance(state, how)
        if outcome & STATUS:
            raise ValueError("with this deal the episode ends before anybody has a choice: give another one")
        self._seed, self._episode = first, episode
        self._hold(state)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self.agents[outcome >> SEAT_SHIFT]
        self.infos = {}
        self._paid = False
        self._skip_agent_selection = None
        self._inform(self._mask.copy(), (), self._forced() if outcome & FORCED else ())
        self.recorder = recorder
        if self.render_mode == "human":
            self.render()

    # step

    def step(self, action: int | None) -> None:
        """Take an action for the agent `agent_selection`; None, and only None, once its episode is over.

        Raises:
            IllegalActionError: if the action is illegal. The state does not change.
            ValueError: if it is not an integer from 0 to 120 (NumPy integers are fine), or not None at the end.
            RuntimeError: before the first reset.
        """
        agent = self.agent_selection
        dead = self.terminations.get(agent)
        if dead is None:
            raise RuntimeError("no episode is running: call reset() first")
        if dead or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if type(action) is not int or not 0 <= action < NUM_ACTIONS:
            action = checked_id(action)
        outcome = self._advance(self._state, action)
        if outcome == ILLEGAL:
            self.match.play(action)  # raises, naming legal actions
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self._clear_rewards()
        self._paid = outcome & PAID != 0
        if self._paid:
            paid = self._side_rewards.tolist()
            for player, side in self._sides.items():
                self.rewards[player] = paid[side]
                self._cumulative_rewards[player] += paid[side]
        events = self._events() if outcome & SCORED else ()
        forced = self._forced() if outcome & FORCED else ()
        if self.recorder is not None:
            for taken in (action, *(number for _, number in forced)):
                self.recorder.play(taken)
        if outcome & STATUS:
            self._end(outcome, events, forced)
        else:
            self.agent_selection = self.possible_agents[outcome >> SEAT_SHIFT]
            self._inform(self._mask.copy(), events, forced)
        if self.render_mode == "human":
            self.render()

    def _end(self, outcome: int, events: tuple[Event, ...], forced: tuple[tuple[str, int], ...]) -> None:
        """End the episode for all agents; they are stepped with None, starting after the agent that acted."""
        ended = dict.fromkeys(self.agents, True)
        if outcome & STATUS == TERMINATED:
            self.terminations = ended
        else:
            self.truncations = ended
        self.agent_selection = self.possible_agents[((outcome >> SEAT_SHIFT) + 1) % len(self.possible_agents)]
        self._inform(_NO_ACTIONS, events, forced)

    def _deads_step_first(self) -> str:
        # TerminateIllegalWrapper calls this when it has ended the episode: no agent has a legal action any more.
        self._inform(_NO_ACTIONS, (), ())
        return super()._deads_step_first()

    def _inform(self, mask: np.ndarray, events: tuple[Event, ...], forced: tuple[tuple[str, int], ...]) -> None:
        """Make new infos for all agents; earlier ones belong to the user."""
        shared: Info = {"action_mask": _NO_ACTIONS, "events": events, "forced": forced}
        for agent in self.agents:
            self.infos[agent] = shared.copy()
        self.infos[self.agent_selection]["action_mask"] = mask

    def _events(self) -> tuple[Event, ...]:
        return tuple([decoded_event(code) for code in self._event_codes.tolist() if code])

    def _forced(self) -> tuple[tuple[str, int], ...]:
        """Forced moves of the last step; a draw keeps the turn, a pass does not."""
        seat, agents, taken = int(self._state["forced_seat"][0]), self.possible_agents, []
        for action in self._state["forced"][0, : self._state["num_forced"][0]].tolist():
            taken.append((agents[seat % len(agents)], action))
            seat += action == PASS
        return tuple(taken)

    # observations

    def observe(self, agent: str) -> Observation:
        """Current observation of an agent, in new arrays.

        Raises:
            ValueError: if there is no such agent.
            RuntimeError: before the first reset.
        """
        acts = agent == self.agent_selection and self.agents
        if acts and not (self.terminations[agent] or self.truncations[agent]):
            vector, mask = self._vector.copy(), self._mask.copy()
        else:
            if agent not in self._sides:
                self._unknown(agent)
            self._check_dealt()
            vector, mask = np.zeros(len(self._vector), np.float32), np.zeros(NUM_ACTIONS, np.int8)
            write_seen(self._state, self.possible_agents.index(agent), vector)
        if self._plain:
            return {"observation": vector, "action_mask": mask}
        seat = self.possible_agents.index(agent)
        return full_observation(self._state, seat, vector, mask, self.options, self._marginals)

    def state(self) -> np.ndarray:
        """Global state for centralised critics, hidden hands included, float32 (see `write_state`).

        Raises:
            RuntimeError: before the first reset.
        """
        self._check_dealt()
        out = np.zeros(self.state_space.shape, np.float32)
        write_states(self._state["game"], out[None])
        return out

    @property
    def match(self) -> Match:
        """A copy of the current match, hidden hands included.

        Raises:
            RuntimeError: before the first reset.
        """
        self._check_dealt()
        return Match.of(self._state["game"][0])

    def _check_dealt(self) -> None:
        if self._seed is None:
            raise RuntimeError("nothing is dealt yet: call reset() first")

    def render(self) -> Frame:
        """Public state and the hand of the seat to act in the render mode, never another hand (R2.2).

        Without a render mode it warns and returns None.
        """
        if self.render_mode is None:
            logger.warn('render() shows nothing without a render mode: make the env with render_mode="ansi"')
            return None
        return self._renderer.render(View.of(self.match))

    def close(self) -> None:
        """Close the window of render mode "human"."""
        self._renderer.close()

    # copies

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in _DERIVED}
        return kept | {"_state": self._state.tobytes()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        state = restored_record(kept["_state"], AEC)
        self.__dict__.update(kept)
        self._blank = self._new_record()
        self._hold(state)
        if self._seed is not None:
            self._advance = direct_call(advance_aec, AEC)

    def __copy__(self) -> FiveUpAEC:
        # A shallow copy would share the dictionaries of rewards and infos.
        return copy.deepcopy(self)
