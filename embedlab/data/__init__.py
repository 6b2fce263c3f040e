"""Corpora in their own file layouts, from a folder, the hub or the sample world."""
