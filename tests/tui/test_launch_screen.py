import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.grid_file import load_grid
from embedlab.experiments.grid_trainings import expand_grid
from embedlab.experiments.plan import GridFolder, GridPlace
from embedlab.runs import launch
from embedlab.runs.endings import EndingReport
from embedlab.runs.store import RunFolder
from embedlab.tui.dialogs import Confirm
from embedlab.tui.launch.form import (
    GRID_NAME,
    NAME,
    OTHERS,
    SEEDS,
    grid_fields,
    grid_launch,
    recipe_fields,
    recipe_launch,
)
from embedlab.tui.launch.grid_board import GridBoard
from embedlab.tui.launch.lines import FieldInput, FormLines
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.launch.widgets import LaunchList
from tests.tui.driving import NARROW, Open, noticed, on_top, until

Started = list[tuple[Sequence[str], Path]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What was started instead of a process."""
    found: Started = []

    def start(arguments: Sequence[str], log: Path) -> launch.Detached:
        found.append((arguments, log))
        return launch.Detached(
            process=subprocess.Popen(["true"]), log=log, errors=log.with_suffix(".jsonl"), offset=0
        )

    monkeypatch.setattr(launch, "start_detached", start)
    monkeypatch.setattr(launch, "start_run", lambda arguments, run: start(arguments, run.log_file))
    return found


async def choose(pilot: Pilot[None], name: str) -> LaunchScreen:
    await pilot.press("4")
    screen = await on_top(pilot, LaunchScreen)
    await until(pilot, lambda: screen.model.choices)
    await go_to(pilot, screen, name)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(screen.focused, FieldInput))
    return screen


async def go_to(pilot: Pilot[None], screen: LaunchScreen, name: str) -> None:
    """Move the cursor of the list to NAME, and wait until its form is checked."""
    options = screen.query_one(OptionList)
    options.highlighted = options.get_option_index(name)
    await until(pilot, lambda: shows(screen, name) and screen.model.launch is not None)


def shows(screen: LaunchScreen, name: str) -> bool:
    return screen.model.form is not None and screen.model.form.choice.key == name


def line(screen: LaunchScreen, key: str) -> Input:
    return next(
        line
        for line in screen.query(Input)
        if getattr(line, "field", None) and line.field.key == key
    )  # type: ignore[attr-defined]


def error_of(screen: LaunchScreen) -> str:
    return str(screen.query_one("#launch-error", Static).content)


async def test_a_recipe_starts_with_the_values_that_were_changed_last(
    opened: Open, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.tui.launch.screen.CHECK_AFTER_S", 3600
    )  # the start does not depend on the check of what was typed last
    async with opened() as pilot:
        screen = await choose(pilot, "recipe snli-ce")
        line(screen, "optim.lr").value = "1e-4"
        line(screen, NAME).value = "mine"
        line(screen, SEEDS).value = "3"
        line(screen, OTHERS).value = "data.rows=64"
        await pilot.press("ctrl+s")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: started)
        arguments, log = started[0]
        assert arguments[:8] == (
            "train",
            "snli-ce",
            "--set",
            "optim.lr=1e-4",
            "--set",
            "data.rows=64",
            "--name",
            "mine",
        )
        assert "tiny" in arguments
        assert log.parts[-3:] == ("mine", "seed-1", "log.txt")
        assert pilot.app.current_mode == "runs"


async def test_a_start_that_fails_is_reported_on_whichever_screen_is_shown(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: Sequence[str], run: RunFolder) -> launch.Detached:
        errors = tmp_path / "events.jsonl"
        EndingReport(errors).write(
            "dataset 'snli' (train) is missing", hint="give its folder", exit_code=3
        )
        return launch.Detached(
            process=subprocess.Popen(["sh", "-c", "exit 3"]),
            log=run.log_file,
            errors=errors,
            offset=0,
        )

    monkeypatch.setattr(launch, "start_run", start)
    async with opened() as pilot:
        await choose(pilot, "recipe snli-ce")
        await pilot.press("ctrl+s")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await noticed(pilot, "dataset 'snli' (train) is missing\nhint: give its folder")
        assert pilot.app.current_mode == "runs"


WRONG = (
    ("optim.lr", "-1", "must be above 0"),
    ("encoder.pooling", "meen", "encoder.pooling"),
    (SEEDS, "many", "not a number from 1"),
    (NAME, "a/b", "cannot name a run"),
    (OTHERS, "optim.lrr=1", "optim.lrr"),
)


async def test_a_wrong_value_is_shown_while_it_is_typed_and_nothing_starts(
    opened: Open, started: Started
) -> None:
    async with opened(size=NARROW) as pilot:
        screen = await choose(pilot, "recipe snli-ce")
        for key, value, said in WRONG:
            right, line(screen, key).value = line(screen, key).value, value
            await until(pilot, lambda said=said: said in error_of(screen))  # type: ignore[misc]
            await pilot.press("ctrl+s")
            await noticed(pilot, "not started")
            assert not started
            pilot.app.every_notice.clear()  # type: ignore[attr-defined]
            pilot.app.clear_notifications()
            line(screen, key).value = right
            await until(pilot, lambda: screen.model.launch is not None)


async def test_a_reload_keeps_what_was_typed_and_u_takes_the_recipes_own_values_again(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(size=NARROW) as pilot:
        screen = await choose(pilot, "recipe snli-ce")
        own = screen.values
        line(screen, NAME).value = "mine"
        before = screen.model.choices
        await pilot.press("escape", "r")
        await until(pilot, lambda: screen.model.choices is not before and not screen.is_opening)
        assert screen.query_one(OptionList).highlighted_option.id == "recipe snli-ce"  # type: ignore[union-attr]
        assert line(screen, NAME).value == "mine"
        line(screen, "optim.lr").value = "-1"
        await until(pilot, lambda: error_of(screen))
        await pilot.press("escape", "u")
        await until(pilot, lambda: screen.model.launch is not None and screen.values == own)
        # A cursor that moves on while the lines of a form are removed: the dashboard ended where
        # that was cancelled.
        monkeypatch.setattr("embedlab.tui.launch.screen.REST_S", 0.0)
        options = screen.query_one(OptionList)
        options.highlighted = options.get_option_index("recipe sbert")
        while screen.model.form is not None:  # noqa: ASYNC110 - the very step in which they are removed
            await asyncio.sleep(0)
        await go_to(pilot, screen, "recipe simcse")
        assert screen.values[NAME] == "simcse"


async def test_the_list_is_walked_with_the_keys_of_a_table() -> None:
    class Listed(App[None]):
        def compose(self) -> ComposeResult:
            yield LaunchList("recipes", "a", "b", "c")

    async with Listed().run_test(size=NARROW) as pilot:
        options = pilot.app.query_one(LaunchList)
        options.highlighted = 0
        await pilot.press("j", "j", "k")
        assert options.highlighted == 1
        await pilot.press("G")
        assert options.highlighted == 3
        await pilot.press("g")
        assert options.highlighted == 0


async def test_a_grid_shows_its_cells_and_starts_with_edited_axes(
    opened: Open, started: Started
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, "grid sbert-lr")
        notes = str(screen.query_one("#launch-notes", Static).content)
        assert "18 cells: 6 variants x 3 seeds" in notes
        assert "optim.lr=1e-06" in notes
        line(screen, "axis optim.lr").value = "[1e-5, 2e-5"
        await until(pilot, lambda: "not a TOML value" in error_of(screen))
        line(screen, "axis optim.lr").value = "[1e-5, 2e-5]"
        line(screen, SEEDS).value = "[7]"
        await until(
            pilot, lambda: screen.model.launch is not None and len(screen.model.launch.plan) == 2
        )
        await pilot.press("ctrl+s")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: started)
        arguments, _ = started[0]
        assert tuple(arguments[:2]) == ("grid", "run")
        written = load_grid(arguments[2])
        assert written.seeds == (7,)
        assert [choice.label for choice in written.axes["optim.lr"]] == ["1e-05", "2e-05"]


@pytest.mark.parametrize("count", ["²", "0", "1001", "99999999"])
def test_a_count_that_is_not_a_finite_number_is_refused(world: Settings, count: str) -> None:
    values = {field.key: field.value for field in recipe_fields("snli-ce")}
    with pytest.raises(UsageError, match="not a number from 1 to 1000"):
        recipe_launch("snli-ce", {**values, SEEDS: count}, world)


def test_a_value_among_the_other_keys_may_hold_blanks(world: Settings) -> None:
    values = {field.key: field.value for field in recipe_fields("snli-ce")}
    found = recipe_launch(
        "snli-ce", {**values, OTHERS: ' data.datasets=["snli", "multinli"]  optim.clip=1.0 '}, world
    )
    assert found.arguments[2:6] == (
        "--set",
        'data.datasets=["snli", "multinli"]',
        "--set",
        "optim.clip=1.0",
    )


def test_the_file_of_a_started_grid_stays_as_it_was_when_the_form_is_edited_again(
    world: Settings, tmp_path: Path
) -> None:
    values = {field.key: field.value for field in grid_fields("sbert-lr")}
    started = grid_launch("sbert-lr", {**values, SEEDS: "[7]"}, world, tmp_path).arguments[2]
    grid_launch("sbert-lr", {**values, SEEDS: "[8]"}, world, tmp_path)
    assert load_grid(started).seeds == (7,)
    assert load_grid(started).name == "sbert-lr-edited"


def test_a_second_edited_grid_has_a_name_of_its_own(world: Settings, tmp_path: Path) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    values = {field.key: field.value for field in grid_fields("sbert-lr")}

    def start(**changed: str) -> str:
        found = grid_launch("sbert-lr", {**values, **changed}, settings, tmp_path)
        assert found.plan is not None
        found.plan.save(GridFolder.of(settings.runs, found.plan.name).plan_file)
        return found.plan.name

    assert [start(seeds=f"[{seed}]") for seed in (7, 8, 9)] == [
        "sbert-lr-edited",
        "sbert-lr-edited-2",
        "sbert-lr-edited-3",
    ]
    assert start(**{SEEDS: "[7]", GRID_NAME: "mine"}) == "mine"
    with pytest.raises(UsageError, match="a grid named 'mine' has been started already"):
        start(**{SEEDS: "[8]", GRID_NAME: "mine"})
    with pytest.raises(EmbedlabError) as caught:  # the file that the form wrote is not named
        start(**{SEEDS: "[8]", OTHERS: "no.such=1"})
    assert str(tmp_path) not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    ("model", "seeds", "said"),
    [
        ("nonsense", "1", "no model named 'nonsense'"),
        ("dice", "1", "not a transformer"),
        ("done", "3", "no finished seed 3"),
    ],
)
def test_an_encoder_that_the_run_would_refuse_is_refused_before_it_starts(
    world: Settings, tmp_path: Path, model: str, seeds: str, said: str
) -> None:
    settings = replace(world, runs=tmp_path)
    for seed in (1, 2):
        RunFolder.of(tmp_path, "done", seed).model.mkdir(parents=True)
    values = {field.key: field.value for field in recipe_fields("snli-ce")} | {
        "encoder.model": model,
        SEEDS: seeds,
    }
    with pytest.raises(EmbedlabError, match=said):
        recipe_launch("snli-ce", values, settings)
    assert (
        recipe_launch("snli-ce", values | {"encoder.model": "done", SEEDS: "2"}, settings).title
        == "snli-ce with 2 seeds"
    )


def test_files_of_edited_grids_do_not_pile_up(
    world: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.launch.form._EDITED_LIMIT", 2)
    values = {field.key: field.value for field in grid_fields("sbert-lr")}
    written = [
        Path(grid_launch("sbert-lr", {**values, SEEDS: f"[{seed}]"}, world, tmp_path).arguments[2])
        for seed in range(5, 9)
    ]
    assert [path.exists() for path in written] == [False, False, True, True]


def test_a_grid_whose_cells_are_not_queued_yet_has_not_ended(
    world: Settings, tmp_path: Path
) -> None:
    settings = replace(world, runs=tmp_path / "runs")
    folder = GridFolder.of(settings.runs, "sbert-lr")
    expand_grid(load_grid("sbert-lr"), GridPlace.of(settings)).save(folder.plan_file)
    folder.queue_file.touch()
    look = GridBoard(settings, "sbert-lr").look()
    assert look is not None
    assert look.lines[-1] == "its cells are being queued"


async def test_a_form_that_is_shown_while_the_dashboard_ends_ends_nothing_else(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_form, reached = LaunchScreen._replace_form, asyncio.Event()

    async def without_widgets(screen: LaunchScreen, loaded: object) -> None:
        reached.set()
        for _ in iter(lambda: len(screen.query(FormLines)), 0):
            await asyncio.sleep(0)
        await replace_form(screen, loaded)  # type: ignore[arg-type]

    async with opened() as pilot:
        screen = await choose(pilot, "recipe snli-ce")
        monkeypatch.setattr(LaunchScreen, "_replace_form", without_widgets)
        screen.action_undo()
        await asyncio.wait_for(reached.wait(), timeout=60)
