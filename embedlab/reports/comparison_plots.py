"""The plots of compared models, task by task: scores, differences from the first model, and similarities against gold scores."""

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
from embedlab.scoring.scored_pairs import ScoredPairs
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of

AXIS = "x 100, with 95% intervals"
SCATTERS = 4  # models that the scatter shows: more panels are too small to read


def tasks_of(found: TaskComparison) -> Mapping[str, Sequence[ComparedSlice]]:
    """Return the slices of each task whose numbers are shares; one with units of its own has no plot."""
    tasks = dict.fromkeys(one.task for one in found.slices if scale_of(one.task, one.metric) == 100)
    return {task: [one for one in found.slices if one.task == task] for task in tasks}


def score_plots(found: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> list[Plot]:
    """Return the scores of each model on the slices of a task: dots, or of a number that is cut in fifths lines, a plot a dataset."""
    by = found.slicing.by
    is_cut = by != DATASET and not is_expression(by) and property_named(by).kind == "number"
    return [*_fifths(found, slices)] if is_cut else [_scores(found, task, slices)]


def labels_of(slices: Sequence[ComparedSlice]) -> list[str]:
    """Return the names of slices, without what all of them share: the dataset."""
    parts = [one.key.partition("/") for one in slices]
    is_one = len({dataset for dataset, _, _ in parts}) == 1 and all(rest for _, _, rest in parts)
    return [rest if is_one else one.key for one, (_, _, rest) in zip(slices, parts, strict=True)]


def _scores(found: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> Dots:
    title = f"Scores on {task}, by {found.slicing.by}"
    return Dots(title=title, labels=labels_of(slices), series=series_of(found, slices), axis=f"{metric_of(slices)}{AXIS}")


def metric_of(slices: Sequence[ComparedSlice]) -> str:
    """Return the metric that all slices have, as an axis begins; nothing where they differ."""
    metrics = {one.metric for one in slices}
    return f"{next(iter(metrics)).capitalize()} " if len(metrics) == 1 else ""


def series_of(found: TaskComparison, slices: Sequence[ComparedSlice]) -> list[Series]:
    """Each model's scores on SLICES."""
    return [
        Series(
            name=title_of(model.name),
            values=[100 * one.scores[model.name].value for one in slices],
            low=[100 * one.scores[model.name].low for one in slices],
            high=[100 * one.scores[model.name].high for one in slices],
        )
        for model in found.models
    ]


def difference_plots(found: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> Iterator[Dots]:
    """One plot of all models but the first; none where that is the only model."""
    compared = [one for one in slices if any(not isnan(each.delta) for each in one.differences.values())]
    others = [model.name for model in found.models[1:]]
    if not (others and compared):
        return
    series = [
        Series(
            name=title_of(model),
            values=[100 * one.differences[model].delta for one in compared],
            low=[100 * one.differences[model].low for one in compared],
            high=[100 * one.differences[model].high for one in compared],
        )
        for model in others
    ]
    what = title_of(others[0]) if len(others) == 1 else "Each model"
    title = f"{what} minus {title_of(found.models[0].name)} on {task}, by {found.slicing.by}"
    yield Dots(title=title, labels=labels_of(compared), series=series, axis="difference, with 95% intervals", zero=True)


def _fifths(found: TaskComparison, slices: Sequence[ComparedSlice]) -> Iterator[Lines]:
    """A plot a dataset, its fifths from the smallest to the largest values."""
    keys: dict[str, list[ComparedSlice]] = {}
    for one in slices:
        keys.setdefault(one.key.rpartition("/")[0], []).append(one)
    name = property_named(found.slicing.by).title or found.slicing.by
    for dataset, own in keys.items():
        yield Lines(
            title=f"Scores by {name} on {dataset}",
            labels=[one.key.rpartition("-")[2] for one in own],
            series=series_of(found, own),
            axis=f"{metric_of(own)}{AXIS}",
            along=f"fifth of the items by {name}, from the smallest to the largest",
        )


def gold_scatter(scored: ScoredPairs, *, has_means: bool = False) -> Scatter:
    """Return the similarity of each model against the gold score of every pair of one dataset."""
    dataset = plotted_dataset(scored)
    pairs = scored.table.filter(pl.col("dataset") == dataset)
    panels = tuple(_points(pairs, model) for model in scored.models[:SCATTERS])
    title = f"Similarity against the gold score on {dataset}"
    return Scatter(title=title, panels=panels, x_axis="gold score", y_axis="similarity", has_means=has_means)


def plotted_dataset(scored: ScoredPairs) -> str:
    """Return the dataset whose pairs a scatter shows."""
    names = scored.table["dataset"].unique(maintain_order=True).to_list()
    return FIFTHS_OF if FIFTHS_OF in names else str(names[0])


def _points(pairs: pl.DataFrame, model: ModelColumns) -> ScatterPoints:
    """A pair's similarity is the mean over the model's members."""
    similarity = pairs.select(pl.mean_horizontal(model.members, ignore_nulls=False)).to_series()
    found = pairs.select("gold", similarity=similarity).drop_nulls()
    return ScatterPoints(name=title_of(model.name), x=found["gold"].to_list(), y=found["similarity"].to_list())
