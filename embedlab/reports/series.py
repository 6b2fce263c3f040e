"""The plots of pages and papers as data, independent of how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FileKind = Literal["pdf", "svg", "png"]
COLUMN_IN = 3.3  # of a paper with two columns
DENSE = 1_000  # points a panel; of more points, a random sample of this size is drawn
BANDS = 10  # of equal width along the axis of a scatter, whose means are drawn
FEWEST = 5  # points of a band with a mean


@dataclass(frozen=True)
class Series:
    """The numbers of a model, a run or a panel; nan where there is none."""

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()  # the ends of each value's interval; empty: no intervals
    high: Sequence[float] = ()
    places: Sequence[float] = ()  # of the values; empty: they belong to the plot's labels in order
    labels: Sequence[str] = ()  # of the values, where each has its own
    is_best: Sequence[bool] = ()  # no other value of a plot of costs costs less and is higher


@dataclass(frozen=True)
class Plot:
    """Series over labels or numbers.

    dots: one row a label; lines: labels or numbers from left to right; costs: scores over a
    logarithmic axis; scatter: a panel a series, all with the same axes.
    """

    kind: Literal["dots", "lines", "costs", "scatter"]
    title: str
    series: Sequence[Series]
    axis: str  # what the values are
    along: str = ""  # what the labels or places are
    labels: Sequence[str] = ()
    line: Literal["", "zero", "diagonal"] = ""  # drawn where a difference is zero
    has_means: bool = False  # draw the mean of each band of a scatter
