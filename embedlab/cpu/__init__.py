"""Encoders on processors: packed batches, oneDNN layers, attention, threads."""
