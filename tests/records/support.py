"""Helpers of tests of records."""

import random

from fiveup_env.records import Recorder
from fiveup_env.rules.match import Match


def played(num_players: int = 4, seed: int = 0, moves: int | None = None, match: Match | None = None) -> Recorder:
    """The record of a random match, whole or cut after `moves` moves."""
    rng = random.Random(f"{num_players}/{seed}")
    recorder = Recorder(Match(num_players, seed=seed) if match is None else match)
    while recorder.match.winner is None and (moves is None or recorder.moves < moves):
        recorder.play(rng.choice(recorder.match.legal_actions()))
    return recorder
