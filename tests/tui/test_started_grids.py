"""A started grid is reopened, resumed and stopped by keys, and the cells of its map lead to their
runs.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import OptionList

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.preparation import prepare_grid
from embedlab.experiments.worker import alive
from embedlab.runs.events import Finished
from embedlab.tui.dialogs import Confirm
from embedlab.tui.launch.form import resume_launch
from embedlab.tui.launch.grid_board import GridBoard
from embedlab.tui.launch.heat_map import HeatMap, draw_heat_map
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.workflows.grid.plan import plan_grid
from embedlab.workflows.options.grid import GridOptions
from tests.tui.driving import Open, make_run, noticed, on_top, until
from tests.tui.test_launch_screen import Started, started

__all__ = ["started"]


def start(settings: Settings, name: str) -> tuple[GridPlan, GridFolder]:
    """Leave the files of a grid that was started and stopped before its first cell ended."""
    plan = plan_grid(GridOptions(grid=name), settings).plan
    folder = GridFolder.of(settings.runs, name)
    prepare_grid(plan, folder)
    return plan, folder


async def test_a_started_grid_is_reopened_and_resumed_and_its_cells_lead_to_runs(
    opened: Open, own_world: Settings, started: Started
) -> None:
    plan, _ = start(own_world, "sbert-lr")
    start(own_world, "snli-supcl-lambda")
    second = [cell for cell in plan.cells if cell.variant == plan.variants[1]]
    for cell in second[:2]:
        make_run(own_world, cell.variant.run, cell.seed, Finished(step=20))
    async with opened(own_world, size=(140, 45)) as pilot:
        await pilot.press("4")
        screen = await on_top(pilot, LaunchScreen)
        await until(
            pilot, lambda: screen.grids.grid == "snli-supcl-lambda" and screen.grids.display
        )  # the newest
        options = screen.query_one(OptionList)
        options.highlighted = options.get_option_index("started grid sbert-lr")
        await until(
            pilot, lambda: screen.grids.grid == "sbert-lr" and screen.model.launch is not None
        )
        assert screen.model.launch.arguments[:3] == ("grid", "run", "sbert-lr")
        most = screen.grids.styles.max_height
        assert most is not None
        assert most.value == 70  # percent: it has no form
        await pilot.press("x")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await noticed(pilot, "grid 'sbert-lr' is not running")
        await pilot.press("o")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: started)
        assert started[0][0][:3] == ("grid", "run", "sbert-lr")

        await until(pilot, lambda: "sbert-lr" in str(screen.query_one("#grid-lines").content))  # type: ignore[attr-defined]
        await pilot.press("d")
        heat = screen.query_one(HeatMap)
        assert screen.focused is heat
        place = next(place for place, runs in heat.heat.runs.items() if second[0].id in runs)
        await pilot.press(
            *["j"] * heat.heat.rows.index(place[0]), *["right"] * heat.heat.columns.index(place[1])
        )
        assert heat.place == place
        await pilot.press("enter")
        runs = await on_top(pilot, RunsScreen)
        table = runs.query_one(FrameTable)
        await until(
            pilot,
            lambda: (
                table.current_row is not None
                and table.frame["run"][table.current_row] == second[0].id
            ),
        )
        assert runs.model.marked == {cell.id for cell in second}


def test_a_grid_that_runs_or_whose_plan_is_another_is_not_resumed(
    world: Settings, tmp_path: Path
) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    plan, folder = start(settings, "sbert-lr")
    assert (
        resume_launch("sbert-lr", settings).notes[0] == f"{len(plan)} of {len(plan)} cells are left"
    )
    with alive(folder.workers / "one"), pytest.raises(UsageError, match="is running"):
        resume_launch("sbert-lr", settings)
    replace(plan, seeds=(7,)).save(folder.plan_file)
    with pytest.raises(UsageError, match="started with other values"):
        resume_launch("sbert-lr", settings)


def test_the_cursor_of_the_map_stays_within_it_and_is_drawn_where_it_is(
    world: Settings, tmp_path: Path
) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    start(settings, "sbert-lr")

    look = GridBoard(settings, "sbert-lr").look()
    assert look is not None
    heat = look.heat
    reversed_cells = [
        span
        for span in draw_heat_map(heat, (heat.rows[0], heat.columns[-1])).spans
        if span.style == "reverse"
    ]
    assert len(reversed_cells) == 1
    widget = HeatMap()
    widget.heat = heat
    widget.update = lambda *_: None  # type: ignore[method-assign]
    for _ in range(50):
        widget.action_move(1, 1)
    assert widget.place == (heat.rows[-1], heat.columns[-1])
