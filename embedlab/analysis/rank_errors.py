"""Where a model is wrong and where models disagree, pair by pair, in points of percentile rank."""

from collections.abc import Sequence

import polars as pl

from embedlab.analysis.scores import ModelColumns


def percentile(column: str) -> pl.Expr:
    """The percentile rank of each pair's value within its dataset, 0–100, ties sharing their average; null stays null."""
    values = pl.col(column)
    return ((values.rank("average") - 0.5) / values.count() * 100).over("dataset")


def rank_error(column: str) -> pl.Expr:
    """Percentile rank of COLUMN minus that of the gold score, −100…100 points: positive where the model sees too much similarity."""
    return (percentile(column) - percentile("gold")).alias(f"error({column})")


def gap(columns: Sequence[str]) -> pl.Expr:
    """The largest minus the smallest percentile rank that any of COLUMNS gives a pair, 0…100 points; 0 for a single model."""
    ranks = [percentile(column) for column in columns]
    return (pl.max_horizontal(ranks) - pl.min_horizontal(ranks)).alias("gap")


def with_rank_errors(table: pl.DataFrame, models: Sequence[ModelColumns]) -> pl.DataFrame:
    """The pair table with, for each model, its score (mean over members; null unless all scored the pair) and "error(MODEL)"; then gap."""
    means = [pl.sum_horizontal(model.members, ignore_nulls=False).truediv(len(model.members)).alias(model.name) for model in models]
    names = [model.name for model in models]
    return table.with_columns(means).with_columns(*(rank_error(name) for name in names), gap(names))
