"""What OpenSpiel's tensors and observation strings show; see `observation.py` in OpenSpiel for the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.extensive.game_setup import Setup
from fiveup_env.extensive.information_state import InformationTensor, information_text
from fiveup_env.rules.match import Match
from fiveup_env.views.observation import observation_size, split
from fiveup_env.views.view import View

if TYPE_CHECKING:
    from fiveup_env.adapters.openspiel.openspiel_game import FiveUpState


class InformationObserver:
    """Perfect recall: all that a player has seen since the beginning (`InformationTensor`).

    Attributes:
        tensor: float32, flat.
        dict: its pieces by name, as views of it.
    """

    def __init__(self, setup: Setup) -> None:
        self._layout = InformationTensor(setup)
        self.tensor: np.ndarray = np.zeros(self._layout.size, np.float32)
        self.dict = self._layout.split(self.tensor)

    def set_from(self, state: FiveUpState, player: int) -> None:
        """Let the tensor show what `player` sees of `state`."""
        self.tensor.fill(0)
        self._layout.write(state.episode, player, self.dict)

    def string_from(self, state: FiveUpState, player: int) -> str:
        """The same as text, one line for each round."""
        return information_text(state.episode, player)


class ViewObserver:
    """The package's own observation, by the names of its sections (`views.observation`).

    Attributes:
        tensor: float32, flat: 385, 436 or 453 values for 2, 3 or 4 players.
        dict: its sections by name, as views of it.
    """

    def __init__(self, num_players: int) -> None:
        self.tensor: np.ndarray = np.zeros(observation_size(num_players), np.float32)
        self.dict = split(self.tensor, num_players)

    def set_from(self, state: FiveUpState, player: int) -> None:
        """Let the tensor show what `player` sees of `state`; while chance deals, that is the table before."""
        self.tensor[:] = View.of(state.episode.match, player).observation()

    def string_from(self, state: FiveUpState, player: int) -> str:
        """What lies on the table and the own hand, for people; less than the tensor says."""
        return view_text(state.episode.match, player)


def view_text(match: Match, player: int) -> str:
    """A seat's view of the table in a few lines."""
    view = View.of(match, player)
    layout = view.layout
    sizes = "/".join(map(str, view.hand_sizes))
    hand = "".join(f"[{low}|{high}]" for low, high in view.hand) or "none"
    first = f"player_{player} of {view.num_players}, round {view.round_number}, {':'.join(map(str, view.scores))}"
    acts = f"player_{view.turn} to act, hand {hand}, tiles held {sizes}, boneyard {view.boneyard_size}"
    return "\n".join([f"{first}, {acts}, ends sum to {layout.end_sum}", *layout.lines()])
