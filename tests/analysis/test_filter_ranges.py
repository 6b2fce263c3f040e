"""A selection of rows becomes a filter that selects the same rows."""

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.expressions import compile_expression, compile_terms, rows_that_hold
from embedlab.analysis.filter_ranges import FieldRange, narrowed, selecting_ranges, with_name


def selected(table: pl.DataFrame, text: str) -> list[int]:
    return (
        table.with_row_index("row").filter(compile_expression(text, table.columns))["row"].to_list()
    )


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
def test_the_filter_of_a_box_selects_exactly_the_rows_in_it(kind: type[pl.DataType]) -> None:
    rng = np.random.default_rng(1)
    crowded = (
        0.5 + rng.integers(-40, 40, size=400) * 2.0**-22
    )  # neighbours in single precision among them
    cosine = np.concatenate([crowded, rng.normal(scale=0.4, size=400), [-0.0, -1e-20, 1.0, -1.0]])
    table = pl.DataFrame(
        {
            "bert?pooling=mean": pl.Series(cosine).cast(kind),
            "gold": rng.choice([0.0, 1 / 3, 2.5, 5.0], size=804),
        }
    )
    values = table["bert?pooling=mean"].to_numpy()
    for _ in range(60):
        low, high = np.sort(rng.choice(values, 2, replace=False))
        rows = np.flatnonzero((values >= low) & (values <= high) & (table["gold"].to_numpy() < 3))
        if not len(rows):
            continue
        ranges = selecting_ranges(table, rows, ["bert?pooling=mean", "gold"])
        assert selected(table, " ".join(map(str, ranges))) == rows.tolist()


def test_limits_are_written_in_few_digits() -> None:
    table = pl.DataFrame({"a": pl.Series([0.11, 0.4123, 0.5, 0.778, 0.91], dtype=pl.Float32)})
    assert [str(one) for one in selecting_ranges(table, np.array([1, 2, 3]), ["a"])] == [
        "0.4<=a<=0.8"
    ]
    assert [str(one) for one in selecting_ranges(table, np.array([0, 4]), ["a"])] == ["0<=a<=1"]


def test_a_filter_is_narrowed_within_each_of_its_groups() -> None:
    box = [FieldRange(field="a", low="0.2", high="0.4")]
    assert narrowed("", box) == "0.2<=a<=0.4"
    assert (
        narrowed('man and A>0.1 -a<3 "or" gold=2 0<=a<=1', box)
        == 'man -a<3 "or" gold=2 0.2<=a<=0.4'
    )
    assert narrowed("cat or dog a>0", box) == "cat 0.2<=a<=0.4 or dog a>0 0.2<=a<=0.4"


def test_a_field_with_an_operator_in_its_name_is_quoted() -> None:
    table = pl.DataFrame(
        {"x?pooling=mean": [0.1, 0.5], "sentence1": ["a", "b"], "sentence2": ["a", "b"]}
    )
    assert selected(table, '"x?pooling=mean">0.3') == [1]
    assert selected(table, '0<"x?pooling=mean"<0.3') == [0]
    assert selected(table, '-"x?pooling=mean">=0.5') == [0]
    assert selected(table, '"b"') == [1]


def test_a_range_holds_after_a_term_that_leaves_few_rows() -> None:
    table = pl.DataFrame({"a": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "b": [1, 2, 3, 4, 5, 6]})
    terms = compile_terms("b>4 0.1<a<0.6", table.columns)
    assert rows_that_hold(terms, table).tolist() == [False] * 4 + [True, False]


def test_a_name_takes_the_place_of_another_name() -> None:
    assert with_name("man", "right", "A") == "man right:A"
    assert with_name("man right:A gold>1", "right", "B") == "man gold>1 right:B"
    assert with_name("right:B", "right", "") == ""
    assert (
        with_name("cat right:A or dog", "right", "neither")
        == "cat right:neither or dog right:neither"
    )
