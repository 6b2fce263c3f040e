"""The plots of pages and papers as data, independent of how they are drawn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, NamedTuple

from embedlab.core.printable import visible

FileKind = Literal["pdf", "svg", "png"]
COLUMN_IN = 3.3  # of a paper with two columns
DENSE = 1_000  # points a panel; of more points, a random sample of this size is drawn
BANDS = 10  # of equal width along the axis of a scatter, whose means are drawn
FEWEST = 5  # points of a band with a mean

Ends = Sequence[float | None]  # a number and those of its interval, as far as known
UNKNOWN: Ends = (None,)


class Point(NamedTuple):
    """A number at a place, with the ends of its interval; nan where there is none."""

    place: float  # along the other axis; of a label its position
    value: float
    low: float = nan
    high: float = nan
    label: str | None = None
    is_best: bool = True  # of costs: no other value costs less and is higher


@dataclass(frozen=True)
class Series:
    """The numbers of a model, a run or a panel."""

    name: str
    points: Sequence[Point]

    @classmethod
    def of(cls, name: str, numbers: Iterable[tuple[str, Ends]]) -> "Series":
        """Return NUMBERS with their labels; None is not known, or absent."""
        points = []
        for place, (label, ends) in enumerate(numbers):
            value, low, high = (*(nan if end is None else end for end in ends), nan, nan)[:3]
            points.append(Point(place, value, low, high, label))
        return cls(name, points)


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
    line: Literal["", "zero", "diagonal"] = ""  # drawn where a difference is zero
    has_means: bool = False  # draw the mean of each band of a scatter

    @property
    def labels(self) -> list[str]:
        """Return the labels of the places, which all series share; empty where they are numbers."""
        points = self.series[0].points
        return [visible(point.label) for point in points if point.label is not None]
