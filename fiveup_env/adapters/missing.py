"""What is said where an adapter's library is missing; see `fiveup_env._missing`."""

from fiveup_env._missing import MissingLibraryError, library

__all__ = ["MissingLibraryError", "library"]
