"""Evaluations, one file a task."""
