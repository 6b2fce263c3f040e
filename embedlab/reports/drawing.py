"""Plots as SVG text for a page, in the page's light or dark colours and its font."""

import hashlib
import io
import re
from collections.abc import Mapping
from xml.etree import ElementTree

from embedlab.core.printable import visible
from embedlab.reports.plot_drawing import Canvas, height_in
from embedlab.reports.plot_style import PAGE
from embedlab.reports.plots import Plot

VARIABLES = {PAGE.ink: "--ink", PAGE.faint: "--faint", PAGE.line: "--line"} | {
    colour: f"--series-{number}" for number, colour in enumerate(PAGE.series, start=1)
}


def draw_svg(plot: Plot) -> str:
    """Return the plot as an SVG element, without its title, for a page that sets the variables of
    `page.css`.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(PAGE.settings):
        figure = Figure(figsize=(PAGE.width_in, height_in(plot, PAGE)), layout="constrained")
        canvas = Canvas(figure=figure, style=PAGE)
        canvas.draw(plot)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _as_part_of_a_page(text.getvalue(), visible(plot.title), canvas.titles)


def _as_part_of_a_page(svg: str, title: str, titles: Mapping[str, str]) -> str:
    """Return Matplotlib's output as an element of a page that has other such elements and its own
    colours.
    """
    root = ElementTree.fromstring(svg)
    prefix = f"plot-{hashlib.sha256(svg.encode()).hexdigest()[:8]}"
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in {
                "metadata",
                "style",
            }:  # a style element would apply to the whole page
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        if (said := titles.get(element.get("id", ""))) is not None:
            _put_title(element, said)
        element.attrib = {
            _local(name): _own(value, prefix) for name, value in element.attrib.items()
        }
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
    """Return an attribute's value with this plot's ids, the page's colours and font, and no more
    digits than are visible.
    """
    value = re.sub(r"^#(?=[a-zA-Z])|(?<=url\()#", f"#{prefix}-", value)
    value = re.sub(
        r"#[0-9a-f]{6}\b",
        lambda match: f"var({VARIABLES[match[0]]})" if match[0] in VARIABLES else match[0],
        value,
    )
    value = re.sub(
        r"font-family: [^;]*;? ?", "", re.sub(r"font: (\S+) [^;]*", r"font-size: \1", value)
    )
    return re.sub(
        r"\d+\.\d{3,}", lambda number: f"{float(number[0]):z.2f}".rstrip("0").rstrip("."), value
    )
