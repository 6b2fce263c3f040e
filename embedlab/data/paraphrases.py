"""Quora question pairs, duplicates or not, in the files of the CS224N course.

Columns: sentence1, sentence2, is_duplicate (0 or 1), or sentence for the questions alone. A pair without a label is skipped and counted.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.sentences import both_sentences
from embedlab.data.text_file import read_fields, read_numbers

_COLUMNS = COLUMNS["paraphrases"]


def read_quora(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a tab-separated file with the columns sentence1, sentence2 and is_duplicate, written 0.0 or 1.0."""
    (path,) = paths
    frame = read_fields(path, list(_COLUMNS), line_shape="id, sentence1, sentence2, is_duplicate")
    labels = read_numbers(path, frame["is_duplicate"], frame["line"], 0, 1, "is_duplicate", is_class=True).cast(pl.Int8)
    labelled = frame.with_columns(labels.alias("is_duplicate")).select(list(_COLUMNS)).drop_nulls("is_duplicate")
    blank = len(frame) - len(labelled)
    return ParsedRows(frame=labelled, skipped={"blank label": blank} if blank else {})


def read_questions(paths: Sequence[Path]) -> ParsedRows:
    """Return both questions of every labelled pair of the same file, as plain sentences."""
    pairs = read_quora(paths)
    return ParsedRows(frame=both_sentences(pairs.frame), skipped=pairs.skipped)


def _quora(split: str, rows: int, classes: Mapping[str, int] | None = None) -> Split:
    return Split(
        layouts=(FileLayout(files=(f"CS224N/quora-{split}.csv",), read=read_quora),),
        expected=Expected(rows=rows, classes=classes, empty=None),
    )


DATASETS = (
    Dataset(
        name="paraphrases",
        kind="paraphrases",
        summary="Quora question pairs in the splits of the CS224N course",
        home="https://web.stanford.edu/class/cs224n",
        splits={"train": _quora("train", 141_498), "dev": _quora("dev", 20_212, {"0": 12_627, "1": 7_585})},
    ),
    Dataset(
        name="paraphrase-sentences",
        kind="sentences",
        summary="both questions of the Quora pairs, as plain sentences",
        unit=2,
        home="https://web.stanford.edu/class/cs224n",
        splits={
            "train": Split(
                layouts=(FileLayout(files=("CS224N/quora-train.csv",), read=read_questions),), expected=Expected(rows=282_996, empty=None)
            )
        },
    ),
)
