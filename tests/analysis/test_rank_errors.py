from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
import scipy.stats

from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.rank_errors import with_rank_errors


def points(values: pl.Series) -> np.ndarray:
    return 100 * (scipy.stats.rankdata(values) - 0.5) / len(values)


def test_errors_and_gaps_are_by_the_ranks_of_what_models_score_within_each_dataset(
    table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]
) -> None:
    """A gap is between the models that score the dataset, on the pairs that all of these score."""
    for seed, name in enumerate(("a@1", "a@2", "b", "c"), 1):
        table = add_model(table, name, 1, seed)
    is_mine, pair = pl.col("dataset") == "mine", pl.col("pair")
    table = table.with_columns(
        b=pl.when(is_mine | (pair > 4)).then(pl.col("b").round(0)),
        c=pl.when(is_mine & (pair > 2)).then("c"),
    )
    members = {"a": ("a@1", "a@2"), "b": ("b",), "c": ("c",)}
    models = [ModelColumns(name=name, members=own) for name, own in members.items()]
    for part in with_rank_errors(table, models).partition_by("dataset"):
        names, least = ("abc", 2) if part["dataset"][0] == "mine" else ("ab", 4)
        mean = (part["a@1"] + part["a@2"]) / 2
        assert part["a"].to_list() == pytest.approx(mean.to_list())
        for name in names:
            scored = part.drop_nulls(name)
            errors = points(scored[name]) - points(scored["gold"])
            assert scored[f"error({name})"].to_numpy() == pytest.approx(errors)
            assert part[f"error({name})"].count() == scored.height
        left = part.filter(pair > least)
        ranks = np.array([points(left[name]) for name in names])
        assert left["gap"].to_numpy() == pytest.approx(np.ptp(ranks, axis=0))
        assert part["gap"].null_count() == part.height - left.height
    alone = with_rank_errors(table.with_columns(b=pl.lit(None, pl.Float64)), models[:2])
    assert alone["gap"].count() == 0  # one of two models alone differs from nothing
