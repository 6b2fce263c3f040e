"""Word overlap, correlations and whether a difference is real."""
