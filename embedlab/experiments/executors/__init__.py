"""What runs the cells of a grid, behind submit, poll and cancel: one file for each kind of
machines.
"""
