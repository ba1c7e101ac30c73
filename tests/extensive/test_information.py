"""Information states: perfect recall, no leak, and an equivalent tensor."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from fiveup_env import View
from fiveup_env.extensive.episode import Episode, Stage
from fiveup_env.extensive.game_setup import Setup
from fiveup_env.extensive.information_state import InformationTensor, full_text, information_text, seen_by
from tests.extensive.support import TINY, random_positions

SEATS = (0, 1)


def looks(episode: Episode, seat: int) -> bytes:
    """Everything a seat sees of a position: its view's record, and whether chance decides next."""
    view = View.of(episode.match, seat)
    return view._match._games.tobytes() + episode.stage.value.encode()


def with_everything_seen(episode: Episode, seen: tuple[tuple[bytes, ...], ...]):
    """All positions of the tree, with the sequence of observations of each seat."""
    yield episode, seen
    moves = [a for a, _ in episode.chance_outcomes()] if episode.is_chance else episode.legal_actions()
    for move in moves:
        after = episode.copy()
        after.apply(move)
        if after.stage is Stage.DEAL:  # nothing is shown while tiles are dealt
            yield from with_everything_seen(after, seen)
        else:
            yield from with_everything_seen(after, tuple((*seen[s], looks(after, s)) for s in SEATS))


def test_a_state_is_all_that_was_seen_and_nothing_else() -> None:
    """Perfect recall: the state determines all observations. No leak: the observations determine the state."""
    states: dict[object, set[object]] = defaultdict(set)
    histories: dict[object, set[object]] = defaultdict(set)
    for episode, seen in with_everything_seen(Episode(TINY), ((), ())):
        if episode.stage is not Stage.DEAL:
            for seat in SEATS:
                states[seen_by(episode, seat)].add(seen[seat])
                histories[seat, seen[seat]].add(seen_by(episode, seat))
    assert len(states) > 500
    assert all(len(found) == 1 for found in states.values())
    assert all(len(found) == 1 for found in histories.values())


@pytest.mark.parametrize(
    "setup",
    [TINY, Setup.of(3, max_rounds=3), Setup.of(4, hand_size=2, max_pip=3, target=9, max_rounds=4)],
    ids=["tiny", "three", "four"],
)
def test_text_tensor_and_key_tell_the_same_apart(setup: Setup) -> None:
    layout = InformationTensor(setup)
    found: dict[object, tuple[str, bytes]] = {}
    texts, tensors, whole = set(), set(), set()
    for seed in range(8):
        for episode in random_positions(setup, seed):
            whole.add(full_text(episode))
            for seat in range(setup.variant.num_players):
                vector = np.zeros(layout.size, np.float32)
                layout.write(episode, seat, layout.split(vector))
                text, key = information_text(episode, seat), seen_by(episode, seat)
                assert found.setdefault(key, (text, vector.tobytes())) == (text, vector.tobytes())
                texts.add(text)
                tensors.add(vector.tobytes())
    assert len(found) == len(texts) == len(tensors)
    assert len(whole) > 20


def test_the_text_is_readable() -> None:
    episode = Episode(TINY)
    for tile in (0, 3, 1, 2):
        episode.apply(tile)
    assert information_text(episode, 1) == "player_1 of 2\n0:0 player_0 opens, dealt [0|1][1|1]"
    episode.apply(0)
    episode.apply(episode.legal_actions()[0])
    assert information_text(episode, 0) == "player_0 of 2\n0:0 player_0 opens, dealt [0|0][0|2], [0|0] [0|1]+0"
    *_, last = random_positions(TINY, 3)
    assert "shown" in information_text(last, 0)
