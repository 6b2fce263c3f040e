"""Pairs that repeat and vary as SNLI's do, of sentences that are only lengths."""

import numpy as np
import polars as pl

from embedlab.encoders.tokens import TokenRows

WORDS = 30_522
# Measured on SNLI. Dev: its 500 premises by their pairs, whole groups, which the training part at hand does not have.
PREMISES_BY_PAIRS = {1: 1, 2: 17, 3: 479, 5: 1, 6: 2}
# 31,979 pairs of train: so many hypotheses come more than once, together in this share of the pairs.
REPEATED, REPEATED_SHARE = 675, 0.057
# The same pairs in BERT's word pieces without [CLS] and [SEP]: geometric mean and the logarithm's standard deviation.
PREMISE_LENGTH, HYPOTHESIS_LENGTH = (13.5, 0.40), (8.05, 0.37)


def nli_pairs(count: int) -> pl.DataFrame:
    """So many pairs with their labels, premise after premise; sentences are names."""
    rng, pairs = np.random.default_rng(0), np.arange(count)
    weights = np.array(list(PREMISES_BY_PAIRS.values()))
    sizes = rng.choice(list(PREMISES_BY_PAIRS), size=count, p=weights / weights.sum())
    premises = np.repeat(pairs, sizes)[:count]
    hypotheses = np.where(rng.random(count) < REPEATED_SHARE, rng.integers(REPEATED, size=count), REPEATED + pairs)
    labels = np.array(["entailment", "neutral", "contradiction"])[pairs % 3]
    return pl.DataFrame(
        {"premise": [f"p{number}" for number in premises], "hypothesis": [f"h{number}" for number in hypotheses], "label": labels}
    )


def random_tokens(sentences: pl.Series) -> TokenRows:
    """Random tokens for the names of premises and hypotheses, as many as SNLI's sentences have."""
    rng = np.random.default_rng(0)
    is_premise = sentences.str.starts_with("p").to_numpy()
    typical, spread = (np.where(is_premise, *values) for values in zip(PREMISE_LENGTH, HYPOTHESIS_LENGTH, strict=True))
    lengths = np.clip(2 + np.rint(rng.lognormal(np.log(typical), spread)), 4, 128).astype(np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    flat = rng.integers(1_000, WORDS, size=int(offsets[-1]), dtype=np.int32)
    return TokenRows(flat=flat, offsets=offsets, truncated=np.zeros(len(lengths), np.bool_))
