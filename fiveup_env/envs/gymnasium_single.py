"""`FiveUpEnv`: one learner against given agents, as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from fiveup_env.agents.protocol import own_copy
from fiveup_env.agents.registry import AgentSpec
from fiveup_env.envs.env_options import checked_options
from fiveup_env.envs.episode_start import first_match, seed_of_episode
from fiveup_env.envs.learner_seat import agents_around, checked_seat
from fiveup_env.envs.opponents import DECIDES, ILLEGAL
from fiveup_env.envs.reset_options import checked_deal, checked_reset_options
from fiveup_env.envs.spaces import action_space, observation_space
from fiveup_env.envs.table import Table
from fiveup_env.envs.transition import TERMINATED, TRUNCATED
from fiveup_env.records.recorder import Recorder
from fiveup_env.rendering.render_modes import FPS, RENDER_MODES, Frame, Renderer
from fiveup_env.rules.actions import checked_id
from fiveup_env.rules.match import Match, checked_scores, checked_seed
from fiveup_env.views.view import View

ILLEGAL_ACTIONS = ("terminate", "raise")
RESET_OPTIONS = ("deal", "scores", "seat")


class FiveUpEnv(gymnasium.Env[dict[str, Any], Any]):
    """A seat, or with four players a partnership, learns; agents play the other seats between its decisions.

    One `step` is one decision of the learner: its action, then all turns of the others until a learner's seat is to
    act again. With four players and no `partner` the learner plays both seats of its side, each decision from what
    that seat alone sees. The reward is what the side got from its last decision to this one. What the others score
    before its first decision comes with the first reward, so the rewards of an episode add up to what
    `fiveup_env.views.rewards` says.

    Observations (`observation_space`) are those of the seat that is to act, at the end of the one that acted last:

    | key            | what                                                                                           |
    |----------------|------------------------------------------------------------------------------------------------|
    | `observation`  | float32 [F], F = 385, 436, 453 for 2, 3, 4 players; with observation="dict" its named sections |
    | `action_mask`  | int8 [121], the legal actions; all zero at the end, as in PettingZoo                           |
    | `history`      | with history_length = L > 0: int16 [L, 3], public events of the round (`write_history`)        |
    | `history_mask` | int8 [L], 1 for rows that hold an event                                                        |
    | `belief`       | with belief="exact" or "likely": float32 [n, 28], where every tile may be (see `Views.belief`) |

    Infos:

    | key            | what                                                                                           |
    |----------------|------------------------------------------------------------------------------------------------|
    | `action_mask`  | as in the observation                                                                          |
    | `seat`, `side` | who observes                                                                                   |
    | `scores`       | raw points per side                                                                            |
    | `round_number` | 1 in the first round                                                                           |
    | `actions`      | since the last decision, itself first, as (seat, action); a draw does not show its tile (D6)   |
    | `events`       | scoring events of that time (`fiveup_env.rules.match.Event`, net in raw points)                |
    | `winner`       | at the end: the side that won the match, with episode="round" the round; None if none did      |
    | `is_success`   | at the end: whether that is the learner's side                                                 |
    | `illegal_action` | at the end, if one ended the episode                                                         |

    The mask is also to be had from `action_masks()`, as sb3-contrib wants it. A vector env that resets by itself shows
    the mask of the new episode, so a policy never meets the empty one of an end.

    The first deal after `reset(seed=s)` is that of `Match(seed=s)`. An episode that ends before the learner has a
    decision to make (another side's first tile may hit the target) is none for it: `reset` deals the next one.

    Args:
        num_players: 2, 3 or 4; four play as two partnerships (R1.2).
        opponents: a name, an agent, or one per opposing seat, clockwise from the learner's seat. Every seat gets a copy
            of its own (see `own_copy`).
        partner: with four players: None to learn both seats of the side, or who plays the other one.
        seat: the learner's seat, or "random" for a new lot every episode. Without a partner it stands for its side.
        illegal_action: "terminate" (the episode ends with reward -1) or "raise" (an `IllegalActionError`, and nothing
            changes).
        render_mode: what `render` returns: "ansi" (text), "svg" (text of a picture), "rgb_array" (uint8 [720, 960, 3],
            needs the extra `render`); "human" (a window, extra `window`); or None.
        record: keep a record of the episode in `recorder` (see `fiveup_env.records`).
        options: see `EnvOptions`.

    Attributes:
        recorder: with record=True the `Recorder` of the episode, None before the first reset; its `text()` and `save()`
            show all hands.

    Raises:
        TypeError: if there is no option of that name.
        ValueError: naming the option, the value given and what would be right.
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
        if illegal_action not in ILLEGAL_ACTIONS:
            choices = ", ".join(map(repr, ILLEGAL_ACTIONS))
            raise ValueError(f"illegal_action must be one of {choices}, not {illegal_action!r}")
        self._seat = checked_seat(seat, num_players)
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self._renderer = Renderer(render_mode)
        self.action_space = action_space()
        self.observation_space = observation_space(self.options)
        self.set_opponents(opponents, partner)
        self._table = Table(self.options)
        self._variant = self.options.variant
        self.recorder: Recorder | None = None
        self._recording = record
        self._seed: int | None = None
        self._episode = -1  # number of the episode in the seed's stream
        self._going_on = False

    def set_opponents(self, opponents: AgentSpec | Sequence[AgentSpec], partner: AgentSpec | None = None) -> None:
        """Change who plays the other seats, from the next `reset` on; arguments as for the class.

        Raises:
            ValueError: if there is no such agent or their number is wrong; nothing is changed then.
        """
        agents = agents_around(opponents, partner, self.options.num_players)
        self._agents = [None if agent is None else own_copy(agent) for agent in agents]

    # reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal, and let the others play until the learner is to act.

        Args:
            seed: from 0 to 2**64 - 1; decides all that follows, in later episodes too: deals, lots, the learner's seats
                and the agents' chance. A reset without one goes on in the stream.
            options: `deal`, what to start from: a mapping with `hands`, `boneyard` and `opener` (see
                `Match.from_deal`), a seed as in `Match(seed=...)`, or a `Match` (a copy of it is played on);
                `scores`, raw points per side, instead of the option `starting_scores`; `seat`, instead of the option
                `seat`. They hold for this episode.

        Raises:
            ValueError: if an argument is wrong (nothing is changed then), or if with the `deal` that was asked for the
                episode ends before the learner is to act.
        """
        first, episode = self._next_episode(seed)
        given = checked_reset_options(options, RESET_OPTIONS)
        given["seat"] = checked_seat(given["seat"], self._variant.num_players) if "seat" in given else self._seat
        if "scores" in given:
            given["scores"] = checked_scores(given["scores"], self._variant)
        if "deal" in given:
            scores = given.get("scores", self.options.scores)
            deal_seed = seed_of_episode(np.uint64(first), episode)
            given["deal"] = checked_deal(given["deal"], self._variant, scores, deal_seed)
            if self._recording and isinstance(given["deal"], Match):
                Recorder(given["deal"])  # refuses a match that is under way, before anything is changed
        super().reset(seed=None if seed is None else first)
        self._going_on = False
        self._seed, self._episode = first, episode
        while self._table.begin(self._agents, self._seed, self._episode, **given) != DECIDES:
            if "deal" in given:
                raise ValueError("with this deal the episode ends before the learner is to act: give another one")
            self._episode += 1
        self._going_on = True
        if self._recording:
            self.recorder = Recorder(self._beginning(given), self._table.players)
            self._write_down()
        if self.render_mode == "human":
            self.render()
        return self._table.observation(), self._info()

    def _next_episode(self, seed: int | None) -> tuple[int, int]:
        """Seed of the stream of episodes, and the number of the next one in it."""
        if seed is None and self._seed is not None:
            return self._seed, self._episode + 1
        return checked_seed(seed), 0

    def _beginning(self, given: dict[str, Any]) -> Match:
        """The match that the episode started from."""
        deal, episode = given.get("deal"), self._episode
        scores = given.get("scores")
        if not isinstance(deal, Match):
            seed, episode = (self._seed, episode) if deal is None else (deal, 0)
            assert seed is not None
            return first_match(self.options, seed, episode, self.options.scores if scores is None else scores)
        match = deal.copy()
        if scores is not None:
            match.game["scores"][: len(scores)] = scores
        return match

    def _write_down(self) -> None:
        if self.recorder is not None:
            for _, taken in self._table.actions:
                self.recorder.play(taken)

    # step

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """The learner's action, and all turns of the others until it is to act again or the episode ends.

        Raises:
            ValueError: if `action` is not an integer from 0 to 120.
            IllegalActionError: with illegal_action="raise", if the rules do not allow it now. Nothing is changed.
            AgentError: if an agent answers what the rules do not allow; the episode cannot be gone on with.
            ResetNeeded: before the first `reset` and after the end of an episode.
        """
        if not self._going_on:
            raise ResetNeeded("no episode is going on: call reset() first")
        number = checked_id(action)
        self._going_on = False  # unless all goes well
        now = self._table.play(number)
        if now == ILLEGAL:
            return self._illegal(number)
        self._going_on = now == DECIDES
        self._write_down()
        if self.render_mode == "human":
            self.render()
        info = self._info()
        if now != DECIDES:
            winner = self._table.winner
            info |= {"winner": winner, "is_success": winner == self._table.side}
        return self._table.observation(), self._table.take_reward(), now == TERMINATED, now == TRUNCATED, info

    def _illegal(self, action: int) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        if self.illegal_action == "raise":
            self._going_on = True
            self.match.play(action)  # raises, and says what would be legal
        self._table.mask[:] = 0
        info = self._info() | {"winner": None, "is_success": False, "illegal_action": action}
        return self._table.observation(), -1.0, True, False, info

    def _info(self) -> dict[str, Any]:
        table = self._table
        return {
            "action_mask": table.mask.copy(),
            "seat": table.seat,
            "side": table.side,
            "scores": table.scores,
            "round_number": table.round_number,
            "actions": tuple(table.actions),
            "events": tuple(table.events),
        }

    def action_masks(self) -> np.ndarray:
        """Legal actions of the seat to act, bool [121]; all False at the end of an episode.

        Through wrappers: `env.get_wrapper_attr("action_masks")()`.
        """
        return self._table.mask.astype(np.bool_)

    @property
    def match(self) -> Match:
        """A copy of the match as it stands, hidden hands included.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self._seed is None:
            raise ResetNeeded("nothing is dealt yet: call reset() first")
        return self._table.match

    def render(self) -> Frame:
        """The table as the render mode says: what is public, and the hand of the learner's seat, never another (R2.2).

        Without a render mode there is a warning and None.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self.render_mode is None:
            gymnasium.logger.warn('render() shows nothing without a render mode: make the env with render_mode="ansi"')
            return None
        return self._renderer.render(View.of(self.match, self._table.seat))

    def close(self) -> None:
        """Close the window of render mode "human"."""
        self._renderer.close()
