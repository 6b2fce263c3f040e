"""Grids and the tables of papers: a plan of cells, a queue, what runs them, and their scores along
axes or next to published ones.
"""
