"""Splits of dictionary definitions by word: about eight tenths of the words are in train, one tenth
each in dev and test.
"""

from hashlib import blake2b
from typing import Literal, get_args

import polars as pl

WordSplit = Literal["train", "dev", "test"]
WORD_SPLITS = (*get_args(WordSplit), "all")


def split_of(word: str) -> WordSplit:
    """Return the split of a word by its hash: the same in every file, without any stored list.

    Case is ignored, as by an uncased encoder: no token is in two splits.
    """
    tenth = int.from_bytes(blake2b(word.casefold().encode(), digest_size=8).digest(), "big") % 10
    return "train" if tenth < 8 else "dev" if tenth == 8 else "test"


def of_split(frame: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the rows of FRAME whose word is in SPLIT; "all" is every row."""
    if split == "all":
        return frame
    words = frame["word"].unique()
    return frame.filter(pl.col("word").is_in([word for word in words if split_of(word) == split]))
