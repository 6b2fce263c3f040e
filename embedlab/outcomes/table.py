"""Items as one flat table: what is known of each, and what every member got."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from embedlab.outcomes.property import property_named
from embedlab.runs.outcomes import SENTENCES

if TYPE_CHECKING:
    from embedlab.outcomes.frame import Outcomes


def item_rows(outcomes: Outcomes) -> pl.DataFrame:
    """Return a row an item: dataset, source, pair (its row in the dataset), sentence1, sentence2,
    gold, dice, then each member's prediction; the member "dice" is the property.
    """
    facts = pl.DataFrame(
        [
            outcomes.column("dataset"),
            outcomes.rows["source"],
            outcomes.rows["item"].alias("pair"),
            *outcomes.sentences.select(SENTENCES),
            outcomes.column("gold"),
            property_named("dice").values(outcomes).alias("dice"),
        ]
    )
    return facts.hstack([column for column in outcomes.predictions if column.name != "dice"])
