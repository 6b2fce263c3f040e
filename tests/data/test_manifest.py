"""What differs between rows and the counts that are published of their corpus."""

import polars as pl
import pytest

from embedlab.data.dataset import DatasetKind, Expected
from embedlab.data.manifest import corpus_differences, is_partial

ODD = pl.DataFrame({"sentence": ["s"] * 4, "label": [0, 0, 0, 1]})
TWO = pl.DataFrame({"sentence": ["a", "b"]})
EMPTY = pl.DataFrame(
    {"sentence1": ["a", "\u00a0"], "sentence2": ["b", "c"], "gold": [1.0, 2.0], "source": [None, None]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "frame", "expected", "faults"),
    [
        ("sentiment", ODD, Expected(rows=4), []),
        (
            "sentiment",
            ODD,
            Expected(rows=4, classes={"0": 2, "1": 2}),
            ["classes 0 3, 1 1 instead of 0 2, 1 2"],
        ),
        ("sentences", TWO, Expected(rows=1), ["2 rows instead of 1"]),
        (
            "sts",
            EMPTY,
            Expected(rows=2),
            ["1 row with an empty sentence instead of 0, the first of them row 2"],
        ),
        ("sts", EMPTY, Expected(rows=2, empty=1), []),
        ("sts", EMPTY, Expected(rows=2, empty=None), []),
        # the sources are unknown
        ("sts", EMPTY, Expected(rows=2, empty=1, classes={"x": 2}), []),
    ],
)
def test_rows_differ_from_what_was_published_by_number_balance_and_empty_sentences(
    kind: DatasetKind, frame: pl.DataFrame, expected: Expected, faults: list[str]
) -> None:
    assert corpus_differences(kind, frame, expected) == faults
    assert is_partial("x", kind, frame, expected, allow_partial=True) is bool(faults)
