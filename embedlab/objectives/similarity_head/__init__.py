"""Graded similarity as the cosine of transformed vectors (chen)."""
