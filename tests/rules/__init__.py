"""Tests of the rules engine: hand-made deals, lockstep with the oracle, invariants, the Match object."""
