"""The poolings: those that embedlab ships, and one file for each that is added."""
