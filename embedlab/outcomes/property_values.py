"""Values that several properties share."""

from collections.abc import Callable

import polars as pl

COUNTED = ("none", "one", "both")  # of the sentences of a pair; a single sentence has it or not


def counted(items: pl.DataFrame, has: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return how many of each item's sentences HAS is true of."""
    first, second = (
        has(items[name]).fill_null(value=False).cast(pl.Int8) for name in ("sentence1", "sentence2")
    )
    return (first + second).replace_strict(dict(enumerate(COUNTED)))
