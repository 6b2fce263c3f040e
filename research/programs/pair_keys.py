"""The keys by which tables of stored scores identify pairs, whatever dataset they are in."""

import numpy as np
import polars as pl

from embedlab.analysis.pair_notes import pair_key


def pair_keys(pairs: pl.DataFrame) -> pl.Series:
    """Return the key of each row's sentence1 and sentence2."""
    rows = pairs.select("sentence1", "sentence2").iter_rows()
    keys = np.fromiter((pair_key(first, second) for first, second in rows), np.uint64)
    return pl.Series("pair_key", keys)
