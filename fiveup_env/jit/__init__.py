"""Compilation and caching of kernels, bit sets and packed stores. Nothing here knows the game."""
