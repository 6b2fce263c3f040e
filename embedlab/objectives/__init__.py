"""Losses and the data that they need."""
