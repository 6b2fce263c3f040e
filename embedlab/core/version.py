"""The version of embedlab."""

__version__ = "0.1.0"
