"""Which models were trained on which items, as a column that can be filtered."""

from collections.abc import Mapping

import polars as pl

from embedlab.analysis.expressions import TRAINED
from embedlab.data.overlaps import KnownText
from embedlab.scoring.provenance import overlap_sign


def trained_column(keys: pl.DataFrame, texts: Mapping[str, KnownText]) -> pl.Series:
    """Return the models that were trained on each item († the pair, ‡ a sentence of it), null for
    none; KEYS are the hashes of their sentences, TEXTS by model.
    """
    known = keys.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
    marked = [
        [
            f"{mark}{name}" if (mark := overlap_sign(overlap)) else ""
            for overlap in text.row_overlaps(keys.filter(known))
        ]
        for name, text in texts.items()
    ]
    nothing = pl.Series(TRAINED, [None], dtype=pl.String).new_from_index(0, keys.height)
    if not texts:
        return nothing
    named = [", ".join(filter(None, row)) or None for row in zip(*marked, strict=True)]
    return nothing.scatter(known.arg_true(), pl.Series(named, dtype=pl.String))
