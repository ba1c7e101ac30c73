"""Play a match in the terminal: people type, agents answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fiveup_env.agents.registry import make_agent
from fiveup_env.play.session import Sitting
from fiveup_env.play.thoughts import Thinker
from fiveup_env.rendering.scene import end_text, event_text
from fiveup_env.rendering.text_board import text_board
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.views.view import View

HELP = "number: play that action; h: hint; u: take back (with --practice); b: show the table; q: quit"


def play_with(
    seating: Sequence[str], *, seed: int | None, practice: bool, hints: str, record: str | None = None
) -> None:
    """Run `fiveup play` in this terminal and save the record.

    Args:
        seating: for every seat `you` or an agent.
        seed: seed of the deals and of the agents; None draws one.
        practice: whether moves can be taken back.
        hints: agent whose opinion hints show next to search values.
        record: file for the record, None for none.

    Raises:
        ValueError: if an agent cannot be made, or fails.
        OSError: if the record cannot be written.
    """
    seats = [None if name == "you" else make_agent(name, len(seating)) for name in seating]
    adviser, number = Thinker(make_agent(hints, len(seating))), checked_seed(seed)
    sitting = Sitting(Match(len(seating), number), seats, number)
    try:
        play_in_terminal(sitting, input, print, adviser=adviser, practice=practice)
    finally:
        if record is not None:
            sitting.recorder.save(record)


def play_in_terminal(
    sitting: Sitting,
    ask: Callable[[str], str],
    show: Callable[[str], None],
    *,
    adviser: Thinker | None = None,
    practice: bool = False,
) -> None:
    """Play until the match is over, a person quits, or the input ends.

    At a person's turn only the view of that seat is shown. Several people share the terminal and look in turns.

    Args:
        sitting: the match.
        ask: shows a prompt and returns a line, or raises EOFError.
        show: shows a line.
        adviser: source of hints.
        practice: whether moves can be taken back.
    """
    show(HELP)
    shown_round = 0
    while True:
        while (taken := sitting.advance()) is not None:
            show(f"  player_{taken[0]} ({sitting.players[taken[0]]}): {describe(taken[1])}")
            _show_events(sitting, show)
        match = sitting.match
        if match.winner is not None:
            show(text_board(View.of(match)))
            show(f"Side {match.winner} wins the match with exactly {match.variant.target} points.")
            return
        if match.round_number != shown_round:
            shown_round = match.round_number
            show(f"--- Round {shown_round}, player_{match.opener} opens")
        show(text_board(View.of(match)))
        legal = match.legal_actions()
        for number, action in enumerate(legal, 1):
            show(f"  {number}: {describe(action)}")
        if not _person(sitting, legal, ask, show, adviser, practice):
            return


def _person(
    sitting: Sitting,
    legal: list[int],
    ask: Callable[[str], str],
    show: Callable[[str], None],
    adviser: Thinker | None,
    practice: bool,
) -> bool:
    """Read lines until a person acts or takes back a move; False if the person quits."""
    while True:
        try:
            line = ask(f"player_{sitting.match.turn}> ").strip().lower()
        except EOFError:
            return False
        if line in ("q", "quit"):
            return False
        if line == "b":
            return True
        if line == "u" and practice:
            if sitting.undo():
                return True
            show("There is nothing to take back.")
        elif line == "u":
            show("Moves can be taken back in practice only: fiveup play --practice.")
        elif line == "h":
            if adviser is None:
                show("There is no adviser.")
            else:
                _show_hint(adviser(View.of(sitting.match), 0), legal, show)
        elif line.isascii() and line.isdigit() and 1 <= int(line[:4]) <= len(legal) and len(line) <= 4:
            sitting.choose(legal[int(line) - 1])
            _show_events(sitting, show)
            return True
        else:
            show(f"Type a number from 1 to {len(legal)}, or a letter. {HELP}.")


def _show_hint(thought: dict[str, Any], legal: list[int], show: Callable[[str], None]) -> None:
    """Show the placements, best first, with the thoughts of a `Thinker`."""
    values, probabilities = thought.get("values", {}), thought.get("probabilities", {})
    if "note" in thought:
        show(f"Hint: {thought['note']}")
    for action in sorted(legal, key=lambda action: -values.get(action, 0)):
        parts = [f"{legal.index(action) + 1}: {describe(action)}"]
        if "win" in thought:
            parts.append(f"{100 * values[action]:.1f}% to win")
        elif values:
            parts.append(f"{values[action]:+.2f} raw points")
        if probabilities:
            parts.append(f"the policy plays it with {100 * probabilities[action]:.0f}%")
        show(f"Hint: {', '.join(parts)}")


def _show_events(sitting: Sitting, show: Callable[[str], None]) -> None:
    match = sitting.match
    for event in match.events:
        show(f"    {event_text(event)}")
    if not match.history and match.last_round is not None:
        show(f"    the round is over: {end_text(match)}")
