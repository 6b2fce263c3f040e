"""A training planned, previewed, run and scored."""
