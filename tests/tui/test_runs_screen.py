import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from embedlab.core.seal import sealed_line
from embedlab.core.settings import Settings
from embedlab.runs import launch
from embedlab.runs.events import EventLog, Failed, Finished
from embedlab.runs.store import RunFolder
from embedlab.tui.app import Dashboard
from embedlab.tui.dialogs import Confirm, TextDialog
from embedlab.tui.runs.board import RunFollower
from embedlab.tui.runs.curve_plot import CurvePlot
from embedlab.tui.runs.difference import DifferenceScreen
from embedlab.tui.runs.log_tail import LogTail
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, WIDE, Open, make_run, noticed, notices, on_top, until


@pytest.fixture
def settings(tmp_path: Path, world: Settings) -> Settings:
    """Three runs: done, failed, crashed."""
    own = replace(world, runs=tmp_path / "runs")
    make_run(own, "done", 1, Finished(step=20))
    make_run(own, "failed", 1, Failed(message="loss is nan"), lr=1e-3)
    make_run(own, "gone", 3)
    return own


@pytest.fixture
def held(settings: Settings) -> Iterator[RunFolder]:
    """A run in the hands of a process: this one."""
    run = make_run(settings, "alive", 1)
    with run.lock():
        yield run


async def shown(pilot: Pilot[None]) -> RunsScreen:
    await pilot.press("3")
    screen = await on_top(pilot, RunsScreen)
    await until(pilot, lambda: screen.model.board.time_s)
    await pilot.pause()
    return screen


def lines(screen: RunsScreen) -> list[str]:
    table = screen.query_one(FrameTable)
    return [table.render_line(y).text for y in range(1, len(table.rows) + 1)]


async def test_every_run_is_shown_with_its_state_and_latest_numbers(
    opened: Open, settings: Settings, held: RunFolder
) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        text = lines(screen)
        assert [line.split()[0] for line in text] == ["alive@1", "done@1", "failed@1", "gone@3"]
        assert "▶ running" in text[0]
        assert "20/20" in text[0]
        assert "800" in text[0]
        assert "✓ finished" in text[1]
        assert "71.50" in text[1]
        assert "✗ failed" in text[2]
        assert "! crashed" in text[3]
        assert "1 crashed" in str(screen.query_one("#runs-status", Static).content)


async def test_new_events_and_new_runs_appear_while_one_looks(
    opened: Open, settings: Settings, held: RunFolder
) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        with held.events_file.open("a") as file:
            file.write(
                sealed_line({"event": "dev", "step": 21, "score": 88.25, "time": time.time()})
            )
            file.write('{"event": "dev", "step": 22, "sc')  # half-written
            file.flush()
            make_run(settings, "later", 1, Finished(step=20))
            await until(pilot, lambda: "88.25" in lines(screen)[0] and len(lines(screen)) == 5)


async def test_notes_take_room_only_where_a_run_has_one(opened: Open, settings: Settings) -> None:
    failed, elsewhere = (
        RunFolder.of(settings.runs, "failed", 1).path,
        settings.runs.parent / "elsewhere",
    )
    failed.rename(elsewhere)
    shutil.rmtree(RunFolder.of(settings.runs, "gone", 3).path)
    async with opened(settings, size=WIDE) as pilot:
        screen = await shown(pilot)
        assert "note" not in [column.key for column in screen.query_one(FrameTable).columns]
        elsewhere.rename(failed)
        await until(pilot, lambda: len(lines(screen)) == 2)
        assert "note" in [column.key for column in screen.query_one(FrameTable).columns]
        assert "loss is nan" in lines(screen)[1]


async def test_a_frozen_board_stays_as_it_is(opened: Open, settings: Settings) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        await pilot.press("f")
        await until(
            pilot, lambda: "frozen" in str(screen.query_one("#runs-status", Static).content)
        )
        make_run(settings, "later", 1, Finished(step=20))
        await pilot.pause(1.2)
        assert len(lines(screen)) == 3
        await pilot.press("r")
        await until(pilot, lambda: len(lines(screen)) == 4)


async def test_marked_runs_share_the_plot_and_the_log_is_a_key_away(
    opened: Open, settings: Settings
) -> None:
    log = RunFolder.of(settings.runs, "done", 1).log_file
    log.write_text("first\nlast \x1b[31mline\n")
    async with opened(settings, size=WIDE) as pilot:
        screen = await shown(pilot)
        await pilot.press("space", "space")
        await until(
            pilot, lambda: "failed@1" in str(screen.query_one("#loss-curves", Static).content)
        )
        assert "done@1" in str(screen.query_one("#loss-curves", Static).content)
        await pilot.press("escape", "g", "v")
        await until(
            pilot,
            lambda: "last  [31mline" in str(screen.query_one(LogTail).query_one(Static).content),
        )
        await pilot.press("escape")
        assert not screen.query_one(LogTail).display


async def test_the_difference_of_two_runs_names_the_keys(opened: Open, settings: Settings) -> None:
    async with opened(settings) as pilot:
        await shown(pilot)
        await pilot.press("R")
        await noticed(pilot, "1 runs are chosen, not two")
        await pilot.press("space", "space", "R")
        await on_top(pilot, DifferenceScreen)
        text = "\n".join(str(part.content) for part in pilot.app.screen.query(Static))
        assert "stage.0.optim.lr  2e-05  →  0.001" in text


async def test_cancel_asks_first_and_notifies_the_process(
    opened: Open, settings: Settings, held: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = []
    monkeypatch.setattr(launch, "cancel_run", cancelled.append)
    async with opened(settings) as pilot:
        await shown(pilot)
        await pilot.press("x")
        await on_top(pilot, Confirm)
        await pilot.press("n")
        await on_top(pilot, RunsScreen)
        await pilot.press("x")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: cancelled)
        assert [run.id for run in cancelled] == ["alive@1"]


async def test_a_run_that_does_not_run_cannot_be_cancelled(
    opened: Open, settings: Settings
) -> None:
    async with opened(settings) as pilot:
        await shown(pilot)
        await pilot.press("x")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await noticed(pilot, "is not running")


async def test_resume_starts_a_detached_process(
    opened: Open, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(launch, "start_run", lambda arguments, _run: started.append(arguments))
    async with opened(settings) as pilot:
        await shown(pilot)
        await pilot.press("o")
        await noticed(pilot, "nothing to resume")
        await pilot.press("G", "o")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: started)
        assert started[0][:3] == ["runs", "resume", "gone@3"]
        assert "tiny" in started[0]


async def test_a_run_that_never_began_shows_why_in_full_and_is_not_resumed(
    opened: Open, settings: Settings
) -> None:
    run = RunFolder.of(settings.runs, "never", 1)
    run.path.mkdir(parents=True)
    why = "'snli' (train) is truncated or odd: it has 31,979 rows instead of 549,367"
    with EventLog(run.events_file) as log:
        log.append(Failed(message=why))
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        note = screen.query_one("#run-note", Static)
        assert not note.display
        await pilot.press("G")
        await until(pilot, lambda: note.display)
        assert (
            "never@1: 'snli' (train) is truncated or odd: it has 31,979 rows instead of 549,367"
            in str(note.content)
        )
        await pilot.press("o")
        await noticed(pilot, "ended before its first step")


async def test_the_cursor_goes_to_a_run_that_was_just_started(
    opened: Open, settings: Settings
) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        screen.go_to_all(["zebra@1"])
        await pilot.pause()
        make_run(settings, "zebra", 1)
        await until(pilot, lambda: screen.query_one(FrameTable).cursor_row == 3)


async def test_a_model_goes_on_being_shown_after_its_run_was_renamed(
    opened: Open, own_world: Settings
) -> None:
    make_run(own_world, "far", 1, Finished(step=20))
    async with opened(own_world) as pilot:
        app = pilot.app
        assert isinstance(app, Dashboard)
        app.choose_models(["far", "dice"])
        await until(pilot, lambda: [model.name for model in app.data.models] == ["far", "dice"])  # type: ignore[union-attr]
        await shown(pilot)
        await pilot.press("E")
        (await on_top(pilot, TextDialog)).query_one(Input).value = "further"
        await pilot.press("enter")
        await until(pilot, lambda: [model.name for model in app.data.models] == ["further", "dice"])  # type: ignore[union-attr]


async def test_rename_and_delete_change_the_folder(opened: Open, settings: Settings) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        await pilot.press("E")
        dialog = await on_top(pilot, TextDialog)
        taken = next(
            name.partition("@")[0]
            for name in screen.model.board.by_id()
            if not name.startswith(dialog.query_one(Input).value)
        )
        dialog.query_one(Input).value = taken
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                f"named '{taken}' already" in str(dialog.query_one(".dialog-error", Static).content)
            ),
        )
        dialog.query_one(Input).value = "minilm"
        await pilot.press("enter")
        await until(
            pilot,
            lambda: "that is the model" in str(dialog.query_one(".dialog-error", Static).content),
        )
        dialog.query_one(Input).value = "renamed"  # the dialog is still open
        await pilot.press("enter")
        await until(pilot, lambda: "renamed@1" in screen.model.board.by_id())
        await until(pilot, lambda: any("renamed@1" in line for line in lines(screen)))
        await pilot.press("g", "X")
        assert "failed@1" in str((await on_top(pilot, Confirm)).query(Static).first().content)
        await pilot.press("y")
        await until(pilot, lambda: "failed@1" not in screen.model.board.by_id())
        assert not any("no longer there" in notice for notice in notices(pilot.app))
        assert not (settings.runs / "failed").exists()


async def test_without_runs_it_says_how_to_start_one(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    async with opened(replace(world, runs=tmp_path / "none"), size=NARROW) as pilot:
        screen = await shown(pilot)
        assert "press 4 to start one" in str(screen.query_one("#no-runs", Static).content)
        await pilot.press("x", "o", "E", "X", "R", "v", "v", "space", "s", "enter", "a")


async def test_the_first_run_to_appear_can_be_walked_to_at_once(
    opened: Open, world: Settings, tmp_path: Path
) -> None:
    own = replace(world, runs=tmp_path / "none")
    async with opened(own) as pilot:
        screen = await shown(pilot)
        await pilot.press("1", "3")
        make_run(own, "first", 1, Finished(step=20))
        make_run(own, "second", 1, Finished(step=20))
        await until(pilot, lambda: len(lines(screen)) == 2)
        await pilot.press("j")
        await until(pilot, lambda: screen.query_one(FrameTable).cursor_row == 1)


async def test_what_happens_to_the_folders_is_never_a_crash(
    opened: Open, settings: Settings
) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        folder = settings.runs
        for child in (folder / "gone" / "seed-3").iterdir():
            child.unlink()
        (folder / "done" / "seed-1" / "recipe.toml").write_text("no [ toml")
        (folder / "failed" / "seed-1" / "events.jsonl").write_bytes(b"\xff\xfe{}\nnull\n[]\n")
        (folder / "failed" / "seed-1" / "environment.json").write_text("{")
        await pilot.press("r", "space", "space", "R", "escape", "v", "j", "v", "o", "escape")
        await until(pilot, lambda: "? unreadable" in "".join(lines(screen)))
        await noticed(pilot, "cannot read the run 'gone@3'")


async def test_runs_that_are_deleted_under_the_cursor_leave_the_table(
    opened: Open, settings: Settings
) -> None:
    async with opened(settings) as pilot:
        screen = await shown(pilot)
        await pilot.press("j", "v")
        shutil.rmtree(settings.runs / "failed")
        await until(pilot, lambda: "failed@1" not in screen.model.board.by_id())
        await noticed(pilot, "run 'failed@1' is no longer there")
        await pilot.press("x", "R", "v", "E", "escape")
        shutil.rmtree(settings.runs)
        await until(pilot, lambda: not screen.model.board.runs)
        await pilot.press("enter", "o", "X", "a")
        assert screen.query_one("#no-runs", Static).display


def test_a_folder_that_cannot_be_listed_is_a_row_or_a_trouble(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(folder: Path) -> Iterator[Path]:
        if folder.name == "gone":
            raise PermissionError(13, "Permission denied")
        return iter(
            [folder / name for name in sorted(json.loads(names))]
            if folder == settings.runs
            else [folder / "seed-1"]
        )

    names = json.dumps([path.name for path in settings.runs.iterdir()])
    monkeypatch.setattr(Path, "iterdir", forbidden)
    board = RunFollower(settings.runs).look()
    assert [(path.name, reason) for path, reason in board.unreadable] == [
        ("gone", "Permission denied")
    ]
    assert board.frame()["run"].to_list() == ["done@1", "failed@1", "gone"]


def test_a_run_that_takes_the_name_of_another_has_its_own_objective(settings: Settings) -> None:
    follower = RunFollower(settings.runs)
    assert follower.look().by_id()["done@1"].objective == "nli_softmax"
    file = RunFolder.of(settings.runs, "done", 1).recipe_file
    file.write_text(file.read_text().replace('"nli_softmax"', '"regression"'))
    assert follower.look().by_id()["done@1"].objective == "regression"


async def test_seeds_are_folded_searched_and_drawn_as_one_curve(
    opened: Open, settings: Settings
) -> None:
    for seed in (2, 4):
        make_run(settings, "done", seed, Finished(step=20))
    async with opened(settings, size=WIDE) as pilot:
        screen = await shown(pilot)
        await until(
            pilot,
            lambda: (
                [entry.name for entry in screen.model.entries] == ["done", "failed@1", "gone@3"]
            ),
        )
        assert "✓ 3 finished" in lines(screen)[0]
        loss = screen.query_one("#loss-curves", CurvePlot)
        await until(pilot, lambda: "━ done ×3 0.05 [0.05, 0.05]" in str(loss.content))
        await pilot.press("x")
        await noticed(pilot, "'done' has 3 seeds")
        await pilot.press("vertical_line", "tilde", "full_stop")
        assert "loss (log, smoothed 0.6)" in str(loss.content)
        screen.set_focus(loss)
        await pilot.press("l", "h", "h")
        assert "step 10" in str(loss.content)
        await pilot.press("backspace")
        assert "step 10" not in str(loss.content)
        screen.set_focus(screen.query_one(FrameTable))
        await pilot.press("enter")
        assert [entry.name for entry in screen.model.entries][:3] == ["done@1", "done@2", "done@4"]
        await pilot.press("slash", *"fin", "space", *"4", "enter")
        assert [entry.name for entry in screen.model.entries] == ["done@4"]
        assert "1 of 5 runs" in str(screen.query_one("#runs-status", Static).content)
        await pilot.press("escape", "b")
        assert [entry.name for entry in screen.model.entries] == ["done", "failed@1", "gone@3"]
        await pilot.press("b")
        assert len(screen.model.entries) == 5
