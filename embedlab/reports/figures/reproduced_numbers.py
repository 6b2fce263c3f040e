"""The numbers of a paper's tables next to ours: each against the other, and the rows along the
columns that order them.
"""

from collections.abc import Sequence

from embedlab.reports.comparison_plots import score_plots, tasks_of
from embedlab.reports.figure_subjects import ReproducedTables
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Plot
from embedlab.reports.reproduction_plots import reproduction_plots


def _plots(subject: ReproducedTables) -> Sequence[Plot]:
    trade_offs: list[Plot] = []
    for reproduction in subject.found:
        trade_offs += reproduction_plots(reproduction)
        trade_offs += [  # of a figure of the paper: models by a property of pairs
            plot
            for comparison in reproduction.compared
            for task, slices in tasks_of(comparison).items()
            for plot in score_plots(comparison, task, slices)
        ]
    return trade_offs


def _caption(subject: ReproducedTables) -> str:
    said = []
    if any(reproduction.curves for reproduction in subject.found):
        said.append(
            "Dev score after each epoch of the stages that are trained last, the mean over seeds."
        )
    if any(not reproduction.curves for reproduction in subject.found):
        said.append(
            "Published and ours; bars are one standard deviation over seeds, the line is "
            "where both are equal."
        )
    for reproduction in subject.found:
        both = [
            number
            for number in reproduction.numbers.values()
            if number.printed is not None and number.mean is not None
        ]
        if both:
            seeds = sorted({len(number.values) for number in both})
            count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            runs = "1 seed" if seeds == [1] else f"{count} seeds"
            said.append(
                f"{reproduction.table.paper} {reproduction.table.name}: {len(both)} numbers, "
                f"{runs}."
            )
    return " ".join(said)


FIGURE = FigureKind(
    name="published",
    of=ReproducedTables,
    summary="each number against the published one, and the rows along the columns that order them",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
