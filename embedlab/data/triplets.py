"""Triplets of an anchor, a positive and a hard negative, as SimCSE made them of NLI.

Columns: anchor, positive, negative: a premise, a hypothesis it entails, and one that contradicts it.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, Layout, Rows, Split
from embedlab.data.text_file import bad_line, read_text

_COLUMNS = {"sent0": "anchor", "sent1": "positive", "hard_neg": "negative"}


def read_triplets(paths: Sequence[Path]) -> Rows:
    """The rows of a CSV file with the header sent0, sent1, hard_neg; a row with an empty sentence is an error."""
    (path,) = paths
    try:
        frame = pl.read_csv(read_text(path).encode(), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise bad_line(path, 1, f"no readable CSV: {str(error).splitlines()[0]}") from error
    if absent := [name for name in _COLUMNS if name not in frame.columns]:
        raise bad_line(path, 1, f"no column {absent[0]!r}: found {', '.join(frame.columns)}")
    triplets = frame.select(pl.col(theirs).fill_null("").alias(ours) for theirs, ours in _COLUMNS.items())
    empty = triplets.with_row_index("row", offset=1).filter(pl.any_horizontal(pl.exclude("row").str.strip_chars() == ""))
    if len(empty):
        raise bad_line(path, int(empty["row"][0]) + 1, "an empty sentence")
    return Rows(frame=triplets)


_FILES = ("nli_for_simcse/nli_for_simcse.csv", "nli_for_simcse.csv")

DATASETS = (
    Dataset(
        name="nli-triplets",
        kind="triplets",
        summary="premises of SNLI and MultiNLI with an entailed and a contradicted hypothesis (Gao 2021)",
        home="https://huggingface.co/datasets/princeton-nlp/datasets-for-simcse",
        splits={
            "train": Split(
                layouts=tuple(Layout(files=(file,), read=read_triplets) for file in _FILES),
                expected=Expected(rows=275_601),
            )
        },
    ),
)
