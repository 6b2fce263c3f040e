"""The first line of each screen: every screen that has a folder, in the order of the keys."""

from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.mode_bar import ModeBar
from tests.tui.driving import Open, until


async def test_it_names_every_screen_with_its_key_and_a_click_goes_there(opened: Open) -> None:
    async with opened() as pilot:
        line = str(pilot.app.screen.query_one(ModeBar).content)
        titles = [f" {found.entry.key} {found.entry.label} " for found in SCREENS.values()]
        assert line == " embedlab " + "".join(titles)
        assert titles[:4] == [" 1 Pairs ", " 2 Compare ", " 3 Runs ", " 4 Launch "]
        await pilot.click(ModeBar, offset=(line.index("Runs"), 0))
        await until(pilot, lambda: pilot.app.current_mode == "runs")
        assert str(pilot.app.screen.query_one(ModeBar).content) == line


async def test_it_highlights_the_present_screen_only(opened: Open) -> None:
    async with opened() as pilot:
        content = pilot.app.screen.query_one(ModeBar).content
        highlighted = [
            content.plain[span.start : span.end]
            for span in content.spans
            if "bold" in str(span.style) and span.start
        ]  # type: ignore[union-attr]
        assert highlighted == [" 1 Pairs "]
