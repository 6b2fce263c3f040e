"""Two models face to face: one choice that every screen shows."""

from textual.widgets import Static

from embedlab.analysis.pairing import Pairing
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.plots.screen import PlotsScreen
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.pair_plot import PairPlot
from tests.tui.driving import NARROW, USUAL, Open, noticed, on_top, until


async def test_two_models_are_face_to_face_on_every_screen(opened: Open) -> None:
    async with opened(size=USUAL) as pilot:
        screen = await on_top(pilot, PairsScreen)
        bar, table = screen.query_one(FilterBar), screen.query_one(FrameTable)
        await pilot.press("V")
        await noticed(pilot, "face to face")
        await pilot.press(*["l"] * 5, "F")  # the column "published"
        await until(
            pilot, lambda: pilot.app.data.pairing == Pairing(reference="far", other="published")
        )
        await pilot.pause()
        titles = [column.title for column in table.columns]
        assert titles[2:9] == ["A", "B", "Δrank", "Δerror", "right", "Dice", "gap"]
        assert "right: rank error within 10 points, wrong: 30 or more" in str(
            screen.query_one("#filter-hint", Static).content
        )
        counts = {}
        for verdict in ("A", "B", "neither", "both"):
            await pilot.press("V")
            await until(pilot, lambda verdict=verdict: bar.value == f"right:{verdict}")  # type: ignore[misc]
            await pilot.pause()
            counts[verdict] = len(table.rows)
            for row in table.frame[table.rows].head(20).iter_rows(named=True):
                sizes = [abs(row["error(far)"]), abs(row["error(published)"])]
                assert {
                    "A": sizes[0] <= 10 and sizes[1] >= 30,
                    "B": sizes[1] <= 10 and sizes[0] >= 30,
                }.get(verdict, True)
        assert counts["B"] > counts["A"] > 0
        await pilot.press("P", "V", "V")  # swapped: what A was right on is now B's
        await until(pilot, lambda: bar.value == "right:A" and len(table.rows) == counts["B"])
        assert pilot.app.data.pairing == Pairing(reference="published", other="far")
        await pilot.press("5", "d")
        plots = await on_top(pilot, PlotsScreen)
        plot = plots.query_one(PairPlot)
        await until(
            pilot, lambda: plot.picture is not None and plot.picture.x.title == "A published"
        )
        assert (plot.picture.y.title, plot.picture.y.field, len(plot.picture.points.rows)) == (
            "B far",
            "B",
            counts["B"],
        )
        await pilot.press("enter")
        await until(pilot, lambda: "<=A<=" in bar.value)
    async with opened(
        size=USUAL
    ) as pilot:  # the choice is remembered, and with it the fields of the filter
        screen = await on_top(pilot, PairsScreen)
        assert pilot.app.data.pairing == Pairing(reference="published", other="far")
        assert 0 < len(screen.query_one(FrameTable).rows) < counts["B"]
        await pilot.press("escape", "escape")
        await until(pilot, lambda: pilot.app.data.pairing is None)
        assert [model.name for model in pilot.app.data.models] == ["far", "near", "published"]


async def test_a_cell_of_compare_opens_its_pairs_with_its_model_and_the_reference(
    opened: Open,
) -> None:
    async with opened(size=NARROW) as pilot:
        await pilot.press("2")
        compare = await on_top(pilot, CompareScreen)
        await until(pilot, lambda: compare.model.result is not None)
        expected = compare.model.result.rows["sick-r"]
        await pilot.press("j", "l", "l", "l", "enter")
        pairs = await on_top(pilot, PairsScreen)
        await until(
            pilot, lambda: pairs.view is not None and pairs.view.selection.within is not None
        )
        assert pilot.app.data.pairing == Pairing(reference="far", other="near")
        table = pairs.query_one(FrameTable)
        assert set(table.rows.tolist()) == set(expected.tolist())
        await pilot.press("2")
        await until(
            pilot,
            lambda: (
                compare.model.result is not None
                and compare.model.result.comparison.models == ("far", "near")
            ),
        )
        assert "A far · B near" in str(compare.query_one("#compare-status", Static).content)
        await pilot.press("p")
        await until(
            pilot,
            lambda: (
                compare.model.result is not None
                and compare.model.result.comparison.reference == "near"
            ),
        )
        await pilot.press("F")
        await until(
            pilot,
            lambda: (
                compare.model.result is not None
                and len(compare.model.result.comparison.models) == 3
            ),
        )
