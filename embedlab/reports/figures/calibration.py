"""Similarities against gold scores: whether a model's similarity means the same over the whole
scale.
"""

from collections.abc import Sequence

from embedlab.reports.captions import data_sentences
from embedlab.reports.comparison_plots import gold_scatter, plotted_dataset
from embedlab.reports.figure_subjects import ComparedModels
from embedlab.reports.figures import FigureKind
from embedlab.reports.plot_drawing import BANDS, DENSE, FEWEST
from embedlab.reports.plots import Plot


def _plots(subject: ComparedModels) -> Sequence[Plot]:
    return [gold_scatter(scored, has_means=True) for scored in subject.pairs]


def _caption(subject: ComparedModels) -> str:
    counts = {plotted_dataset(scored): gold_scatter(scored).panels[0] for scored in subject.pairs}
    pairs = ", ".join(f"n = {len(panel.x):,} pairs of {name}" for name, panel in counts.items())
    some = (
        f" ({DENSE:,} of them drawn)"
        if any(len(panel.x) > DENSE for panel in counts.values())
        else ""
    )
    lines = (
        f"Lines: mean and one standard deviation in each of {BANDS} bands of the gold score "
        f"that holds at least {FEWEST} pairs."
    )
    seeds = (
        ["A similarity is the mean over the seeds."]
        if any(len(model.members) > 1 for model in subject.found.models)
        else []
    )
    return " ".join(
        [
            f"Similarity against gold score; {pairs}{some}.",
            *data_sentences(subject.found.marks),
            lines,
            *seeds,
        ]
    )


FIGURE = FigureKind(
    name="calibration",
    of=ComparedModels,
    summary="each model's similarity of each pair against its gold score",
    plots=_plots,
    caption=_caption,
)
