"""The options of every command: a frozen dataclass each, from which the command line is made and
which the Python functions follow.
"""
