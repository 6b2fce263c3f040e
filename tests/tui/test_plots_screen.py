"""Plots that name and select pairs: the drawing against slow loops, and the way to Pairs through
keys.
"""

from dataclasses import replace

import numpy as np
import pytest

from embedlab.analysis.binning import calibration_curve
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.plots.model import VIEWS
from embedlab.tui.plots.plotting import PlottedPairs
from embedlab.tui.plots.screen import PlotsScreen
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.pair_plot import PairPlot
from embedlab.tui.widgets.picture import Picture, PlotAxis, PlotBars, PlotPoints
from embedlab.tui.widgets.plot_drawing import CellBox, draw
from tests.tui.driving import NARROW, USUAL, Open, on_top, type_text, until


def picture(x: np.ndarray, y: np.ndarray, *, bars: bool = False) -> Picture:
    points = PlotPoints(
        x=x, y=y, rows=np.arange(len(x)) + 100, interest=np.abs(y - x), is_drawn=not bars
    )
    layers = [PlotBars(title="x", values=x, style="first")] if bars else []
    return Picture(
        title="points",
        x=PlotAxis(title="x", low=0, high=1),
        y=PlotAxis(title="y", low=0, high=1),
        points=points,
        bars=layers,
    )


def test_every_point_is_a_dot_and_every_cell_knows_its_points() -> None:
    x, y = np.random.default_rng(2).uniform(size=(2, 300))
    x[0] = np.nan
    drawn = draw(picture(x, y), 20, 7)
    dots = np.zeros((28, 40), dtype=int)
    cells: dict[tuple[int, int], list[int]] = {}
    for place, (one, other) in enumerate(zip(x, y, strict=True)):
        if not np.isnan(one):
            dots[27 - int(other * 28), int(one * 40)] = 1
            cells.setdefault((int(one * 20), int(other * 7)), []).append(place)
    shifts = np.array([[0, 3], [1, 4], [2, 5], [6, 7]])
    for row in range(7):
        for column in range(20):
            block = dots[4 * row : 4 * row + 4, 2 * column : 2 * column + 2]
            sign = 0x2800 + int((block << shifts).sum())
            assert drawn.signs[row, column] == (sign if block.any() else ord(" "))
            box = CellBox(left=column, right=column, bottom=6 - row, top=6 - row)
            assert drawn.points_in(box).tolist() == cells.get((column, 6 - row), [])
    everything = drawn.points_in(CellBox(left=0, right=19, bottom=0, top=6))
    assert everything.tolist() == list(range(1, 300))


def test_an_axis_with_few_values_has_wide_cells() -> None:
    x, y = np.repeat([0.0, 0.5, 1.0], 10), np.tile(np.linspace(0, 1, 10), 3)
    drawn = draw(picture(x, y), 32, 10)
    assert drawn.wide == 10
    assert drawn.size == (30, 10)
    assert drawn.points_in(CellBox(left=10, right=19, bottom=0, top=9)).tolist() == list(
        range(10, 20)
    )


@pytest.mark.parametrize(("values", "columns", "wide"), [(8000, 25, 1), (500, 82, 5)])
def test_the_bars_of_a_histogram_hold_the_pairs_they_count_and_are_as_few_as_the_values_fill(
    values: int, columns: int, wide: int
) -> None:
    x = np.random.default_rng(3).beta(2, 5, size=values)
    drawn = draw(picture(x, x, bars=True), columns, 8)
    assert (
        drawn.wide == wide
    )  # the rule of Rice: twice the third root of the number of values, 40 and 16
    bars = columns // wide
    counts = np.histogram(x, bins=bars, range=(0, 1))[0]
    for column in range(bars * wide):
        assert (
            len(drawn.points_in(CellBox(left=column, right=column, bottom=3, top=3)))
            == counts[column // wide]
        )
    is_drawn = drawn.signs != ord(" ")
    highest = np.where(is_drawn.any(axis=0), 7 - is_drawn.argmax(axis=0), -1)
    expected = np.repeat(np.ceil(np.ceil(counts / counts.max() * 32) / 4).astype(int) - 1, wide)
    assert np.all(highest >= expected)  # a bar is joined to its higher neighbour
    inside = np.arange(bars * wide) % wide == wide // 2
    assert np.array_equal(highest[inside], expected[inside]) or wide == 1  # but not in its middle
    assert highest[counts.argmax() * wide] == 7


def test_the_axis_of_a_histogram_names_the_model_only_where_its_whole_name_has_room() -> None:
    plot = PairPlot()
    x = np.linspace(0, 1, 50)
    axis = PlotAxis(title="cosine of a model with a name", short_title="cosine", low=0.0, high=1.0)
    plot.picture = replace(picture(x, x, bars=True), x=axis)
    titles = set()
    for columns in range(20, 200, 3):
        plot.drawing = draw(plot.picture, columns, 8)
        titles.add(plot._x_axis()[1])
    assert titles == {"cosine →", "cosine of a model with a name →"}  # and none that is cut


async def test_the_cursor_names_a_pair_and_a_box_becomes_the_filter_of_pairs(opened: Open) -> None:
    async with opened(size=USUAL) as pilot:
        await pilot.press("slash")
        await type_text(pilot, "dice>0.1")
        await pilot.press("enter", "5")
        screen = await on_top(pilot, PlotsScreen)
        plot = screen.query_one(PairPlot)
        await until(pilot, lambda: plot.drawing is not None)
        table = screen.data.table
        shown = np.flatnonzero(table["dice"].to_numpy() > 0.1)
        errors = np.abs(table["error(near)"].to_numpy())
        assert (
            plot.pair == shown[errors[shown].argmax()]
        )  # the largest error of all is where the cursor starts
        assert table["sentence1"][plot.pair] in "".join(
            plot.render_line(y).text for y in range(plot.content_size.height)
        )
        await pilot.press("n")
        inside = plot.picture.points.rows[plot.drawing.points_in(plot.box)]
        assert plot.pair == inside[errors[inside].argmax()]
        pair = plot.pair
        await pilot.resize_terminal(*NARROW)
        await until(pilot, lambda: plot.content_size.width == NARROW[0] - 2)
        assert plot.pair == pair  # the cursor remains on its pair
        await pilot.resize_terminal(*USUAL)
        await until(pilot, lambda: plot.content_size.width == USUAL[0] - 2)
        drawn = set()
        for name in VIEWS:
            assert screen.model.view == name
            assert "⣿" in plot.render_line(plot.drawing.size[1] + 2).text or plot.drawing.is_columns
            drawn.add(plot.drawing.signs.tobytes())
            await pilot.press("d")
        assert len(drawn) == len(VIEWS)
        await pilot.press("d")  # far against near
        plot.cursor = (30, 8)
        await pilot.press("space", "L", "K", "l")
        expected = plot.picture.points.rows[plot.drawing.points_in(plot.box)]
        assert 5 < len(expected) < 500
        await pilot.press("enter")
        pairs = await on_top(pilot, PairsScreen)
        bar = pairs.query_one(FilterBar)
        await until(pilot, lambda: "far" in bar.value)
        assert bar.value.startswith("dice>0.1 ")
        assert set(pairs.query_one(FrameTable).rows.tolist()) == set(expected.tolist())
        assert len(bar.value) < 60
        await pilot.press(
            "5", "d", "d", "enter"
        )  # a column of the histogram, of the narrowed pairs
        await until(
            pilot,
            lambda: bar.value.count("near") == 1 and isinstance(pilot.app.screen, PairsScreen),
        )
        assert set(pairs.query_one(FrameTable).rows.tolist()) < set(expected.tolist())


@pytest.mark.slow
async def test_a_plot_without_pairs_or_room_draws_nothing(opened: Open) -> None:
    async with opened(size=USUAL) as pilot:
        await pilot.press("slash")
        await type_text(pilot, "gold<-1")
        await pilot.press("enter", "5")
        screen = await on_top(pilot, PlotsScreen)
        plot = screen.query_one(PairPlot)
        await until(pilot, lambda: plot.picture is not None)
        assert "no pairs to plot" in plot.render_line(0).text
        await pilot.press("enter", "space", "n", "l", "J", *"dddd", "greater_than_sign")
        assert screen.is_current
        pilot.app.choose_models([])
        await until(pilot, lambda: screen.query_one("#no-plot").display)
        await pilot.press("d", "greater_than_sign", "p", "escape")
        await on_top(pilot, PairsScreen)


async def test_the_calibration_takes_gold_as_a_share_of_each_scale(opened: Open) -> None:
    async with opened(size=USUAL) as pilot:
        data = pilot.app.data
        pairs = PlottedPairs(
            data=data, rows=np.arange(data.table.height), reference=None, model="far"
        )
        scales = [data.gold_ranges[name] for name in data.table["dataset"]]
        slow = np.array(
            [
                (gold - low) / (high - low)
                for gold, (low, high) in zip(data.table["gold"], scales, strict=True)
            ]
        )
        assert len(set(scales)) == 2
        line = VIEWS["calibration"].draw(pairs).lines[0]
        found = calibration_curve(data.table["far"].cast(float).to_numpy(), slow, 10)
        assert line.y == pytest.approx(found.observed)
