"""Errors of models and disagreements between them, pair by pair, in points of percentile rank."""

from collections.abc import Sequence

import polars as pl

from embedlab.analysis.scores import ModelColumns


def percentile(column: str) -> pl.Expr:
    """Return the percentile rank of each pair's value within its dataset, 0–100; ties share their average; null stays null."""
    values = pl.col(column)
    return ((values.rank("average") - 0.5) / values.count() * 100).over("dataset")


def rank_errors(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """For each of COLUMNS "error(COLUMN)": its percentile rank minus that of the gold score, −100…100 points; then gap.

    An error is positive where the model overestimates similarity. gap is the largest minus the smallest percentile rank that any of
    COLUMNS gives a pair, 0…100 points; 0 for a single one.
    """
    ranks = table.select(percentile("gold").alias("gold"), *(percentile(column).alias(f"of {column}") for column in columns))
    of = [pl.col(f"of {column}") for column in columns]
    errors = [(rank - pl.col("gold")).alias(f"error({column})") for rank, column in zip(of, columns, strict=True)]
    return ranks.select(*errors, (pl.max_horizontal(of) - pl.min_horizontal(of)).alias("gap"))


def with_rank_errors(table: pl.DataFrame, models: Sequence[ModelColumns]) -> pl.DataFrame:
    """Return the pair table with each model's score (mean over members; null unless all scored the pair) and "error(MODEL)"; then gap."""
    means = [pl.sum_horizontal(model.members, ignore_nulls=False).truediv(len(model.members)).alias(model.name) for model in models]
    table = table.with_columns(means)
    return table.hstack(rank_errors(table, [model.name for model in models]))
