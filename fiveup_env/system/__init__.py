"""Helpers without knowledge of the game: optional dependencies, training scripts, Ray."""
