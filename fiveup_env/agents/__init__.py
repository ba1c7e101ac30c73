"""Agents that see nothing but the view of their seat."""
