"""The replay page: small, alone, and in a browser it shows the numbers of the record."""

import re
import time

import pytest

from fiveup_env.cli import run
from fiveup_env.records import Recorder, parse_record
from fiveup_env.rendering.page import page
from fiveup_env.rules.match import Match
from tests.records.support import played
from tests.rendering.browser import browser as browser


def with_thoughts():
    recorder = Recorder(Match(3, seed=6), ["<i>one</i>", "two", "</script>"])
    while recorder.moves < 60:
        legal = recorder.match.legal_actions()
        share = 1 / len(legal)
        info = {
            "probabilities": dict.fromkeys(legal, share),
            "values": {a: float(a) for a in legal},
            "win": [share, 1 - share, 0],
            "belief": [{}, {"1|4": 0.25}, {}],
            "note": "a < b",
        }
        recorder.play(legal[0], info if len(legal) > 1 else None)
    return parse_record(recorder.text())


def test_nothing_is_loaded_and_nothing_breaks_out():
    text = page(with_thoughts())
    assert not re.search(r"(src|href)=[\"']?(https?:)?//|@import|@@", text)
    assert text.count("</script>") == 2 and "<i>one" not in text.replace('"<i>one', "")


def test_a_thousand_moves_stay_under_three_megabytes():
    recorder = Recorder(Match(2, seed=1, scores=[-3000, -3000]))
    while recorder.moves < 1000 and recorder.match.winner is None:
        recorder.play(recorder.match.legal_actions()[0])
    began = time.process_time()
    text = page(parse_record(recorder.text()))
    assert recorder.moves == 1000 and len(text.encode()) < 3 * 2**20
    assert (time.process_time() - began) / 1000 < 0.1


def test_command(tmp_path, capsys):
    played(2, 0, 10).save(tmp_path / "match.jsonl")
    assert run(["replay", str(tmp_path / "match.jsonl"), "--quiet", "--html", str(tmp_path / "match.html")]) == 0
    assert (tmp_path / "match.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run(["replay", str(tmp_path / "match.jsonl"), "--html", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_in_a_browser(browser, tmp_path):
    record = with_thoughts()
    file = tmp_path / "match.html"
    file.write_text(page(record), encoding="utf-8")
    browser.get(file.as_uri())
    shown = browser.find_element("tag name", "body").get_attribute
    click = lambda name: browser.find_element("id", name).click()  # noqa: E731
    text = lambda name: browser.find_element("id", name).text  # noqa: E731
    assert shown("data-move") == "0" and text("where") == "move 0 of 60"
    for number, (move, _, after) in enumerate(record.positions(), 1):
        if number > 25:
            break
        click("forward")
        assert shown("data-move") == str(number) and shown("data-round") == str(move.round_number)
        assert shown("data-scores").split() == [f"{score / 5:g}" for score in after.scores]
        board = browser.find_element("id", "picture")
        tiles = len(board.find_elements("css selector", "g:first-of-type > rect.tile"))
        assert tiles == len(after.layout.tiles)
        assert f"player_{move.seat}" in text("told")
        assert ("Probabilities" in text("info")) == (move.info is not None)
    scoring = [i for i, move in enumerate(record.moves, 1) if move.events]
    click("first")
    click("later")
    assert shown("data-move") == str(scoring[0])
    click("later")
    click("earlier")
    assert shown("data-move") == str(scoring[0])
    assert not browser.find_elements("css selector", "#picture .back")
    click("hands")
    assert browser.find_elements("css selector", "#picture .back")
    click("last")
    assert shown("data-move") == "60"
    click("back")
    assert shown("data-move") == "59"
    assert browser.find_elements("css selector", "#chart path")
    browser.save_screenshot(str(tmp_path / "page.png"))
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_it_opens_in_two_seconds(browser, tmp_path):
    file = tmp_path / "long.html"
    recorder = Recorder(Match(2, seed=1, scores=[-3000, -3000]))
    while recorder.moves < 1000:
        recorder.play(recorder.match.legal_actions()[0])
    file.write_text(page(parse_record(recorder.text())), encoding="utf-8")
    browser.get(file.as_uri())
    spent = browser.execute_script("return performance.getEntriesByType('navigation')[0].domComplete")
    if spent > 2000:
        pytest.skip(f"the machine is busy: {spent:.0f} ms")
    assert browser.find_element("id", "where").text == "move 0 of 1000"
