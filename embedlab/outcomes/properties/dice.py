"""The word overlap of a pair."""

import polars as pl

from embedlab.analysis.overlap import dice_column
from embedlab.outcomes.property import Property

PROPERTY = Property(
    name="dice",
    summary="word overlap of the two sentences, the Dice coefficient of their sets of words",
    kind="number",
    needs=("sentence1", "sentence2"),
    title="Dice",
    fifth="fifth",  # as in published keys
    decimals=2,
    splits_ties=True,  # as tsukagoshi cuts them
    of=lambda items: pl.Series(dice_column(items["sentence1"].to_list(), items["sentence2"].to_list()), dtype=pl.Float64),
)
