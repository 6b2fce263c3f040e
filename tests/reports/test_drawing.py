"""Plots: every number is drawn where it belongs, in the colours of the page."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from embedlab.reports.plots import draw_svg
from embedlab.reports.series import DENSE, Plot, Point, Series

LABELS = ["sts12", "sts13", "sts14"]
ONE = Series.of("one", zip(LABELS, [(50.0, 49.0, 51.0), (60.0, 58.0, 63.0), (None,)], strict=True))
TWO = Series.of("two", zip(LABELS, [(55.0,), (70.0,), (90.0,)], strict=True))

PANELS = [Series(name, [Point(0, 2), Point(1, 1), Point(2, math.nan)]) for name in "abc"]
PLOTS = [
    Plot(kind="dots", title="d", series=[ONE, TWO], axis="points", line="zero"),
    Plot(kind="lines", title="l", series=[ONE, TWO], axis="points", along="fifth"),
    Plot(kind="scatter", title="s", series=PANELS, axis="cosine", along="gold", line="diagonal"),
]


def parsed(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(draw_svg(plot))


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter("text")]


def marks(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    """What each mark says, and where it is drawn."""
    found = {}
    for group in root.iter("g"):
        if (title := group.find("title")) is not None and title.text is not None:
            (use,) = group.iter("use")
            found[title.text] = (float(use.attrib["x"]), float(use.attrib["y"]))
    return found


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.title)
def test_a_plot_is_drawn_in_the_colours_of_the_page_with_letters_as_letters(plot: Plot) -> None:
    root = parsed(plot)
    assert root.tag == "svg"
    assert root.attrib["aria-label"] == plot.title
    assert not {"style", "metadata", "image", "script"} & {element.tag for element in root.iter()}
    styles = " ".join(element.get("style", "") for element in root.iter())
    assert not re.search(r"#[0-9a-f]{6}|font-family|font:", styles)
    assert "var(--series-1)" in styles
    assert plot.axis in texts(root)
    assert draw_svg(plot) == draw_svg(plot)


@pytest.mark.parametrize(("plot", "along"), [(PLOTS[0], 0), (PLOTS[1], 1)], ids=["dots", "lines"])
def test_a_mark_is_drawn_at_its_number_and_one_without_a_number_is_left_out(
    plot: Plot, along: int
) -> None:
    found = marks(parsed(plot))
    assert set(found) == {
        "sts12, one: 50.00 [49.00, 51.00]",
        "sts13, one: 60.00 [58.00, 63.00]",
        "sts12, two: 55.00",
        "sts13, two: 70.00",
        "sts14, two: 90.00",
    }
    values = [float(text.split(": ")[1].split()[0]) for text in found]
    places = [place[along] for place in found.values()]
    slope, start = np.polyfit(values, places, 1)
    np.testing.assert_allclose(places, np.multiply(slope, values) + start, atol=0.05)
    assert slope > 0 if along == 0 else slope < 0  # SVG counts from the top
    if along == 0:  # rows go down the page
        heights = [place[1] for text, place in sorted(found.items()) if "two" in text]
        assert heights == sorted(heights)


@pytest.mark.parametrize(("count", "shown"), [(7, 7), (DENSE + 50, DENSE)])
def test_a_scatter_draws_every_point_up_to_what_it_says(count: int, shown: int) -> None:
    x = np.random.default_rng(0).normal(size=count).tolist()
    panel = Series("a", [Point(place, place) for place in x])
    root = parsed(Plot(kind="scatter", title="s", series=[panel], along="x", axis="y"))
    points = [use for use in root.iter("use") if "--series-1" in use.get("style", "")]
    assert len(points) == shown
    assert (f"{DENSE} of {count} pairs" in " ".join(texts(root))) == (count > shown)


def test_a_name_is_drawn_as_letters_with_escapes_for_what_xml_cannot_hold() -> None:
    name, drawn = "$a_b$\x00\x1b[2J\ud800<b", "$a_b$\\u0000\\u001b[2J\\ud800<b"
    own = [Series.of(name, [(name, [1.0]), ("b", [2.0])])]
    both = {"title": name, "axis": name, "along": name}
    points = Series(name, [Point(0, 1)] * 3)
    for plot in (
        Plot(kind="dots", series=own, **both),
        Plot(kind="lines", series=own, **both),
        Plot(kind="scatter", series=[points], **both),
    ):
        root = parsed(plot)
        assert root.attrib["aria-label"] == drawn
        assert drawn in texts(root)
