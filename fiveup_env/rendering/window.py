"""A window that shows frames one after another (render mode `"human"`). Needs the extra `window` (pygame-ce)."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from fiveup_env.rendering.raster import RenderingError

TITLE = "Five Up"
NOBODY_LOOKS = ("dummy", "offscreen")  # drivers without a screen, for which no frame waits


def check_window() -> None:
    """Raise a RenderingError unless pygame is there."""
    if find_spec("pygame") is None:
        raise RenderingError(
            'render_mode="human" opens a window with pygame-ce, which is not installed: '
            'pip install \'fiveup-env[render,window]\'; without one there are "ansi", "svg" and "rgb_array"'
        )


class Window:
    """Opens with the first frame. When a person closes it, later frames are not shown.

    Args:
        fps: frames a second at most: a frame waits until the one before was seen so long.
    """

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self._pygame: Any = None
        self._shown_at: int | None = None
        self._closed = False

    def show(self, pixels: np.ndarray) -> None:
        """Show a frame, uint8 [H, W, 3].

        Raises:
            RenderingError: if there is no screen.
        """
        if self._closed:
            return
        if self._pygame is None:
            self._open(pixels.shape[1], pixels.shape[0])
        pygame = self._pygame
        if not self._waits():
            return
        screen = pygame.display.get_surface()
        picture = pygame.image.frombuffer(np.ascontiguousarray(pixels), (pixels.shape[1], pixels.shape[0]), "RGB")
        screen.blit(pygame.transform.smoothscale(picture, screen.get_size()), (0, 0))
        pygame.display.flip()
        self._shown_at = pygame.time.get_ticks()

    def _open(self, width: int, height: int) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame

        try:
            pygame.display.init()
            pygame.display.set_mode((width, height), pygame.RESIZABLE)
        except pygame.error as error:
            raise RenderingError(
                f'render_mode="human" opens a window, and there is no screen here ({error}): '
                'use "ansi", "svg" or "rgb_array"'
            ) from error
        pygame.display.set_caption(TITLE)
        self._pygame = pygame

    def _waits(self) -> bool:
        """Keep the window alive until the last frame was seen long enough; False if a person closes it meanwhile."""
        pygame = self._pygame
        waits = self._shown_at is not None and pygame.display.get_driver() not in NOBODY_LOOKS
        until = (self._shown_at or 0) + 1000 / self.fps
        while True:
            if any(event.type == pygame.QUIT for event in pygame.event.get()):
                self.close()
                return False
            if not waits or pygame.time.get_ticks() >= until:
                return True
            pygame.time.wait(20)

    def close(self) -> None:
        """Close the window, for good."""
        if self._pygame is not None:
            self._pygame.display.quit()
        self._pygame, self._closed = None, True
