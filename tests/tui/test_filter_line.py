"""The filter keeps half of its line, belongs to the data that it was typed for, and is named where
it leaves no pair.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from embedlab.core.settings import Settings
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, WIDE, Open, on_top, type_text, until


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_filter_keeps_half_of_its_line_beside_models_from_folders(
    opened: Open, own_world: Settings, size: tuple[int, int]
) -> None:
    async with opened(own_world, size=size) as pilot:
        screen, app = await on_top(pilot, PairsScreen), pilot.app
        paths = tuple(
            f"/a/long/path/to/the/models/of/many/trainings/model-number-{number}"
            for number in range(3)
        )
        app._read = replace(app.data, of_unknown_text=paths)
        app._publish()
        await pilot.pause()
        assert screen.query_one(FilterBar).region.width >= size[0] // 2
        marks = screen.query_one("#pair-marks", Static)
        assert marks.display
        assert "training text unknown: model-number-0, model-number-1, model-number-2" in str(
            marks.content
        )
        assert "900 pairs" in str(screen.query_one("#pair-count", Static).content)


async def test_a_remembered_filter_is_not_applied_to_other_data(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    async with opened(world) as pilot:
        await pilot.press("slash")
        await type_text(pilot, "gold<2")
        left = len(pilot.app.screen.query_one(FrameTable).rows)
        assert left < 1200
    file = tmp_path / "mine.tsv"
    file.write_text("sentence1\tsentence2\tscore\na b\tc d\t4\ne f\tg h\t5\n")
    async with opened(world, pair_file=file) as pilot:
        assert len(pilot.app.screen.query_one(FrameTable).rows) == 2
        assert pilot.app.screen.query_one(FilterBar).value == ""
    async with opened(world) as pilot:
        await until(
            pilot, lambda: len(pilot.app.screen.query_one(FrameTable).rows) == left
        )  # the same data has it again


async def test_an_empty_table_names_the_filter_that_empties_it(opened: Open) -> None:
    async with opened() as pilot:
        table = pilot.app.screen.query_one(FrameTable)
        await pilot.press("right_square_bracket", "slash")
        await type_text(pilot, "gold>9")
        assert len(table.rows) == 0
        assert (
            "no pair is left by the filter 'gold>9' and dataset sts12 · esc goes back"
            in table.render_line(2).text
        )
        await pilot.press("escape")
        assert "no pair is left" not in table.render_line(2).text
