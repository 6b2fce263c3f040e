"""What everything else is built on: errors, paths, settings, strict reading, recipes."""
