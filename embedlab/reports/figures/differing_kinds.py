"""The difference of two models on each kind of items, beside that on all items."""

from collections.abc import Sequence

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.models.grammar import titles_of
from embedlab.reports.figure_subjects import ExplainedDifference
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Dots, Plot, Series
from embedlab.tasks.task import scale_of


def _plots(subject: ExplainedDifference) -> Sequence[Plot]:
    """All items first, then the kinds on which the difference is most unlike that on the others,
    the surest first; and what is confirmed.

    The second plot has the combinations of two properties that the other half of the topics
    confirms, where there are any.
    """
    explanation = subject.found
    first, second = titles_of([explanation.first, explanation.second]).values()
    shown = explanation.uneven[: subject.rows]
    rows = [("all", explanation.whole), *((uneven.title, uneven.slice) for uneven in shown)]
    plots = [_dots(f"Where {second} and {first} differ", rows, subject)]
    if confirmed := explanation.search.confirmed[: subject.rows]:
        combined = [(tested.found.title, tested.found.slice) for tested in confirmed]
        plots.append(_dots("Two properties together, confirmed", combined, subject))
    return plots


def _dots(
    title: str, rows: Sequence[tuple[str, ComparedSlice]], subject: ExplainedDifference
) -> Dots:
    explanation = subject.found
    first, second = titles_of([explanation.first, explanation.second]).values()
    differences = [compared.differences[explanation.second] for _, compared in rows]
    series = _series(
        f"{second} − {first}",
        differences,
        scale_of(explanation.whole.task, explanation.whole.metric),
    )
    return Dots(
        title=title, labels=[label for label, _ in rows], series=[series], axis="points", zero=True
    )


def _series(name: str, differences: Sequence[Difference], scale: float) -> Series:
    numbers = (
        [scale * getattr(difference, key) for difference in differences]
        for key in ("delta", "low", "high")
    )
    values, low, high = numbers
    return Series(name=name, values=values, low=low, high=high)


FIGURE = FigureKind(
    name="kinds",
    of=ExplainedDifference,
    summary="the difference on each kind of items, with its interval, beside that on all items",
    plots=_plots,
    caption=lambda subject: subject.caption,
    is_usual=True,
)
