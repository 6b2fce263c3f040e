"""The rooms, driven by keys."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import polars as pl
import pytest
from textual import events
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from embedlab.core.paths import STARTER_FOLDER, TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.room import CompareRoom
from embedlab.tui.data.room import DataRoom
from embedlab.tui.data.table import ItemTable
from embedlab.tui.questions import QUIET_S, Confirm
from embedlab.tui.runs.launch_sheet import LaunchSheet
from embedlab.tui.runs.room import RunsRoom
from embedlab.tui.sidebar import Sidebar
from embedlab.tui.workbench import Shown
from tests.tui.world import make_run, screen_text, shown_of, until

Open = Callable[..., AbstractAsyncContextManager[Pilot[None]]]
_NAMES = {"/": "slash", " ": "space", ">": "greater_than_sign", "\r": "enter"}


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A dashboard over made items; what it would score is recorded."""
    monkeypatch.setattr(
        "embedlab.tui.app.open_shown",
        lambda models, task, settings: shown_of(models, lacking=["part"]),
    )
    monkeypatch.setattr("embedlab.tui.app.known_models", lambda settings: ())
    scored: list[str] = []
    monkeypatch.setattr(Dashboard, "score", lambda app, models: scored.extend(models))
    settings = Settings(data=TINY_FOLDER, runs=tmp_path / "runs", cache=tmp_path / "cache")

    @asynccontextmanager
    async def open_dashboard(
        size: tuple[int, int] = (140, 45), models: Sequence[str] = ("near", "far")
    ) -> AsyncIterator[Pilot[None]]:
        app = Dashboard(settings)
        app.models, app._is_first = tuple(models), False
        app.scored = scored  # type: ignore[attr-defined]
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.view is not None)
            await pilot.pause()
            yield pilot

    return open_dashboard


def dashboard(pilot: Pilot[None]) -> Dashboard:
    assert isinstance(pilot.app, Dashboard)
    return pilot.app


def at_once(pilot: Pilot[None], text: str) -> None:
    """Send the keys of TEXT before any of them is handled, as one packet does."""
    for letter in text:
        pilot.app.post_message(events.Key(_NAMES.get(letter, letter), letter))


@pytest.mark.parametrize(
    ("data", "is_first", "expected"),
    [
        (STARTER_FOLDER, True, ["part", "slow"]),
        (TINY_FOLDER, True, ["part"]),
        (STARTER_FOLDER, False, []),
    ],
)
async def test_the_models_of_the_first_look_are_scored_where_that_is_quick(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    data: Path,
    is_first: bool,
    expected: list[str],
) -> None:
    """Those that were chosen by hand are not: a key scores what they lack."""
    names = ("near", "part", "slow")
    monkeypatch.setattr("embedlab.tui.app.QUICK", ("near", "part"))
    scored: list[str] = []
    monkeypatch.setattr("embedlab.tui.app.FIRST_MODELS", names)
    monkeypatch.setattr("embedlab.tui.app.known_models", lambda settings: names)
    monkeypatch.setattr(
        "embedlab.tui.app.open_shown", lambda *_: shown_of(names, lacking=names[1:])
    )
    monkeypatch.setattr(Dashboard, "score", lambda app, models: scored.extend(models))
    app = Dashboard(Settings(data=data, runs=tmp_path / "r", cache=tmp_path / "c"))
    app.models, app._is_first = () if is_first else names, is_first
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.view is not None)
    assert scored == expected


async def test_the_table_has_the_focus_when_the_first_items_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [Shown(models=("near",))]
    monkeypatch.setattr("embedlab.tui.app.open_shown", lambda *_: shown[-1])
    monkeypatch.setattr(Dashboard, "score", lambda *_: None)
    app = Dashboard(Settings(data=TINY_FOLDER, runs=tmp_path / "r", cache=tmp_path / "c"))
    app.begin_with(["near"], "starter")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.query_one("#no-items").display)
        shown.append(shown_of(["near"]))
        await pilot.press("r")
        await until(pilot, lambda: app.view is not None)
        assert app.focused is app.query_one(ItemTable)


async def test_a_remembered_filter_that_cannot_be_read_does_not_keep_the_models_from_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.app.open_shown", lambda *_: shown_of(("near", "far")))
    app = Dashboard(Settings(data=TINY_FOLDER, runs=tmp_path / "r", cache=tmp_path / "c"))
    app.begin_with(["near", "far"], "starter")
    app.memory.set("filter", "gone>3")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.comparison)
        assert app.query_one("#filter-error").display


async def test_keys_of_a_packet_meet_the_filter_in_every_room(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        make_run(app.settings, "one", 1, Finished(step=30))
        for room in "13":
            await pilot.press(room)
            await pilot.pause(0.1)
            at_once(pilot, "/xX")
            await until(pilot, lambda: isinstance(app.focused, Input) and app.focused.value == "xX")
            await pilot.press("escape")
        assert not isinstance(app.screen, Confirm)
        assert (app.settings.runs / "one" / "seed-1" / "events.jsonl").exists()


async def test_a_key_that_deletes_is_not_heard_in_a_burst(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        make_run(app.settings, "one", 1, Finished(step=30))
        await pilot.press("3")
        await until(pilot, lambda: app.query_one(RunsRoom).runs.entry)
        at_once(pilot, "jX")
        await pilot.pause(0.2)
        assert not isinstance(app.screen, Confirm)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("n")
        assert (app.settings.runs / "one").exists()


async def test_a_yes_that_came_with_other_keys_deletes_nothing(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        make_run(app.settings, "one", 1, Finished(step=30))
        await pilot.press("3")
        await until(pilot, lambda: app.query_one(RunsRoom).runs.entry)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.pause(2 * QUIET_S)
        at_once(pilot, "yjk")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        assert (app.settings.runs / "one").exists()


async def test_disagreements_are_two_keys_away_and_a_filter_narrows(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("s")
        await until(pilot, lambda: app.view and app.view.sort == "gap")
        at_once(pilot, "/gold>4\r")
        await until(pilot, lambda: app.view and app.view.expression == "gold>4")
        assert app.view is not None
        assert (app.view.facts.gold[app.view.rows] > 4).all()
        assert isinstance(app.focused, ItemTable)
        await pilot.press("escape")
        await until(pilot, lambda: app.view and len(app.view.rows) == 120)


async def test_a_filter_that_cannot_be_read_leaves_the_items(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        at_once(pilot, "/golt>4")
        error = app.query_one("#filter-error")
        await until(pilot, lambda: error.display)
        assert app.view is not None
        assert len(app.view.rows) == 120


async def test_the_sidebar_chooses_and_scores_and_nothing_else_changes_the_models(
    opened: Open,
) -> None:
    async with opened(models=("near", "far", "part")) as pilot:
        app = dashboard(pilot)
        await pilot.press("c")
        sidebar = app.query_one(Sidebar)
        await until(pilot, lambda: app.focused is sidebar and sidebar.line)
        await pilot.press("j", "j")
        assert sidebar.line is not None
        assert (sidebar.line.name, sidebar.line.coverage) == ("part", 0.5)
        await pilot.press("enter")
        assert app.scored == ["part"]  # type: ignore[attr-defined]
        await pilot.press("k", "enter")
        await until(pilot, lambda: app.models == ("far", "near", "part"))
        await pilot.press("space")
        await until(pilot, lambda: len(app.models) == 2)
        app.load()
        await pilot.pause(0.2)
        assert len(app.models) == 2


async def test_a_model_that_was_typed_is_chosen_and_scored_on_what_is_shown(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        app.add_model("third")
        await pilot.pause(0.1)
        assert app.models == ("near", "far", "third")
        assert app.scored == ["third"]  # type: ignore[attr-defined]


async def test_the_verdict_is_shown_and_a_row_opens_its_items(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await until(pilot, lambda: app.comparison)
        await pilot.press("2")
        forest = app.query_one("#forest", OptionList)
        await until(pilot, lambda: forest.option_count == 2)
        await pilot.press("enter")
        await until(pilot, lambda: app.view and len(app.view.rows) == 60)
        assert app.query_one(DataRoom).query_one("#data-filter", Input).value == "dataset:sts12"


async def test_a_fourth_model_is_compared_in_six_keys(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ("fourth",)
    monkeypatch.setattr("embedlab.tui.app.known_models", lambda settings: known)
    async with opened(models=("near", "far", "part")) as pilot:
        app = dashboard(pilot)
        await pilot.press("c", "j", "j", "j", "enter", "2")
        assert app.models == ("near", "far", "part", "fourth")
        assert app.scored == ["fourth"]  # type: ignore[attr-defined]
        assert app.room.TITLE == "Compare"


async def test_a_file_of_fewer_pairs_is_opened_from_inside(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "embedlab.tui.app.open_shown",
        lambda models, task, settings: shown_of(models, 8 if task.endswith("csv") else 120),
    )
    file = tmp_path / "mine.csv"
    file.write_text("sentence1,sentence2,score\na cat,a dog,2\n")
    async with opened() as pilot:
        app = dashboard(pilot)
        compare, before = app.query_one(CompareRoom), app.view
        await pilot.press("2", "ctrl+o")
        await until(pilot, lambda: isinstance(app.focused, Input))
        at_once(pilot, f"{file}\r")
        await until(pilot, lambda: app.shown_task == str(file))
        await until(pilot, lambda: app.view and len(app.view.rows) == 8 and app.comparison)
        assert app.room.TITLE == "Data"
        await pilot.press("2")
        await until(pilot, lambda: compare.line)
        compare.view = before  # as where the comparison comes before the items
        compare.on_option_list_option_highlighted()


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_a_typed_form_is_there_again(opened: Open, key: str) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("3")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, LaunchSheet) and app.screen._choices)
        headings = [option.disabled for option in app.screen.query_one(OptionList).options[:2]]
        assert headings == [True, False]
        assert "Grids" in screen_text(app)
        at_once(pilot, "tau\r")
        sheet = app.screen
        assert isinstance(sheet, LaunchSheet)
        await until(pilot, lambda: sheet._own and len(sheet.form.values) == 7)
        await until(pilot, lambda: getattr(app.focused, "name", None) == "name")
        for field in sheet.query("#fields Input").results(Input):
            if field.name == "rows":
                field.value = "77"
        await pilot.pause(0.1)
        await pilot.press("escape")
        if key == "escape":
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.screen, LaunchSheet))
            await pilot.press("n")
            await until(pilot, lambda: isinstance(app.screen, LaunchSheet))
            again = app.screen
            assert isinstance(again, LaunchSheet)
            await until(pilot, lambda: again._own and again.form.values.get("rows") == "77")
        else:
            assert app.memory.get("forms", {})["grid snli-supcl-tau"]["values"]["rows"] == "77"


@pytest.mark.parametrize("size", [(80, 24), (140, 45), (200, 60)])
async def test_eight_items_are_visible_and_every_room_can_be_drawn(
    opened: Open, size: tuple[int, int]
) -> None:
    async with opened(size) as pilot:
        app = dashboard(pilot)
        table = app.query_one(ItemTable)
        await until(pilot, lambda: table.size.height > 2)
        assert (table.size.height - 1) // table.lines_each >= 8
        for room in "23":
            await pilot.press(room)
            await pilot.pause(0.1)
        await pilot.press("question_mark")
        await pilot.pause(0.1)
        await pilot.press("escape")


async def test_a_small_screen_names_the_rooms_and_shows_rows_and_why(opened: Open) -> None:
    async with opened((80, 24)) as pilot:
        app = dashboard(pilot)
        await until(pilot, lambda: app.comparison)
        first, *_, keys = screen_text(app).splitlines()
        assert first.startswith("  1 Data  2 Compare  3 Runs    tiny › ")
        assert "? Help" in keys
        await pilot.press("2", "w")
        await until(pilot, lambda: "near alone is right on" in screen_text(app))
        assert "difference from near in points" in screen_text(app)


async def test_a_window_that_is_too_small_says_so(opened: Open) -> None:
    async with opened((50, 12)) as pilot:
        assert "too small" in str(pilot.app.screen.render())
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def test_without_colour_nothing_is_missing(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened((80, 24)) as pilot:
        app = dashboard(pilot)
        table = app.query_one(ItemTable)
        table.view = None  # as before anything is read
        table.refresh()
        await pilot.pause(0.1)
        for room in "123":
            await pilot.press(room)
            await pilot.pause(0.1)
        assert app.is_open


async def test_pasted_text_changes_no_run(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        make_run(app.settings, "one", 1, Finished(step=30))
        await pilot.press("3")
        await until(pilot, lambda: app.query_one(RunsRoom).runs.entry)
        at_once(pilot, "xXabc yes jX" * 200)
        await pilot.pause(0.5)
        assert (app.settings.runs / "one" / "seed-1" / "recipe.toml").exists()


@pytest.mark.parametrize("room", "123")
async def test_the_sidebar_goes_where_it_has_no_room_beside_the_others(
    opened: Open, room: str
) -> None:
    async with opened((80, 24)) as pilot:
        app = dashboard(pilot)
        sidebar = app.query_one(Sidebar)
        await pilot.press(room)
        await pilot.pause(0.1)
        rooms = app.query_one("#rooms")
        await until(pilot, lambda: not sidebar.display and rooms.display)
        await pilot.press("c")
        await until(pilot, lambda: sidebar.outer_size.width == 80 and not rooms.display)
        await pilot.press("escape")
        await until(pilot, lambda: not sidebar.display and rooms.display)
        await pilot.press("c", "slash")
        await until(pilot, lambda: isinstance(app.focused, Input) and rooms.display)
        await pilot.press("escape", "c", "2")
        await until(pilot, lambda: not sidebar.display and app.room.id == "compare")


@pytest.mark.parametrize("room", "123")
@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
async def test_the_help_is_one_screen_with_each_key_once(
    opened: Open, room: str, size: tuple[int, int]
) -> None:
    async with opened(size) as pilot:
        app = dashboard(pilot)
        await pilot.press(room)
        await pilot.press("question_mark")
        await until(pilot, lambda: "everywhere" in screen_text(app))
        box = app.screen.query_one(VerticalScroll)
        assert box.max_scroll_y == 0
        text = screen_text(app)
        for said in ("1 2 3", "the three rooms", "^o", "in this room", "50% ⏎"):
            assert text.count(said) == 1


async def test_marked_runs_have_signs_that_no_chosen_model_has(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        for name in ("one", "two"):
            make_run(app.settings, name, 1, Finished(step=30))
        await pilot.press("3")
        await until(pilot, lambda: len(app.query_one(RunsRoom).runs.entries) == 2)
        await pilot.press("space", "j", "space")
        await until(pilot, lambda: re.search(r"^[│┃].*▲ .*\n[│┃].*◆ ", screen_text(app), re.M))


async def test_what_is_shown_is_written_as_csv(opened: Open, tmp_path: Path) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("space", "j", "space")
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.focused, Input) and len(app.screen_stack) > 1)
        assert isinstance(app.focused, Input)
        app.focused.value = str(tmp_path / "some.csv")
        await pilot.press("enter")
        await until(pilot, (tmp_path / "some.csv").exists)
        table = pl.read_csv(tmp_path / "some.csv")
        assert table.columns[:5] == ["dataset", "item", "sentence1", "sentence2", "gold"]
        assert table["item"].to_list() == [0, 2]
        assert app.view is not None
        assert table["near"].to_list() == app.view.facts.predictions["near"][[0, 2]].tolist()


async def test_the_focused_pane_has_a_heavier_border_in_every_room(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        make_run(app.settings, "one", 1, Finished(step=30))
        await until(pilot, lambda: "┏━ items" in screen_text(app))
        await pilot.press("tab", "tab")
        await until(pilot, lambda: "┏━ gold" in screen_text(app))
        await pilot.press("2", "tab")
        await until(pilot, lambda: "┏━ why" in screen_text(app))
        await pilot.press("3")
        await until(pilot, lambda: app.query_one(RunsRoom).runs.entry)
        await pilot.press("tab")
        await until(pilot, lambda: "┏━ loss" in screen_text(app))
        await pilot.press("c")
        await until(pilot, lambda: "┏━ models" in screen_text(app))


async def test_tab_goes_nowhere_where_no_pane_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.app.open_shown", lambda *_: Shown(models=("near",)))
    monkeypatch.setattr(Dashboard, "score", lambda *_: None)
    app = Dashboard(Settings(data=TINY_FOLDER, runs=tmp_path / "r", cache=tmp_path / "c"))
    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: app.query_one("#no-items").display)
        await pilot.press("tab")
        await pilot.pause()


async def test_words_are_no_markup_in_a_title(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("3", "slash", *"/[/")
        await until(pilot, lambda: " · //[/" in screen_text(pilot.app))


async def test_a_page_of_lines_that_are_not_drawn_yet(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        sidebar = app.query_one(Sidebar)
        await pilot.press("c")
        lines, sidebar._shown = [*sidebar._shown.values()], {}
        sidebar.show(lines)
        sidebar.action_page(1)  # as keys do that come in one packet
        assert sidebar.line == lines[-1]
        sidebar.action_page(-1)
        assert sidebar.line == lines[0]


async def test_the_window_becomes_large_enough_under_a_dialog(opened: Open) -> None:
    async with opened(size=(50, 12)) as pilot:
        app = dashboard(pilot)
        await pilot.press("ctrl+p")  # over what says that the window is too small
        for size in ((100, 30), (140, 45)):
            await pilot.resize_terminal(*size)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
