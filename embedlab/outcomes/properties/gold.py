"""The gold score of an item in five bands."""

import polars as pl

from embedlab.outcomes.property import Property

BANDS = 5


def gold_bands(items: pl.DataFrame) -> pl.Series:
    """Return the band of each item's gold score, of five equally wide ones between the least and
    the greatest of its dataset.
    """
    low, high = pl.col("gold").min().over("block"), pl.col("gold").max().over("block")
    width = (high - low) / BANDS
    band = ((pl.col("gold") - low) / width).fill_nan(0).cast(pl.Int64).clip(0, BANDS - 1)
    ends = [
        (low + (band + step) * width).round(2).cast(pl.String).str.strip_suffix(".0")
        for step in (0, 1)
    ]
    return items.select(pl.concat_str(ends[0], pl.lit("–"), ends[1])).to_series()


PROPERTY = Property(
    name="gold",
    summary="the gold score of a pair, in five bands of equal width",
    kind="name",
    title="gold score",
    needs=("gold", "sentence2"),
    of=gold_bands,
    place=lambda band: float(band.split("–")[0]),
)
