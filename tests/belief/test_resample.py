"""`resample`: everything unknown to a seat is redrawn, past draws included, and nothing that it knows changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest

from fiveup_env.belief.exact_belief import Belief
from fiveup_env.belief.resample import resample
from fiveup_env.jit.compilation import JIT_DISABLED
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import Variant
from fiveup_env.rules.tiles import NO_TILE
from fiveup_env.views.view import View
from tests.belief.brute_force import (
    Position,
    assert_fits,
    own_draws,
    positions,
    random_position,
    replay,
    tiles_of,
    try_all,
)
from tests.rules.support import PLAYERS, scaled


def dealt_hands(match: Match) -> list[list[int]]:
    """The hands as they were dealt, read from where a seeded deal keeps them: in front of the boneyard."""
    size = match.variant.hand_size
    return [sorted(int(t) for t in match.game.boneyard[seat * size :][:size]) for seat in range(match.num_players)]


def dealt_again(position: Position, match: Match) -> np.ndarray:
    """The start of the round with the deal of `match`, a record [1]."""
    start = position.start.copy()
    start["seed"] = match.game.seed
    start["boneyard"] = match.game.boneyard
    for seat, hand in enumerate(dealt_hands(match)):
        start["hands"][0, seat] = sum(1 << tile for tile in hand)
    return start


@pytest.mark.parametrize("num_players", PLAYERS)
def test_the_round_replays_from_the_deal_that_was_drawn(num_players: int) -> None:
    """Every action of the round is legal from the new deal, and it leads to the resampled record to the last bit."""
    for seed in range(0, 80, 20 if JIT_DISABLED else 1):
        position = random_position(Variant(num_players), 100 + seed, seed / 80)
        match = resample(Match.of(position.now[0]), seed % num_players, seed)
        deals = dealt_again(position, match)
        assert replay(deals, position.now).tolist() == [True]
        assert deals.tobytes() == match._games.tobytes()


@pytest.mark.parametrize("num_players", PLAYERS)
def test_what_the_seat_knows_stays(num_players: int) -> None:
    """View, observation, mask, event history and the own draws, through whole matches of several rounds."""
    rng = random.Random(num_players)
    changed = 0
    for seed in range(scaled(4, 0.25)):
        match = Match(num_players, seed=seed, target=21)
        while match.winner is None:
            match.play(rng.choice(match.legal_actions()))
            if rng.random() < 0.9:
                continue
            seat = rng.randrange(num_players)
            other = resample(match, seat, rng.getrandbits(64))
            before, after = View.of(match, seat), View.of(other, seat)
            assert before == after
            assert before.observation().tobytes() == after.observation().tobytes()
            assert before.action_mask().tobytes() == after.action_mask().tobytes()
            for old, new in zip(before.views.history(140), after.views.history(140), strict=True):
                assert old.tobytes() == new.tobytes()
            assert dealt_hands(match)[seat] == dealt_hands(other)[seat]
            assert match.seed != other.seed
            changed += match.hands != other.hands
    assert changed > 0


def test_legal_actions_are_those_of_the_new_hand() -> None:
    """Of a seat that is to act while another one looks."""
    differ = 0
    for seed in range(30):
        match = Match(3, seed)
        match.play(match.legal_actions()[0])
        other = resample(match, (match.turn + 1) % 3, seed)
        assert other.legal_actions() == Match.of(other.game).legal_actions()
        differ += other.legal_actions() != match.legal_actions()
    assert differ > 15


@pytest.mark.parametrize("num_players", PLAYERS)
def test_own_draws_stay_where_they_were(num_players: int) -> None:
    for position, seat in positions(Variant(num_players), seed=21):
        mine = own_draws(position, seat)
        match = resample(Match.of(position.now[0]), seat, rng=3)
        for place in tiles_of(mine):
            assert match.game.boneyard[place] == position.now[0].boneyard[place]
        if mine.bit_count() > 1:
            break


@pytest.mark.jit
@pytest.mark.parametrize(
    "variant", [Variant(2, 3, max_pip=3), Variant(2, 5, max_pip=4), Variant(3, 4, max_pip=4)], ids=str
)
def test_whole_deals_are_uniform(variant: Variant) -> None:
    """Dealt hands and the boneyard from its first tile on, past draws of others included, against brute force."""
    left = 3
    for position, seat in positions(variant, seed=22, earliest=0.6):
        found = try_all(position, seat, keep=40)
        if not 5 < found.count <= 40:
            continue
        match = Match.of(position.now[0])
        number = 40 * found.count
        seen = Counter(whole_deal(dealt_again(position, resample(match, seat, seed))) for seed in range(number))
        assert_fits(seen, {whole_deal(found.deals[i : i + 1]): 1 / found.count for i in range(found.count)})
        left -= 1
        if left == 0:
            break


def whole_deal(start: np.ndarray) -> Hashable:
    """Hands and boneyard of the start of a round, a record [1]."""
    game = start[0]
    return game.hands.tobytes(), game.boneyard[int(game.boneyard_next) : int(game.boneyard_end)].tobytes()


def test_a_hand_made_deal() -> None:
    """`Match.from_deal` keeps no dealt hands in front of the boneyard; the boneyard begins at once."""
    match = Match.from_deal([[(6, 6), (0, 0)], [(1, 1), (2, 2)]], [(3, 3), (4, 4), (5, 6), (1, 2)], opener=0, seed=0)
    match.play(27)
    for _ in range(3):
        match.play(119)
    other = resample(match, 0, rng=1)
    assert sorted(other.game.boneyard[:4]) != [0, 0, 0, 0]
    hidden = {*tiles_of(other.game.hands[1]), int(other.game.boneyard[3])}
    assert hidden == {*tiles_of(match.game.hands[1]), int(match.game.boneyard[3])}
    assert {int(t) for t in other.game.boneyard[:3]} <= set(tiles_of(other.game.hands[1]))


def test_past_draws_that_were_erased_stay_erased() -> None:
    position = random_position(Variant(4), 3, 0.6)
    world = Match.of(Belief(View(position.now[0], 2)).sample(1, seed=1)[0])
    other = resample(world, 2, rng=2)
    assert View.of(other, 2) == View.of(world, 2)
    assert set(other.game.boneyard[: int(other.game.boneyard_next)]) == {NO_TILE}


def test_the_seed_decides() -> None:
    other = Match(4, seed=9)
    assert resample(other, 1, np.random.default_rng(5)) == resample(other, 1, np.random.default_rng(5))
    match = Match.of(random_position(Variant(3), 4, 0.5).now[0])
    assert resample(match, 1, rng=5) == resample(match, 1, rng=5)
    assert resample(match, 1, rng=5) != resample(match, 1, rng=6)


def test_bad_arguments_are_named() -> None:
    match = Match(2, seed=0)
    with pytest.raises(ValueError, match="seat must be from 0 to 1"):
        resample(match, 2, rng=0)
    with pytest.raises(ValueError, match="a seed is an integer"):
        resample(match, 0, rng=-1)
