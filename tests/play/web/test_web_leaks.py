"""R2.2, D6: no byte sent to a page depends on tiles hidden from its seat."""

import json
import random

import pytest

from fiveup_env.belief.resample import resample
from fiveup_env.play.thoughts import Thinker
from fiveup_env.play.web.web_table import PERSON, WebTable, seat_state
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.match import Match
from fiveup_env.rules.tiles import TILES
from tests.play.web.support import served
from tests.rules.support import PLAYERS


def first_deal(match: Match) -> Match:
    """The match before its first move; the record keeps the whole deal, hands first."""
    size = match.variant.hand_size
    dealt = [TILES[t] for t in match.game.boneyard[: int(match.game.boneyard_end)]]
    hands = [dealt[seat * size : seat * size + size] for seat in range(match.num_players)]
    return Match.from_deal(hands, dealt[match.num_players * size :], match.opener)


def scripted(start: Match, script: list[int], seat: int) -> WebTable:
    """A person at `seat`, and agents that follow a script of the first round."""
    agent = f"tests.play.web.support:Scripted:script={'-'.join(map(str, script))}"
    seating = [PERSON if other == seat else agent for other in range(start.num_players)]
    return WebTable(seating, 0, practice=True, adviser=Thinker(None, worlds=8, belief=True), start=start)


def told(start: Match, script: list[int], seat: int) -> list[bytes]:
    """Every byte sent to a seat's page at its turns while the script is played, for all kinds of requests."""
    table, heard = scripted(start, script, seat), list[bytes]()
    table.warm_up()
    with served(table, keys=["key"]) as (client,):
        while True:
            state, played = client.settled(), len(table.sitting.match.history)
            wrong = next(a for a in range(121) if a not in [option["action"] for option in state["options"]])
            answers = [
                client.ask("/api/state"),
                client.send("hint", state),
                client.send("act", state, action=wrong),
                client.ask("/api/record"),
                client.ask("/api/replay"),
                client.send("next", state),
            ]
            if played < len(script):
                answers.append(client.send("act", state, action=script[played]))
            heard += [b"%d %r %s" % (answer.status, answer.headers, answer.body) for answer in answers]
            if played == len(script):
                return heard


def states(start: Match, script: list[int], seat: int) -> list[str]:
    """The state of the page after every action of the script."""
    table, seen = scripted(start, script, seat), list[str]()
    for number in range(len(script) + 1):
        seen.append(json.dumps(seat_state(table, seat)))
        if table.phase == "person" and number < len(script):
            table.act(seat, script[number])
        else:
            table.step()
    return seen


def two_worlds(num_players: int, seat: int) -> tuple[list[int], Match, Match]:
    """A script to a late turn of the seat; the deal of that match, and another deal with the same view."""
    rng, match = random.Random(num_players), Match(num_players, seed=20 + num_players)
    start = first_deal(match)
    while match.round_number == 1:
        if match.turn == seat and match.legal_actions()[0] < DRAW:
            world = first_deal(resample(match, seat, rng=1))
            if world.hands != start.hands:
                script, other = [action for _, action in match.history], world
        match.play(rng.choice(match.legal_actions()))
    assert start.hands[seat] == other.hands[seat] and len(script) > 5
    return script, start, other


@pytest.mark.parametrize("num_players", PLAYERS)
def test_changing_the_hidden_tiles_changes_no_byte(num_players):
    script, start, other = two_worlds(num_players, 1)
    heard = told(start, script, 1)
    assert len(heard) > 12 and heard == told(other, script, 1)
    seen = states(start, script, 1)
    assert len(set(seen)) == len(script) + 1 and seen == states(other, script, 1)


def test_a_leak_would_be_found():
    """The state of a seat whose tiles changed differs."""
    _, start, other = two_worlds(4, 1)
    seat = next(s for s in range(4) if start.hands[s] != other.hands[s])
    table, changed = (WebTable([PERSON] * 4, 0, start=deal) for deal in (start, other))
    assert seat_state(table, 1) == seat_state(changed, 1) or start.opener == 1
    assert seat_state(table, seat) != seat_state(changed, seat)
