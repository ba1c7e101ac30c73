"""Weights of the policy `heuristic`; written by `python -m training.heuristic_weights`, not by hand."""

FITTED = {
    2: (0.788, 0.787, 0.831, 0.157, -2.644, -0.507, 0.661, 0.095),
    3: (0.918, 0.633, 0.939, 0.121, -1.378, -0.456, 0.361, 0.009),
    4: (0.838, -0.549, 0.557, 0.129, -1.665, -0.871, 1.244, 0.132),
}
"""Number of players -> display points for each of `heuristic.FEATURES`."""
