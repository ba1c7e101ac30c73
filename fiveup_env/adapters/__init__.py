"""Thin adapters to other people's learning libraries, one module each; see docs/libraries.md.

Each module imports its library when it is imported itself. Where that is missing, a `MissingLibraryError` says in one
line which extra brings it. What libraries find without an adapter (PettingZoo, Gymnasium) is in `fiveup_env.envs`.
"""
