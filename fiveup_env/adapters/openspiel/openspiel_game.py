"""The game, its states and its observers for OpenSpiel: thin wrappers of `extensive.Episode`.

Chance is explicit: every lot, dealt tile and drawn tile is a chance node with outcomes and probabilities. So exact
methods (CFR, best response, expected returns) work, and a state or a resampled world is its history. Sampled chance
would save about 25 chance nodes per round and lose both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from fiveup_env.belief.resample import resample
from fiveup_env.extensive.episode import DRAWN, Episode, Stage
from fiveup_env.extensive.game_setup import MAX_ROUNDS, Setup
from fiveup_env.extensive.information_state import InformationTensor, full_text, information_text
from fiveup_env.rules.actions import ACTION_TILE, DRAW, NUM_ACTIONS, describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import NUM_TILES
from fiveup_env.system.optional import library
from fiveup_env.views.observation import observation_size, split
from fiveup_env.views.view import View

with library("openspiel"):
    import pyspiel

NAME = "fiveup"
PARAMETERS: Mapping[str, Any] = {
    "players": 4,
    "hand_size": 5,
    "target": 61,
    "max_pip": 6,
    "tiles": 0,
    "episode": "match",
    "reward": "win",
    "max_rounds": MAX_ROUNDS,
    "scores": "",
    "opener": -1,
}
"""Parameters of the game and their defaults. `tiles`: 0 for the whole set; `scores`: raw points separated by "/";
`opener`: -1 for the lot."""

GAME_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Exact 61 Five Up",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=4,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=False,
    parameter_specification=dict(PARAMETERS),
)


def setup_from(parameters: Mapping[str, Any]) -> Setup:
    """Convert OpenSpiel's parameters to a setup.

    Raises:
        ValueError: naming the invalid value.
    """
    unknown = set(parameters) - set(PARAMETERS)
    if unknown:
        raise ValueError(f"there is no parameter {min(unknown)!r}: the parameters are {', '.join(PARAMETERS)}")
    given = {**PARAMETERS, **parameters}
    return Setup.of(
        given["players"],
        hand_size=given["hand_size"],
        target=given["target"],
        max_pip=given["max_pip"],
        episode=given["episode"],
        reward=given["reward"],
        max_rounds=given["max_rounds"],
        scores=_scores(str(given["scores"])),
        opener=None if given["opener"] == PARAMETERS["opener"] else given["opener"],
        num_tiles=given["tiles"] or None,
    )


def _scores(text: str) -> list[int] | None:
    if not text:
        return None
    try:
        return [int(score) for score in text.split("/")]
    except ValueError:
        raise ValueError(f"scores must be raw points per side separated by '/', such as 270/0, not {text!r}") from None


def parameters_of(setup: Setup) -> dict[str, Any]:
    """Parameters of a setup that differ from the defaults; the inverse of `setup_from`."""
    options, variant = setup.options, setup.variant
    every = {
        "players": variant.num_players,
        "hand_size": variant.hand_size,
        "target": variant.target,
        "max_pip": variant.max_pip,
        "tiles": setup.num_tiles or 0,
        "episode": options.episode,
        "reward": options.reward,
        "max_rounds": options.max_rounds or MAX_ROUNDS,
        "scores": "/".join(map(str, options.scores)) if any(options.scores) else "",
        "opener": PARAMETERS["opener"] if setup.opener is None else setup.opener,
    }
    return {name: value for name, value in every.items() if value != PARAMETERS[name]}


def load_game(**parameters: Any) -> FiveUpGame:
    """Load the game with these parameters (see `PARAMETERS`), like `pyspiel.load_game("fiveup(...)")`.

    Raises:
        ValueError: one line naming the invalid value.
    """
    setup_from(parameters)  # with a clearer message than OpenSpiel's
    game: FiveUpGame = pyspiel.load_game(NAME, parameters)
    return game


class InformationObserver:
    """Observer with perfect recall: everything that a player has seen (`InformationTensor`).

    Attributes:
        tensor: float32, flat.
        dict: its pieces by name, as views into it.
    """

    def __init__(self, setup: Setup) -> None:
        self._layout = InformationTensor(setup)
        self.tensor: np.ndarray = np.zeros(self._layout.size, np.float32)
        self.dict = self._layout.split(self.tensor)

    def set_from(self, state: FiveUpState, player: int) -> None:
        """Write what `player` has seen up to `state`."""
        self.tensor.fill(0)
        self._layout.write(state.episode, player, self.dict)

    def string_from(self, state: FiveUpState, player: int) -> str:
        """The same as text, one line per round."""
        return information_text(state.episode, player)


class ViewObserver:
    """Observer without recall: the package's observation by section (`views.observation`).

    Attributes:
        tensor: float32, flat: 385, 436 or 453 values for 2, 3 or 4 players.
        dict: its sections by name, as views into it.
    """

    def __init__(self, num_players: int) -> None:
        self.tensor: np.ndarray = np.zeros(observation_size(num_players), np.float32)
        self.dict = split(self.tensor, num_players)

    def set_from(self, state: FiveUpState, player: int) -> None:
        """Write what `player` sees in `state`; during a deal, the table of the previous round."""
        self.tensor[:] = View.of(state.episode.match, player).observation()

    def string_from(self, state: FiveUpState, player: int) -> str:
        """Table and own hand as text, a part of the tensor's content."""
        return view_text(state.episode.match, player)


def view_text(match: Match, player: int) -> str:
    """View of a seat as a few lines of text."""
    view = View.of(match, player)
    layout = view.layout
    sizes = "/".join(map(str, view.hand_sizes))
    hand = "".join(f"[{low}|{high}]" for low, high in view.hand) or "none"
    first = f"player_{player} of {view.num_players}, round {view.round_number}, {':'.join(map(str, view.scores))}"
    acts = f"player_{view.turn} to act, hand {hand}, tiles held {sizes}, boneyard {view.boneyard_size}"
    return "\n".join([f"{first}, {acts}, ends sum to {layout.end_sum}", *layout.lines()])


class FiveUpGame(pyspiel.Game):
    """The game with one set of parameters.

    Attributes:
        setup: the parameters as a `Setup`.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        self.setup = setup = setup_from(params or {})
        least, largest = setup.utilities
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(setup.tiles, setup.variant.num_players),
            num_players=setup.variant.num_players,
            min_utility=least,
            max_utility=largest,
            utility_sum=0.0,
            max_game_length=setup.num_rounds * max(setup.actions_per_round, setup.chances_per_round),
        )
        super().__init__(GAME_TYPE, info, dict(params or {}))

    def new_initial_state(self) -> FiveUpState:
        """State before the first lot or deal."""
        return FiveUpState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> InformationObserver | ViewObserver:
        """Observer of observation tensors or, with perfect recall, of information-state tensors.

        Raises:
            ValueError: if another kind of observer is requested.
        """
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params:
            raise ValueError(f"observers of {NAME} take no parameters, got {params!r}")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(
                f"observers of {NAME} support public information with single-player private information only"
            )
        return InformationObserver(self.setup) if kind.perfect_recall else ViewObserver(self.setup.variant.num_players)


class _Kept:
    """Reference to an immutable state, shared by copies of the states that refer to it."""

    def __init__(self, state: FiveUpState) -> None:
        self.state = state

    def __deepcopy__(self, memo: dict[int, Any]) -> _Kept:
        return self


class FiveUpState(pyspiel.State):
    """A position.

    Attributes:
        episode: the position as an `Episode`; read-only, use `apply_action` to change it.
    """

    def __init__(self, game: FiveUpGame) -> None:
        super().__init__(game)
        self.episode = Episode(game.setup)
        self._round_start: _Kept | None = None

    def current_player(self) -> int:
        """Seat to act, or OpenSpiel's id of chance or of the end."""
        episode = self.episode
        if episode.stage is Stage.PLAY:
            return episode.match.turn
        return int(pyspiel.PlayerId.TERMINAL if episode.is_over else pyspiel.PlayerId.CHANCE)

    def _legal_actions(self, player: int) -> list[int]:
        return self.episode.legal_actions() if player == self.current_player() else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes of a chance node with their probabilities."""
        return list(self.episode.chance_outcomes())

    def _apply_action(self, action: int) -> None:
        episode = self.episode
        if not episode.dealt and episode.stage in (Stage.LOT, Stage.DEAL) and not self._knows_round_start():
            self._round_start = None  # do not keep a chain of states
            self._round_start = _Kept(self.clone())
        episode.apply(action)

    def _knows_round_start(self) -> bool:
        """Whether the stored state is the start of this round (possibly before its lot)."""
        kept = self._round_start
        return kept is not None and len(kept.state.episode.past) == len(self.episode.past)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.episode.chance_text(action) if player == pyspiel.PlayerId.CHANCE else describe(action)

    def is_terminal(self) -> bool:
        """Whether the episode is over."""
        return self.episode.is_over

    def returns(self) -> list[float]:
        """Utilities of all players, equal for partners; zero before the end."""
        return self.episode.utilities()

    def __str__(self) -> str:
        return full_text(self.episode)

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> FiveUpState:
        """Sample a state that `player_id` cannot distinguish from this one, from the exact belief (`resample`).

        Hands, boneyard and the others' draws of this round are resampled uniformly over all deals that agree with what
        the player has seen. The others' choices are not modelled. Finished rounds keep their history.

        Args:
            player_id: the observing player.
            probability_sampler: returns numbers in [0, 1), the only source of randomness.

        Raises:
            ValueError: if `player_id` is not a player.
        """
        episode = self.episode
        if player_id not in range(episode.match.num_players):
            raise ValueError(f"player_id must be from 0 to {episode.match.num_players - 1}, not {player_id!r}")
        kept = self._round_start
        if kept is None or not self._knows_round_start():  # the round has not started
            return self.clone()
        state: FiveUpState = kept.state.clone()
        if state.episode.stage is Stage.LOT and episode.opener >= 0:
            state.apply_action(episode.opener)
        if len(episode.dealt) < episode.setup.variant.num_players * episode.setup.variant.hand_size:
            return _redeal(state, len(episode.dealt), probability_sampler)
        return _replay_round(state, episode, _resampled(episode, player_id, probability_sampler))


def _resampled(episode: Episode, seat: int, sampler: Callable[[], float]) -> Match:
    """Resample; during a draw it is public that the seat to act cannot lay (R3.2)."""
    while True:
        seed = int(sampler() * 2**32) << 32 | int(sampler() * 2**32)
        world = resample(episode.match, seat, seed)
        if episode.stage is not Stage.DRAWING or world.legal_actions() == [DRAW]:
            return world


def _redeal(state: FiveUpState, count: int, sampler: Callable[[], float]) -> FiveUpState:
    for _ in range(count):
        outcome, _ = pyspiel.sample_action(state.chance_outcomes(), sampler())
        state.apply_action(outcome)
    return state


def _replay_round(state: FiveUpState, episode: Episode, world: Match) -> FiveUpState:
    """Replay the round of `episode` from its start `state` with the deal of `world`."""
    deal, draws = dealt_and_drawn(world)
    for action in deal:
        state.apply_action(action)
    play_events(state, episode.events, draws)
    if episode.stage is Stage.DRAWING:
        state.apply_action(DRAW)
    return state


def play_events(state: FiveUpState, events: Iterable[int], draws: Iterable[int]) -> None:
    """Apply actions and draws (with or without their tile) to a state; chance deals `draws` in order."""
    drawn = iter(draws)
    for event in events:
        if event >= DRAWN or event == DRAW:
            state.apply_action(DRAW)
            state.apply_action(next(drawn))
        else:
            state.apply_action(event)


def dealt_and_drawn(match: Match) -> tuple[list[int], list[int]]:
    """Tiles of the current round in the order in which chance deals them, and the tiles drawn since."""
    game, history = match.game, match.history
    last = int(game.boneyard_next)
    draws = game.boneyard[last - sum(action == DRAW for _, action in history) : last].tolist()
    hands = [int(hand) for hand in game.hands[: match.num_players]]
    drawn = iter(draws)
    for seat, action in history:
        if action < DRAW:
            hands[seat] |= 1 << int(ACTION_TILE[action])
    for seat, action in history:
        if action == DRAW:
            hands[seat] &= ~(1 << next(drawn))
    return [tile for hand in hands for tile in range(NUM_TILES) if hand >> tile & 1], draws


pyspiel.register_game(GAME_TYPE, FiveUpGame)
