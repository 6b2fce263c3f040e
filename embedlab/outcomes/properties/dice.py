"""The word overlap of a pair."""

from embedlab.analysis.overlap import dice_of_rows
from embedlab.outcomes.property import Property

PROPERTY = Property(
    name="dice",
    summary="word overlap of the two sentences, the Dice coefficient of their sets of words",
    kind="number",
    needs=("sentence1", "sentence2"),
    title="word overlap",
    fifth="fifth",  # as in published keys
    decimals=2,
    splits_ties=True,  # as tsukagoshi cuts them
    of=lambda items: dice_of_rows(items["sentence1"], items["sentence2"]),
)
