"""Tests of what a seat may see, as tensors."""
