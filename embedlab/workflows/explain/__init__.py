"""What the words of two sentences do to their similarity: options and checks, then the work."""
