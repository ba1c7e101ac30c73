"""The replay page: small, self-contained, and in a browser it shows the numbers of the record."""

import re

import pytest

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.records import Recorder, parse_record
from fiveup_env.rendering.replays import mistakes, replay_page
from fiveup_env.rendering.scene import event_text
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from tests.records.support import played
from tests.rendering.browser import browser as browser
from tests.rendering.measure import long_record


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


def test_nothing_is_loaded_and_text_is_escaped():
    text = replay_page(with_thoughts())
    assert not re.search(r"(src|href)=[\"']?(https?:)?//|@import|@@", text)
    assert text.count("</script>") == 2 and "<i>one" not in text.replace('"<i>one', "")


def test_a_thousand_moves_stay_under_three_megabytes(browser, tmp_path):
    """The page opens at the first move. `python -m tests.rendering.measure` measures the time."""
    file = tmp_path / "long.html"
    file.write_text(replay_page(long_record()), encoding="utf-8")
    assert file.stat().st_size < 3 * 2**20
    browser.get(file.as_uri())
    assert browser.find_element("id", "where").text == "move 0 of 1000"


def test_command(tmp_path, capsys):
    played(2, 0, 10).save(tmp_path / "match.jsonl")
    assert run(["replay", str(tmp_path / "match.jsonl"), "--quiet", "--html", str(tmp_path / "match.html")]) == 0
    assert (tmp_path / "match.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    capsys.readouterr()
    wish = ["replay", str(tmp_path / "match.jsonl"), "--html", str(tmp_path / "match.html")]
    assert run(wish) == 0
    told = capsys.readouterr()
    assert told.out.count("\n") == 1 and told.err == f"written: {tmp_path / 'match.html'}\n"
    assert run([*wish, "--boards"]) == 0
    assert capsys.readouterr().out.count("\n") > 20
    assert run(["replay", str(tmp_path / "match.jsonl"), "--html", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_mistakes_by_hand():
    """Costliest first; here the value of an action is its number."""
    record = with_thoughts()
    found = mistakes(record)
    for number, cost, best in found:
        values = record.moves[number - 1].info["values"]
        assert best == max(map(int, values)) and cost == pytest.approx(best - record.moves[number - 1].action)
    assert [cost for _, cost, _ in found] == sorted((cost for _, cost, _ in found), reverse=True)
    assert len(found) == sum(move.info is not None for move in record.moves) > 5


def test_in_a_browser(browser, tmp_path):
    """Every number on the page is in the record: steps, scores, tiles, thoughts, the curve, the mistakes."""
    record = with_thoughts()
    file = tmp_path / "match.html"
    file.write_text(replay_page(record), encoding="utf-8")
    browser.get(file.as_uri())
    shown = browser.find_element("tag name", "body").get_attribute
    click = lambda name: browser.find_element("id", name).click()  # noqa: E731
    text = lambda name: browser.find_element("id", name).text  # noqa: E731
    count = lambda selector: len(browser.find_elements("css selector", selector))  # noqa: E731
    assert shown("data-move") == "0" and text("where") == "move 0 of 60"
    for number, (move, before, after) in enumerate(record.positions(), 1):
        if number > 25:
            break
        click("forward")
        assert shown("data-move") == str(number) and shown("data-round") == str(move.round_number)
        assert shown("data-scores").split() == [f"{score / 5:g}" for score in after.scores]
        assert count("#picture g:first-of-type > rect.tile") == len(after.layout.tiles)
        # every hand is shown small, and that of the seat to act large too
        assert count("#picture rect.tile") == len(after.layout.tiles) + sum(map(len, after.hands)) + len(
            after.hands[after.turn]
        )
        picture = text("picture")
        assert f"ends {after.layout.end_sum}" in picture and f"boneyard {len(after.boneyard)}" in picture
        assert f"player_{move.seat}" in text("told") and describe(move.action) in text("told")
        for event in move.events:
            assert event_text(event) in text("told")
        assert ("Policy" in text("info")) == (move.info is not None)
        if move.info is not None:
            for action in before.legal_actions():
                mark = "→ " if action == move.action else ""
                share = f"{100 / len(before.legal_actions()):.1f}%"
                assert f"{mark}{describe(action)} {share}" in text("info")
            assert "[1|4] 25%" in text("info") and "a < b" in text("info")
    dearest = mistakes(record)[:5]
    assert [int(b.get_attribute("data-move")) for b in browser.find_elements("css selector", "#mistakes button")] == [
        number for number, *_ in dearest
    ]
    browser.find_element("css selector", "#mistakes button").click()
    assert shown("data-move") == str(dearest[0][0])
    lines = browser.find_elements("css selector", "#mistakes li")
    for line, (number, _, best) in zip(lines, dearest, strict=True):
        assert f"move {number}" in line.text and f"less than {describe(best)}" in line.text
    told = sum(move.info is not None for move in record.moves)
    for side in range(3):
        curve = browser.find_element("css selector", f"#chart path.side{side}").get_attribute("d")
        assert len(re.findall(r"[ML]", curve)) == told
    assert count("#chart .mistake") == 5
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
    browser.save_screenshot(str(tmp_path / "page.png"))
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
