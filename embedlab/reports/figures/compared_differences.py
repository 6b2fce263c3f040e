"""The differences of compared models from the first one, with their intervals and a line at
zero.
"""

from collections.abc import Sequence

from embedlab.models.grammar import title_of
from embedlab.reports.captions import figure_caption
from embedlab.reports.comparison_plots import difference_plots, tasks_of
from embedlab.reports.figure_subjects import ComparedModels
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Plot


def _plots(subject: ComparedModels) -> Sequence[Plot]:
    return [
        plot
        for task, slices in tasks_of(subject.found).items()
        for plot in difference_plots(subject.found, task, slices)
    ]


FIGURE = FigureKind(
    name="differences",
    of=ComparedModels,
    summary="the difference of each model from the first one on each dataset or slice, with its "
    "interval",
    plots=_plots,
    caption=lambda subject: figure_caption(
        subject.found, f"Differences from {title_of(subject.found.models[0].name)}"
    ),
)
