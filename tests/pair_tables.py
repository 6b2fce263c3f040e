"""A small pair table with two datasets, sources, and models of known quality."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.pair_frames import pair_outcomes, pair_table
from embedlab.analysis.correlations import pearson, rows_by_source, spearman
from embedlab.analysis.evidence import ModelColumns, member_columns
from embedlab.choices import Aggregate, Correlation
from embedlab.comparison.comparison import Comparison, Slicing, compare_outcomes
from embedlab.data.dataset import Part
from embedlab.data.published import STS_AVERAGES
from embedlab.outcomes.selection import ItemSelection
from tests.stored_scores import part_of


def _part(name: str, sources: Mapping[str | None, int], split: str = "test", seed: int = 0) -> Part:
    """Generated pairs: SOURCES says how many of each source; gold scores 0–5 in steps of 0.2."""
    rng = np.random.default_rng(seed)
    rows = sum(sources.values())
    text = [
        [
            " ".join(f"w{word}" for word in rng.integers(0, 9, 5)) + f" {name} {row} {side}"
            for row in range(rows)
        ]
        for side in "ab"
    ]
    frame = pl.DataFrame(
        {
            "sentence1": text[0],
            "sentence2": text[1],
            "gold": rng.integers(0, 26, rows) / 5,
            "source": pl.Series(
                [source for source, count in sources.items() for _ in range(count)], dtype=pl.String
            ),
        }
    )
    return part_of(name, frame, split, expected_rows=rows)


def _with_model(table: pl.DataFrame, name: str, noise: float, seed: int) -> pl.DataFrame:
    """A column that follows the gold score with NOISE (in gold points)."""
    rng = np.random.default_rng(seed)
    return table.with_columns(
        (pl.col("gold") + pl.Series(rng.normal(scale=noise, size=table.height))).alias(name)
    )


@pytest.fixture
def make_part() -> Callable[..., Part]:
    """The maker of generated pairs."""
    return _part


@pytest.fixture
def add_model() -> Callable[[pl.DataFrame, str, float, int], pl.DataFrame]:
    """What adds a model's column to a table."""
    return _with_model


@pytest.fixture
def table() -> pl.DataFrame:
    """sts12 with two sources and a dataset without sources."""
    return pair_table(
        [_part("sts12", {"MSRpar": 60, "OnWN": 40}), _part("mine", {None: 30}, seed=1)]
    )


def compare_models(
    table: pl.DataFrame,
    models: Sequence[ModelColumns],
    *,
    averages: Mapping[str, Sequence[str]] = STS_AVERAGES,
    task: str = "sts",
    selection: ItemSelection | None = None,
    **options: Any,
) -> Comparison:
    """MODELS, columns of the pair TABLE, compared with these OPTIONS of `Slicing`, with letters."""
    outcomes = pair_outcomes(table, member_columns(models), task=task, averages=averages)
    slicing = Slicing(**{"has_letters": True, **options})
    return compare_outcomes(outcomes, models, slicing, selection=selection)


def correlate(
    pairs: pl.DataFrame, column: str, aggregate: Aggregate, method: Correlation = "spearman"
) -> float:
    """The correlation of COLUMN with the gold score over the pairs of one slice.

    nan when a pair has no value in COLUMN, when a correlated group is constant, or when `mean` and
    `wmean` find no sources.
    """
    correlation = spearman if method == "spearman" else pearson
    gold, values = (
        pairs[name].cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in ("gold", column)
    )
    groups = [np.arange(pairs.height)] if aggregate == "all" else rows_by_source(pairs)
    if not groups:
        return float("nan")
    each = [correlation(gold[rows], values[rows]) for rows in groups]
    sizes = [len(rows) if aggregate == "wmean" else 1 for rows in groups]
    return float(np.average(each, weights=sizes))
