"""The rules of Exact 61 Five Up and nothing else; docstrings cite the rule numbers."""
