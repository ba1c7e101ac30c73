"""A match in the terminal: people type, agents answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fiveup_env.agents.registry import make_agent
from fiveup_env.play.session import Sitting
from fiveup_env.play.thoughts import Thinker
from fiveup_env.rendering.scene import end_text, event_text
from fiveup_env.rendering.text_board import board
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match, checked_seed
from fiveup_env.views.view import View

HELP = "a number plays; h: a hint; u: take back (practice); b: the table again; q: leave"


def play_with(
    seating: Sequence[str], *, seed: int | None, practice: bool, hints: str, record: str | None = None
) -> None:
    """`fiveup play`: seat people and agents, play at this terminal, keep the record.

    Args:
        seating: for every seat `you` or an agent.
        seed: of the deals and of what the agents draw; None draws one.
        practice: whether moves can be taken back.
        hints: the agent that is asked for hints, beside values by search.
        record: file to keep the record in, None for none.

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
    tell: Callable[[str], None],
    *,
    adviser: Thinker | None = None,
    practice: bool = False,
) -> None:
    """Play until the match is over or somebody leaves; an end of the input leaves too.

    What is told at a person's turn is what that seat sees; with several people at one terminal they look in turns.

    Args:
        ask: shows a prompt and returns a line, or raises EOFError.
        tell: shows a line.
        adviser: who is asked for hints.
        practice: whether moves can be taken back.
    """
    tell(HELP)
    shown_round = 0
    while True:
        while (taken := sitting.advance()) is not None:
            tell(f"  player_{taken[0]} ({sitting.players[taken[0]]}): {describe(taken[1])}")
            _tell_events(sitting, tell)
        match = sitting.match
        if match.winner is not None:
            tell(board(View.of(match)))
            tell(f"Side {match.winner} wins the match with exactly {match.variant.target} points.")
            return
        if match.round_number != shown_round:
            shown_round = match.round_number
            tell(f"--- Round {shown_round}, player_{match.opener} opens")
        tell(board(View.of(match)))
        legal = match.legal_actions()
        for number, action in enumerate(legal, 1):
            tell(f"  {number}: {describe(action)}")
        if not _person(sitting, legal, ask, tell, adviser, practice):
            return


def _person(
    sitting: Sitting,
    legal: list[int],
    ask: Callable[[str], str],
    tell: Callable[[str], None],
    adviser: Thinker | None,
    practice: bool,
) -> bool:
    """One choice, or a taking back; False if the person leaves."""
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
            tell("There is nothing to take back.")
        elif line == "u":
            tell("Moves are taken back in practice only: fiveup play --practice.")
        elif line == "h":
            if adviser is None:
                tell("There is no adviser.")
            else:
                _tell_hint(adviser(View.of(sitting.match), 0), legal, tell)
        elif line.isascii() and line.isdigit() and 1 <= int(line[:4]) <= len(legal) and len(line) <= 4:
            sitting.choose(legal[int(line) - 1])
            _tell_events(sitting, tell)
            return True
        else:
            tell(f"Type a number from 1 to {len(legal)}; {HELP}.")


def _tell_hint(thought: dict[str, Any], legal: list[int], tell: Callable[[str], None]) -> None:
    """The placements, the best first, with what a `Thinker` thinks of them."""
    values, probabilities = thought.get("values", {}), thought.get("probabilities", {})
    if "note" in thought:
        tell(f"Hint: {thought['note']}")
    for action in sorted(legal, key=lambda action: -values.get(action, 0)):
        told = [f"{legal.index(action) + 1}: {describe(action)}"]
        if "win" in thought:
            told.append(f"{100 * values[action]:.1f}% to win")
        elif values:
            told.append(f"{values[action]:+.2f} raw points")
        if probabilities:
            told.append(f"the policy's choice with {100 * probabilities[action]:.0f}%")
        tell(f"Hint: {', '.join(told)}")


def _tell_events(sitting: Sitting, tell: Callable[[str], None]) -> None:
    match = sitting.match
    for event in match.events:
        tell(f"    {event_text(event)}")
    if not match.history and match.last_round is not None:
        tell(f"    the round is over: {end_text(match)}")
