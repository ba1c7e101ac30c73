"""Environments over the rules: PettingZoo AEC, Gymnasium single, native vector."""
