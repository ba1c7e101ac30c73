"""Random matches with the oracle. ``python -m tests.oracle.selfplay [matches]`` prints the time per match."""

from __future__ import annotations

import random
import sys
import time

from tests.oracle import Oracle, Tile

FULL_SET: list[Tile] = [(low, high) for low in range(7) for high in range(low, 7)]


def deal(rng: random.Random, num_players: int) -> tuple[list[list[Tile]], list[Tile]]:
    """R2.1: five tiles to each player, the rest is the boneyard."""
    tiles = FULL_SET[:]
    rng.shuffle(tiles)
    hands = [tiles[5 * seat : 5 * seat + 5] for seat in range(num_players)]
    return hands, tiles[5 * num_players :]


def new_match(rng: random.Random, num_players: int) -> Oracle:
    hands, boneyard = deal(rng, num_players)
    return Oracle(num_players, hands, boneyard, rng.randrange(num_players))


def next_round(rng: random.Random, oracle: Oracle) -> None:
    """R2.5: a domino names the opener, a block calls for a lot."""
    hands, boneyard = deal(rng, oracle.num_players)
    opener = rng.randrange(oracle.num_players) if oracle.next_opener is None else oracle.next_opener
    oracle.start_round(hands, boneyard, opener)


def play_match(rng: random.Random, num_players: int) -> tuple[Oracle, int]:
    """One match of uniformly random concrete moves; returns the finished oracle and the number of steps."""
    oracle = new_match(rng, num_players)
    steps = 0
    while oracle.winner is None:
        if oracle.round_over:
            next_round(rng, oracle)
        oracle.play(rng.choice(oracle.moves()))
        steps += 1
    return oracle, steps


def main() -> None:
    matches = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for num_players in (2, 3, 4):
        rng = random.Random(num_players)
        start = time.perf_counter()
        results = [play_match(rng, num_players) for _ in range(matches)]
        seconds = time.perf_counter() - start
        rounds = sum(oracle.round_number for oracle, _ in results) / matches
        steps = sum(count for _, count in results) / matches
        print(
            f"{num_players} players: {1000 * seconds / matches:.1f} ms per match, "
            f"{rounds:.1f} rounds, {steps:.0f} steps"
        )


if __name__ == "__main__":
    main()
