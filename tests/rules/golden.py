"""Golden hashes of whole matches: the same seed and the same choices give the same game, bit by bit.

    python -m tests.rules.golden            compare with tests/data/golden.json
    python -m tests.rules.golden --write    write it again, after an intended change of behaviour

`game` hashes what anybody can see through `Match`: it changes only with the game. `record` hashes every byte of the
record after every step: it changes with the record's layout, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

from fiveup_env.rules.match import Match

FILE = Path(__file__).parents[1] / "data" / "golden.json"
MATCHES = 50
MODULUS = 2**64


class Dice:
    """Knuth's MMIX generator: a few lines that no library can change."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % MODULUS
        return (self.state >> 32) * n >> 32


def shown(match: Match) -> str:
    """All that a match tells, as text."""
    events = [(event.kind, event.side, event.net, event.accepted) for event in match.events]
    return repr((match.round_number, match.turn, match.scores, match.winner, match.legal_actions(), events))


def hash_match(num_players: int, number: int) -> tuple[str, str]:
    """The hashes `game` and `record` of one match of random legal play."""
    match, dice = Match(num_players, seed=number), Dice(1000 * num_players + number)
    game, record = hashlib.sha256(), hashlib.sha256()
    round_number = 0
    while True:
        if match.round_number != round_number:
            round_number = match.round_number
            game.update(repr((match.opener, match.hands, match.boneyard, match.last_round)).encode())
        game.update(shown(match).encode())
        record.update(match.game.tobytes())
        if match.winner is not None:
            game.update(repr(match.layout).encode())
            return game.hexdigest()[:16], record.hexdigest()[:16]
        legal = match.legal_actions()
        match.play(legal[dice.below(len(legal))])


def compute(num_players: int, matches: int) -> dict[str, list[str]]:
    """Both kinds of hashes of the first `matches` matches of a player count."""
    pairs = [hash_match(num_players, number) for number in range(matches)]
    return {"game": [game for game, _ in pairs], "record": [record for _, record in pairs]}


def stored(num_players: int, matches: int = MATCHES) -> dict[str, list[str]]:
    """The golden hashes of the first matches of a player count."""
    return {kind: hashes[:matches] for kind, hashes in json.loads(FILE.read_text())[str(num_players)].items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="golden hashes of whole matches")
    parser.add_argument("--write", action="store_true", help="write the file instead of comparing with it")
    parser.add_argument("--matches", type=int, default=MATCHES, help="matches of each player count to compare")
    options = parser.parse_args()
    if options.write:
        FILE.write_text(json.dumps({str(n): compute(n, MATCHES) for n in (2, 3, 4)}, indent=1) + "\n")
        return 0
    different = [n for n in (2, 3, 4) if compute(n, options.matches) != stored(n, options.matches)]
    print(f"different: {different}" if different else f"{options.matches} matches of each player count are as stored")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
