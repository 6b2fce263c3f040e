"""The papers' published tables."""
