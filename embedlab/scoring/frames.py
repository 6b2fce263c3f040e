"""The text of items, as it is counted in a training text."""

import polars as pl

from embedlab.outcomes.cuts import ItemSlice
from embedlab.outcomes.frame import KEYS, Outcomes


def keyed_items(outcomes: Outcomes, items: ItemSlice) -> pl.DataFrame:
    """Return the hashes of the sentences of a slice, to count those in a training text; of single
    sentences one column.
    """
    keys = outcomes.text_keys[items.rows].drop_nulls()
    return keys if outcomes.blocks[items.block].is_of_pairs else keys.select(KEYS[0])
