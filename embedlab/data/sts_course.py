"""Sentence pairs with graded similarity in the files of the CS224N course: another split of STS Benchmark's pairs.

Columns: sentence1, sentence2, gold, source (unknown); or sentence for the sentences alone. Its training pairs hold pairs of STS
Benchmark's dev and test, so a model trained on them is scored on its own dev only.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.sentences import both_sentences
from embedlab.data.text_file import bad_line, read_fields, read_numbers

_HEADER = ("sentence1", "sentence2", "similarity")


def read_course_pairs(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a tab-separated file with the columns sentence1, sentence2 and similarity."""
    (path,) = paths
    frame = read_fields(path, _HEADER, line_shape="id, sentence1, sentence2, similarity")
    gold = read_numbers(path, frame["similarity"], frame["line"], 0, 5, "similarity")
    unscored = frame.filter(gold.is_null())
    if not unscored.is_empty():
        raise bad_line(path, unscored["line"][0], "no similarity")
    return ParsedRows(frame=frame.with_columns(gold=gold, source=pl.lit(None, pl.String)).select(list(COLUMNS["sts"])))


def read_course_sentences(paths: Sequence[Path]) -> ParsedRows:
    """Return both sentences of every pair, as plain sentences."""
    return ParsedRows(frame=both_sentences(read_course_pairs(paths).frame))


def _split(split: str, rows: int, read: Callable[[Sequence[Path]], ParsedRows]) -> Split:
    return Split(layouts=(FileLayout(files=(f"CS224N/sts-{split}.csv",), read=read),), expected=Expected(rows=rows))


_HOME = "https://web.stanford.edu/class/cs224n"

DATASETS = (
    Dataset(
        name="sts-course",
        kind="sts",
        summary="graded similarity in the splits of the CS224N course; shares pairs with STS Benchmark's dev and test",
        home=_HOME,
        # Dev first: it is the default split of an evaluation, for the test file has no scores.
        splits={"dev": _split("dev", 863, read_course_pairs), "train": _split("train", 6_040, read_course_pairs)},
    ),
    Dataset(
        name="sts-course-sentences",
        kind="sentences",
        summary="both sentences of the course's pairs, as plain sentences",
        unit=2,
        home=_HOME,
        splits={"train": _split("train", 12_080, read_course_sentences)},
    ),
)
