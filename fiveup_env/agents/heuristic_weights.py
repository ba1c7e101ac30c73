"""Weights of the policy `heuristic`; written by `python -m training.heuristic_weights`, not by hand."""

FITTED = {
    2: (0.826, 4.302, 0.938, 0.268, -1.974, -0.672, 0.644, 0.259),
    3: (0.950, -1.063, 0.880, 0.070, -1.015, -0.567, 0.640, 0.049),
    4: (0.841, -2.685, 0.583, 0.098, -1.630, -0.801, 1.228, 0.116),
}
"""Number of players -> display points for each of `heuristic.FEATURES`."""
