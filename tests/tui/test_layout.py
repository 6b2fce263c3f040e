"""Every screen in small and large terminals: what it shows lies within the terminal, and nothing
covers anything else.
"""

from itertools import combinations

import pytest
from textual.pilot import Pilot
from textual.scroll_view import ScrollView
from textual.widget import Widget

from embedlab.tui.screens import SCREENS
from tests.tui.driving import NARROW, WIDE, Open, has_compared, until


def parts(widget: Widget) -> list[Widget]:
    """The shown widgets inside WIDGET that have a fixed place."""
    return [part for part in widget.children if part.display and part.region.area]


def check(widget: Widget) -> None:
    for part in parts(widget):
        assert widget.region.contains_region(part.region), f"{part} lies outside {widget}"
        if not isinstance(part, ScrollView) and not part.is_scrollable:
            check(part)
    for first, second in combinations(parts(widget), 2):
        assert not first.region.intersection(second.region).area, f"{first} covers {second}"


@pytest.mark.parametrize(
    "size",
    [pytest.param(NARROW, id="80x24"), pytest.param(WIDE, id="140x45", marks=pytest.mark.slow)],
)
async def test_every_screen_and_its_help_fit(opened: Open, size: tuple[int, int]) -> None:
    async with opened(size=size) as pilot:
        for name, found in SCREENS.items():
            await pilot.press(found.entry.key)
            await until(
                pilot,
                lambda name=name: pilot.app.current_mode == name and pilot.app.screen.is_mounted,
            )  # type: ignore[misc]
            await until(pilot, lambda: has_compared(pilot.app))  # Compare has computed
            await pilot.pause()
            check(pilot.app.screen)
            if size == NARROW:
                await check_help(pilot)


async def check_help(pilot: Pilot[None]) -> None:
    await pilot.app.screen.run_action("screen.help")
    await until(pilot, lambda: pilot.app.screen.is_modal and pilot.app.screen.is_mounted)
    await pilot.pause()
    check(pilot.app.screen)
    await pilot.press("escape")
    await until(pilot, lambda: not pilot.app.screen.is_modal)
