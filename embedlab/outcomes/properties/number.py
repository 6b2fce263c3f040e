"""Whether the numbers in a pair differ."""

import polars as pl

from embedlab.analysis.tags import TAGS
from embedlab.outcomes.property import Property

SAME, OTHER = "the same numbers", "other numbers"


def number_values(items: pl.DataFrame) -> pl.Series:
    """Return whether the two sentences of each pair have the same numbers."""
    differs = TAGS["number"].holds(items["sentence1"], items["sentence2"])
    return pl.select(pl.when(differs).then(pl.lit(OTHER)).otherwise(pl.lit(SAME))).to_series()


PROPERTY = Property(
    name="number",
    summary="whether the two sentences have the same numbers, in digits or as words from two on",
    kind="name",
    title="numbers",
    needs=("sentence1", "sentence2"),
    of=number_values,
    place=(SAME, OTHER).index,
)
