"""A record as text for people: the moves of every round, and how its table looked in the end."""

from __future__ import annotations

from collections.abc import Iterator

from fiveup_env.records.record_reader import Move, Record
from fiveup_env.rendering.text_board import tiles_text
from fiveup_env.rules.actions import describe
from fiveup_env.rules.match import Match
from fiveup_env.rules.record import PLAYING, RAW_PER_POINT


def story(record: Record, boards: bool = False) -> Iterator[str]:
    """Lines of text; with `boards` the table after every move, else after every round. Scores are display points."""
    start = record.start
    yield f"{start.num_players} players: {', '.join(f'{s} {name}' for s, name in enumerate(record.players))}"
    round_number = 0
    for move, before, after in record.positions():
        if move.round_number != round_number:
            round_number = move.round_number
            yield f"Round {round_number}, {points(before)}, player_{before.turn} opens"
            for seat, hand in enumerate(before.hands):
                yield f"  player_{seat} is dealt {tiles_text(hand)}"
        yield f"  {told(move, record.players)}"
        over = after.game.phase != PLAYING
        if boards or over:
            yield from (f"      {line}" for line in after.layout.lines())
            yield f"      ends sum to {after.layout.end_sum}"
        if over and after.last_round is not None:
            yield f"  {round_end(after)}; {points(after)}"
    winner = record.final.winner
    yield f"{f'side {winner} has won' if winner is not None else 'unfinished'}, {points(record.final)}"
    yield f"verified: {len(record.moves)} moves in {round_number} rounds follow the rules"


def told(move: Move, players: tuple[str, ...]) -> str:
    """Who did what, and what it scored."""
    text = f"player_{move.seat} ({players[move.seat]}): {describe(move.action)}"
    for event in move.events:
        fate = "" if event.accepted else ", discarded"
        text += f"  [{event.kind}: {event.net / RAW_PER_POINT:+g} for side {event.side}{fate}]"
    return text


def round_end(match: Match) -> str:
    """How the round ended that lies on the table."""
    last = match.last_round
    assert last is not None
    winner = "nobody wins" if last["winner"] is None else f"side {last['winner']} wins"
    how = {"domino": "domino", "blocked": "blocked", "exact": "the target is hit"}[last["end"]]
    return f"{how}, {winner} the round"


def points(match: Match) -> str:
    """Scores in display points."""
    return " : ".join(f"{score / RAW_PER_POINT:g}" for score in match.scores)
