"""Triplets of an anchor, a positive and a hard negative, which SimCSE made from NLI.

Columns: anchor, positive, negative: a premise, a hypothesis it entails, and one that contradicts it.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import bad_line, empty_file, read_csv_rows

_COLUMNS = {"sent0": "anchor", "sent1": "positive", "hard_neg": "negative"}


def read_triplets(paths: Sequence[Path]) -> ParsedRows:
    """Return the rows of a CSV file with the header sent0, sent1, hard_neg; an empty sentence is an error, blank lines are ignored."""
    (path,) = paths
    (_, header), *rows = read_csv_rows(path)
    if absent := [name for name in _COLUMNS if name not in header]:
        raise bad_line(path, 1, f"no column {absent[0]!r}: found {', '.join(header)}")
    positions = [header.index(name) for name in _COLUMNS]
    triplets = []
    for line, row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise bad_line(path, line, f"{len(row)} field{'s' * (len(row) != 1)}: the header has {len(header)}")
        triplets.append([row[at] for at in positions])
        if not all(sentence.strip() for sentence in triplets[-1]):
            raise bad_line(path, line, "an empty sentence")
    if not triplets:
        raise empty_file(path)
    return ParsedRows(frame=pl.DataFrame(triplets, schema=dict.fromkeys(_COLUMNS.values(), pl.String), orient="row"))


_FILES = ("nli_for_simcse/nli_for_simcse.csv", "nli_for_simcse.csv")

DATASETS = (
    Dataset(
        name="nli-triplets",
        kind="triplets",
        summary="premises of SNLI and MultiNLI with an entailed and a contradicted hypothesis (Gao 2021)",
        home="https://huggingface.co/datasets/princeton-nlp/datasets-for-simcse",
        splits={
            "train": Split(
                layouts=tuple(FileLayout(files=(file,), read=read_triplets) for file in _FILES),
                expected=Expected(rows=275_601),
            )
        },
    ),
)
