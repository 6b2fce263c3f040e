"""Enter on the dev score of a run, and on a cell of a grid, opens what the number is about."""

from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.experiments.estimate import Cost
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.grid_trainings import expand_grid
from embedlab.experiments.plan import GridPlace
from embedlab.experiments.progress import GridProgress
from embedlab.experiments.queue import QueueEntry
from embedlab.runs.events import Dev, Finished
from embedlab.tui.compare.screen import CompareScreen
from embedlab.tui.key_table import shown_key
from embedlab.tui.launch.grid_board import GridBoard, GridLook, scored_runs, shown
from embedlab.tui.launch.heat import Heat
from embedlab.tui.launch.heat_map import HeatMap
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.runs.board import dev_dataset
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, make_run, noticed, on_top, until

PLACES = {("1", "a"): ("near@1", "near@2"), ("1", "b"): ("far@1",), ("1", "c"): ("unscored@1",)}


async def to_dev_score(pilot, name: str) -> FrameTable:  # noqa: ANN001
    await pilot.press("3")
    screen = await on_top(pilot, RunsScreen)
    table = screen.query_one(FrameTable)
    await until(pilot, lambda: any(entry.name.startswith(name) for entry in screen.model.entries))
    row = next(
        place for place, entry in enumerate(screen.model.entries) if entry.name.startswith(name)
    )
    await pilot.press(*["j"] * row)
    for _ in range(12):
        if table.current_column is not None and table.current_column.key == "dev":
            return table
        await pilot.press("l")
    pytest.fail("there is no dev score")


async def test_enter_on_a_dev_score_shows_the_pairs_with_the_runs_model_and_the_reference(
    opened: Open, own_world: Settings
) -> None:
    make_run(own_world, "near", 1, Finished(step=20))
    async with opened(own_world) as pilot:
        app = pilot.app
        app.choose_models(["published"])
        await until(pilot, lambda: app.chosen == ["published"])
        await to_dev_score(pilot, "near")
        await pilot.press("enter")
        await on_top(pilot, PairsScreen)
        await until(pilot, lambda: app.data.pairing is not None)
        assert (app.data.pairing.reference, app.data.pairing.other) == ("published", "near")
        assert app.selected.steps[0].startswith("Runs: near")
        await pilot.press("escape")
        await on_top(pilot, RunsScreen)


async def test_a_run_without_scores_says_so_and_other_cells_open_its_log(
    opened: Open, own_world: Settings
) -> None:
    make_run(own_world, "unscored", 1, Finished(step=20))
    async with opened(own_world) as pilot:
        await to_dev_score(pilot, "unscored")
        await pilot.press("enter")
        await noticed(pilot, "'unscored' has no scores of the pairs")
        screen = await on_top(pilot, RunsScreen)
        assert not screen.panes.shows_log
        await pilot.press("l", "enter")
        assert screen.panes.shows_log


def test_a_dev_score_is_of_the_dev_split_of_the_recipes_dataset(own_world: Settings) -> None:
    assert dev_dataset(make_run(own_world, "near", 1)) == "sts-benchmark:dev"


async def to_cell(
    pilot,  # noqa: ANN001
    column: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    compared: tuple[str, ...],
) -> None:
    values = dict.fromkeys(PLACES, 70.0)
    heat = Heat(
        title="dev score",
        rows=["1"],
        columns=["a", "b", "c"],
        values=values,
        states={},
        runs=PLACES,
    )
    monkeypatch.setattr(
        GridBoard, "look", lambda _: GridLook(lines=("grid",), heat=heat, compared=compared)
    )
    await pilot.press("4")
    screen = await on_top(pilot, LaunchScreen)
    screen.grids.follow("some")
    await until(pilot, lambda: screen.grids.display)
    await pilot.press(shown_key("view"), *["l"] * column)
    await until(pilot, lambda: screen.query_one(HeatMap).cursor == (0, column))
    await pilot.press("enter")


async def test_enter_on_a_cell_of_a_finished_grid_compares_its_cells_with_this_one(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as pilot:
        await to_cell(pilot, 1, monkeypatch, compared=("near", "far"))
        await on_top(pilot, CompareScreen)
        await until(pilot, lambda: {*pilot.app.chosen} == {"near", "far"})
        assert pilot.app.reference(pilot.app.chosen) == "far"
        await until(pilot, lambda: pilot.app.selected.steps == ["Launch: some"])
        await pilot.press("escape")
        await on_top(pilot, LaunchScreen)
        assert pilot.app.selected.path == []
        await pilot.press("2")
        await on_top(pilot, CompareScreen)
        await pilot.press("escape")
        assert pilot.app.current_mode == "compare", (
            "esc returns from what was opened, and not from a screen that was gone to"
        )


async def test_enter_on_a_cell_of_another_grid_shows_its_pairs_or_without_scores_its_runs(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as pilot:
        await to_cell(pilot, 0, monkeypatch, compared=())
        await on_top(pilot, PairsScreen)
        assert pilot.app.selected.steps == ["Launch: some near"]
        await pilot.press("escape")
        await on_top(pilot, LaunchScreen)
        await pilot.press("l", "l", "enter")
        screen = await on_top(pilot, RunsScreen)
        assert screen.model.wanted == "unscored@1"


def test_a_finished_grid_says_that_enter_compares_its_cells_the_best_first(tmp_path: Path) -> None:
    settings = Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")
    plan = expand_grid(load_grid("sbert-lr"), GridPlace.of(settings))
    entries = [
        QueueEntry(run=cell.variant.run, seed=cell.seed, number=cell.number, state="done")
        for cell in plan.cells
    ]
    names = [variant.run for variant in plan.variants]
    for number, name in enumerate(names[:2]):
        own = next(cell for cell in plan.cells if cell.variant.run == name)
        run = make_run(
            settings, name, own.seed, Dev(step=20, score=60.0 + number, time=1.0), Finished(step=20)
        )
        run.scores_file.write_bytes(b"")
    cost = Cost(cells=0, seconds=None, measured="nothing", disk_bytes=0)
    progress = GridProgress(plan=plan, entries=tuple(entries), running=(), cost=cost)
    assert scored_runs(progress) == (names[1], names[0])
    look = shown(progress)
    assert look.compared == (names[1], names[0])
    assert "enter compares these cells" in look.lines[-1]
    running = shown(replace(progress, entries=(replace(entries[0], state="waiting"), *entries[1:])))
    assert running.compared == ()
    assert not any("compares" in line for line in running.lines)
