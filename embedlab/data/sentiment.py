"""Sentiment in five classes: the Stanford sentiment treebank in the files of the CS224N course.

Columns: sentence, label (0 very negative … 4 very positive).
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import bad_line, read_fields, read_numbers

_HEADER = {"sentence": "sentence", "sentiment": "label"}


def read_sentiment(paths: Sequence[Path]) -> ParsedRows:
    """Return the sentences of a tab-separated file with the columns sentence and sentiment."""
    (path,) = paths
    frame = read_fields(path, list(_HEADER), line_shape="id, sentence, sentiment").rename(_HEADER)
    labels = read_numbers(path, frame["label"], frame["line"], 0, 4, "sentiment", is_class=True)
    unlabelled = frame.filter(labels.is_null())
    if not unlabelled.is_empty():
        raise bad_line(path, unlabelled["line"][0], "no sentiment")
    return ParsedRows(frame=frame.with_columns(labels.cast(pl.Int8).alias("label")).select(list(COLUMNS["sentiment"])))


def _split(split: str, *counts: int) -> Split:
    expected = Expected(rows=sum(counts), classes={str(label): rows for label, rows in enumerate(counts)})
    return Split(layouts=(FileLayout(files=(f"CS224N/ids-sst-{split}.csv",), read=read_sentiment),), expected=expected)


DATASETS = (
    Dataset(
        name="sentiment",
        kind="sentiment",
        summary="Stanford sentiment treebank in five classes, as the CS224N course writes it (Socher 2013)",
        home="https://web.stanford.edu/class/cs224n",
        splits={"train": _split("train", 1_092, 2_218, 1_624, 2_322, 1_288), "dev": _split("dev", 139, 289, 229, 279, 165)},
    ),
)
