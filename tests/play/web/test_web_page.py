"""The page of `fiveup play --web` in a headless browser: mouse, keyboard, reloads, several tabs."""

import time

import pytest

from fiveup_env.play.thoughts import Thinker
from fiveup_env.play.web.web_table import PERSON, WebTable
from fiveup_env.records import read_record
from fiveup_env.rules.match import Match
from tests.play.web.support import seated, served
from tests.rendering.browser import browser as browser


def wait_for(condition, seconds=30):
    """Wait until a condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


class Page:
    """One tab with the page of a person."""

    def __init__(self, browser, client):
        self.browser, self.client = browser, client
        self.open()

    def open(self):
        self.browser.get("about:blank")
        self.browser.get_log("browser")  # drop errors of earlier pages
        self.browser.get(f"http://127.0.0.1:{self.client.port}/#{self.client.key}")
        self.ready()

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def text(self, name):
        return self.browser.find_element("id", name).text

    def data(self):
        return self.browser.execute_script("return Object.assign({}, document.body.dataset)")

    def ready(self, version=0):
        """Wait until the page shows a newer version and no agent has to move."""
        wait_for(lambda: int(self.data().get("version", 0)) > version and self.data()["phase"] != "agents", 60)
        return self.data()

    def click(self, selector):
        self.browser.find_element("css selector", selector).click()

    def play(self, number):
        """One move by clicks: a tile, and one of its places, on the board or by its button."""
        version = int(self.data()["version"])
        self.click("#hand button:not(:disabled)")
        if self.all("#places button"):
            assert len(self.all("#places button")) == len(self.all("#board .target")) or not self.all("#board .tile")
            self.click("#board .target" if number % 2 and self.all("#board .target") else "#places button")
        return self.ready(version)


@pytest.mark.parametrize(("num_players", "seat", "scores"), [(2, 0, [0, 0]), (4, 2, [240, 235])])
def test_a_whole_match_by_clicks_with_a_reload(browser, tmp_path, num_players, seat, scores):
    """R3.1, R6.2: the page shows the numbers of the match, and the record is saved."""
    start = Match(num_players, seed=7, scores=scores)
    table = WebTable(seated(num_players, seat), 7, record=tmp_path / "match.jsonl", start=start)
    with served(table) as (client,):
        page, moves, reloads = Page(browser, client), 0, 0
        data = page.ready()
        while data["phase"] != "over":
            shown = table.shown
            assert data["scores"].split() == [f"{score / 5:g}" for score in shown.scores]
            assert len(page.all("#board .tile")) == len(shown.layout.tiles)
            assert len(page.all("#hand .tile")) == len(shown.hands[seat])
            held = sum(len(hand) for other, hand in enumerate(shown.hands) if other != seat)
            faces_and_backs = len(page.all("#others .tile")), len(page.all("#others .back"))
            assert faces_and_backs == ((held, 0) if data["phase"] == "next" else (0, held))
            if data["phase"] == "next":
                assert f"ends {shown.layout.end_sum} " in page.text("sum")
                page.click("#next")
                data = page.ready(int(data["version"]))
                continue
            data = page.play(moves)
            moves += 1
            if moves in (3, 11):
                seen = {name: page.text(name) for name in ("scores", "sum", "log", "others", "status")}
                browser.refresh()
                assert page.ready()["version"] == data["version"]
                assert {name: page.text(name) for name in seen} == seen
                reloads += 1
        assert reloads and f"wins with exactly {table.sitting.match.variant.target} points" in page.text("status")
        record = read_record(tmp_path / "match.jsonl")
        assert record.final == table.sitting.match and record.final.winner is not None
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_by_keyboard(browser):
    table = WebTable(seated(3), 2, practice=True, adviser=Thinker(None, worlds=8))
    table.warm_up()
    with served(table) as (client,):
        page = Page(browser, client)
        body = browser.find_element("tag name", "body")
        for _ in range(12):
            data = page.ready()
            if data["phase"] == "over":
                break
            if data["phase"] == "next":
                body.send_keys("n")
            else:
                body.send_keys("\ue014")  # right: the first playable tile
                browser.switch_to.active_element.send_keys("\ue007")  # Enter
                if page.all("#places button"):
                    browser.switch_to.active_element.send_keys("\ue014", "\ue007")
            page.ready(int(data["version"]))
        version, moves = int(page.ready()["version"]), len(table.sitting.recorder.lines)
        body.send_keys("u")
        page.ready(version)
        assert len(table.sitting.recorder.lines) < moves
        if page.data()["phase"] == "person":
            body.send_keys("h")
            wait_for(lambda: page.all("#advice tr.best"))
            assert len(page.all("#advice tr")) == 1 + len(table.sitting.match.legal_actions())
            assert len(page.all("#hand .best")) == 1


def test_two_tabs(browser):
    """A move in one tab shows in the other; a click on an outdated position does nothing."""
    table = WebTable(seated(2), 9)
    with served(table) as (client,):
        first = Page(browser, client)
        one = browser.current_window_handle
        browser.switch_to.new_window("tab")
        try:
            second = Page(browser, client)
            data = second.play(0)
            browser.switch_to.window(one)
            assert first.ready(int(data["version"]) - 1)["version"] == data["version"]
            moves = table.sitting.recorder.moves
            browser.execute_script("state.version -= 1; act(state.options[0].action)")
            wait_for(lambda: "has changed in the meantime" in first.text("trouble"))
            assert table.sitting.recorder.moves == moves
        finally:
            for handle in browser.window_handles:
                if handle != one:
                    browser.switch_to.window(handle)
                    browser.close()
            browser.switch_to.window(one)


def test_a_new_match_in_another_seat(browser):
    table = WebTable([PERSON, "random"], 9)
    with served(table) as (client,):
        page = Page(browser, client)
        version = int(page.data()["version"])
        page.click("#new")
        browser.execute_script(
            "const set = (element, value) => { element.value = value; element.dispatchEvent(new Event('change')); };"
            "set(at('players'), '3');"
            "const seats = [...at('seats').querySelectorAll('select')];"
            "['heuristic', 'random', 'you'].forEach((name, seat) => { seats[seat].value = name; });"
        )
        page.click("#start")
        data = page.ready(version)
        assert (data["match"], table.seating) == ("2", ("heuristic", "random", PERSON))
        assert len(page.all("#others .other")) == 2


@pytest.mark.parametrize("width", [480, 1400])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_narrow_and_wide_light_and_dark(browser, tmp_path, width, theme):
    table = WebTable(seated(4), 3, practice=True)
    with served(table) as (client,):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        try:
            page = Page(browser, client)
            for number in range(4):
                if page.data()["phase"] == "person":
                    page.play(number)
            assert browser.execute_script("return document.documentElement.dataset.theme") == theme
            wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width
            low = [button.rect["y"] + button.rect["height"] for button in page.all("#hand button")]
            assert low and max(low) < 900, "the hand is on the screen"
            browser.save_screenshot(str(tmp_path / "page.png"))
        finally:
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_without_the_key(browser):
    with served(WebTable(seated(2), 1)) as (client,):
        browser.get("about:blank")
        browser.get(f"http://127.0.0.1:{client.port}/#wrong")
        wait_for(lambda: "no seat at this table" in browser.find_element("id", "trouble").text)
        browser.get_log("browser")  # drop the error of the refused request
