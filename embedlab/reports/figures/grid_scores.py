"""The score of a grid along one axis, a line for each value of the others."""

from collections.abc import Sequence
from itertools import product
from math import nan

from embedlab.experiments.pivot import Pivot, PivotKey, Spread
from embedlab.reports.figure_subjects import GridResults
from embedlab.reports.figures import FigureKind
from embedlab.reports.plots import Lines, Plot, Series


def _plots(subject: GridResults) -> Sequence[Plot]:
    """Of one column a score the last one, which is an average where there is one; else the axis in the columns gives the lines."""
    found = subject.pivot
    along = next((axis for axis in found.row_axes if len(_values(found, axis)) > 1), next(iter(found.row_axes), None))
    if along is None:
        return []
    others = [axis for axis in found.row_axes if axis != along]
    columns = found.columns if found.column_axis is not None else found.shown[-1:]
    names = list(product(*(_values(found, axis) for axis in others), columns))
    labels = _values(found, along)
    series = [_series(found, along, others, name, labels) for name in names]
    score = found.shown[-1]
    title = f"{subject.plan.name}: {score} by {along}"
    drawn = [one for one in series if any(value == value for value in one.values)]
    return [Lines(title=title, labels=labels, series=drawn, axis=score, along=along)]


def _values(found: Pivot, axis: str) -> list[str]:
    place = found.row_axes.index(axis)
    return list(dict.fromkeys(row[place] for row in found.rows))


def _series(found: Pivot, along: str, others: Sequence[str], name: Sequence[str], labels: Sequence[str]) -> Series:
    *values, column = name
    fixed = dict(zip(others, values, strict=True))
    spreads = [found.spreads.get(_place(found, {**fixed, along: label}, column)) for label in labels]
    named = [f"{axis} {value}" for axis, value in fixed.items()]
    named += [f"{found.column_axis} {column}"] if found.column_axis is not None else []
    return Series(
        name=", ".join(named) or column,
        values=[spread.mean if spread is not None else nan for spread in spreads],
        low=[_end(spread, -1) for spread in spreads],
        high=[_end(spread, 1) for spread in spreads],
    )


def _place(found: Pivot, labels: dict[str, str], column: str) -> PivotKey:
    return tuple(labels[axis] for axis in found.row_axes), column


def _end(spread: Spread | None, sign: int) -> float:
    return nan if spread is None else spread.mean + sign * (spread.sd or 0.0)


def _caption(subject: GridResults) -> str:
    seeds = sorted({len(spread.values) for spread in subject.pivot.spreads.values()})
    over = f"Bands: one standard deviation over {' or '.join(map(str, seeds))} seeds." if seeds[-1] > 1 else "One seed each: no spread."
    return f"{subject.caption} {over}"


FIGURE = FigureKind(
    name="scores",
    of=GridResults,
    summary="the score along one axis of the grid, a line for each value of the others",
    plots=_plots,
    caption=_caption,
    is_usual=True,
)
