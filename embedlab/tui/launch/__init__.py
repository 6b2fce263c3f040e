"""The Launch screen."""
