"""PAWS-Wiki: pairs of nearly the same words, paraphrases or not (Zhang 2019).

Columns: sentence1, sentence2, is_duplicate. Files are those of its owners: id, sentence1, sentence2, label, separated by tabs. Counts
and revision are those that several public projects state; neither the files nor the hub's copy were at hand when this was written.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, HubSource, ParsedRows, Split
from embedlab.data.text_file import read_fields, read_numbers

_HEADER = ("sentence1", "sentence2", "label")


def read_paws(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a tab-separated file with the header id, sentence1, sentence2, label; the label is 0 or 1."""
    (path,) = paths
    frame = read_fields(path, _HEADER, line_shape="id, sentence1, sentence2, label")
    labels = read_numbers(path, frame["label"], frame["line"], 0, 1, "label", is_class=True).cast(pl.Int8)
    pairs = frame.with_columns(labels.alias("is_duplicate")).select(list(COLUMNS["paraphrases"]))
    labelled = pairs.drop_nulls("is_duplicate")
    blank = len(pairs) - len(labelled)
    return ParsedRows(frame=labelled, skipped={"blank label": blank} if blank else {})


def write_paws(frame: pl.DataFrame) -> tuple[str, ...]:
    """Return the text of a file that `read_paws` reads back, with row numbers as ids."""
    plain = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " ")).with_row_index("id", offset=1)
    return (plain.rename({"is_duplicate": "label"}).write_csv(separator="\t", quote_style="never"),)


def _split(split: str, hub_split: str, rows: int) -> Split:
    hub = HubSource(
        repository="google-research-datasets/paws",
        revision="161ece9501cf0a11f3e48bd356eaa82de46d6a09",
        split=hub_split,
        columns={"sentence1": "sentence1", "sentence2": "sentence2", "is_duplicate": "label"},
        config="labeled_final",
    )
    layout = FileLayout(files=(f"PAWS/{split}.tsv",), read=read_paws, write=write_paws)
    return Split(layouts=(layout,), expected=Expected(rows=rows, empty=None), hub=hub)


DATASETS = (
    Dataset(
        name="paws",
        kind="paraphrases",
        summary="pairs of nearly the same words from Wikipedia, paraphrases or not (Zhang 2019)",
        home="https://github.com/google-research-datasets/paws",
        splits={
            "train": _split("train", "train", 49_401),
            "dev": _split("dev", "validation", 8_000),
            "test": _split("test", "test", 8_000),
        },
    ),
)
