"""The server: moves are checked, hidden tiles stay hidden, requests of other sites are refused."""

import json
import threading

import pytest

from fiveup_env.play.thoughts import Thinker
from fiveup_env.play.web.web_table import PERSON, WebTable
from fiveup_env.records import parse_record, read_record
from tests.play.web.support import seated, served, served_alone
from tests.rules.support import PLAYERS


@pytest.mark.parametrize("num_players", PLAYERS)
def test_a_whole_match(num_players, tmp_path):
    """R3.1, R6.2: by requests alone; the record is saved after every move and follows the rules."""
    table = WebTable(seated(num_players, 1), 5, record=tmp_path / "match.jsonl")
    with served(table) as (client,):
        rounds = set()
        while (state := client.settled())["phase"] != "over":
            rounds.add(state["round"])
            if state["phase"] == "next":
                assert all(isinstance(hand, list) for hand in state["hands"]), "D5: a settled round shows all hands"
                assert client.ask("/api/record").status == client.ask("/api/replay").status == 409
                assert client.send("next", state).status == 204
                continue
            assert [isinstance(hand, list) for hand in state["hands"]] == [s == 1 for s in range(num_players)]
            assert client.send("act", state, action=state["options"][0]["action"]).status == 204
            assert read_record(tmp_path / "match.jsonl").moves
        assert state["winner"] == table.sitting.match.winner and state["scores"][state["winner"]] == 61
        assert rounds >= set(range(1, state["round"]))
        record = parse_record(client.ask("/api/record").body)
        assert record.final == table.sitting.match and record.players[1] == "you"
        assert read_record(tmp_path / "match.jsonl").final == record.final
        assert client.ask("/api/replay").body.startswith(b"<!doctype html>")


def test_illegal_moves_are_refused_and_change_nothing():
    """R3.1, R3.2."""
    table = WebTable(seated(3), 1)
    with served(table) as (client,):
        state = client.settled()
        legal = {option["action"] for option in state["options"]}
        before = table.sitting.match.copy()
        for action in sorted(set(range(121)) - legal):
            answer = client.send("act", state, action=action)
            assert answer.status == 422 and "player_0 may not" in answer.error
        for action, status in ((121, 422), (-1, 422), (10**30, 422), (1.5, 400), ("39", 400), (True, 400), (None, 400)):
            assert client.send("act", state, action=action).status == status
        assert client.send("next", state).status == client.send("undo", state).status == 409
        assert table.sitting.match == before and client.state() == state
        assert client.send("act", state, action=min(legal)).status == 204
        again = client.send("act", state, action=min(legal))
        assert again.status == 409 and "has changed in the meantime" in again.error
        assert "in practice only" in client.send("undo", client.settled()).error


def test_only_the_seat_to_act_may_act():
    """R2.4: the refusal does not reveal the legal actions of other seats."""
    table = WebTable([PERSON, PERSON], 4)
    with served(table) as clients:
        waiting = clients[1 - table.sitting.match.turn]
        state = waiting.settled()
        answer = waiting.send("act", state, action=state["hands"][waiting is clients[1]] and 28)
        assert (answer.status, answer.error) == (409, "it is not your turn")
        assert state["options"] == [] and waiting.send("hint", state).error == "it is not your turn"


def test_every_page_shows_its_own_hand_only():
    """R2.2."""
    table = WebTable([PERSON, "greedy", PERSON], 8)
    with served(table) as clients:
        states = [client.settled() for client in clients]
        assert [state["seat"] for state in states] == [0, 2]
        for state in states:
            shown = [isinstance(hand, list) for hand in state["hands"]]
            assert shown == [seat == state["seat"] for seat in range(3)]
            asked = clients[states.index(state)].ask(f"/api/state?seat={2 - state['seat']}&after=0")
            assert asked.json == state, "the key alone decides the seat"


def test_keys():
    with served_alone() as client:
        key = client.key
        for value in (None, "", "Bearer", "Bearer ", "Bearer x", f"Basic {key}", key, f"Bearer {key}x"):
            for path in ("/api/state", "/api/record", "/api/replay"):
                answer = client.ask(path, Authorization=value)
                assert answer.status == 401 and "no seat at this table" in answer.error
            assert client.ask("/api/act", {"version": 1, "action": 0}, Authorization=value).status == 401
        assert client.ask("/api/state", Authorization=f"bearer {client.key}").status == 200
        assert client.ask(f"/api/state?key={client.key}", Authorization=None).status == 401


TUNNEL = {"Host": "localhost:9000"}
ALLOWED = (
    TUNNEL,
    {"Host": "[::1]:80"},
    TUNNEL | {"Origin": "http://localhost:9000"},
    {"Sec_Fetch_Site": "same-origin"},
)
REFUSED = (
    *({"Host": host} for host in ("evil.example", "127.0.0.1.evil.example:8061", "localhost@evil.example", "[::1", "")),
    {"Host": "10.0.0.7:8061"},  # the server is bound to the loopback only
    *({"Origin": "http://evil.example"}, {"Origin": "null"}, TUNNEL | {"Origin": "http://localhost:9001"}),
    *({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}),  # same-site: another port of this machine
)


def test_requests_of_other_sites():
    with served_alone() as client:
        state = client.settled()
        for headers in ALLOWED:
            assert client.ask("/api/state", **headers).status == 200, headers
        for headers in REFUSED:
            assert client.ask("/api/state", **headers).status == 403, headers
            assert client.ask("/api/act", {"version": state["version"], "action": 0}, **headers).status == 403, headers
        assert client.state() == state


def test_a_server_at_all_addresses_takes_any_address():
    with served(WebTable(seated(2), 1), host="0.0.0.0") as (client,):
        assert client.ask("/api/state", Host="10.0.0.7:8061").status == 200
        assert client.ask("/api/state", Host="evil.example").status == 403


def test_headers_keep_the_page_to_itself():
    with served_alone() as client:
        for path in ("/", "/play.js", "/play.css", "/board.ttf", "/api/state", "/nowhere"):
            answer = client.ask(path)
            headers = {name.lower(): value for name, value in answer.headers}
            assert answer.status == (404 if path == "/nowhere" else 200)
            assert headers["cache-control"] == "no-store" and "default-src 'none'" in headers["content-security-policy"]
            assert not {"access-control-allow-origin", "set-cookie", "server", "date"} & set(headers)
            if path != "/api/state":
                assert client.key.encode() not in answer.body and b"@@" not in answer.body
        assert client.ask("/api/state", method="OPTIONS").status == 405
        assert client.ask("/api/act", method="GET").status == 405


def test_bodies():
    with served_alone() as client:
        state = client.settled()
        keys = b'{"version": 1}', b'{"version": 1, "action": 1, "seat": 1}', b'{"version": "1", "action": 1}'
        for raw in (b"", b"{", b"[]", b"\xff", b"[" * 4000, *keys):
            assert client.ask("/api/act", raw=raw).status == 400, raw[:40]
        assert client.ask("/api/act", raw=b'{"version": 0, "action": ' + b"9" * 4050 + b"}").status == 409
        assert client.ask("/api/act", raw=b" " * 5000).status == 413
        good = json.dumps({"version": state["version"], "action": 0}).encode()
        for kind in (None, "text/plain", "application/x-www-form-urlencoded"):
            assert client.ask("/api/act", raw=good, Content_Type=kind).status == 415
        for after in ("x", "-1", "1.5", "9" * 30, "%C2%B2", ""):
            assert client.ask(f"/api/state?after={after}").status == 400
        for seating in ("you", [1, 2]):
            assert client.send("new", state, seating=seating).status == 400
        assert client.send("pace", state, pace=0.123).status == 422
        assert client.state() == state


def test_hints_taking_back_and_a_new_match(tmp_path):
    """The adviser uses the seat's view; undo restores the previous state."""
    table = WebTable(seated(2), 1, practice=True, adviser=Thinker(None, worlds=20), record=tmp_path / "m.jsonl")
    table.warm_up()
    with served(table) as (client,):
        before = client.settled()
        assert not before["can_undo"] and client.send("undo", before).error == "there is nothing to take back"
        hint = client.send("hint", before).json
        assert set(hint["values"]) == {str(option["action"]) for option in before["options"]} == set(hint["names"])
        assert client.send("act", before, action=before["options"][0]["action"]).status == 204
        after = client.settled()
        assert len(after["log"]) > len(before["log"]) and after["can_undo"]
        assert client.send("undo", after).status == 204
        back = client.settled()
        assert {**back, "version": 0} == {**before, "version": 0}
        assert client.send("pace", back, pace=0.25).status == 204 and client.state()["pace"] == 0.25
        assert client.send("new", client.state(), seating=["greedy", "random", PERSON]).status == 204
        other = client.settled()
        assert (other["match"], other["seat"], len(other["hands"])) == (2, 2, 3)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["m-2.jsonl", "m.jsonl"]
        for seating, message in (
            (["you", "you"], "the number of people must stay the same: 1"),
            (["greedy", "greedy"], "the number of people must stay the same"),
            (["you"], "two to four players"),
            (["you"] + ["greedy"] * 4, "two to four players"),
            (["you", "exec:touch /tmp/x"], "cannot be seated here"),
            (["you", "tests.play.web.support:Scripted:script=1"], "cannot be seated here"),
            (["you", "partnership-v1"], "cannot be seated here"),
        ):
            answer = client.send("new", other, seating=seating)
            assert answer.status == 409 and message in answer.error
        assert client.state() == other


def test_waiting_requests_get_the_new_state():
    with served_alone() as client:
        state, told = client.settled(), []
        waiting = [threading.Thread(target=lambda: told.append(client.state(state["version"]))) for _ in range(3)]
        for thread in waiting:
            thread.start()
        assert client.send("act", state, action=state["options"][0]["action"]).status == 204
        for thread in waiting:
            thread.join(15)
        assert len(told) == 3 and all(news["version"] > state["version"] for news in told)


def test_an_agent_that_fails_stops_the_match_and_not_the_server():
    with served(WebTable([PERSON, "tests.play.web.support:Scripted:script=0-0"], 3)) as (client,):
        state = client.settled()
        while state["phase"] == "person":
            client.send("act", state, action=state["options"][0]["action"])
            state = client.settled()
        assert state["phase"] == "error" and "agent scripted at player_1" in state["error"]
        assert client.send("new", state, seating=[PERSON, "greedy"]).status == 204
        assert client.settled()["error"] is None


def test_any_exception_of_an_agent_is_reported():
    table = WebTable([PERSON, "tests.play.web.support:Scripted:script=0-0"], 3)
    table.sitting._agents[1].act = lambda view: 1 / 0
    while table.phase in ("person", "agents"):
        table.act(0, table.sitting.match.legal_actions()[0]) if table.phase == "person" else table.step()
    assert table.error.endswith("at player_1: ZeroDivisionError: division by zero")


def test_a_record_that_cannot_be_saved_does_not_stop_play(tmp_path):
    table = WebTable(seated(2), 1, record=tmp_path / "there" / "match.jsonl")
    table.save()
    with served(table) as (client,):
        state = client.settled()
        (tmp_path / "there" / "match.jsonl").unlink()
        (tmp_path / "there").rmdir()
        (tmp_path / "there").write_text("in the way")
        assert client.send("act", state, action=state["options"][0]["action"]).status == 204
        assert "the record cannot be saved" in client.settled()["warning"]
