"""Predicting a word by its definition (DefSent)."""
