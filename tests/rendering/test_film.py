"""Films: one picture per move, in both formats, of all hands or of one seat's view."""

import numpy as np
import pytest
from PIL import Image

from fiveup_env.cli.app import run_fiveup as run
from fiveup_env.records import parse_record
from fiveup_env.rendering.render_modes import rgb_array
from fiveup_env.rendering.replays import film, record_frames
from fiveup_env.rendering.scene_svg import svg
from tests.records.support import played


@pytest.fixture(scope="module")
def record():
    return parse_record(played(2, 0, 30).text())


def pictures(path):
    with Image.open(path) as image:
        found = []
        for number in range(image.n_frames):
            image.seek(number)
            found.append((np.asarray(image.convert("RGB"), np.int64), image.info["duration"]))
        return found


@pytest.mark.parametrize("name", ["a.gif", "a.png"])
def test_one_picture_per_move(name, record, tmp_path):
    first_round = [f for f in record_frames(record) if f.move is None or f.move.round_number == 1]
    assert film(record, tmp_path / name, seconds=0.5, width=960, round_number=1) == len(first_round)
    shown = pictures(tmp_path / name)
    assert len(shown) == len(first_round) < len(record.moves)
    assert [round(time) for _, time in shown] == [500] * (len(shown) - 1) + [1500]
    for frame, (picture, _) in zip(first_round, shown, strict=True):
        assert np.abs(picture - rgb_array(svg(frame.opened()))).mean() < 3
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_seat_sees_its_own_hand(record, tmp_path):
    """R2.2."""
    film(record, tmp_path / "all.gif", round_number=1, width=240)
    film(record, tmp_path / "seat.gif", round_number=1, width=240, seat=1, theme="dark")
    both = pictures(tmp_path / "all.gif"), pictures(tmp_path / "seat.gif")
    assert len(both[0]) == len(both[1]) and both[0][0][0].mean() > 150 > 100 > both[1][0][0].mean()
    dark = rgb_array(svg(next(record_frames(record)).seen_by(1), "dark"))
    with Image.fromarray(dark) as image:
        small = np.asarray(image.resize((240, 180)), np.int64)
    assert np.abs(both[1][0][0] - small).mean() < 6


def test_command_and_bad_input(record, tmp_path, capsys):
    played(2, 0, 30).save(tmp_path / "m.jsonl")
    base = ["replay", str(tmp_path / "m.jsonl"), "--quiet"]
    assert run([*base, "--gif", str(tmp_path / "a.gif"), "--round", "1", "--width", "120"]) == 0
    assert pictures(tmp_path / "a.gif")[0][0].shape == (90, 120, 3)
    capsys.readouterr()
    for arguments, message in (
        (["--gif", str(tmp_path / "a.mp4")], "a film ends in .gif, .png, .apng, not"),
        (["--gif", str(tmp_path / "a.gif"), "--round", "99"], "the record has no round 99: its last round is"),
        (["--gif", str(tmp_path / "a.gif"), "--seat", "3"], "seat must be from 0 to 1, not 3"),
        (["--gif", str(tmp_path / "a.gif"), "--theme", "pink"], "there is no theme 'pink'"),
        (["--gif", str(tmp_path / "no" / "a.gif"), "--round", "1"], "cannot write"),
        (["--save", str(tmp_path / "b.jsonl")], "--save keeps a record with thoughts"),
        (["--think", "nobody"], "there is no agent 'nobody'"),
        (["--think", "partnership-v1"], "plays matches of 4 players, not of 2"),
    ):
        assert run([*base, *arguments]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(ValueError, match="seconds must be"):
        film(record, "a.gif", seconds=0)
    with pytest.raises(ValueError, match="width must be"):
        film(record, "a.gif", width=100)
