"""Contrast of labelled pairs: duplicates drawn together, the others pushed apart (chen)."""
