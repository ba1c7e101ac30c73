"""Studies built on match-ups: tournament, cross-play, endgame regret, exploitability, variance."""
