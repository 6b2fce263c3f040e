"""The difference in length of a pair."""

import polars as pl

from embedlab.analysis.tags import word_counts
from embedlab.outcomes.property import Property


def length_difference(items: pl.DataFrame) -> pl.Series:
    """Return by how many words the longer sentence of each pair is longer."""
    first, second = (
        word_counts(items[name]).cast(pl.Float64) for name in ("sentence1", "sentence2")
    )
    return (first - second).abs()


PROPERTY = Property(
    name="length",
    summary="by how many words the longer sentence of a pair is longer",
    kind="number",
    title="length difference",
    needs=("sentence1", "sentence2"),
    of=length_difference,
)
