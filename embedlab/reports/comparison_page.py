"""The sections of a page about compared models: the table by each property with plots of each task, and pair by pair."""

from collections.abc import Sequence

from embedlab.analysis.comparison import ComparedSlice
from embedlab.experiments.printed import PublishedRow
from embedlab.models.grammar import title_of
from embedlab.outcomes.cuts import DATASET
from embedlab.reports.comparison_plots import AXIS, difference_plots, gold_scatter, metric_of, score_plots, series_of, tasks_of
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.html import Section
from embedlab.reports.plots import Dots, Plot, Series
from embedlab.scoring.scored_pairs import ScoredPairs
from embedlab.scoring.task_comparison import TaskComparison

TITLES = {DATASET: "By dataset", "dice": "By word overlap"}


def comparison_section(found: TaskComparison, printed: Sequence[PublishedRow] = ()) -> Section:
    """The models by one property: the table, then of each task their scores, the differences, and each next to its published row.

    A task with units of its own has only its rows in the table.
    """
    by = found.slicing.by
    plots: list[Plot] = []
    for task, slices in tasks_of(found).items():
        plots += score_plots(found, task, slices)
        plots += difference_plots(found, task, slices)
        plots += [_next_to_published(found, slices, row) for row in printed if any(one.metric == "spearman" for one in slices)]
    return Section(title=TITLES.get(by, f"By {by}"), table=comparison_table(found, printed), plots=tuple(plots))


def _next_to_published(found: TaskComparison, slices: Sequence[ComparedSlice], row: PublishedRow) -> Dots:
    """A model's scores next to those that a paper prints for it."""
    own = [one for one in slices if one.key in row.scores]
    ours = next(series for model, series in zip(found.models, series_of(found, own), strict=True) if model.name == row.model)
    published = Series(name=f"{row.paper}, {row.table}", values=[row.scores[one.key] for one in own])
    title = f"{title_of(row.model)}: published and ours"
    return Dots(title=title, labels=[one.key for one in own], series=[published, ours], axis=f"{metric_of(own)}{AXIS}")


def scatter_section(scored: ScoredPairs) -> Section:
    """The similarity of each model against the gold score of every pair of one dataset."""
    return Section(title="Pair by pair", plots=(gold_scatter(scored),))
