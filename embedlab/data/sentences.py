"""Plain sentences for objectives that need no labels.

Columns: sentence.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, Layout, Rows, Split
from embedlab.data.text_file import read_fields


def read_first_column(paths: Sequence[Path]) -> Rows:
    """What stands before the first tab of every line of several files."""
    return Rows(frame=pl.concat([read_fields(path, (0,), line_shape="a sentence").select(sentence="0") for path in paths]))


_PARTS = tuple(f"wiki_split/{part}.tsv" for part in ("tune", "validation", "test"))

DATASETS = (
    Dataset(
        name="wiki-split",
        kind="sentences",
        summary="Wikipedia sentences of WikiSplit's tune, validation and test parts (Botha 2018)",
        home="https://github.com/google-research-datasets/wiki-split",
        splits={"train": Split(layouts=(Layout(files=_PARTS, read=read_first_column),), expected=Expected(rows=15_000))},
    ),
)
