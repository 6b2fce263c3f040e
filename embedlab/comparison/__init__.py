"""From outcomes to a comparison: the evidence of each slice, for any task."""
