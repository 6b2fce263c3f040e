"""The encoders that a model name calls by a prefix, one kind a file; that of `word-vectors:FILE` is
word_vectors.py.
"""
