import polars as pl

from embedlab.data.dataset import Expected
from embedlab.data.manifest import corpus_differences, is_partial

# Shaped like SUBJ cut short: nearly all rows of one class.
CUT = pl.DataFrame({"sentence": ["s"] * 5020, "label": [0] * 5000 + [1] * 20})
WHOLE = Expected(rows=10_000, classes={"0": 5000, "1": 5000})


def test_odd_balance_alone_is_refused() -> None:
    odd = pl.DataFrame({"sentence": ["s"] * 4, "label": [0, 0, 0, 1]})
    assert corpus_differences("sentiment", odd, Expected(rows=4, classes={"0": 2, "1": 2})) == [
        "classes 0 3, 1 1 instead of 0 2, 1 2"
    ]


def test_more_rows_than_published_are_odd_too() -> None:
    assert corpus_differences(
        "sentences", pl.DataFrame({"sentence": ["a", "b"]}), Expected(rows=1)
    ) == ["2 rows instead of 1"]


def test_partial_data_is_marked_and_whole_data_is_not() -> None:
    assert is_partial("x", "sentiment", CUT, WHOLE, allow_partial=True)
    assert not is_partial("x", "sentiment", CUT, Expected(rows=5020), allow_partial=True)
    assert not is_partial("x", "sentiment", CUT, None, allow_partial=False)


def test_empty_sentences_are_odd_where_the_published_corpus_has_none() -> None:
    frame = pl.DataFrame(
        {
            "sentence1": ["a", "\u00a0"],
            "sentence2": ["b", "c"],
            "gold": [1.0, 2.0],
            "source": ["", ""],
        }
    )
    (fault,) = corpus_differences("sts", frame, Expected(rows=2))
    assert fault == "1 rows with an empty sentence instead of 0, the first of them row 2"
    assert corpus_differences("sts", frame, Expected(rows=2, empty=1)) == []
    assert corpus_differences("sts", frame, Expected(rows=2, empty=None)) == []


def test_unknown_sources_do_not_make_the_balance_odd() -> None:
    frame = pl.DataFrame({"source": [None, None]}, schema={"source": pl.String})
    assert corpus_differences("sts", frame, Expected(rows=2, classes={"x": 2})) == []
