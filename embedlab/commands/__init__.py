"""What one can do: one file a command, with its options, its work and its examples.

The command line (`cli/`) and the functions of `import embedlab` (`api.py`) are made from them.
"""
