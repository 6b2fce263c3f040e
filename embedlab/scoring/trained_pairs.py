"""Which models were trained on which pairs, as a column that can be filtered."""

from collections.abc import Mapping

import polars as pl

from embedlab.analysis.expressions import TRAINED
from embedlab.data.overlaps import KnownText, with_text_keys
from embedlab.scoring.provenance import overlap_sign


def trained_column(pairs: pl.DataFrame, texts: Mapping[str, KnownText]) -> pl.Series:
    """Return the models that were trained on each of PAIRS († the pair, ‡ a sentence of it), null
    for none; TEXTS are by model.

    PAIRS have their sentences, or the hashes of these as `with_text_keys` names them.
    """
    frame = (
        with_text_keys(pairs.select("sentence1", "sentence2"))
        if "sentence1" in pairs.columns
        else pairs
    )
    marked = [
        [
            f"{mark}{name}" if (mark := overlap_sign(overlap)) else ""
            for overlap in text.row_overlaps(frame)
        ]
        for name, text in texts.items()
    ]
    named = (
        [", ".join(filter(None, row)) or None for row in zip(*marked, strict=True)]
        if texts
        else [None] * pairs.height
    )
    return pl.Series(TRAINED, named, dtype=pl.String)
