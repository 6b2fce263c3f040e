"""Contrast of labelled pairs: duplicates pulled together, the others pushed apart (chen)."""
