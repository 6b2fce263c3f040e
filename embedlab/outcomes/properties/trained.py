"""Whether a compared model was trained on text of an item."""

import polars as pl

from embedlab.outcomes.property import Property

SEEN, UNSEEN = "in training text", "not in training text"

PROPERTY = Property(
    name="trained",
    summary="whether the pair, or one of its sentences, is in the training text of a compared model",
    kind="name",
    needs=("first_text",),
    also=("trained",),
    of=lambda items: items.select(pl.when(pl.col("trained").is_null()).then(pl.lit(UNSEEN)).otherwise(pl.lit(SEEN))).to_series(),
    place=(UNSEEN, SEEN).index,
)
