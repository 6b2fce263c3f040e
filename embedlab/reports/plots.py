"""The plots of a page as data: what they show, not how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Series:
    """One model's numbers: a value a label of the plot, nan where there is none."""

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()  # the ends of each value's interval; empty: no intervals
    high: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Values with their intervals, to be read along a row a label: scores, differences, published beside ours."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    axis: str  # what the values are
    zero: bool = False  # whether a line stands at zero, as differences need


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Values with their intervals over labels that have an order: Dice fifths, the values of a recipe's key."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    axis: str  # what the values are
    along: str  # what the labels are


@dataclass(frozen=True, kw_only=True)
class ScatterPoints:
    """One panel of a scatter: a point a pair of numbers."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Panels side by side with the same axes: gold against cosine, published against ours."""

    title: str
    panels: Sequence[ScatterPoints]
    x_axis: str
    y_axis: str
    diagonal: bool = False  # whether a line shows where both numbers are equal


Plot = Dots | Lines | Scatter
