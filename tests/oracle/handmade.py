"""Helpers for hand-made positions."""

from tests.oracle import Oracle


def lay(oracle, tile, node, port):
    """Play the one legal move that lays ``tile`` on that place."""
    (move,) = [move for move in oracle.moves() if move[0] == "lay" and move[1] == tile and move[3] == (node, port)]
    return oracle.play(move)


def lead(*args, **kwargs):
    """A match whose opener, seat 0, leads the first tile of its hand; returns it with the events."""
    oracle = Oracle(*args, opener=0, **kwargs)
    return oracle, oracle.play(("lead", args[1][0][0]))
