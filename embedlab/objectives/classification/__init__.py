"""Softmax classification of texts."""
