"""Contrast within the batch: each anchor picks its own positive (SimCSE)."""
