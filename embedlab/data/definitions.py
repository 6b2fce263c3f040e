"""Dictionary definitions: any file with a word, a tab and its definition on each line.

Columns: word, definition. A word has one row per definition. The splits are by word: about eight tenths of
the words are in train, one tenth each in dev and test; "all" holds every row.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from embedlab.data.dataset import Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import bad_line, read_fields

WordSplit = Literal["train", "dev", "test"]
WORD_SPLITS = (*get_args(WordSplit), "all")


def split_of(word: str) -> WordSplit:
    """Return the split of a word by its hash: the same in every file, without any stored list.

    Case is ignored, as by an uncased encoder: no token is in two splits.
    """
    tenth = int.from_bytes(blake2b(word.casefold().encode(), digest_size=8).digest(), "big") % 10
    return "train" if tenth < 8 else "dev" if tenth == 8 else "test"


def read_definitions(paths: Sequence[Path], *, split: str = "all") -> ParsedRows:
    """Return the definitions of one file whose word is in SPLIT, in order; an empty word or definition is an error at its line."""
    (path,) = paths
    status = path.stat()
    return ParsedRows(frame=of_split(_read_file(path, status.st_size, status.st_mtime_ns), split))


@lru_cache(maxsize=1)  # several splits are opened one after the other, and again for each model
def _read_file(path: Path, size: int, modified_ns: int) -> pl.DataFrame:
    """Return all definitions of a file of that size, last modified at that time."""
    frame = read_fields(path, (0, 1), line_shape="a word and its definition", fields=(2,)).rename({"0": "word", "1": "definition"})
    for column in ("word", "definition"):
        empty = frame.filter(pl.col(column).str.strip_chars() == "")
        if not empty.is_empty():
            raise bad_line(path, empty["line"][0], f"an empty {column}")
    return frame.select("word", "definition")


def of_split(frame: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the rows of FRAME whose word is in SPLIT."""
    if split == "all":
        return frame
    words = frame["word"].unique()
    return frame.filter(pl.col("word").is_in([word for word in words if split_of(word) == split]))


_FILE = "OEWN/definitions.tsv"
_ROWS = {"train": 147_913, "dev": 18_459, "test": 18_780, "all": 185_152}

DATASETS = (
    Dataset(
        name="definitions",
        kind="definitions",
        summary="words and their definitions in the Open English WordNet",
        home="https://en-word.net",
        splits={
            split: Split(layouts=(FileLayout(files=(_FILE,), read=partial(read_definitions, split=split)),), expected=Expected(rows=rows))
            for split, rows in _ROWS.items()
        },
    ),
)
