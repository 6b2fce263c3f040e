"""C-STS: the similarity of two sentences under a condition, such as "the number of people" (Deshpande 2023).

Columns: sentence1, sentence2, gold, source (unknown). Each sentence follows its condition, "condition: sentence", as a prompt: similarity
is that of the two texts. The authors' bi-encoder instead gives sentence and condition to the tokenizer as a pair, so that numbers differ.
Owners give the files to whoever requests them, for no other use, and score the test split on a server: only validation is read.
No copy was at hand when this was written.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.dataset import Dataset, FileLayout, ParsedRows, Split
from embedlab.data.pair_file import scored_pairs
from embedlab.data.row_file import PLACE, read_rows, refuse_bad_texts

_COLUMNS = ("sentence1", "sentence2", "condition", "label")
_SCALE = (1.0, 5.0)


def read_conditional(paths: Sequence[Path]) -> ParsedRows:
    """Return the pairs of a CSV file with sentence1, sentence2, condition and label, each sentence behind its condition.

    A column that is absent is a MissingError.
    """
    (path,) = paths
    rows = read_rows(path, needed=_COLUMNS)
    if absent := [name for name in _COLUMNS if name not in rows.columns]:
        raise MissingError(f"{path} has no column {absent[0]!r}: found {', '.join(rows.drop(PLACE).columns)}", hint="get the file again")
    refuse_bad_texts(path, rows, _COLUMNS[:3])
    texts = [pl.format("{}: {}", pl.col("condition").str.strip_chars(), side).alias(side) for side in _COLUMNS[:2]]
    return scored_pairs(path, rows.with_columns(texts).rename({"label": "score"}), scale=_SCALE)


DATASETS = (
    Dataset(
        name="c-sts",
        kind="sts",
        summary='sentences under a condition, compared as "condition: sentence", gold from 1 to 5 (Deshpande 2023)',
        home="https://github.com/princeton-nlp/c-sts",
        gold_range=_SCALE,
        splits={"validation": Split(layouts=(FileLayout(files=("C-STS/csts_validation.csv",), read=read_conditional),), expected=None)},
    ),
)
