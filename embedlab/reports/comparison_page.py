"""The sections of a page about compared models: the table by each property with plots of each task,
and pair by pair.
"""

from collections.abc import Sequence

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.experiments.published_rows import PublishedRow
from embedlab.models.grammar import title_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.frame import Outcomes
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.figures import (
    difference_plots,
    gold_scatter,
    metric_of,
    score_plots,
    scores_of,
    tasks_of,
)
from embedlab.reports.html import Section
from embedlab.reports.series import Plot, Series
from embedlab.scoring.task_comparison import TaskComparison

TITLES = {DATASET: "By dataset", "dice": "By word overlap"}


def comparison_section(comparison: TaskComparison, printed: Sequence[PublishedRow] = ()) -> Section:
    """The models by one property: the table, then of each task their scores, the differences, and
    each next to its published row.

    A task with units of its own has only its rows in the table.
    """
    by = comparison.slicing.by
    plots: list[Plot] = []
    for task, slices in tasks_of(comparison).items():
        plots += score_plots(comparison, task, slices)
        plots += difference_plots(comparison, task, slices)
        plots += [
            _next_to_published(comparison, slices, row)
            for row in printed
            if any(compared.metric == "spearman" for compared in slices)
        ]
    return Section(
        title=TITLES.get(by, f"By {by}"),
        table=comparison_table(comparison, printed),
        plots=tuple(plots),
    )


def _next_to_published(
    comparison: TaskComparison, slices: Sequence[ComparedSlice], row: PublishedRow
) -> Plot:
    """A model's scores next to those that a paper prints for it."""
    compared_slices = [compared for compared in slices if compared.key in row.scores]
    ours = next(
        series
        for model, series in zip(
            comparison.models, scores_of(comparison, compared_slices), strict=True
        )
        if model.name == row.model
    )
    published = Series(
        name=f"{row.paper}, {row.table}",
        values=[row.scores[compared.key] for compared in compared_slices],
    )
    title = f"{title_of(row.model)}: published and ours"
    return Plot(
        kind="dots",
        title=title,
        labels=[compared.key for compared in compared_slices],
        series=[published, ours],
        axis=f"{metric_of(compared_slices)}x 100, with 95% intervals",
    )


def scatter_section(outcomes: Outcomes, models: Sequence[ModelColumns]) -> Section:
    """The similarity of each model against the gold score of every pair of one dataset."""
    return Section(title="Pair by pair", plots=(gold_scatter(outcomes, models),))
