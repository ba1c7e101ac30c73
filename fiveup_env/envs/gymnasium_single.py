"""`FiveUpEnv`: one learner against given agents, as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from fiveup_env.agents.protocol import Agent, AgentError, agent_name, is_policy, own_copy
from fiveup_env.agents.registry import AgentSpec
from fiveup_env.envs import gymnasium_vector_kernels as engine
from fiveup_env.envs.env_options import (
    action_space,
    checked_options,
    checked_reset_options,
    first_match,
    full_observation,
    next_episode,
    observation_space,
    restored_record,
    wanted_start,
)
from fiveup_env.envs.gymnasium_vector import agents_around, checked_seat
from fiveup_env.envs.transition import GOES_ON, TERMINATED, TRUNCATED, decoded_event, direct_call
from fiveup_env.records.recorder import Recorder
from fiveup_env.rendering.render_modes import FPS, RENDER_MODES, Frame, Renderer
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Event, Match
from fiveup_env.rules.random import spread_seeds
from fiveup_env.rules.record import new_games
from fiveup_env.views.observation import observation_size
from fiveup_env.views.view import View

RESET_OPTIONS = ("deal", "scores", "seat")


class FiveUpEnv(gymnasium.Env[dict[str, Any], Any]):
    """One seat, or with four players a partnership, learns; agents play the other seats between its decisions.

    One `step` is one decision of the learner: its action, then the turns of the others until a learner's seat acts
    again. With four players and no `partner` the learner plays both seats of its side, each from what that seat sees.
    The reward is what the side gained since its last decision. Points scored before its first decision are part of the
    first reward, so the rewards of an episode add up as in `fiveup_env.views.rewards`.

    Observations belong to the seat to act, at the end to the seat that acted last, then with an empty mask (see
    `env_options.observation_space`; F = 385, 436, 453 for 2, 3, 4 players).

    Infos:

    | key            | content                                                                                        |
    |----------------|------------------------------------------------------------------------------------------------|
    | `action_mask`  | as in the observation                                                                          |
    | `seat`, `side` | of the observation                                                                             |
    | `scores`       | raw points per side                                                                            |
    | `round_number` | 1 in the first round                                                                           |
    | `actions`      | since the last decision, itself first, as (seat, action); a draw does not show its tile (D6)   |
    | `events`       | scoring events since then (`fiveup_env.rules.match.Event`, net in raw points)                  |
    | `winner`       | at the end: side that won the match (with episode="round" the round), None if none did         |
    | `is_success`   | at the end: whether the learner's side won                                                     |
    | `illegal_action` | at the end, if one ended the episode                                                         |

    The first deal after `reset(seed=s)` is that of `Match(seed=s)`. If an episode ends before the learner has a
    decision (the first tile of another side may reach the target), `reset` deals the next one.

    Args:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        opponents: a name, an agent, or one per opposing seat, clockwise from the learner's seat. Every seat gets its
            own copy (see `own_copy`).
        partner: with four players: None to learn both seats of the side, or the agent of the other seat.
        seat: the learner's seat, or "random" to draw one every episode. Without a partner it stands for its side.
        illegal_action: "terminate" (the episode ends with reward -1) or "raise" (an `IllegalActionError`; the state
            does not change).
        render_mode: what `render` returns: "ansi" (text), "svg" (text), "rgb_array" (uint8 [720, 960, 3], needs the
            extra `render`); "human" (a window, extra `window`); or None.
        record: keep a record of the episode in `recorder`.
        options: see `EnvOptions`.

    Attributes:
        recorder: with record=True the `Recorder` of the episode (it shows all hands), None before the first reset.

    Raises:
        TypeError: if there is no such option.
        ValueError: naming the option, the value given and the allowed values.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012

    def __init__(
        self,
        num_players: int = 4,
        *,
        opponents: AgentSpec | Sequence[AgentSpec] = "random",
        partner: AgentSpec | None = None,
        seat: int | str = "random",
        illegal_action: str = "terminate",
        render_mode: str | None = None,
        record: bool = False,
        **options: Any,
    ) -> None:
        self.options = checked_options({"num_players": num_players, **options})
        if illegal_action not in ("terminate", "raise"):
            raise ValueError(f"illegal_action must be one of 'terminate', 'raise', not {illegal_action!r}")
        self._fixed_seat = checked_seat(seat, num_players)
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode)
        self.action_space = action_space()
        self.observation_space = observation_space(self.options)
        self.set_opponents(opponents, partner)
        self.recorder: Recorder | None = None
        self._recording = record
        self._seed: int | None = None
        self._episode = -1  # number of the episode in the seed's stream
        self._going_on = False
        self._seat = self._side = 0
        self._agents: list[Agent | None] = []  # by seat; None is the learner
        self._actions: list[tuple[int, int]] = []  # since the learner's last decision
        self._events: list[Event] = []
        self._marginals = self.options.marginals()
        match = np.zeros(1, engine.LEARNER_MATCH)
        match["game"] = new_games(1, self.options.variant)
        match["options"] = self.options.step_options(logged_draws=True)
        self._hold(match)

    def _hold(self, record: np.ndarray) -> None:
        """Take over a record (dtype `LEARNER_MATCH`) and keep views of its fields."""
        self._record = record
        self._row, self._reward = record["row"], record["row"]["reward"]
        self._vector = record["observation"][0, : observation_size(self.options.num_players)]
        self._mask = record["mask"][0]
        self._log_actions, self._log_events = record["log"]["actions"][0], record["log"]["events"][0]
        self._scores = record["game"]["scores"][0, : self.options.variant.num_sides]
        self._round_number = record["game"]["round_number"]

    def set_opponents(self, opponents: AgentSpec | Sequence[AgentSpec], partner: AgentSpec | None = None) -> None:
        """Change the agents of the other seats from the next `reset` on; arguments as for the class.

        Raises:
            ValueError: if there is no such agent or their number is wrong; the state does not change then.
        """
        agents = agents_around(opponents, partner, self.options.num_players)
        self._around = [None if agent is None else own_copy(agent) for agent in agents]

    # reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal, and let the others play until the learner acts.

        Args:
            seed: from 0 to 2**64 - 1; decides everything that follows, also in later episodes: deals, lots, the
                learner's seats and the agents' random numbers. A reset without one continues its stream.
            options: `deal` and `scores` (see `env_options.wanted_start`), and `seat` instead of the option `seat`; for
                this episode.

        Raises:
            ValueError: if an argument is wrong (the state does not change then), or if with the given `deal` the
                episode ends before the learner acts.
        """
        first, episode = next_episode(seed, self._seed, self._episode)
        given = checked_reset_options(options, RESET_OPTIONS)
        seat = checked_seat(given["seat"], self.options.num_players) if "seat" in given else self._fixed_seat
        match, scores = wanted_start(self.options, given, first, episode)
        if self._recording and match is not None:
            Recorder(match)  # refuses a match under way, before anything is changed
        super().reset(seed=None if seed is None else first)
        self._going_on = False
        self._seed, self._episode = first, episode
        while self._begin(seat, scores, match) != engine.DECIDES:
            if match is not None:
                raise ValueError("with this deal the episode ends before the learner is to act: give another one")
            self._episode += 1
        self._going_on = True
        if self._recording:
            players = ["learner" if agent is None else agent_name(agent) for agent in self._agents]
            start = first_match(self.options, first, self._episode, scores) if match is None else match
            self.recorder = Recorder(start, players)
        self._show_step()
        return self._observation(), self._info()

    def _begin(self, seat: int | None, scores: Sequence[int], match: Match | None) -> int:
        """Begin the episode (in a copy of `match`, if given) and play on; returns as `_play` does."""
        row, around = self._row, self._around
        row["seed"], row["episode"] = self._seed, self._episode
        row["fixed_seat"] = -1 if seat is None else seat
        row["around"][0, : len(around)] = [_policy_number(agent) for agent in around]
        row["scores"][0, : len(scores)] = scores
        if match is not None:
            self._record["game"][0] = match.game
        engine.begin_match(self._record, match is not None)
        self._advance = direct_call(engine.advance_match, engine.LEARNER_MATCH)
        first = self._seat = int(row["seat"][0])
        self._side = int(row["side"][0])
        self._agents = [around[(absolute - first) % len(around)] for absolute in range(len(around))]
        self._reset_agents()
        return self._play(engine.GO_ON)

    def _reset_agents(self) -> None:
        """Policies share the episode's policy seed, as kernel agents do; other agents get streams of it by seat."""
        policy_seed = int(self._row["policy_seed"][0])
        for seat, agent in enumerate(self._agents):
            if agent is not None:
                agent.reset(policy_seed if is_policy(agent) else int(spread_seeds(policy_seed, 1, seat)[0]))

    # step

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take the learner's action and all turns of the others until it acts again or the episode ends.

        Raises:
            ValueError: if `action` is not an integer from 0 to 120.
            IllegalActionError: with illegal_action="raise", if the action is illegal. The state does not change.
            AgentError: if an agent answers with an illegal action; the episode cannot continue.
            ResetNeeded: before the first `reset` and after the end of an episode.
        """
        if not self._going_on:
            raise ResetNeeded("no episode is running: call reset() first")
        number = checked_id(action)
        self._going_on = False  # unless all goes well
        now = self._play(number)
        if now == engine.ILLEGAL:
            return self._illegal(number)
        self._going_on = now == engine.DECIDES
        self._show_step()
        info = self._info()
        if now != engine.DECIDES:
            field = "round_winner" if self.options.episode == "round" else "winner"
            winner = int(self._record["game"][field][0])
            info |= {"winner": None if winner < 0 else winner, "is_success": winner == self._side}
        reward = float(self._reward[0])
        self._reward[0] = 0.0
        return self._observation(), reward, now == TERMINATED, now == TRUNCATED, info

    def _play(self, action: int) -> int:
        """Take an action of the learner (or GO_ON) and play on.

        Returns:
            DECIDES when the learner acts again, TERMINATED or TRUNCATED at the end of the episode, ILLEGAL if the
            rules do not allow the action; then nothing has changed.
        """
        self._actions, self._events = [], []
        now, seat = self._logged(action)
        while now in (GOES_ON, engine.ASKS):
            now, seat = self._ask(seat) if now == engine.ASKS else self._logged(engine.GO_ON)
        self._seat = seat
        return now

    def _logged(self, action: int) -> tuple[int, int]:
        """Call `advance_match` and keep what it logged; return its status and seat."""
        result = self._advance(self._record, action)
        if acted := result >> engine.ACTED_SHIFT & engine.COUNT:
            self._actions += [(code >> 8, code & 255) for code in self._log_actions[:acted].tolist()]
        if scored := result >> engine.SCORED_SHIFT & engine.COUNT:
            self._events += [decoded_event(code) for code in self._log_events[:scored].tolist()]
        return result & engine.STATUS, result >> engine.SEAT_SHIFT & engine.SEAT

    def _ask(self, seat: int) -> tuple[int, int]:
        """Ask the agent of a seat, and play on with its answer."""
        agent = self._agents[seat]
        assert agent is not None
        answer: Any = agent.act(View(self._record["game"][0], seat))
        try:
            now, following = self._logged(checked_id(answer))
            if now == engine.ILLEGAL:
                self.match.play(answer)  # raises, naming legal actions
        except ValueError as error:
            raise AgentError(f"agent {agent_name(agent)} at player_{seat}: {error}") from None
        return now, following

    def _illegal(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        if self.illegal_action == "raise":
            self._going_on = True
            self.match.play(action)  # raises, naming legal actions
        self._mask[:] = 0
        info = self._info() | {"winner": None, "is_success": False, "illegal_action": action}
        return self._observation(), -1.0, True, False, info

    def _show_step(self) -> None:
        """Record and draw what has just happened."""
        if self.recorder is not None:
            for _, taken in self._actions:
                self.recorder.play(taken)
        if self.render_mode == "human":
            self.render()

    # observations and infos

    def _observation(self) -> dict[str, Any]:
        """Observation of the learner's seat, in new arrays."""
        return full_observation(
            self._record, self._seat, self._vector.copy(), self._mask.copy(), self.options, self._marginals
        )

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._mask.copy(),
            "seat": self._seat,
            "side": self._side,
            "scores": tuple(self._scores.tolist()),
            "round_number": int(self._round_number[0]),
            "actions": tuple(self._actions),
            "events": tuple(self._events),
        }

    def action_masks(self) -> np.ndarray:
        """Legal actions of the seat to act, bool [121]; all False at the end of an episode.

        Through wrappers: `env.get_wrapper_attr("action_masks")()`.
        """
        return self._mask.astype(np.bool_)

    @property
    def match(self) -> Match:
        """A copy of the current match, hidden hands included.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self._seed is None:
            raise ResetNeeded("nothing is dealt yet: call reset() first")
        return Match.of(self._record["game"][0])

    def render(self) -> Frame:
        """Public state and the hand of the learner's seat in the render mode, never another hand (R2.2).

        Without a render mode it warns and returns None.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing without a render mode: make the env with render_mode="ansi"')
            return None
        return self._renderer.render(View.of(self.match, self._seat))

    def close(self) -> None:
        """Close the window of render mode "human"."""
        self._renderer.close()

    # copies

    def __getstate__(self) -> dict[str, Any]:
        # All arrays are views of the record.
        kept = {name: v for name, v in self.__dict__.items() if not isinstance(v, np.ndarray) and name != "_advance"}
        return kept | {"_record": self._record.tobytes()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        record = restored_record(kept["_record"], engine.LEARNER_MATCH)
        self.__dict__.update(kept)
        self._hold(record)
        if self._seed is not None:
            self._advance = direct_call(engine.advance_match, engine.LEARNER_MATCH)


def _policy_number(agent: Agent | None) -> int:
    """Number of an agent in compiled code; None is the learner."""
    if agent is None:
        return engine.LEARNER
    kernel: int | None = getattr(agent, "kernel", None)
    return engine.PYTHON if kernel is None else kernel
