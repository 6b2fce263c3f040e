"""Plots drawn with Matplotlib in one style, for papers and for pages."""

import html
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from embedlab.core.printable import visible
from embedlab.core.version import __version__
from embedlab.reports.series import BANDS, COLUMN_IN, DENSE, FEWEST, FileKind, Plot, Point, Series

# Paul Tol's high-contrast colours and two more: distinct for all kinds of colour vision, and
# printed in greys.
COLOURS = ("#004488", "#bb5566", "#ddaa33", "#010101", "#6699cc")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (2, 1)))
_MARKERS = "os^Dv"
_INK, _FAINT, _LINE = "#000000", "#333333", "#c8c8c8"
_PAGE_IN = 4.2  # an SVG scales with its page; at this width its text is readable on a phone
_FONT = 7.5  # points
_LINE_IN = 0.02 * _FONT
_MOST_MARKERS = 25  # of a line
_MARK = "mark "  # the beginning of the id of a number's mark; behind it is its tooltip
# Colours of a page depend on its light or dark mode.
_VARIABLES = {_INK: "--ink", _FAINT: "--faint", _LINE: "--line"} | {
    colour: f"--series-{number}" for number, colour in enumerate(COLOURS, start=1)
}
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "embedlab",  # equal plots give equal text
    "pdf.fonttype": 42,  # TrueType, embedded: what conferences check
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": _FONT,
    "legend.frameon": False,
    "text.color": _INK,
    "axes.edgecolor": _LINE,
    "axes.labelcolor": _FAINT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlesize": _FONT,
    "grid.color": _LINE,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0,
    "lines.solid_capstyle": "butt",
    "xtick.color": _LINE,
    "ytick.color": _LINE,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
}


class PaperFigure(Figure):
    """A figure of Matplotlib that saves itself as papers need it, and that notebooks show."""

    name: str = ""
    caption: str = ""  # what is drawn

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure with fonts embedded, and its caption as metadata without a date."""
        kind = str(options.get("format") or str(fname).rpartition(".")[2]).lower()
        described = {"Title": self.name, "Creator": f"embedlab {__version__}"}
        metadata: dict[str, dict[str, str | None]] = {
            "pdf": {**described, "Subject": self.caption, "CreationDate": None},
            "svg": {**described, "Description": self.caption, "Date": None},
            "png": {"Title": self.name, "Description": self.caption, "Software": "embedlab"},
        }
        with mpl.rc_context(_STYLE):
            super().savefig(fname, **{"dpi": 300, "metadata": metadata.get(kind), **options})

    def content(self, kind: FileKind) -> bytes:
        """Return the file of this kind."""
        file = BytesIO()
        self.savefig(file, format=kind)
        return file.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture with its size on a screen, which is not that of its many points."""
        width, height = (round(120 * inches) for inches in self.get_size_inches())
        return self.content("png"), {"width": width, "height": height}


def draw_paper(
    plots: Sequence[Plot],
    *,
    name: str = "",
    caption: str = "",
    width_in: float = COLUMN_IN,
    is_titled: bool = False,
) -> PaperFigure:
    """Return PLOTS below each other.

    Titles are drawn with IS_TITLED, or where there are several plots; plots of the same series
    share the legend of the first.
    """
    shares_legend = len({tuple(series.name for series in plot.series) for plot in plots}) == 1
    legends = [not index or not shares_legend for index in range(len(plots))]
    titles = [visible(plot.title) if is_titled or len(plots) > 1 else "" for plot in plots]
    heights = [
        _height_in(plot, width_in, has_legend=has_legend) + 1.6 * _LINE_IN * bool(title)
        for plot, title, has_legend in zip(plots, titles, legends, strict=True)
    ]
    with mpl.rc_context(_STYLE):
        figure = PaperFigure(figsize=(width_in, sum(heights)), layout="constrained")
        figure.name, figure.caption = visible(name), visible(caption)
        subfigures: Sequence[FigureBase] = [figure]
        if len(plots) > 1:
            grid = figure.subfigures(len(plots), 1, squeeze=False, height_ratios=heights)
            subfigures = list(grid.flat)
        for subfigure, plot, title, has_legend in zip(
            subfigures, plots, titles, legends, strict=True
        ):
            if title:
                subfigure.suptitle(title, x=0.01, ha="left", fontsize=_FONT)
            _draw(plot, subfigure, width_in, has_legend=has_legend)
    for line in figure.findobj(Line2D):
        line.set_gid(None)  # a tooltip of a page
    return figure


def draw_svg(plot: Plot) -> str:
    """Return the plot as an SVG element, without its title, for a page that sets the variables of
    `page.css`: in its colours and font, each number with a tooltip.
    """
    with mpl.rc_context({**_STYLE, "svg.fonttype": "none"}):
        height = _height_in(plot, _PAGE_IN, has_legend=True)
        figure = Figure(figsize=(_PAGE_IN, height), layout="constrained")
        _draw(plot, figure, _PAGE_IN, has_legend=True)
        file = BytesIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue().decode()
    prefix = f"plot-{sha256(text.encode()).hexdigest()[:8]}-"

    def page_tag(match: re.Match[str]) -> str:
        """Return a tag with ids of this plot alone, colours of the page, and short numbers."""
        if (tooltip := match["tooltip"]) is not None:
            return f"<g><title>{tooltip}</title>"
        tag = re.sub(r'(?<=\bid=")|(?<=href="#)|(?<=url\(#)', prefix, match[0])
        tag = tag.replace("xlink:href", "href")
        tag = re.sub(r" font-family: [^;\"]*;?", "", tag)
        tag = re.sub(r"#[0-9a-f]{6}\b", _page_colour, tag)
        return re.sub(r"\d+\.\d{3,}", _short_number, tag)

    view = re.search(r'viewBox="[^"]*"', text)
    body = text[text.index(">", text.index("<svg")) + 1 :]
    # a style element would apply to the whole page
    body = re.sub(r"<(metadata|style).*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(rf'<g id="{_MARK}(?P<tooltip>[^"]*)">|<[^!][^>]*>', page_tag, body)
    label = html.escape(visible(plot.title))
    return f'<svg {view[0] if view else ""} role="img" aria-label="{label}">{body.strip()}'


def _page_colour(match: re.Match[str]) -> str:
    return f"var({_VARIABLES.get(match[0], '--paper')})"


def _short_number(match: re.Match[str]) -> str:
    return f"{float(match[0]):z.2f}".rstrip("0").rstrip(".")


def _height_in(plot: Plot, width_in: float, *, has_legend: bool) -> float:
    """Return the height that a plot needs."""
    count = len(plot.series)
    if plot.kind == "scatter":
        columns = min(count, 2)
        return (width_in / columns + 1.5 * _LINE_IN) * math.ceil(count / columns)
    rows = math.ceil(count / _legend_columns(plot, width_in)) if has_legend and count > 1 else 0
    if plot.kind == "dots":
        row = max(1.1, 0.52 * count + 0.45)
        return _LINE_IN * (3.75 + rows + row * len(plot.labels))
    return rows * _LINE_IN + 0.57 * width_in


def _legend_columns(plot: Plot, width_in: float) -> int:
    longest = max(len(series.name) for series in plot.series)
    return max(1, min(4, int(125 * width_in / _FONT / (6 + longest))))


def _draw(plot: Plot, subfigure: FigureBase, width_in: float, *, has_legend: bool) -> None:
    """Draw a plot on a figure or a part of one."""
    if plot.kind == "scatter":
        _draw_scatter(plot, subfigure)
    else:
        axes = subfigure.subplots()
        handles = []
        for number, series in enumerate(plot.series):
            look = _look(plot, number)
            _draw_series(plot, axes, number, series, look)
            handles.append(Line2D([], [], label=series.name, **look))
        _finish(plot, axes, width_in)
        if has_legend and len(handles) > 1:
            columns = _legend_columns(plot, width_in)
            subfigure.legend(handles=handles, loc="outside lower left", ncols=columns)
    for text in subfigure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(visible(text.get_text()))


def _look(plot: Plot, number: int) -> dict[str, Any]:
    """Return colour, shape and dashes of a series, for readers who see no colours and for print."""
    shape = (number + number // len(COLOURS)) % len(_MARKERS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": _MARKERS[shape],
        "linestyle": DASHES[number % len(DASHES)] if plot.kind == "lines" else "-",
    }


def _draw_series(
    plot: Plot, axes: Axes, number: int, series: Series, look: Mapping[str, Any]
) -> None:
    """Draw the points of a series with their intervals: below each other beside the labels of dots,
    else from left to right; markers of lines where they are few, costs that others beat hollow.
    """
    color = look["color"]
    points = series.points
    if plot.kind == "lines":
        places, values, low, high, *_ = zip(*points, strict=True)
        axes.fill_between(places, low, high, color=color, alpha=0.12, linewidth=0)
        axes.plot(places, values, color=color, linestyle=look["linestyle"])
        points = points if len(points) <= _MOST_MARKERS else []
    # less than half of a row's height: its series are closer to each other than to the next row's
    gaps = len(plot.series) - 1
    half_spread = min(0.32, 0.1 * gaps)
    offset = half_spread * (2 * number / max(gaps, 1) - 1)
    has_labels = plot.kind == "costs" and any(len(other.points) > 1 for other in plot.series)
    for point in points:
        ends = [point.low, point.high]
        spot = (point.place, point.value)
        if plot.kind == "dots":
            height = point.place + offset
            axes.plot(ends, [height] * 2, color=color)
            spot = (point.value, height)
        elif plot.kind == "costs":
            axes.plot([point.place] * 2, ends, color=color, alpha=0.6)
        style = dict(look)
        if not point.is_best:
            style |= {"fillstyle": "none", "markeredgewidth": 1}
        axes.plot(*([end] for end in spot), **style, gid=_tooltip(series, point))
        if has_labels and point.label is not None:
            style = {"color": color, "fontsize": 0.8 * _FONT, "textcoords": "offset points"}
            axes.annotate(point.label, spot, xytext=(4, 2), **style)


def _tooltip(series: Series, point: Point) -> str | None:
    """Return the id of a mark, which on a page is its tooltip; None without label or number."""
    if point.label is None or math.isnan(point.value):
        return None
    interval = ""
    if point.low < point.high:
        interval = f" [{point.low:z.2f}, {point.high:z.2f}]"
    return visible(f"{_MARK}{point.label}, {series.name}: {point.value:z.2f}{interval}")


def _finish(plot: Plot, axes: Axes, width_in: float) -> None:
    """Draw what all series share: axes, names and lines."""

    def wrapped(text: str, share: float) -> str:
        """Return TEXT in lines that fit in a SHARE of the width."""
        letters = int(130 * width_in * share / _FONT)
        return textwrap.fill(text, max(10, letters), break_long_words=False)

    labels = plot.labels
    if plot.kind == "dots":
        for row in range(0, len(labels), 2):
            axes.axhspan(row - 0.5, row + 0.5, color=_LINE, alpha=0.25, linewidth=0)
        axes.set_yticks(range(len(labels)), labels)
        # It ends where the axes end: beside long names they are narrower than it is.
        axes.set_xlabel(wrapped(plot.axis, 0.75), loc="right")
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        if plot.line == "zero":
            axes.axvline(0, color=_FAINT, linewidth=0.8)
        return
    axes.set_xlabel(wrapped(plot.along, 0.85))
    axes.set_ylabel(wrapped(plot.axis, 0.42))
    axes.grid(axis="y")
    if plot.kind == "costs":
        _finish_costs(plot, axes)
    elif labels:
        axes.set_xticks(range(len(labels)), labels)
    else:
        axes.locator_params(axis="x", integer=True)  # steps and epochs are counted


def _finish_costs(plot: Plot, axes: Axes) -> None:
    """Draw a line through what no other choice beats, and name costs that have room."""
    points = sorted(point for series in plot.series for point in series.points)
    unbeaten = [(point.place, point.value) for point in points if point.is_best]
    if unbeaten:
        axes.step(*zip(*unbeaten, strict=True), where="post", color=_LINE, zorder=1)
    costs = [point.place for point in points]
    ticks = costs[:1]
    for cost in costs[1:]:
        is_only = cost == costs[-1] > ticks[0] and len(ticks) == 1
        if cost >= 1.6 * ticks[-1] or is_only:
            ticks.append(cost)
    axes.set_xscale("log")
    axes.margins(x=0.12)  # the labels of the last points are inside
    axes.set_xticks(ticks, [f"{cost:,.3g}" if cost < 100 else f"{cost:z,.0f}" for cost in ticks])
    axes.minorticks_off()


def _draw_scatter(plot: Plot, subfigure: FigureBase) -> None:
    """Draw the panels next to each other, with the same scale."""
    columns = min(len(plot.series), 2)
    rows = math.ceil(len(plot.series) / columns)
    grid = subfigure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(plot.series) :]:
        axes.remove()
    for number, series in enumerate(plot.series):
        axes = grid.flat[number]
        points = _finite(series)
        sampled = points[np.random.default_rng(0).permutation(len(points))[:DENSE]]
        alpha, size = 0.35, 0.3 * _FONT
        if len(sampled) < 100:
            alpha, size = 0.8, 0.5 * _FONT
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(*sampled.T, "o", color=colour, alpha=alpha, markersize=size)
        count = len(series.points)
        title = series.name
        if count > DENSE:
            title += f"\n{DENSE} of {count} pairs"
        axes.set_title(title)
        axes.grid()
        if plot.has_means and (bands := band_means(series)):
            centres, values, spreads = zip(*bands, strict=True)
            means = {"color": _INK, "marker": "o", "capsize": 1.5, "zorder": 3}
            axes.errorbar(centres, values, yerr=spreads, **means)
        if plot.line == "diagonal":
            limits = [axes.dataLim.min.min(), axes.dataLim.max.max()]
            axes.plot(limits, limits, color=_FAINT, linewidth=0.8)
    subfigure.supxlabel(plot.along, fontsize=_FONT, color=_FAINT)
    subfigure.supylabel(plot.axis, fontsize=_FONT, color=_FAINT)


def band_means(series: Series) -> list[tuple[float, float, float]]:
    """Return the centre of each band of places that has enough values, their mean and their
    standard deviation (n − 1).
    """
    places, values = _finite(series).T
    if not len(places):
        return []
    edges = np.linspace(places.min(), places.max(), BANDS + 1)
    band = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, BANDS - 1)
    bands = []
    for number, (start, end) in enumerate(pairwise(edges)):
        in_band = values[band == number]
        if len(in_band) >= FEWEST:
            bands.append(((start + end) / 2, in_band.mean(), in_band.std(ddof=1)))
    return bands


def _finite(series: Series) -> NDArray[np.float64]:
    """Return the places and values of the points that have both, (points, 2)."""
    points = np.array([point[:2] for point in series.points], dtype=np.float64).reshape(-1, 2)
    return points[np.isfinite(points).all(axis=1)]
