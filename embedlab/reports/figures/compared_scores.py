"""The scores of compared models with their intervals: a forest plot by dataset, source or slice,
lines over the fifths of a number.
"""

from collections.abc import Sequence

from embedlab.reports.captions import figure_caption
from embedlab.reports.comparison_plots import score_plots, tasks_of
from embedlab.reports.figure_subjects import ComparedModels
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Lines, Plot


def _plots(subject: ComparedModels) -> Sequence[Plot]:
    return [
        plot
        for task, slices in tasks_of(subject.found).items()
        for plot in score_plots(subject.found, task, slices)
    ]


def _caption(subject: ComparedModels) -> str:
    has_lines = any(isinstance(plot, Lines) for plot in _plots(subject))
    return figure_caption(subject.found, "Scores", drawn="Bands" if has_lines else "Bars")


FIGURE = FigureKind(
    name="scores",
    of=ComparedModels,
    summary="each model's score on each dataset or slice, with its interval",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
