"""Scores of models against the size of their vectors, and against the time of a sentence, with the
choices that no other one beats.
"""

from collections.abc import Callable, Sequence
from math import isnan, nan

from embedlab.analysis.trade_offs import undominated
from embedlab.models.grammar import titles_of
from embedlab.reports.cost_table import FLOAT_BITS, CostRow, Costs
from embedlab.reports.figure_subjects import ComparedModels
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Choices, Plot, TradeOff


def _plots(subject: ComparedModels) -> Sequence[Plot]:
    """The size of a vector with all rows, and the time of a sentence with the models themselves,
    where they were measured.
    """
    costs = subject.costs
    if costs is None:
        return []
    sized = [row for row in costs.rows if row.bytes is not None]
    timed = [row for row in costs.rows if row.is_whole and row.milliseconds]
    plots = []
    if sized:
        plots.append(
            _trade_off(costs, sized, "bytes a vector", lambda row: float(row.bytes or nan))
        )
    if len(timed) > 1:
        plots.append(_trade_off(costs, timed, "milliseconds a sentence", lambda row: row.time_ms))
    return plots


def _trade_off(
    costs: Costs, rows: Sequence[CostRow], along: str, cost: Callable[[CostRow], float]
) -> TradeOff:
    first = costs.slices[0]
    titles = titles_of(list(dict.fromkeys(row.model for row in rows)))
    shown = [
        row for row in rows if first.key in row.scores and not isnan(row.scores[first.key].value)
    ]
    best = dict(
        zip(
            (row.name for row in shown),
            undominated(
                [row.scores[first.key].value for row in shown], [[cost(row)] for row in shown]
            ),
            strict=True,
        )
    )
    series = []
    for model, title in titles.items():
        cost_rows = [row for row in shown if row.model == model]
        scores = [row.scores[first.key] for row in cost_rows]
        series.append(
            Choices(
                name=title,
                x=[cost(row) for row in cost_rows],
                y=[first.scale * score.value for score in scores],
                low=[first.scale * score.low for score in scores],
                high=[first.scale * score.high for score in scores],
                labels=[_label(row) for row in cost_rows],
                is_best=[best[row.name] for row in cost_rows],
            )
        )
    return TradeOff(
        title=f"{first.title}: {along}",
        series=series,
        axis=f"{first.metric.capitalize()} x 100",
        along=along,
    )


def _label(row: CostRow) -> str:
    if row.dims is not None and row.bits != FLOAT_BITS:
        return f"{row.bits} bit{'s' * (row.bits != 1)}"
    return f"{row.dims} dims" if row.dims else "no vectors"


def _caption(subject: ComparedModels) -> str:
    costs = subject.costs
    if costs is None:
        return ""
    front = "Filled, with a line through them: what no other choice beats in both."
    drawn = f"Bars: 95% intervals, each on its own. {front} The axis of costs is logarithmic."
    score, machine = (
        costs.slices[0].metric.capitalize(),
        f"{costs.machine[:1].upper()}{costs.machine[1:]}",
    )
    return f"{score} on {costs.slices[0].title} against what it costs. {drawn} {machine}."


FIGURE = FigureKind(
    name="costs",
    of=ComparedModels,
    summary="each model's score against the bytes of a vector and the time of a sentence; needs "
    "--cost",
    plots=_plots,
    caption=_caption,
)
