"""Corpora in their own file layouts, from a folder or the hub, and generated ones."""
