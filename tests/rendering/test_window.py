"""Render mode "human": a window, opened on a driver without a screen."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from fiveup_env import fiveup_v0
from fiveup_env.envs.gymnasium_single import FiveUpEnv
from fiveup_env.rendering.render_modes import Window

pygame = pytest.importorskip("pygame", reason="the extra window is not installed")


def on_screen():
    """The pixels of the window, [H, W, 3]."""
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


@pytest.mark.parametrize("make", [fiveup_v0.raw_env, FiveUpEnv])
def test_reset_and_step_show_the_frame(make):
    env, pixels = make(render_mode="human"), make(render_mode="rgb_array")
    for e in (env, pixels):
        e.reset(seed=3)
    first = on_screen()
    assert pygame.display.get_driver() == "dummy"
    assert (first == pixels.render()).all() and env.render() is None
    for e in (env, pixels):
        mask = e.unwrapped.last()[0]["action_mask"] if hasattr(e, "last") else e.action_masks()
        e.step(int(np.flatnonzero(mask)[0]))
    assert (on_screen() != first).any() and (on_screen() == pixels.render()).all()
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.render_mode == "human"
        other.close()
    env.close()
    env.close()


def test_a_window_that_was_closed_stays_closed():
    window, frame = Window(fps=1000), np.full((40, 60, 3), 200, np.uint8)
    window.show(frame)
    assert on_screen().shape == (40, 60, 3) and (on_screen() == 200).all()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(frame)
    assert not pygame.display.get_init()
    window.show(frame)
    assert not pygame.display.get_init()
    window.close()


def test_a_frame_waits_for_the_viewer(monkeypatch):
    """Without a screen frames do not wait."""
    frame, window = np.zeros((40, 60, 3), np.uint8), Window(fps=5)
    window.show(frame)
    before = pygame.time.get_ticks()
    window.show(frame)
    monkeypatch.setattr("fiveup_env.rendering.render_modes.SCREENLESS", ())
    began = pygame.time.get_ticks()
    window.show(frame)
    assert pygame.time.get_ticks() - began >= 200 - 25 - (began - before)
    window.close()


def test_a_missing_screen_is_one_line():
    """In a separate process, because pygame chooses its driver once."""
    code = """if True:
        import numpy as np
        from fiveup_env.rendering.render_modes import RenderingError
        from fiveup_env.rendering.render_modes import Window
        try:
            Window(1).show(np.zeros((4, 4, 3), np.uint8))
        except RenderingError as error:
            print(error)
    """
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"SDL_VIDEODRIVER": "x11", "PYTHONPATH": ":".join(sys.path)},
    )
    assert "there is no screen here" in run.stdout and run.stdout.count("\n") == 1, run
