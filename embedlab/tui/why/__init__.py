"""The Why screen."""
