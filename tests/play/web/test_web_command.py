"""`fiveup play --web` from the command line."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.play.web import web_command as command
from fiveup_env.play.web.web_table import PERSON, WebTable
from fiveup_env.records import read_record
from tests.play.web.support import Client


def test_it_serves_until_interrupted(tmp_path):
    arguments = ["play", "you", "greedy", "you", "--web", "--port", "0", "--seed", "1", "--hints", "greedy"]
    process = subprocess.Popen(
        [sys.executable, "-m", "fiveup_env.cli.app", *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path[1:]])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        links = re.findall(r"http://127\.0\.0\.1:(\d+)/#(\S+) \(seat (\d)\)", "".join(lines))
        assert [seat for *_, seat in links] == ["0", "2"], lines
        port = int(links[0][0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
            assert b"Five Up" in answer.read()
        clients = [Client(port, key) for _, key, _ in links]
        states = [client.settled() for client in clients]
        assert [state["seat"] for state in states] == [0, 2] and "legal" not in json.dumps(states)
        waiting = threading.Thread(target=lambda: clients[0].ask(f"/api/state?after={states[0]['version']}"))
        waiting.start()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(30) == 0 and rest == "The table is closed.\n", rest
        waiting.join(30)
        (record,) = (tmp_path / "matches").iterdir()
        assert read_record(record).players == ("you", "greedy", "you")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_bad_input(monkeypatch, capsys, tmp_path):
    def refused(*arguments):
        assert run(["play", *arguments, "--web"]) == 2
        return capsys.readouterr().err

    monkeypatch.chdir(tmp_path)
    assert "two to four players" in refused("you")
    assert "one of the players must be 'you'" in refused("greedy", "greedy")
    assert "did you mean 'greedy'?" in refused("you", "gredy")
    assert "there is no agent 'nobody'" in refused("you", "greedy", "--hints", "nobody")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "another --port may be free" in refused("you", "greedy", "--port", port)
    assert "cannot serve at no.such.host.invalid" in refused("you", "greedy", "--host", "no.such.host.invalid")
    (tmp_path / "file").write_text("")
    assert "cannot write file/x.jsonl" in refused("you", "greedy", "--port", "0", "--record", "file/x.jsonl")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert "a web page needs starlette, which is not installed: pip install 'fiveup-env[web]'" in refused(
        "you", "greedy"
    )


def test_seeds_decide_every_match():
    """Later matches follow from the seed too; without a seed every match is random."""

    def deals(seed):
        table = WebTable([PERSON, "random"], seed)
        found = [table.sitting.match.hands]
        for _ in range(2):
            table.new_match()
            found.append(table.sitting.match.hands)
        return found

    assert deals(3) == deals(3) and len(set(deals(3))) == 3
    assert deals(None) != deals(None)
