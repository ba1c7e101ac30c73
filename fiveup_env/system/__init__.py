"""Helpers that know nothing of the game: optional dependencies, training scripts, Ray."""
