"""Belief of one seat: exact counts, marginals, samples, and the choice model that weighs them."""
