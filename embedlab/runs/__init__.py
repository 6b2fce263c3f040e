"""Run directories: everything a training leaves behind."""
