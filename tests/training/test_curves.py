"""Learning curves: means over seeds, the plot, and errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import typer

from training.curves import curve_of, draw_curves, main, mean_and_spread


def points(*wins: float) -> list[dict[str, float]]:
    return [{"samples": 1e6 * (i + 1), "seconds": 60.0 * (i + 1), "greedy": share} for i, share in enumerate(wins)]


def run_folder(folder: Path, script: str, seed: int, entries: list[dict[str, float]]) -> Path:
    folder.mkdir()
    (folder / "config.yaml").write_text(f"script: {script}\nseed: {seed}\nnetwork: {{width: 8}}\n")
    (folder / "curve.json").write_text(json.dumps(entries))
    return folder


def test_mean_and_spread_over_seeds_of_unequal_length():
    x, mean, low, high = mean_and_spread([points(0.5, 0.7), points(0.6, 0.8), points(0.4)], "samples")
    assert list(x) == [1e6, 2e6]
    assert mean == pytest.approx([50, 75]) and low == pytest.approx([40, 70]) and high == pytest.approx([60, 80])


def test_the_picture_comes_from_runs_and_again_from_the_data_alone(tmp_path):
    pytest.importorskip("matplotlib")
    imitation = [{"passes": 2e6, "seconds": 90.0, "greedy": 0.7}, {"passes": 8e6, "seconds": 400.0, "greedy": 0.8}]
    ppo = [{"decisions": 1e6, "seconds": 100.0, "greedy": 0.4}]
    folders = [run_folder(tmp_path / "a", "imitate", 0, imitation), run_folder(tmp_path / "b", "selfplay_ppo", 1, ppo)]
    picture, again, data = tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "curves.json"
    main(folders, picture, data)
    assert [(run["script"], run["seed"]) for run in json.loads(data.read_text())] == [
        ("imitate", 0),
        ("selfplay_ppo", 1),
    ]
    main(None, again, data)
    assert picture.read_bytes() == again.read_bytes()
    drawn = picture.read_text()
    assert "imitation of search (1 seed)" in drawn and "wins against greedy (%)" in drawn
    assert len(drawn) < 100_000


def test_a_folder_without_a_curve_is_named(tmp_path):
    with pytest.raises(typer.BadParameter, match=r"nothing is not the folder of a run with a curve"):
        curve_of(tmp_path / "nothing")
    with pytest.raises(typer.BadParameter, match="name folders of runs, or a file with --data"):
        main(None, tmp_path / "a.svg", None)


def test_one_script_alone_is_drawn_too(tmp_path):
    pytest.importorskip("matplotlib")
    draw_curves([{"script": "imitate", "points": points(0.5)}], tmp_path / "one.svg")
    assert "<svg" in (tmp_path / "one.svg").read_text()


def test_without_matplotlib_one_line_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    data = tmp_path / "curves.json"
    data.write_text("[]")
    with pytest.raises(SystemExit, match=r"^matplotlib is not installed: pip install 'fiveup-env\[notebooks\]'$"):
        main(None, tmp_path / "a.svg", data)
