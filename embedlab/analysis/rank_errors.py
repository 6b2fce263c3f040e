"""Errors of models and disagreements between them, pair by pair, in points of percentile rank."""

from collections.abc import Sequence

import polars as pl

from embedlab.analysis.evidence import ModelColumns

# points: a model with at most this rank error, of either sign, is right on a pair; with at least
# the other one it is wrong
RIGHT, WRONG = 10.0, 30.0


def percentile(values: pl.Expr) -> pl.Expr:
    """Return the percentile rank of each pair's value within its dataset, 0–100; ties share their
    average; null stays null.
    """
    return ((values.rank("average") - 0.5) / values.count() * 100).over("dataset")


def rank_errors(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """For each of COLUMNS "error(COLUMN)": its percentile rank minus that of the gold score,
    −100…100 points; then gap.

    An error is positive where the model overestimates similarity. gap is the largest minus the
    smallest percentile rank that any of COLUMNS gives a pair, 0…100 points; 0 for a single one.
    What is compared is ranked among the same pairs: those of the dataset that have a gold score and
    one of the column, for gap those that all columns with scores of the dataset have. With several
    columns gap is null where fewer than two have scores.
    """
    if not any(table[name].null_count() for name in ("gold", *columns)):
        ranked = table.select(percentile(pl.col(name)).alias(name) for name in ("gold", *columns))
        errors = [pl.col(name) - pl.col("gold") for name in columns]
        return ranked.select(
            *map(_error, columns, errors), _gap([pl.col(name) for name in columns])
        )
    errors = [
        percentile(_where("gold", name, name)) - percentile(_where("gold", name, "gold"))
        for name in columns
    ]
    scores = pl.sum_horizontal(pl.col(name).count().over("dataset") > 0 for name in columns)
    has_missing = pl.any_horizontal(
        pl.col(name).is_null() & (pl.col(name).count().over("dataset") > 0) for name in columns
    )
    is_compared = ~has_missing & (scores >= min(len(columns), 2))
    ranks = [percentile(pl.when(is_compared).then(name)) for name in columns]
    return table.select(*map(_error, columns, errors), _gap(ranks))


def _where(column: str, other_column: str, value: str) -> pl.Expr:
    return pl.when(pl.col(column).is_not_null() & pl.col(other_column).is_not_null()).then(value)


def _error(name: str, points: pl.Expr) -> pl.Expr:
    return points.alias(f"error({name})")


def _gap(ranks: Sequence[pl.Expr]) -> pl.Expr:
    return (pl.max_horizontal(ranks) - pl.min_horizontal(ranks)).alias("gap")


def with_rank_errors(table: pl.DataFrame, models: Sequence[ModelColumns]) -> pl.DataFrame:
    """Return the pair table with each model's score (mean over members; null unless all scored the
    pair) and "error(MODEL)"; then gap.
    """
    means = [
        pl.sum_horizontal(model.members, ignore_nulls=False)
        .truediv(len(model.members))
        .alias(model.name)
        for model in models
    ]
    table = table.with_columns(means)
    return table.hstack(rank_errors(table, [model.name for model in models]))
