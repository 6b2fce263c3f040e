"""Grids and the tables of papers: a plan of cells, their attempts, what runs them, and their scores
along axes or next to published ones.
"""
