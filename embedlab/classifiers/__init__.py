"""Classifiers on frozen vectors: folds, fits and protocols."""
