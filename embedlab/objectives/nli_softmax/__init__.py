"""Softmax classification of sentence pairs (SBERT)."""
