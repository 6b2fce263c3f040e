"""Two models face to face, compared with a slow loop."""

import polars as pl

from embedlab.analysis.expressions import compile_expression
from embedlab.analysis.pairing import Pairing, with_pairing


def test_differences_and_verdicts_are_those_of_a_slow_loop() -> None:
    errors = [
        (0.0, 30.0),
        (-10.0, -30.0),
        (10.5, 40.0),
        (31.0, -9.0),
        (4.0, -4.0),
        (-50.0, 60.0),
        (None, 50.0),
        (5.0, None),
    ]
    table = pl.DataFrame(errors, schema=["error(x=1)", "error(y)"], orient="row").with_columns(
        pl.lit(0.5).alias("x=1"), pl.lit(0.25).alias("y"), pl.lit(99.0).alias("gap")
    )
    found = with_pairing(table, Pairing(reference="x=1", other="y"))
    for row, (first, second) in zip(found.iter_rows(named=True), errors, strict=True):
        if first is None or second is None:
            assert row["right"] is row["delta_rank"] is row["delta_error"] is row["gap"] is None
            continue
        right = [abs(one) <= 10 for one in (first, second)]
        wrong = [abs(one) >= 30 for one in (first, second)]
        verdicts = {
            "A": right[0] and wrong[1],
            "B": right[1] and wrong[0],
            "both": all(right),
            "neither": all(wrong),
        }
        assert row["right"] == next((name for name, holds in verdicts.items() if holds), None)
        assert row["delta_rank"] == second - first
        assert row["gap"] == abs(second - first)
        assert row["delta_error"] == abs(second) - abs(first)
        assert (row["A"], row["B"]) == (0.5, 0.25)
    assert found["right"].to_list()[:6] == ["A", "A", None, "B", "both", "neither"]
    chosen = found.filter(compile_expression("right:A error(B)<0", found.columns))
    assert chosen["error(y)"].to_list() == [-30.0]
    swapped = with_pairing(table, Pairing(reference="x=1", other="y").swapped)
    assert swapped["right"].to_list()[:4] == ["B", "B", None, "A"]
