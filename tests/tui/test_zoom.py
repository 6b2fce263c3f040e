"""`z` gives every pane, plots included, the whole screen and gives it back."""

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.runs.curve_plot import CurvePlot
from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.pair_plot import PairPlot
from tests.tui.driving import Open, make_run, until


async def test_every_pane_takes_the_screen_and_gives_it_back(
    opened: Open, own_world: Settings
) -> None:
    make_run(own_world, "ended", 1, Finished(step=20))
    zoomed = set()
    async with opened(own_world, size=(120, 40)) as pilot:
        for name in ("pairs", "compare", "runs"):
            await pilot.press(SCREENS[name].entry.key)
            await until(
                pilot,
                lambda name=name: pilot.app.current_mode == name and pilot.app.screen.is_mounted,
            )  # type: ignore[misc]
            screen = pilot.app.screen
            if isinstance(screen, CompareScreen):
                await until(pilot, lambda: screen.model.result is not None)  # noqa: B023 - awaited in this turn
            else:
                await until(
                    pilot,
                    lambda: not screen.query("#runs-table") or screen.model.board.runs,  # type: ignore[attr-defined]  # noqa: B023
                )
            await pilot.pause()
            for pane in [one for one in screen.focus_chain if one.id != "filter"]:
                screen.set_focus(pane)
                before = pane.region
                await screen.run_action("screen.zoom")
                await until(pilot, lambda: pane.region.height == 39 and pane.region.width == 120)  # noqa: B023 - all but the keys
                await screen.run_action("screen.zoom")
                await until(pilot, lambda: pane.region == before)  # noqa: B023
                zoomed.add(type(pane))
    assert {CurvePlot, PairPlot} < zoomed
