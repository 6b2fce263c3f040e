"""The shipped poolings, and a file for each that is added."""
