"""Thin adapters to learning libraries, one module each; see docs/libraries.md.

Each module imports its library. If the library is not installed, a `MissingLibraryError` names the extra to install.
"""
