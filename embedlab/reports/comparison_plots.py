"""The plots of compared models, task by task: scores, differences from the first model, and
similarities against gold scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.data.pair_parts import FIFTHS_OF
from embedlab.models.grammar import title_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import is_expression
from embedlab.outcomes.property import property_named
from embedlab.reports.plots import Dots, Lines, Plot, Scatter, ScatterPoints, Series
from embedlab.reports.units import shares_of
from embedlab.scoring.scored_pairs import ScoredPairs
from embedlab.scoring.task_comparison import TaskComparison

AXIS = "x 100, with 95% intervals"
SCATTERS = 4  # models that the scatter shows: more panels are too small to read


def tasks_of(comparison: TaskComparison) -> Mapping[str, Sequence[ComparedSlice]]:
    """Return the slices of each task whose numbers are shares; numbers in a unit of their own have
    no plot.
    """
    shares = shares_of(comparison.slices)
    return {
        task: [compared for compared in shares if compared.task == task]
        for task in dict.fromkeys(compared.task for compared in shares)
    }


def score_plots(
    comparison: TaskComparison, task: str, slices: Sequence[ComparedSlice]
) -> list[Plot]:
    """Return the scores of each model on the slices of a task: dots, or of a number that is cut in
    fifths lines, a plot a dataset.
    """
    by = comparison.slicing.by
    is_cut = by != DATASET and not is_expression(by) and property_named(by).kind == "number"
    return [*_fifths(comparison, slices)] if is_cut else [_scores(comparison, task, slices)]


def labels_of(slices: Sequence[ComparedSlice]) -> list[str]:
    """Return the names of slices, without what all of them share: the dataset."""
    parts = [compared.key.partition("/") for compared in slices]
    is_one = len({dataset for dataset, _, _ in parts}) == 1 and all(rest for _, _, rest in parts)
    return [
        rest if is_one else compared.key
        for compared, (_, _, rest) in zip(slices, parts, strict=True)
    ]


def _scores(comparison: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> Dots:
    title = f"Scores on {task}, by {comparison.slicing.by}"
    return Dots(
        title=title,
        labels=labels_of(slices),
        series=series_of(comparison, slices),
        axis=f"{metric_of(slices)}{AXIS}",
    )


def metric_of(slices: Sequence[ComparedSlice]) -> str:
    """Return the metric that all slices have, as an axis begins; nothing where they differ."""
    metrics = {compared.metric for compared in slices}
    return f"{next(iter(metrics)).capitalize()} " if len(metrics) == 1 else ""


def series_of(comparison: TaskComparison, slices: Sequence[ComparedSlice]) -> list[Series]:
    """Each model's scores on SLICES."""
    return [
        Series(
            name=title_of(model.name),
            values=[100 * compared.scores[model.name].value for compared in slices],
            low=[100 * compared.scores[model.name].low for compared in slices],
            high=[100 * compared.scores[model.name].high for compared in slices],
        )
        for model in comparison.models
    ]


def difference_plots(
    comparison: TaskComparison, task: str, slices: Sequence[ComparedSlice]
) -> Iterator[Dots]:
    """One plot of all models but the first; none where that is the only model."""
    compared = [
        compared
        for compared in slices
        if any(not isnan(each.delta) for each in compared.differences.values())
    ]
    others = [model.name for model in comparison.models[1:]]
    if not (others and compared):
        return
    series = [
        Series(
            name=title_of(model),
            values=[100 * each.differences[model].delta for each in compared],
            low=[100 * each.differences[model].low for each in compared],
            high=[100 * each.differences[model].high for each in compared],
        )
        for model in others
    ]
    what = title_of(others[0]) if len(others) == 1 else "Each model"
    title = (
        f"{what} minus {title_of(comparison.models[0].name)} on {task}, by {comparison.slicing.by}"
    )
    yield Dots(
        title=title,
        labels=labels_of(compared),
        series=series,
        axis="difference, with 95% intervals",
        zero=True,
    )


def _fifths(comparison: TaskComparison, slices: Sequence[ComparedSlice]) -> Iterator[Lines]:
    """A plot a dataset, its fifths from the smallest to the largest values."""
    keys: dict[str, list[ComparedSlice]] = {}
    for compared in slices:
        keys.setdefault(compared.key.rpartition("/")[0], []).append(compared)
    name = property_named(comparison.slicing.by).title or comparison.slicing.by
    for dataset, key in keys.items():
        yield Lines(
            title=f"Scores by {name} on {dataset}",
            labels=[compared_slice.key.rpartition("-")[2] for compared_slice in key],
            series=series_of(comparison, key),
            axis=f"{metric_of(key)}{AXIS}",
            along=f"fifth of the items by {name}, from the smallest to the largest",
        )


def gold_scatter(scored: ScoredPairs, *, has_means: bool = False) -> Scatter:
    """Return the similarity of each model against the gold score of every pair of one dataset."""
    dataset = plotted_dataset(scored)
    pairs = scored.table.filter(pl.col("dataset") == dataset)
    panels = tuple(_points(pairs, model) for model in scored.models[:SCATTERS])
    title = f"Similarity against the gold score on {dataset}"
    return Scatter(
        title=title, panels=panels, x_axis="gold score", y_axis="similarity", has_means=has_means
    )


def plotted_dataset(scored: ScoredPairs) -> str:
    """Return the dataset whose pairs a scatter shows."""
    names = scored.table["dataset"].unique(maintain_order=True).to_list()
    return FIFTHS_OF if FIFTHS_OF in names else str(names[0])


def _points(pairs: pl.DataFrame, model: ModelColumns) -> ScatterPoints:
    """A pair's similarity is the mean over the model's members."""
    similarity = pairs.select(pl.mean_horizontal(model.members, ignore_nulls=False)).to_series()
    frame = pairs.select("gold", similarity=similarity).drop_nulls()
    return ScatterPoints(
        name=title_of(model.name), x=frame["gold"].to_list(), y=frame["similarity"].to_list()
    )
