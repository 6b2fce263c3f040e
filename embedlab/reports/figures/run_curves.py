"""Loss and dev score of runs over their steps."""

from collections.abc import Sequence

from embedlab.reports.figure_subjects import TrainedRuns
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import CurvePanel, DrawnCurve, Plot
from embedlab.runs.curves import Curve


def _plots(subject: TrainedRuns) -> Sequence[Plot]:
    """The losses, and below them the dev scores where there are any."""
    curves = _read(subject)
    losses = [
        DrawnCurve(name=name, x=curve.steps, y=curve.losses)
        for name, curve in curves.items()
        if curve.steps
    ]
    scores = [
        DrawnCurve(name=name, x=curve.dev_steps, y=curve.dev_scores)
        for name, curve in curves.items()
        if curve.dev_steps
    ]
    return [
        *([CurvePanel(title="", curves=losses, axis="loss", along="step")] if losses else []),
        *(
            [CurvePanel(title="", curves=scores, axis="dev score x 100", along="step")]
            if scores
            else []
        ),
    ]


def _read(subject: TrainedRuns) -> dict[str, Curve]:
    curves: dict[str, Curve] = {}
    for run in subject.runs:
        curves[run.id] = Curve()
        curves[run.id].read_on(run.events_file)
    return curves


def _caption(subject: TrainedRuns) -> str:
    runs = ", ".join(run.id for run in subject.runs)
    points = max((len(curve.steps) for curve in _read(subject).values()), default=0)
    return (
        f"Loss, the mean since the point before ({points} points), and dev score of {runs}. "
        f"Each line is one run; no interval is drawn."
    )


FIGURE = FigureKind(
    name="curves",
    of=TrainedRuns,
    summary="loss and dev score over the steps of each run",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
