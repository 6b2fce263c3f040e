"""The scores of similarities against the gold scores of pairs: by dataset, source and fifth of word overlap."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from embedlab.analysis.correlations import correlate
from embedlab.analysis.slices import Slice, slices
from embedlab.choices import Aggregate, By, Correlation
from embedlab.data.pair_parts import FIFTHS_OF, OTHER_SPLITS
from embedlab.runs.evaluations import StoredScore

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS: tuple[Correlation, ...] = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")

Averages = Mapping[str, Sequence[str]]  # the datasets of each average, by its title


def suite_slices(table: pl.DataFrame, by: By) -> list[Slice]:
    """Return the slices that are reported; the other splits of STS-B are used for its fifths only."""
    others = [f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS]  # as the pair table names them
    return slices(table if by == "dice" else table.filter(~pl.col("dataset").is_in(others)), by)


def scores_of(table: pl.DataFrame, member: str, averages: Averages) -> tuple[StoredScore, ...]:
    """Return every number of one member's column: by dataset in three aggregations, by source and by Dice fifth, Spearman and Pearson."""
    return (*_dataset_scores(table, member, averages), *_slice_scores(table, member))


def _dataset_scores(table: pl.DataFrame, member: str, averages: Averages) -> Iterator[StoredScore]:
    parts = suite_slices(table, "dataset")
    for aggregate in AGGREGATES:
        for method in METHODS:
            values = {part.key: correlate(part.pairs, member, aggregate, method) for part in parts}
            for part in parts:
                yield _score("dataset", part.key, method, aggregate, values[part.key], part.pairs.height)
            for name, keys in averages.items():
                items = sum(part.pairs.height for part in parts if part.key in keys)
                yield _score("average", name, method, aggregate, sum(values[key] for key in keys) / len(keys), items)


def _slice_scores(table: pl.DataFrame, member: str) -> Iterator[StoredScore]:
    for by in ("source", "dice"):
        for part in suite_slices(table, by):
            for method in METHODS:
                value = correlate(part.pairs, member, "all", method)
                yield _score(by, part.key, method, "all", value, part.pairs.height, title=part.title if by == "dice" else None)


def _score(by: str, key: str, method: Correlation, aggregate: Aggregate, value: float, items: int, title: str | None = None) -> StoredScore:
    return StoredScore(by=by, slice=key, metric=method, setting=aggregate, value=value, items=items, title=title)
