"""The base layer: errors, paths, settings, strict reading, recipes."""
