"""Whether two sentences are paraphrases, by a bilinear head (chen)."""
