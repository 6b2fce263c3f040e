"""What a plot of pairs shows, in units of the data: points, lines and histograms over two axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
RowNumbers = NDArray[np.intp]
LineStyle = str  # "first", "second", "faint", or the colour of a model, "model-0" …


@dataclass(frozen=True, kw_only=True)
class PlotAxis:
    """An axis with its range."""

    title: str
    low: float
    high: float
    short_title: str = ""  # where the other has no room between two numbers
    field: str | None = None  # of the filter language: a selection limits it
    style: LineStyle = "muted"  # of the title: the colour of the model whose values it has


@dataclass(frozen=True, kw_only=True, eq=False)
class PlotPoints:
    """The pairs of a plot; the cursor names them and a box selects them."""

    x: Values
    y: Values
    rows: RowNumbers  # of the pair table
    interest: Values  # the pair with the largest value represents its cell
    # False where lines or bars summarise them: a column of cells holds all pairs above its part of
    # the axis
    is_drawn: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class PlotLine:
    """A connected line."""

    title: str
    x: Values
    y: Values
    style: LineStyle


@dataclass(frozen=True, kw_only=True, eq=False)
class PlotBars:
    """Values that are counted in each column of cells."""

    title: str
    values: Values
    style: LineStyle


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A plot in units of its data; with bars, the y axis is that of their counts."""

    title: str
    x: PlotAxis
    y: PlotAxis
    points: PlotPoints
    lines: Sequence[PlotLine] = ()
    bars: Sequence[PlotBars] = ()
    describe: Callable[[int], Sequence[str]] = field(
        default=lambda _row: ()
    )  # a pair in up to three lines
