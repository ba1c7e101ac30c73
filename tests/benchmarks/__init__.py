"""Tests of the benchmarks and of the long soak."""
