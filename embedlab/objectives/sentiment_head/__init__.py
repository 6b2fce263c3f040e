"""The sentiment of a sentence by a head of its own (chen)."""
