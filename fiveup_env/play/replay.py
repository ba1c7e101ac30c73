"""What `fiveup replay` makes of a record beside showing it: thoughts, a page, a film."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fiveup_env.agents.registry import make_agent
from fiveup_env.play.thoughts import WORLDS, Thinker, think_over
from fiveup_env.records.record_reader import Record, parse_record
from fiveup_env.rendering.film import film
from fiveup_env.rendering.replay_page import page


@dataclass(frozen=True)
class Wishes:
    """What is to be made of a record.

    Attributes:
        think: the agent whose probabilities and value are written beside every choice.
        worlds: sampled deals for the value of every action; None for the usual number, if anything is thought at all.
        belief: also where the unseen tiles may be.
        save: file for the record with these thoughts.
        html: file for a page.
        gif: file for a film.
        seconds, width, theme, seat, round_number: see `film`.
    """

    think: str | None = None
    worlds: int | None = None
    belief: bool = False
    save: str | None = None
    html: str | None = None
    gif: str | None = None
    seconds: float = 1.0
    width: int = 640
    theme: str = "light"
    seat: int | None = None
    round_number: int | None = None

    @property
    def thinks(self) -> bool:
        """Whether anything is to be thought."""
        return self.think is not None or self.worlds is not None or self.belief


def carry_out(record: Record, wishes: Wishes, progress: Callable[[int, int], None]) -> Record:
    """Write the files that are wished for; returns the record, with thoughts if they are.

    Args:
        record: a match that was read.
        wishes: what is to be made of it.
        progress: called with moves thought over and moves in all.

    Raises:
        ValueError: if a wish cannot be fulfilled (an agent, an argument of a film).
        RenderingError: if a film needs what is not installed.
        OSError: if a file cannot be written; its `filename` says which.
    """
    if wishes.save is not None and not wishes.thinks:
        raise ValueError("--save keeps a record with thoughts: say whose with --think, --worlds or --belief")
    if wishes.thinks:
        agent = None if wishes.think is None else make_agent(wishes.think, record.start.num_players)
        worlds = WORLDS if wishes.worlds is None else wishes.worlds
        text = think_over(record, Thinker(agent, worlds=worlds, belief=wishes.belief), progress)
        record = parse_record(text)
        if wishes.save is not None:
            Path(wishes.save).write_text(text, encoding="ascii", newline="\n")
    if wishes.html is not None:
        Path(wishes.html).write_text(page(record), encoding="utf-8")
    if wishes.gif is not None:
        film(
            record,
            wishes.gif,
            seconds=wishes.seconds,
            width=wishes.width,
            theme=wishes.theme,
            seat=wishes.seat,
            round_number=wishes.round_number,
        )
    return record
