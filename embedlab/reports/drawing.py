"""Plots as SVG text for a page, in the page's light or dark colours and its font."""

import hashlib
import io
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from embedlab.core.printable import visible
from embedlab.reports.plots import Dots, Lines, Plot, Scatter, ScatterPoints, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_IN = 5.6  # the SVG scales with the page; at this width its text is readable on a phone
FONT = 10
MARKERS = "os^Dv"
SERIES_COLOURS = 6
SPARSE = 100  # points a panel: fewer are drawn larger
DENSE = 2_000  # points a panel; of more points, a random sample of this size is drawn
OVERLAYS = 6  # layers of a panel's points: darker where more points overlap

# Placeholder colours that nothing else has, replaced by the page's own, which depend on light or dark mode.
INK, FAINT, LINE, PAPER = "#010101", "#020202", "#030303", "#040404"
SERIES = [f"#05{number:02x}05" for number in range(1, SERIES_COLOURS + 1)]
VARIABLES = {INK: "--ink", FAINT: "--faint", LINE: "--line", PAPER: "--paper"} | {
    colour: f"--series-{number}" for number, colour in enumerate(SERIES, start=1)
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small, sharp, searchable, and readable by screen readers
    "svg.hashsalt": "embedlab",  # equal plots give equal text
    "path.simplify": False,  # our points are lines of length zero
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": FONT,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}

Titles = dict[str, str]  # id of a drawn group → its tooltip


def draw_svg(plot: Plot) -> str:
    """Return the plot as an SVG element, without its title, for a page that sets the variables of `page.css`."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        titles: Titles = {}
        plot = _visible(plot)
        match plot:
            case Dots():
                figure = _draw_dots(plot, titles)
            case Lines():
                figure = _draw_lines(plot, titles)
            case Scatter():
                figure = _draw_scatter(plot)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _as_part_of_a_page(text.getvalue(), plot.title, titles)


def _visible(part: Any) -> Any:
    """Return a plot or a part of it with names that contain no character that SVG cannot hold or a page would interpret."""
    match part:
        case str():
            return visible(part)
        case Dots() | Lines() | Scatter() | ScatterPoints() | Series():
            return replace(part, **{name: _visible(value) for name, value in vars(part).items()})
        case list() | tuple() if part and not isinstance(part[0], float):
            return type(part)(map(_visible, part))
    return part


def _figure(height_in: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def _draw_dots(plot: Dots, titles: Titles) -> "Figure":
    """Draw one row a label from top to bottom, the series of a row below each other."""
    row_in = max(0.3, 0.14 * len(plot.series) + 0.12)
    figure = _figure(0.75 + 0.2 * _legend_rows(plot.series) + row_in * len(plot.labels))
    axes = figure.subplots()
    rows = range(len(plot.labels))
    reach = min(0.32, 0.1 * (len(plot.series) - 1))  # half of a row's height: its series are closer to each other than to the next row's
    offsets = np.linspace(-reach, reach, len(plot.series)).tolist()
    for row in rows[::2]:
        axes.axhspan(row - 0.5, row + 0.5, color=LINE, alpha=0.25, linewidth=0)
    for number, (series, offset) in enumerate(zip(plot.series, offsets, strict=True)):
        look = _look(number)
        for row, value, low, high in zip(rows, series.values, *_ends(series), strict=True):
            if math.isnan(value):
                continue
            mark = f"mark-{number}-{row}"
            titles[mark] = f"{plot.labels[row]}, {series.name}: {_said(value, low, high)}"
            axes.plot([low, high], [row + offset] * 2, color=look["color"], linewidth=1.6, solid_capstyle="butt")
            axes.plot([value], [row + offset], **look, linestyle="none", gid=mark)
    axes.set(yticks=rows, yticklabels=plot.labels, xlabel=plot.axis)
    axes.set_ylim(len(plot.labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    if plot.zero:
        axes.axvline(0, color=FAINT, linewidth=1)
    _add_legend(figure, plot.series)
    return figure


def _draw_lines(plot: Lines, titles: Titles) -> "Figure":
    """Draw the labels from left to right."""
    figure = _figure(3.2 + 0.2 * _legend_rows(plot.series))
    axes = figure.subplots()
    places = range(len(plot.labels))
    for number, series in enumerate(plot.series):
        look = _look(number)
        low, high = _ends(series)
        axes.fill_between(places, low, high, color=look["color"], alpha=0.12, linewidth=0)
        axes.plot(places, series.values, color=look["color"], linewidth=1.6)
        for place, value, *ends in zip(places, series.values, low, high, strict=True):
            if math.isnan(value):
                continue
            mark = f"mark-{number}-{place}"
            titles[mark] = f"{plot.labels[place]}, {series.name}: {_said(value, *ends)}"
            axes.plot([place], [value], **look, linestyle="none", gid=mark)
    axes.set(xticks=places, xticklabels=plot.labels, xlabel=plot.along, ylabel=plot.axis)
    axes.grid(axis="y")
    _add_legend(figure, plot.series)
    return figure


def _draw_scatter(plot: Scatter) -> "Figure":
    """Draw the panels next to each other, with the same scale."""
    columns = min(len(plot.panels), 2)
    rows = math.ceil(len(plot.panels) / columns)
    figure = _figure((WIDTH_IN / columns + 0.3) * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for number, (axes, points) in enumerate(itertools.zip_longest(grid.flat, plot.panels)):
        if points is None:
            axes.remove()
            continue
        _add_points(axes, points, SERIES[number % SERIES_COLOURS])
        axes.set_title(points.name + (f"\n{DENSE} of {len(points.x)} pairs" if len(points.x) > DENSE else ""), fontsize=FONT)
        axes.grid()
        if plot.diagonal:
            low, high = axes.dataLim.min.min(), axes.dataLim.max.max()
            axes.plot([low, high], [low, high], color=FAINT, linewidth=1)
    figure.supxlabel(plot.x_axis, fontsize=FONT, color=FAINT)
    figure.supylabel(plot.y_axis, fontsize=FONT, color=FAINT)
    return figure


def _add_points(axes: "Axes", points: ScatterPoints, colour: str) -> None:
    """Draw points as the round ends of zero-length lines: a tenth of the text of one marker each."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    found = np.column_stack([points.x, points.y]).astype(float)
    found = found[np.isfinite(found).all(axis=1)]
    order = np.random.default_rng(0).permutation(len(found))[:DENSE]
    alpha, width = (0.8, 5) if len(order) < SPARSE else (0.35, 3)
    for layer in np.array_split(order, OVERLAYS):
        if len(layer):
            path = Path(found[layer].repeat(2, axis=0), [Path.MOVETO, Path.LINETO] * len(layer))
            axes.add_patch(PathPatch(path, fill=False, edgecolor=colour, alpha=alpha, linewidth=width, capstyle="round"))
    if len(found):
        axes.update_datalim(found)
    axes.autoscale_view()


def _look(number: int) -> dict[str, Any]:
    """Return the style of a series: colour and shape, for readers who see no colours and for print."""
    colour = SERIES[number % SERIES_COLOURS]
    return {"color": colour, "marker": MARKERS[(number + number // SERIES_COLOURS) % len(MARKERS)], "markersize": 5, "markeredgewidth": 0}


def _ends(series: Series) -> tuple[Sequence[float], Sequence[float]]:
    """Return the ends of the intervals; for a series without intervals its values."""
    return series.low or series.values, series.high or series.values


def _said(value: float, low: float, high: float) -> str:
    return f"{value:z.2f}" + (f" [{low:z.2f}, {high:z.2f}]" if low < high else "")


def _legend_rows(series: Sequence[Series]) -> int:
    return math.ceil(len(series) / _legend_columns(series)) if len(series) > 1 else 0


def _legend_columns(series: Sequence[Series]) -> int:
    """Return how many legend entries fit in a line."""
    return max(1, min(4, int(70 / (6 + max(len(one.name) for one in series)))))


def _add_legend(figure: "Figure", series: Sequence[Series]) -> None:
    if len(series) < 2:
        return
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **_look(number), linewidth=1.6, label=one.name) for number, one in enumerate(series)]
    figure.legend(handles=handles, loc="outside upper left", ncols=_legend_columns(series), handlelength=1.6, columnspacing=1.4)


def _as_part_of_a_page(svg: str, title: str, titles: Mapping[str, str]) -> str:
    """Return Matplotlib's output as an element of a page that has other such elements and its own colours."""
    root = ElementTree.fromstring(svg)
    prefix = f"plot-{hashlib.sha256(svg.encode()).hexdigest()[:8]}"
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {"metadata", "style"}:  # a style element would apply to the whole page
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        if (said := titles.get(element.get("id", ""))) is not None:
            _put_title(element, said)
        element.attrib = {_local(name): _own(value, prefix) for name, value in element.attrib.items()}
        if "id" in element.attrib:
            element.attrib["id"] = f"{prefix}-{element.attrib['id']}"
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": title}
    return ElementTree.tostring(root, encoding="unicode")


def _put_title(element: ElementTree.Element, text: str) -> None:
    title = ElementTree.Element("title")
    title.text = text
    element.insert(0, title)


def _local(name: str) -> str:
    """Return a name without its namespace: HTML has none."""
    return name.rpartition("}")[2]


def _own(value: str, prefix: str) -> str:
    """Return an attribute's value with this plot's ids, the page's colours and font, and no more digits than are visible."""
    value = re.sub(r"^#(?=[a-zA-Z])|(?<=url\()#", f"#{prefix}-", value)
    value = re.sub(r"#[0-9a-f]{6}\b", lambda found: f"var({VARIABLES[found[0]]})" if found[0] in VARIABLES else found[0], value)
    value = re.sub(r"font-family: [^;]*;? ?", "", re.sub(r"font: (\S+) [^;]*", r"font-size: \1", value))
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):z.2f}".rstrip("0").rstrip("."), value)
