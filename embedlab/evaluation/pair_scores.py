"""The scores of similarities against the gold scores of pairs: by dataset, source and fifth of word overlap."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import polars as pl

from embedlab.analysis.correlations import correlate
from embedlab.choices import Aggregate, By, Correlation
from embedlab.outcomes.cuts import ItemSlice
from embedlab.runs.evaluations import StoredScore

AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS: tuple[Correlation, ...] = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")

Averages = Mapping[str, Sequence[str]]  # the datasets of each average, by its title


Slices = Callable[[By], Sequence[tuple[ItemSlice, pl.DataFrame]]]  # and the pairs of each


def pair_scores(slices: Slices, member: str, averages: Averages) -> tuple[StoredScore, ...]:
    """Return every number of one member's column: by dataset in three aggregations, by source and by Dice fifth, Spearman and Pearson."""
    return (*_dataset_scores(slices("dataset"), member, averages), *_slice_scores(slices, member))


def _dataset_scores(parts: Sequence[tuple[ItemSlice, pl.DataFrame]], member: str, averages: Averages) -> Iterator[StoredScore]:
    for aggregate in AGGREGATES:
        for method in METHODS:
            values = {part.key: correlate(pairs, member, aggregate, method) for part, pairs in parts}
            for part, pairs in parts:
                yield _score("dataset", part.key, method, aggregate, values[part.key], pairs.height)
            for name, keys in averages.items():
                items = sum(pairs.height for part, pairs in parts if part.key in keys)
                yield _score("average", name, method, aggregate, sum(values[key] for key in keys) / len(keys), items)


def _slice_scores(slices: Slices, member: str) -> Iterator[StoredScore]:
    by: By
    for by in ("source", "dice"):
        for part, pairs in slices(by):
            for method in METHODS:
                value = correlate(pairs, member, "all", method)
                yield _score(by, part.key, method, "all", value, pairs.height, title=part.title if by == "dice" else None)


def _score(by: str, key: str, method: Correlation, aggregate: Aggregate, value: float, items: int, title: str | None = None) -> StoredScore:
    return StoredScore(by=by, slice=key, metric=method, setting=aggregate, value=value, items=items, title=title)
