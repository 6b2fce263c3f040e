"""From what a user selects to results on disk, with everything that must be said beside them."""
