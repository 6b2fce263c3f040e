"""The Plots screen."""
