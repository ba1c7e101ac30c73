"""Damaged checkpoints are detected, and the previous one is used."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch")

import numpy as np
import torch

from fiveup_env.system.training_scripts import ConfigError
from training._checkpoint import (
    DAMAGED,
    LATEST,
    PREVIOUS,
    load_checkpoint,
    random_state,
    save_checkpoint,
    set_random_state,
    write_file,
)


@pytest.fixture
def folder(tmp_path):
    """A folder with two checkpoints."""
    for number in (1, 2):
        save_checkpoint(tmp_path, {"number": number, "weights": torch.arange(1000)})
    return tmp_path


def load(folder) -> tuple[int | None, list[str]]:
    """Return the number of the loaded checkpoint, and the warnings."""
    said: list[str] = []
    state = load_checkpoint(folder, said.append)
    return state and state["number"], said


def damage(path, how) -> None:
    content = bytearray(path.read_bytes())
    if how == "flipped":
        content[len(content) // 2] ^= 1
    elif how == "another file":
        content = bytearray(b"PK and so on")
    else:
        del content[how if isinstance(how, int) else int(how * len(content)) :]
    path.write_bytes(content)


def test_the_latest_is_loaded(folder):
    assert load(folder) == (2, [])
    assert not list(folder.glob("*.tmp"))


def test_none_was_written_yet(tmp_path):
    assert load(tmp_path) == (None, [])


@pytest.mark.parametrize("how", [0, 10, 30, 0.5, -1, "flipped", "another file"])
def test_a_damaged_one_is_passed_over(folder, how):
    damage(folder / LATEST, how)
    number, said = load(folder)
    assert number == 1
    (line,) = said
    assert str(folder / LATEST) in line and "damaged" in line and "\n" not in line
    assert (folder / DAMAGED).exists()
    save_checkpoint(folder, {"number": 3})
    assert load(folder) == (3, [])
    damage(folder / LATEST, 0.5)
    assert load(folder)[0] == 1  # and not the damaged one


def test_both_are_damaged(folder):
    damage(folder / LATEST, 0.5)
    damage(folder / PREVIOUS, "flipped")
    with pytest.raises(ConfigError, match="no checkpoint to continue from") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_killed_between_the_two_renames(folder):
    os.replace(folder / LATEST, folder / PREVIOUS)
    assert load(folder) == (2, [])


def test_killed_while_writing(folder):
    (folder / f"{LATEST}.tmp").write_bytes(b"half of")
    assert load(folder) == (2, [])
    save_checkpoint(folder, {"number": 3})
    assert load(folder) == (3, [])


def test_nothing_from_the_file_is_run(folder):
    class Evil:
        def __reduce__(self):
            return os.system, ("true",)

    save_checkpoint(folder, {"number": Evil()})
    with pytest.raises(Exception, match="Weights only load failed"):
        load(folder)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"


def test_random_states(tmp_path):
    torch.manual_seed(1)
    np.random.seed(2)  # noqa: NPY002
    np.random.standard_normal()  # noqa: NPY002
    save_checkpoint(tmp_path, random_state())
    expected = torch.rand(5), np.random.standard_normal(5)  # noqa: NPY002
    set_random_state(load_checkpoint(tmp_path, print))
    assert torch.equal(torch.rand(5), expected[0])
    assert (np.random.standard_normal(5) == expected[1]).all()  # noqa: NPY002
