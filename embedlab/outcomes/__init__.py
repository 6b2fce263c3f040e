"""The outcomes of models on items of any task: one frame, its properties, and the selections of its
items.
"""
