"""The sections of a page about models compared on tasks: the table of all of them, then plots of each task."""

from collections.abc import Iterator, Sequence
from math import isnan

from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.core.names import has_own_units
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.models.grammar import title_of
from embedlab.reports.html import Section
from embedlab.reports.plots import Dots, Series
from embedlab.reports.task_comparison import task_comparison_table


def task_sections(found: TaskComparison) -> Iterator[Section]:
    """Yield the table, then a section a task with scores and differences; a task with units of its own has only its rows in the table."""
    names = dict.fromkeys(one.task for one in found.slices)
    yield Section(title="All tasks" if len(names) > 1 else next(iter(names)), table=task_comparison_table(found))
    for task in names:
        slices = [one for one in found.slices if one.task == task]
        if not has_own_units(task):
            yield Section(title=f"Plots of {task}", plots=tuple(_plots(task, slices, [model.name for model in found.models])))


def _plots(task: str, slices: Sequence[ComparedSlice], models: Sequence[str]) -> Iterator[Dots]:
    labels = [one.key for one in slices]
    scores = [_series(model, [one.scores[model] for one in slices]) for model in models]
    yield Dots(title=f"Scores on {task}", labels=labels, series=scores, axis="x 100, with 95% intervals where items are tested")
    tested = [one for one in slices if any(not isnan(each.low) for each in one.differences.values())]
    if tested:
        others = [model for model in models if model in tested[0].differences]
        what = title_of(others[0]) if len(others) == 1 else "Each model"
        yield Dots(
            title=f"{what} minus {title_of(models[0])} on {task}",
            labels=[one.key for one in tested],
            series=[_differences(model, tested) for model in others],
            axis="difference, with 95% intervals",
            zero=True,
        )


def _series(model: str, scores: Sequence[SliceScore]) -> Series:
    return Series(
        name=title_of(model),
        values=[100 * one.value for one in scores],
        low=[100 * one.low for one in scores],
        high=[100 * one.high for one in scores],
    )


def _differences(model: str, slices: Sequence[ComparedSlice]) -> Series:
    found = [one.differences[model] for one in slices]
    return Series(
        name=title_of(model),
        values=[100 * one.delta for one in found],
        low=[100 * one.low for one in found],
        high=[100 * one.high for one in found],
    )
