"""Plots drawn with Matplotlib on a figure or a part of one, in the style of a page or of a
paper.
"""

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from embedlab.core.printable import visible
from embedlab.reports.plot_style import Style
from embedlab.reports.plots import (
    Choices,
    CurvePanel,
    Dots,
    DrawnCurve,
    Lines,
    Plot,
    Scatter,
    ScatterPoints,
    Series,
    TradeOff,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

MARKERS = "os^Dv"
SPARSE = 100  # points a panel: fewer are drawn larger
DENSE = 2_000  # points a panel; of more points, a random sample of this size is drawn
OVERLAYS = 6  # layers of a panel's points: darker where more points overlap
BANDS = 10  # of equal width along the axis of a scatter, whose means are drawn
FEWEST = 5  # points of a band with a mean

Titles = dict[str, str]  # id of a drawn group → its tooltip


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """A figure or a part of one, how it looks, and the tooltips of what is drawn on it."""

    figure: "FigureBase"
    style: Style
    has_legend: bool = True
    titles: Titles = field(default_factory=dict)

    def draw(self, plot: Plot) -> None:
        """Draw a plot."""
        match _visible(plot):
            case Dots() as dots:
                _draw_dots(dots, self)
            case Lines() as lines:
                _draw_lines(lines, self)
            case CurvePanel() as curves:
                _draw_curves(curves, self)
            case Scatter() as scatter:
                _draw_scatter(scatter, self)
            case TradeOff() as choices:
                _draw_trade_off(choices, self)

    def look(self, number: int) -> dict[str, Any]:
        """Return the style of a series: colour and shape, for readers who see no colours and for
        print.
        """
        colours, style = len(self.style.series), self.style
        return {
            "color": style.series[number % colours],
            "marker": MARKERS[(number + number // colours) % len(MARKERS)],
            "markersize": style.marker_size,
            "markeredgewidth": 0,
        }

    def dash(self, number: int) -> Any:
        """Return how the line of a series is dashed."""
        return self.style.dashes[number % len(self.style.dashes)]


def height_in(plot: Plot, style: Style, *, has_legend: bool = True) -> float:
    """Return the height that a plot needs."""
    line_in = 0.02 * style.font
    legend = (
        line_in * legend_rows([choices.name for choices in _named(plot)], style)
        if has_legend
        else 0.0
    )
    match plot:
        case Dots():
            row = max(1.5 * line_in, 0.7 * line_in * len(plot.series) + 0.6 * line_in)
            return 3.75 * line_in + legend + style.row_scale * row * len(plot.labels)
        case Scatter():
            columns = min(len(plot.panels), 2)
            return (style.width_in / columns + 1.5 * line_in) * math.ceil(
                len(plot.panels) / columns
            )
        case _:
            return legend + 0.57 * style.width_in


def legend_rows(names: Sequence[str], style: Style) -> int:
    """Return how many lines a legend of these names has; a single name has none."""
    return math.ceil(len(names) / _legend_columns(names, style)) if len(names) > 1 else 0


def _legend_columns(names: Sequence[str], style: Style) -> int:
    """Return how many legend entries fit in a line."""
    characters = 125 * style.width_in / style.font
    return max(1, min(4, int(characters / (6 + max(map(len, names))))))


def _named(plot: Plot) -> Sequence[Series | DrawnCurve | Choices]:
    match plot:
        case Dots() | Lines() | TradeOff():
            return plot.series
        case CurvePanel():
            return plot.curves
        case Scatter():
            return ()


def _visible(element: Any) -> Any:
    """Return a plot or a part of it with names that contain no character that SVG cannot hold or a
    page would interpret.
    """
    match element:
        case str():
            return visible(element)
        case (
            Dots()
            | Lines()
            | Scatter()
            | ScatterPoints()
            | Series()
            | CurvePanel()
            | DrawnCurve()
            | TradeOff()
            | Choices()
        ):
            return replace(
                element, **{name: _visible(value) for name, value in vars(element).items()}
            )
        case list() | tuple() if element and not isinstance(element[0], float | int):
            return type(element)(map(_visible, element))
    return element


def _draw_dots(plot: Dots, canvas: Canvas) -> None:
    """Draw one row a label from top to bottom, the series of a row below each other."""
    axes, style = canvas.figure.subplots(), canvas.style
    rows = range(len(plot.labels))
    reach = min(
        0.32, 0.1 * (len(plot.series) - 1)
    )  # half of a row's height: its series are closer to each other than to the next row's
    offsets = np.linspace(-reach, reach, len(plot.series)).tolist()
    for row in rows[::2]:
        axes.axhspan(row - 0.5, row + 0.5, color=style.line, alpha=0.25, linewidth=0)
    for number, (series, offset) in enumerate(zip(plot.series, offsets, strict=True)):
        look = canvas.look(number)
        for row, value, low, high in zip(rows, series.values, *_ends(series), strict=True):
            if math.isnan(value):
                continue
            mark = f"mark-{number}-{row}"
            canvas.titles[mark] = f"{plot.labels[row]}, {series.name}: {_said(value, low, high)}"
            axes.plot(
                [low, high],
                [row + offset] * 2,
                color=look["color"],
                linewidth=style.line_width,
                solid_capstyle="butt",
            )
            axes.plot([value], [row + offset], **look, linestyle="none", gid=mark)
    axes.set(yticks=rows, yticklabels=plot.labels)
    # It ends where the axes end: beside long names they are narrower than it is.
    axes.set_xlabel(_wrapped(plot.axis, style.width_in * 0.75, style), loc="right")
    axes.set_ylim(len(plot.labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    if plot.zero:
        axes.axvline(0, color=style.faint, linewidth=1)
    _add_legend(canvas, plot)


def _draw_lines(plot: Lines, canvas: Canvas) -> None:
    """Draw the labels from left to right."""
    axes, style = canvas.figure.subplots(), canvas.style
    places = range(len(plot.labels))
    for number, series in enumerate(plot.series):
        look = canvas.look(number)
        low, high = _ends(series)
        axes.fill_between(places, low, high, color=look["color"], alpha=0.12, linewidth=0)
        axes.plot(
            places,
            series.values,
            color=look["color"],
            linewidth=style.line_width,
            linestyle=canvas.dash(number),
        )
        for index, value, *ends in zip(places, series.values, low, high, strict=True):
            if math.isnan(value):
                continue
            mark = f"mark-{number}-{index}"
            canvas.titles[mark] = f"{plot.labels[index]}, {series.name}: {_said(value, *ends)}"
            axes.plot([index], [value], **look, linestyle="none", gid=mark)
    along, axis = (
        _wrapped(plot.along, style.width_in * 0.85, style),
        _wrapped(plot.axis, style.width_in * 0.42, style),
    )
    axes.set(xticks=places, xticklabels=plot.labels, xlabel=along, ylabel=axis)
    axes.grid(axis="y")
    _add_legend(canvas, plot)


def _draw_curves(plot: CurvePanel, canvas: Canvas) -> None:
    """Draw values over numbers; a curve of few points has markers."""
    axes, style = canvas.figure.subplots(), canvas.style
    for number, curve in enumerate(plot.curves):
        look = (
            canvas.look(number)
            if len(curve.x) <= SPARSE // 4
            else {"color": canvas.look(number)["color"]}
        )
        axes.plot(
            curve.x, curve.y, **look, linewidth=style.line_width, linestyle=canvas.dash(number)
        )
    axes.locator_params(axis="x", integer=True)  # steps and epochs are counted
    axes.set(xlabel=plot.along, ylabel=plot.axis)
    axes.grid(axis="y")
    _add_legend(canvas, plot)


def _draw_trade_off(plot: TradeOff, canvas: Canvas) -> None:
    """Draw a score over each cost; what no other choice beats is filled, and a line goes through it
    from the left to the right.
    """
    axes, style = canvas.figure.subplots(), canvas.style
    best = sorted(
        (x, y)
        for choices in plot.series
        for x, y, is_best in zip(choices.x, choices.y, choices.is_best, strict=True)
        if is_best
    )
    axes.step(
        *zip(*best, strict=True),
        where="post",
        color=style.line,
        linewidth=style.line_width,
        zorder=1,
    ) if best else None
    for number, choices in enumerate(plot.series):
        look = canvas.look(number)
        for index, (x, y, low, high) in enumerate(
            zip(choices.x, choices.y, choices.low, choices.high, strict=True)
        ):
            mark = f"mark-{number}-{index}"
            canvas.titles[mark] = f"{choices.name}, {choices.labels[index]}: {_said(y, low, high)}"
            axes.plot(
                [x, x],
                [low, high],
                color=look["color"],
                linewidth=style.line_width,
                solid_capstyle="butt",
                alpha=0.6,
            )
            face = (
                {}
                if choices.is_best[index]
                else {
                    "markerfacecolor": "white",
                    "markeredgecolor": look["color"],
                    "markeredgewidth": 1,
                }
            )
            axes.plot([x], [y], **{**look, **face}, linestyle="none", gid=mark)
            if any(len(other.x) > 1 for other in plot.series):
                near = (0.5 * style.font, 0.2 * style.font)
                text = axes.annotate(
                    choices.labels[index],
                    (x, y),
                    xytext=near,
                    textcoords="offset points",
                    color=look["color"],
                )
                text.set_fontsize(0.8 * style.font)
    axes.set_xscale("log")
    axes.margins(x=0.12)  # the labels of the last points are inside
    costs = sorted({x for choices in plot.series for x in choices.x})
    shown = costs[:1]
    for cost in costs[1:]:
        shown += (
            [cost] if cost >= 1.6 * shown[-1] or (cost == costs[-1] and len(shown) == 1) else []
        )
    axes.set_xticks(shown, [f"{cost:,.3g}" if cost < 100 else f"{cost:z,.0f}" for cost in shown])
    axes.minorticks_off()
    axes.set(xlabel=plot.along, ylabel=_wrapped(plot.axis, style.width_in * 0.42, style))
    axes.grid(axis="y")
    _add_legend(canvas, plot)


def _draw_scatter(plot: Scatter, canvas: Canvas) -> None:
    """Draw the panels next to each other, with the same scale."""
    columns, style = min(len(plot.panels), 2), canvas.style
    rows = math.ceil(len(plot.panels) / columns)
    grid = canvas.figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, (axes, points) in enumerate(itertools.zip_longest(grid.flat, plot.panels)):
        if points is None:
            axes.remove()
            continue
        _add_points(axes, points, style.series[number % len(style.series)], style)
        axes.set_title(
            points.name + (f"\n{DENSE} of {len(points.x)} pairs" if len(points.x) > DENSE else ""),
            fontsize=style.font,
        )
        axes.grid()
        if plot.has_means:
            _add_means(axes, points, style)
        if plot.diagonal:
            low, high = axes.dataLim.min.min(), axes.dataLim.max.max()
            axes.plot([low, high], [low, high], color=style.faint, linewidth=1)
    canvas.figure.supxlabel(plot.x_axis, fontsize=style.font, color=style.faint)
    canvas.figure.supylabel(plot.y_axis, fontsize=style.font, color=style.faint)


def _add_points(axes: "Axes", points: ScatterPoints, colour: str, style: Style) -> None:
    """Draw points, or of many a random sample, darker where more of them overlap."""
    finite = _finite(points)
    order = np.random.default_rng(0).permutation(len(finite))[:DENSE]
    alpha, width = (0.8, 0.5 * style.font) if len(order) < SPARSE else (0.35, 0.3 * style.font)
    if not style.has_small_points:
        axes.plot(
            *finite[order].T, "o", color=colour, markersize=width, markeredgewidth=0, alpha=alpha
        )
        return
    _add_path_points(axes, finite[order], color=colour, alpha=alpha, width=width)
    if len(finite):
        axes.update_datalim(finite)
    axes.autoscale_view()


def _add_path_points(
    axes: "Axes", points: NDArray[np.float64], *, color: str, alpha: float, width: float
) -> None:
    """Draw points as the round ends of zero-length lines."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for layer in np.array_split(points, OVERLAYS):
        if len(layer):
            path = Path(layer.repeat(2, axis=0), [Path.MOVETO, Path.LINETO] * len(layer))
            axes.add_patch(
                PathPatch(
                    path,
                    fill=False,
                    edgecolor=color,
                    alpha=alpha,
                    linewidth=width,
                    capstyle="round",
                )
            )


def _add_means(axes: "Axes", points: ScatterPoints, style: Style) -> None:
    """Draw the mean of all points of each band that has enough of them, with one standard
    deviation.
    """
    means = band_means(points)
    places, values, spreads = (np.array([mean[index] for mean in means]) for index in range(3))
    if len(means):
        axes.errorbar(
            places,
            values,
            yerr=spreads,
            color=style.ink,
            linewidth=style.line_width,
            marker="o",
            markersize=style.marker_size,
            capsize=1.5,
            zorder=3,
        )


def band_means(points: ScatterPoints) -> list[tuple[float, float, float]]:
    """Return the centre of each band of x that has enough points, the mean of its y and their
    standard deviation (n − 1).
    """
    finite = _finite(points)
    if not len(finite):
        return []
    edges = np.linspace(finite[:, 0].min(), finite[:, 0].max(), BANDS + 1)
    band = np.clip(np.searchsorted(edges, finite[:, 0], side="right") - 1, 0, BANDS - 1)
    bands = [
        (finite[band == number, 1], (edges[number] + edges[number + 1]) / 2)
        for number in range(BANDS)
    ]
    return [
        (float(centre), float(y.mean()), float(y.std(ddof=1)))
        for y, centre in bands
        if len(y) >= FEWEST
    ]


def _finite(points: ScatterPoints) -> NDArray[np.float64]:
    coordinates: NDArray[np.float64] = np.column_stack([points.x, points.y]).astype(float)
    return coordinates[np.isfinite(coordinates).all(axis=1)]


def _ends(series: Series) -> tuple[Sequence[float], Sequence[float]]:
    """Return the ends of the intervals; for a series without intervals its values."""
    return series.low or series.values, series.high or series.values


def _said(value: float, low: float, high: float) -> str:
    return f"{value:z.2f}" + (f" [{low:z.2f}, {high:z.2f}]" if low < high else "")


def _wrapped(text: str, width_in: float, style: Style) -> str:
    """Return TEXT in lines that fit in a width; letters are about half as wide as high."""
    return textwrap.fill(text, max(10, int(130 * width_in / style.font)), break_long_words=False)


def _add_legend(canvas: Canvas, plot: Plot) -> None:
    named = _named(plot)
    if len(named) < 2 or not canvas.has_legend:
        return
    from matplotlib.lines import Line2D

    width, is_solid = canvas.style.line_width, isinstance(plot, Dots)
    handles = [
        Line2D(
            [],
            [],
            **canvas.look(number),
            linewidth=width,
            linestyle="-" if is_solid else canvas.dash(number),
            label=choices.name,
        )
        for number, choices in enumerate(named)
    ]
    columns = _legend_columns([choices.name for choices in named], canvas.style)
    canvas.figure.legend(
        handles=handles,
        loc="outside upper left",
        ncols=columns,
        handlelength=1.6,
        columnspacing=1.4,
    )
