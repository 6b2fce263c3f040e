"""Losses and the columns they need, one folder a training signal."""
