"""The Pairs screen."""
