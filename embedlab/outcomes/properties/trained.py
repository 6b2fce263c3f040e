"""Whether a compared model is known to have been trained on text of an item."""

import polars as pl

from embedlab.outcomes.property import Property

# What is not found may be in text that is unknown: that of an encoder's pretraining, or of a whole
# model.
SEEN, UNSEEN = "in training text", "not known to be in training text"

PROPERTY = Property(
    name="trained",
    summary="whether the pair, or one of its sentences, is known to be in the training text of a "
    "compared model",
    kind="name",
    needs=("first_text",),
    also=("trained",),
    of=lambda items: items.select(
        pl.when(pl.col("trained").is_null()).then(pl.lit(UNSEEN)).otherwise(pl.lit(SEEN))
    ).to_series(),
    place=(UNSEEN, SEEN).index,
)
