"""The encoders that a model name calls by a prefix, a file for each kind: `word-vectors:FILE` is in
word_vectors.py.
"""
