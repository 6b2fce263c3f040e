"""The score of a grid along one axis, a line for each value of the others."""

from collections.abc import Sequence
from itertools import product
from math import nan

from embedlab.experiments.pivot import Pivot, PivotKey, Spread
from embedlab.reports.figure_subjects import GridResults
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Lines, Plot, Series


def _plots(subject: GridResults) -> Sequence[Plot]:
    """Of one column a score the last one, which is an average where there is one; else the axis in
    the columns gives the lines.
    """
    pivot = subject.pivot
    along = next(
        (axis for axis in pivot.row_axes if len(_values(pivot, axis)) > 1),
        next(iter(pivot.row_axes), None),
    )
    if along is None:
        return []
    others = [axis for axis in pivot.row_axes if axis != along]
    columns = pivot.columns if pivot.column_axis is not None else pivot.shown[-1:]
    names = list(product(*(_values(pivot, axis) for axis in others), columns))
    labels = _values(pivot, along)
    series = [_series(pivot, along, others, name, labels) for name in names]
    score = pivot.shown[-1]
    title = f"{subject.plan.name}: {score} by {along}"
    drawn = [column for column in series if any(value == value for value in column.values)]
    return [Lines(title=title, labels=labels, series=drawn, axis=score, along=along)]


def _values(pivot: Pivot, axis: str) -> list[str]:
    index = pivot.row_axes.index(axis)
    return list(dict.fromkeys(row[index] for row in pivot.rows))


def _series(
    pivot: Pivot, along: str, others: Sequence[str], name: Sequence[str], labels: Sequence[str]
) -> Series:
    *values, column = name
    fixed = dict(zip(others, values, strict=True))
    spreads = [
        pivot.spreads.get(_place(pivot, {**fixed, along: label}, column)) for label in labels
    ]
    named = [f"{axis} {value}" for axis, value in fixed.items()]
    named += [f"{pivot.column_axis} {column}"] if pivot.column_axis is not None else []
    return Series(
        name=", ".join(named) or column,
        values=[spread.mean if spread is not None else nan for spread in spreads],
        low=[_end(spread, -1) for spread in spreads],
        high=[_end(spread, 1) for spread in spreads],
    )


def _place(pivot: Pivot, labels: dict[str, str], column: str) -> PivotKey:
    return tuple(labels[axis] for axis in pivot.row_axes), column


def _end(spread: Spread | None, sign: int) -> float:
    return nan if spread is None else spread.mean + sign * (spread.sd or 0.0)


def _caption(subject: GridResults) -> str:
    seeds = sorted({len(spread.values) for spread in subject.pivot.spreads.values()})
    over = (
        f"Bands: one standard deviation over {' or '.join(map(str, seeds))} seeds."
        if seeds[-1] > 1
        else "One seed each: no spread."
    )
    return f"{subject.caption} {over}"


FIGURE = FigureKind(
    name="scores",
    of=GridResults,
    summary="the score along one axis of the grid, a line for each value of the others",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
