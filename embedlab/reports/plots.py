"""The plots of a page as data, independent of how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Series:
    """One model's numbers: a value for each label of the plot, nan where there is none."""

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()  # the ends of each value's interval; empty: no intervals
    high: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Values with their intervals, one row a label: scores, differences, published next to ours."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    axis: str  # what the values are
    zero: bool = False  # draw a line at zero, as differences need


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Values with their intervals over ordered labels: Dice fifths, the values of a recipe's
    key.
    """

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    axis: str  # what the values are
    along: str  # what the labels are


@dataclass(frozen=True, kw_only=True)
class ScatterPoints:
    """One panel of a scatter plot: a point for each pair of numbers."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Panels next to each other with the same axes: gold against cosine, published against ours."""

    title: str
    panels: Sequence[ScatterPoints]
    x_axis: str
    y_axis: str
    diagonal: bool = False  # draw a line where both numbers are equal
    has_means: bool = False  # draw the mean of each tenth of the first axis


@dataclass(frozen=True, kw_only=True)
class DrawnCurve:
    """One curve: a value for each number."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class CurvePanel:
    """Values over a number: loss and dev score over the steps of runs."""

    title: str
    curves: Sequence[DrawnCurve]
    axis: str  # what the values are
    along: str  # what the numbers are


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The choices that one model gives: what each costs, and its score with its interval."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    labels: Sequence[str]
    is_best: Sequence[bool]  # no other choice of the plot costs less and scores more


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """Scores over what they cost, on a logarithmic axis."""

    title: str
    series: Sequence[Choices]
    axis: str  # what the scores are
    along: str  # what the costs are


Plot = Dots | Lines | Scatter | CurvePanel | TradeOff
