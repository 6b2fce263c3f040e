"""The sections of a page about compared models: the table by each property with plots of each task, and pair by pair."""

from collections.abc import Iterator, Sequence
from math import isnan

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.data.pair_parts import FIFTHS_OF
from embedlab.evaluation.scored_pairs import ScoredPairs
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.models.grammar import title_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.property import property_named
from embedlab.outcomes.selection import is_expression
from embedlab.papers.printed import PublishedRow
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.html import Section
from embedlab.reports.plots import Dots, Lines, Plot, Scatter, ScatterPoints, Series
from embedlab.tasks.task import scale_of

AXIS = "x 100, with 95% intervals"
TITLES = {DATASET: "By dataset", "dice": "By word overlap"}
SCATTERS = 4  # models that the scatter shows: more panels are too small to read


def comparison_section(found: TaskComparison, printed: Sequence[PublishedRow] = ()) -> Section:
    """The models by one property: the table, then of each task their scores, the differences, and each next to its published row.

    A task with units of its own has only its rows in the table.
    """
    by = found.slicing.by
    plots: list[Plot] = []
    for task in dict.fromkeys(one.task for one in found.slices if scale_of(one.task, one.metric) == 100):
        slices = [one for one in found.slices if one.task == task]
        is_cut = by != DATASET and not is_expression(by) and property_named(by).kind == "number"
        plots += _fifths(found, slices) if is_cut else [_scores(found, task, slices)]
        plots += _differences(found, task, slices)
        plots += [_next_to_published(found, slices, row) for row in printed if any(one.metric == "spearman" for one in slices)]
    return Section(title=TITLES.get(by, f"By {by}"), table=comparison_table(found, printed), plots=tuple(plots))


def _scores(found: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> Dots:
    title = f"Scores on {task}, by {found.slicing.by}"
    return Dots(title=title, labels=[one.key for one in slices], series=_series(found, slices), axis=f"{_metric(slices)}{AXIS}")


def _metric(slices: Sequence[ComparedSlice]) -> str:
    metrics = {one.metric for one in slices}
    return f"{next(iter(metrics)).capitalize()} " if len(metrics) == 1 else ""


def _series(found: TaskComparison, slices: Sequence[ComparedSlice]) -> list[Series]:
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


def _differences(found: TaskComparison, task: str, slices: Sequence[ComparedSlice]) -> Iterator[Dots]:
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
    yield Dots(title=title, labels=[one.key for one in compared], series=series, axis="difference, with 95% intervals", zero=True)


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
            series=_series(found, own),
            axis=f"{_metric(own)}{AXIS}",
            along=f"fifth of the items by {name}, from the smallest to the largest",
        )


def _next_to_published(found: TaskComparison, slices: Sequence[ComparedSlice], row: PublishedRow) -> Dots:
    """A model's scores next to those that a paper prints for it."""
    own = [one for one in slices if one.key in row.scores]
    ours = next(series for model, series in zip(found.models, _series(found, own), strict=True) if model.name == row.model)
    published = Series(name=f"{row.paper}, {row.table}", values=[row.scores[one.key] for one in own])
    title = f"{title_of(row.model)}: published and ours"
    return Dots(title=title, labels=[one.key for one in own], series=[published, ours], axis=f"{_metric(own)}{AXIS}")


def scatter_section(scored: ScoredPairs) -> Section:
    """The similarity of each model against the gold score of every pair of one dataset."""
    names = scored.table["dataset"].unique(maintain_order=True).to_list()
    dataset = FIFTHS_OF if FIFTHS_OF in names else names[0]
    pairs = scored.table.filter(pl.col("dataset") == dataset)
    panels = tuple(_points(pairs, model) for model in scored.models[:SCATTERS])
    title = f"Similarity against the gold score on {dataset}"
    return Section(title="Pair by pair", plots=(Scatter(title=title, panels=panels, x_axis="gold score", y_axis="similarity"),))


def _points(pairs: pl.DataFrame, model: ModelColumns) -> ScatterPoints:
    """A pair's similarity is the mean over the model's members."""
    similarity = pairs.select(pl.mean_horizontal(model.members, ignore_nulls=False)).to_series()
    found = pairs.select("gold", similarity=similarity).drop_nulls()
    return ScatterPoints(name=title_of(model.name), x=found["gold"].to_list(), y=found["similarity"].to_list())
