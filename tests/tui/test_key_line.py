"""The last line: what the keyboard does now, and a click for who prefers the mouse."""

from embedlab.tui.app import Dashboard
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.key_line import KeyLine
from tests.tui.driving import NARROW, Open, until


def line_of(app: object) -> KeyLine:
    assert isinstance(app, Dashboard)
    return app.screen.query_one(KeyLine)


async def test_it_shows_the_keys_of_what_has_the_keyboard(opened: Open) -> None:
    async with opened() as pilot:
        line = line_of(pilot.app)
        assert line.render().plain.startswith("s Sort space Mark / Filter")
        await pilot.press("slash")
        assert line.render().plain.split("▏")[0].strip() == "⏎ Go to the pairs", (
            "q and ? would be typed"
        )
        await pilot.press("escape")
        assert "s Sort" in line.render().plain


async def test_a_click_presses_the_key_that_is_written_there(opened: Open) -> None:
    async with opened() as pilot:
        line = line_of(pilot.app)
        await pilot.click(line, offset=(line.render().plain.index("Filter"), 0))
        await until(pilot, lambda: isinstance(pilot.app.focused, FilterBar))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.focused, FrameTable))
        await pilot.click(line, offset=(line.render().plain.index("palette"), 0))
        await until(pilot, lambda: len(pilot.app.screen_stack) > 1)


async def test_where_there_is_too_little_room_the_palette_goes_first(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        assert line_of(pilot.app).render().plain.endswith("palette")
        await pilot.press("2")
        await until(pilot, lambda: "Rows by" in line_of(pilot.app).render().plain)
        await pilot.resize_terminal(60, 24)
        await until(pilot, lambda: line_of(pilot.app).render().plain.rstrip().endswith("? Help"))
