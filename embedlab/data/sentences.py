"""Plain sentences for objectives that need no labels.

Columns: sentence.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import read_fields, read_lines


def read_first_column(paths: Sequence[Path]) -> ParsedRows:
    """Return the sentences of several files of sentence TAB its two halves."""
    return ParsedRows(
        frame=pl.concat(
            [read_fields(path, (0,), line_shape="a sentence and its halves", fields=(2,)).select(sentence="0") for path in paths]
        )
    )


def read_whole_lines(paths: Sequence[Path]) -> ParsedRows:
    """Return every non-blank line of a file; blank ones are counted."""
    (path,) = paths
    lines = read_lines(path)
    sentences = [line for line in lines if line.strip()]
    blank = len(lines) - len(sentences)
    return ParsedRows(
        frame=pl.DataFrame({"sentence": sentences}, schema=dict(COLUMNS["sentences"])), skipped={"blank line": blank} if blank else {}
    )


def both_sentences(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of PAIRS as rows: each pair's first, then its second."""
    return pairs.select(sentence=pl.concat_list("sentence1", "sentence2")).explode("sentence")


_PARTS = tuple(f"wiki_split/{split}.tsv" for split in ("tune", "validation", "test"))

DATASETS = (
    Dataset(
        name="wiki-1m",
        kind="sentences",
        summary="a million sentences of the English Wikipedia (Gao 2021)",
        home="https://huggingface.co/datasets/princeton-nlp/datasets-for-simcse",
        splits={
            "train": Split(
                layouts=(FileLayout(files=("wiki1m_for_simcse.txt",), read=read_whole_lines),), expected=Expected(rows=1_000_000)
            )
        },
    ),
    Dataset(
        name="wiki-split",
        kind="sentences",
        summary="Wikipedia sentences of WikiSplit's tune, validation and test parts (Botha 2018)",
        home="https://github.com/google-research-datasets/wiki-split",
        splits={"train": Split(layouts=(FileLayout(files=_PARTS, read=read_first_column),), expected=Expected(rows=15_000))},
    ),
)
