"""The command line `fiveup`."""
