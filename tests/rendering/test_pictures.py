"""Pictures show the table in display points and nothing that is hidden from the seat."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from fiveup_env import fiveup_v0
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.rendering.render_modes import RENDER_MODES, SHAPE, RenderingError, png, rgb_array
from fiveup_env.rendering.scene import Scene, marks
from fiveup_env.rendering.scene_svg import THEMES, svg
from fiveup_env.rendering.text_board import unicode_board
from fiveup_env.rules.match import Match
from fiveup_env.views.view import View
from tests.rendering.layouts import match_of
from tests.rules.support import PLAYERS, positions
from tests.rules.test_worked_positions import POSITIONS

SVG = "{http://www.w3.org/2000/svg}"


def classes(picture: str, kind: str) -> list[ET.Element]:
    return [element for element in ET.fromstring(picture).iter() if kind in element.get("class", "").split()]


@pytest.mark.parametrize("position", POSITIONS, ids=range(len(POSITIONS)))
@pytest.mark.parametrize("theme", THEMES)
def test_worked_positions(position, theme):
    """R4.4, R4.5, R5.1: counted ends with their values, hollow dots at the other free places, spinners, newest tile."""
    match = match_of(position)
    scene = Scene.of_match(match)
    picture = svg(scene, theme)
    values = sorted(int(element.text) for element in classes(picture, "on"))
    assert values == sorted(end["value"] for end in position["contributions"]) and sum(values) == position["end_sum"]
    assert len(classes(picture, "open")) == len(position["free_places"]) - len(values)
    on_board = ET.fromstring(picture).findall(f"{SVG}g")[0]
    tiles = [e.get("class").split() for e in on_board.findall(f"{SVG}rect") if "tile" in e.get("class").split()]
    assert len(tiles) == len(position["tiles"])
    assert sum("spinner" in tile for tile in tiles) == len(position["spinners"])
    assert sum("new" in tile for tile in tiles) == 1 and scene.newest == tuple(position["played"])
    assert f"ends {position['end_sum']}" in picture


@pytest.mark.parametrize("position", POSITIONS, ids=range(len(POSITIONS)))
def test_worked_positions_in_characters(position):
    rows = "\n".join(unicode_board(Scene.of_match(match_of(position))))
    assert rows.count("●") == len(position["contributions"])
    assert rows.count("○") == len(position["free_places"]) - len(position["contributions"])
    assert sorted(re.findall(r"\d", re.sub(r"●\d*", "", rows))) == sorted(
        str(pip) for tile in position["tiles"] for pip in tile
    )


@pytest.mark.parametrize("num_players", PLAYERS)
def test_every_position_of_a_match(num_players):
    """R2.2, D5, D6: marks add up to the end sum, no hidden tile is in the picture."""
    for i, match in enumerate(positions(num_players, 7)):
        if i % 5:
            continue
        scene = Scene.of_match(match)
        assert sum(mark.value or 0 for mark in marks(scene.layout)) == match.layout.end_sum
        picture = svg(Scene.of_view(View.of(match)))
        ET.fromstring(picture)
        shown = len(classes(picture, "tile")) - len(match.layout.tiles)
        if match.winner is None:
            hand = len(match.hands[match.turn])
            assert shown == 2 * hand and len(classes(picture, "back")) == sum(map(len, match.hands)) - hand
        for side, score in enumerate(match.scores):
            assert f">{score / 5:g} of 61<" in picture, side


@pytest.mark.parametrize("num_players", PLAYERS)
def test_pictures_do_not_depend_on_hidden_tiles(num_players):
    """R2.2, D6: swapping hidden tiles between the other hands and the boneyard changes nothing."""
    match = Match(num_players, seed=4)
    hands = [list(hand) for hand in match.hands]
    seat = match.opener
    hidden = [t for s, hand in enumerate(hands) if s != seat for t in hand] + list(match.boneyard)
    pictures = []
    for shift in range(3):
        turned = hidden[shift:] + hidden[:shift]
        dealt = [hands[s] if s == seat else [turned.pop() for _ in hands[s]] for s in range(num_players)]
        other = Match.from_deal(dealt, turned, seat)
        other.play(match.legal_actions()[0])
        pictures.append((svg(Scene.of_view(View.of(other, seat))), unicode_board(Scene.of_view(View.of(other, seat)))))
    assert pictures[0] == pictures[1] == pictures[2]


def test_themes_names_and_text_are_escaped():
    match = Match(2, seed=0)
    picture = svg(Scene.of_match(match, names=['<b>&"', "x" * 300]), "dark")
    ET.fromstring(picture)
    assert "<b>" not in picture and "…" in picture
    with pytest.raises(ValueError, match="there is no theme 'pink': 'light', 'dark'"):
        svg(Scene.of_match(match), "pink")


def test_pixels():
    match = Match(4, seed=0)
    light, dark = (rgb_array(svg(Scene.of_match(match), theme)) for theme in ("light", "dark"))
    assert light.shape == dark.shape == SHAPE and light.dtype == np.uint8
    assert light.mean() > 150 > 100 > dark.mean()
    assert len(np.unique(light.reshape(-1, 3), axis=0)) > 20
    names = [rgb_array(svg(Scene.of_match(match, names=[name] * 4))) for name in ("a", "b")]
    assert (names[0] != names[1]).any(), "text is drawn, without any font of the system"
    assert png(svg(Scene.of_match(match)), width=480)[16:24] == (480).to_bytes(4, "big") + (360).to_bytes(4, "big")


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_gymnasium_modes(mode):
    env = FiveUpEnv(3, render_mode=mode)
    env.reset(seed=0)
    frame = env.render()
    if mode == "human":
        assert frame is None
    elif mode == "rgb_array":
        assert frame.shape == SHAPE and frame.dtype == np.uint8
    else:
        assert frame.startswith("<svg" if mode == "svg" else "Round 1")
    env.close()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr("fiveup_env.rendering.render_modes.find_spec", lambda name: None)
    with pytest.raises(RenderingError, match=r"pixels need resvg-py, .* pip install 'fiveup-env\[render\]'"):
        FiveUpEnv(2, render_mode="rgb_array")
    with pytest.raises(RenderingError, match=r"pygame-ce, .* pip install 'fiveup-env\[render,window\]'"):
        fiveup_v0.env(render_mode="human")
    FiveUpEnv(2, render_mode="svg")
