"""The differences that items and seeds can detect, next to those that were observed."""

from collections.abc import Sequence

import polars as pl

from embedlab.reports.figure_subjects import DetectableDifferences
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Dots, Plot, Series


def _plots(subject: DetectableDifferences) -> Sequence[Plot]:
    """One plot a task."""
    return [
        _dots(str(task), frame)
        for (task,), frame in subject.frame.group_by("task", maintain_order=True)
    ]


def _dots(task: str, frame: pl.DataFrame) -> Plot:
    shown = {
        "observed difference": frame["difference"].abs(),
        "detectable": frame["smallest"],
        "detectable as planned": frame["planned"],
    }
    series = [
        Series(name=name, values=column.fill_null(float("nan")).to_list())
        for name, column in shown.items()
        if column.count()
    ]
    return Dots(
        title=f"Detectable differences on {task}",
        labels=frame["dataset"].to_list(),
        series=series,
        axis="points, without sign",
    )


FIGURE = FigureKind(
    name="detectable",
    of=DetectableDifferences,
    summary="the smallest difference that each dataset can detect, next to the observed one",
    plots=_plots,
    caption=lambda subject: subject.caption,
    is_usual=True,
)
