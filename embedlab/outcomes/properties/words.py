"""The length of an item in words."""

import polars as pl

from embedlab.analysis.tags import word_counts
from embedlab.outcomes.property import Property


def longer_sentence(items: pl.DataFrame) -> pl.Series:
    """Return the number of words of each item's longer sentence."""
    counts = [word_counts(items[name]) for name in ("sentence1", "sentence2")]
    return pl.select(pl.max_horizontal(*(count.cast(pl.Float64) for count in counts))).to_series()


PROPERTY = Property(
    name="words",
    summary="number of words of the longer sentence",
    kind="number",
    title="length in words",
    needs=("sentence1",),
    also=("sentence2",),
    of=longer_sentence,
)
