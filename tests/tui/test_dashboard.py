"""The rooms, driven by keys."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from textual.command import CommandPalette
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.settings import Settings
from embedlab.runs.events import Failed, Finished, Started
from embedlab.runs.store import RunFolder
from embedlab.tui.app import Dashboard
from embedlab.tui.compare.room import CompareRoom
from embedlab.tui.data.room import DataRoom
from embedlab.tui.data.table import ItemTable
from embedlab.tui.header import Header
from embedlab.tui.questions import Confirm
from embedlab.tui.runs.room import RunsRoom
from embedlab.tui.sidebar import Sidebar
from embedlab.tui.workbench import ShownItems
from tests.stored_scores import say
from tests.tui.world import (
    Open,
    answer,
    at_once,
    launch_sheet,
    lists,
    make_grid,
    make_run,
    rooms_alone,
    screen_text,
    shown_of,
    shows,
    until,
)

Made = Callable[..., Dashboard]


@pytest.mark.parametrize(
    ("task", "is_first", "expected"),
    [
        ("starter", True, ["part", "slow"]),
        ("mine.csv", True, ["part"]),
        ("starter", False, []),
    ],
)
async def test_the_models_of_the_first_look_are_scored_where_that_is_quick(
    made: Made,
    scored: list[str],
    monkeypatch: pytest.MonkeyPatch,
    task: str,
    is_first: bool,
    expected: list[str],
) -> None:
    """Those that were chosen by hand are not: a key scores what they lack."""
    names = ("near", "part", "slow")
    monkeypatch.setattr("embedlab.tui.app.QUICK", names[:2])
    monkeypatch.setattr("embedlab.tui.app.FIRST_MODELS", names)
    monkeypatch.setattr("embedlab.tui.app.selectable_models", lambda settings: names)
    app = made(names, data=STARTER_FOLDER, is_first=is_first)
    app.shown_task = task
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.view is not None)
    assert scored == expected


async def test_the_table_has_the_focus_when_the_first_items_come(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = [ShownItems(models=("near",))]
    monkeypatch.setattr("embedlab.tui.app.open_shown_items", lambda *_: shown[-1])
    app = made(["near"])
    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: app.query_one("#no-items").display)
        await pilot.press("tab")  # no pane is shown
        shown.append(shown_of(["near"]))
        await pilot.press("r")
        await until(pilot, lambda: app.view is not None)
        assert app.focused is app.query_one(ItemTable)


async def test_a_remembered_filter_that_cannot_be_read_does_not_keep_the_models_from_a_comparison(
    made: Made,
) -> None:
    app = made()
    app.memory.set(f"filter {app.shown_task}", "gone>3")
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.comparison)
        assert app.query_one("#filter-error").display
    other = made()
    other.begin_with(["near", "far"], "mine.csv")
    async with other.run_test() as pilot:
        await until(pilot, lambda: other.view)
        assert not other.query_one("#data-filter", Input).value  # it is of other items


async def test_keys_of_a_packet_meet_the_filter_in_every_room(opened: Open) -> None:
    async with opened() as (app, pilot):
        make_run(app.settings, "one", 1, Finished(step=30))
        for keys in ("1", "1z", "2", "2z", "3", "3z"):
            await pilot.press(*keys)
            at_once(pilot, "/xX")
            await until(pilot, lambda: isinstance(app.focused, Input) and app.focused.value == "xX")
            await pilot.press("escape")
            await until(pilot, lambda: not isinstance(app.focused, Input))
        assert not isinstance(app.screen, Confirm)
        assert (app.settings.runs / "one" / "seed-1" / "events.jsonl").exists()


@pytest.fixture
def _a_cell_trains(settings: Settings) -> Iterator[None]:
    """In a grid whose other cells have ended."""
    plan = make_grid(settings)
    run = RunFolder.of(settings.runs, plan.variants[0].run, 1)
    say(run, Started(pid=1, host="here", steps=30))
    with run.lock():
        yield


@pytest.mark.usefixtures("_a_cell_trains")
async def test_keys_of_one_packet_stop_and_delete_nothing_whatever_is_open(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were pasted, or meant for what opens a moment later."""
    stopped: list[object] = []
    for name in (
        "commands.grid_plan.cancel_grid",
        "tui.runs.grid_screen.cancel_grid",
        "runs.launch.cancel_run",
    ):
        monkeypatch.setattr(f"embedlab.{name}", lambda *asked: stopped.append(asked))
    async with opened() as (app, pilot):
        kept = make_run(app.settings, "keepme", 1, Finished(step=30))

        async def back_to_runs() -> None:
            for _ in range(9):
                if len(app.screen_stack) > 1 or isinstance(app.focused, Input):
                    await pilot.press("escape")
            await pilot.press("3", "g")
            await until(pilot, lambda: app.room.crumbs == ("mine",))

        def is_harmless() -> bool:
            is_heard = isinstance(app.screen, Confirm) and app.screen._yes is not None
            return not is_heard and not stopped and kept.recipe_file.exists()

        await pilot.press("3")
        await lists(pilot, 2)
        for keys, seen in (
            (["c"], "Score/Reference"),
            (["n"], "search, or a file path"),
            (["n", "enter"], "all other values (TOML)"),
            (["question_mark"], "the three rooms"),
            (["ctrl+o"], "Open a CSV"),
            (["ctrl+p"], "Search for commands"),
            (["G", "E"], "New name of"),
            (["tab"], "┏━ loss"),
            (["enter"], "7 of 8 cells done"),
            (["G", "X"], "Delete keepme@1"),
        ):
            await back_to_runs()
            await pilot.press(*keys)
            await shows(pilot, seen)
            at_once(pilot, "/xXy")
            await pilot.pause()
            assert is_harmless(), keys
        await back_to_runs()
        at_once(pilot, "jkXyx" * 50)
        await pilot.pause()
        await back_to_runs()
        assert is_harmless()


async def test_a_yes_is_heard_some_time_after_the_question_and_counts_unless_a_key_follows(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.questions.QUIET_S", 60.0)
    async with opened() as (app, pilot):
        kept = make_run(app.settings, "keepme", 1, Finished(step=30))

        async def question() -> Confirm:
            await pilot.press("X")
            await until(pilot, lambda: isinstance(app.screen, Confirm))
            return app.screen

        await pilot.press("3")
        await lists(pilot, 1)
        early = await question()
        await pilot.press("y")
        assert early._yes is None
        await pilot.press("j")  # any other key is a no
        await rooms_alone(pilot)
        late = await question()
        late._opened_s -= 99.0
        await pilot.press("y")
        await pilot.pause(0.1)
        assert late._yes is not None
        assert app.screen is late
        await pilot.press("y")  # a second yes is a key that follows, too
        await rooms_alone(pilot)
        assert kept.recipe_file.exists()


async def test_the_sidebar_chooses_and_scores_and_nothing_else_changes_the_models(
    opened: Open, scored: list[str]
) -> None:
    async with opened(models=("near", "far", "part")) as (app, pilot):
        await pilot.press("c")
        sidebar = app.query_one(Sidebar)
        await until(pilot, lambda: app.focused is sidebar and sidebar.line)
        await pilot.press("j", "j")
        assert (sidebar.line.name, sidebar.line.coverage) == ("part", 0.5)
        await pilot.press("enter")
        assert scored == ["part"]
        await pilot.press("k", "enter")
        await until(pilot, lambda: app.models == ("far", "near", "part"))
        await pilot.press("space")
        await until(pilot, lambda: app.models == ("near", "part"))
        await until(pilot, lambda: app.shown.models == app.models)
        app.load()
        await app.workers.wait_for_complete()
        assert app.models == ("near", "part")
        lines, sidebar._shown = [*sidebar._shown.values()], {}
        sidebar.show(lines)  # none is drawn yet, as for keys that come in one packet
        sidebar.action_page(1)
        assert sidebar.line == lines[-1]
        sidebar.action_page(-1)
        assert sidebar.line == lines[0]


async def test_a_fourth_model_is_compared_in_six_keys(
    opened: Open, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.app.selectable_models", lambda settings: ("fourth",))
    async with opened(models=("near", "far", "part")) as (app, pilot):
        await pilot.press("c", "j", "j", "j", "enter", "2")
        assert app.models == ("near", "far", "part", "fourth")
        assert scored == ["fourth"]
        assert app.room.TITLE == "Compare"


async def test_a_file_of_fewer_pairs_is_opened_from_inside(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its comparison may come before its items do; a row of it opens them."""
    monkeypatch.setattr(
        "embedlab.tui.app.open_shown_items",
        lambda models, task, settings: shown_of(models, 8 if task.endswith("csv") else 120),
    )
    file = tmp_path / "mine.csv"
    file.write_text("sentence1,sentence2,score\na cat,a dog,2\n")
    async with opened() as (app, pilot):
        await pilot.press("ctrl+o")
        await answer(pilot, str(tmp_path / "none.csv"))
        await until(pilot, lambda: app._notifications)
        assert app.shown_task != str(tmp_path / "none.csv")  # it stays where it was
        compare, before = app.query_one(CompareRoom), app.view
        await pilot.press("2", "ctrl+o")
        await answer(pilot, str(file))
        await until(pilot, lambda: app.shown_task == str(file))
        await until(pilot, lambda: app.view and len(app.view.rows) == 8 and app.comparison)
        assert app.room.TITLE == "Data"
        await pilot.press("2")
        forest = app.query_one("#forest", OptionList)
        await until(pilot, lambda: compare.line and forest.option_count == 2)
        after, compare.view = compare.view, before
        compare.on_option_list_option_highlighted()
        compare.view = after
        await pilot.press("enter")
        await until(pilot, lambda: app.view and len(app.view.rows) == 4)
        assert app.query_one(DataRoom).query_one("#data-filter", Input).value == "dataset:sts12"


async def test_opening_a_row_keeps_the_filter(opened: Open) -> None:
    async with opened() as (app, pilot):
        field, compare = app.query_one("#data-filter", Input), app.query_one(CompareRoom)
        typed = "gold>4 or gold<2"
        await pilot.press("slash")
        field.value = typed
        await until(pilot, lambda: app.view and app.view.expression == typed)
        await pilot.press("enter", "2")
        await until(pilot, lambda: compare.comparison and compare._lines)
        await pilot.press("g", "j", "enter")
        opened_text = "gold>4 dataset:sick-r or gold<2 dataset:sick-r"
        await until(pilot, lambda: field.value == opened_text)
        await until(pilot, lambda: app.view and set(app.view.facts.blocks[app.view.rows]) == {1})


async def test_what_is_typed_finds_each_command_once_with_its_key(opened: Open) -> None:
    async with opened() as (app, _):
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert len(titles) == len(set(titles))
        assert {"Dataset  ]", "Sort  s", "Pane  tab", "sort by gap"} <= set(titles)


async def test_the_recipe_that_is_typed_wins_and_the_arrow_goes_to_the_list(opened: Open) -> None:
    async with opened() as (app, pilot):
        await pilot.press("3", "n")
        sheet = await launch_sheet(pilot)
        at_once(pilot, "snli-supcl")  # the grids of that name come first
        await until(pilot, lambda: sheet._choice.key == "recipe snli-supcl")
        await pilot.press("down")
        assert app.focused is sheet.query_one("#choices")


async def test_a_run_that_is_gone_to_is_under_the_cursor_and_offers_what_it_allows(
    opened: Open,
) -> None:
    """Also where it is listed already, behind a search, or a cell of a grid that is folded."""
    async with opened() as (app, pilot):
        cell = make_grid(app.settings).variants[1].run
        run = make_run(app.settings, "first", 1)
        make_run(app.settings, "second", 1, Finished(step=30))
        await pilot.press("3")
        room = app.query_one(RunsRoom)
        await lists(pilot, 3)
        for name, grid in (("second", ""), ("first", ""), (cell, "mine"), ("second", "")):
            at_once(pilot, "/mine\r")
            await until(pilot, lambda: room.words == "mine")
            await until(pilot, lambda: app.focused is room.runs)
            app.go_to_run(name, grid)
            await until(pilot, lambda name=name: app.room.crumbs == (name,))
            assert not room.query_one("#run-filter", Input).display
            assert not room.words
        app.go_to_run("first")
        await shows(pilot, "o Resume")
        say(run, Finished(step=30))
        await until(pilot, lambda: "o Resume" not in screen_text(app))


async def test_a_typed_form_is_there_again(opened: Open) -> None:
    async with opened() as (app, pilot):
        await pilot.press("3", "n")
        first = await launch_sheet(pilot)
        headings = [option.disabled for option in first.query_one(OptionList).options[:2]]
        assert headings == [True, False]
        at_once(pilot, "tau\r")
        await until(pilot, lambda: first._own and len(first.form.values) == 7)
        await until(pilot, lambda: getattr(app.focused, "name", None) == "name")
        await pilot.press("ctrl+z")  # the form is made anew, and typing goes on in it
        await until(pilot, lambda: first._own and getattr(app.focused, "name", None) == "name")
        for field in first.query("#fields Input").results(Input):
            if field.name == "rows":
                field.value = "77"
        await pilot.press("escape")
        assert app.memory.get("forms", {})["grid snli-supcl-tau"]["values"]["rows"] == "77"
        await pilot.press("escape")
        await rooms_alone(pilot)
        await pilot.press("n")
        again = await launch_sheet(pilot)
        await until(pilot, lambda: again._own and again.form.values.get("rows") == "77")


async def test_at_every_size_eight_items_and_a_help_of_one_screen_are_shown(opened: Open) -> None:
    async with opened((200, 60)) as (app, pilot):
        table = app.query_one(ItemTable)
        for width, height in ((200, 60), (140, 45), (80, 24)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda: (table.size.height - 1) // table.lines_each >= 8)
            for room in "231" if width < 200 else "":
                await pilot.press(room, "question_mark")
                await shows(pilot, "everywhere")
                box = app.screen.query_one(VerticalScroll)
                assert box.max_scroll_y == 0
                text = screen_text(app)
                for said in ("1 2 3", "the three rooms", "^o", "in this room", "50% ⏎"):
                    assert text.count(said) == 1
                await pilot.press("escape")


async def test_a_small_screen_names_the_rooms_and_shows_rows_and_why_without_colour(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened((80, 24)) as (app, pilot):
        await until(pilot, lambda: app.comparison)
        first, *_, keys = screen_text(app).splitlines()
        assert first.startswith("  1 Data  2 Compare  3 Runs    tiny › ")
        assert "? Help" in keys
        await pilot.press("2", "w")
        await shows(pilot, "near alone is right on")
        shown = screen_text(app)
        assert "far alone is right on" in shown
        assert "difference from near in points" in shown
        await pilot.press("p")
        await shows(pilot, "far ↑ against near →")
        assert "alone is right on" not in screen_text(app)
        await pilot.press("w")
        await shows(pilot, "near alone is right on")
        await pilot.press("3")
        await shows(pilot, "no runs yet")
        panel = app.query_one("#run-side").region
        assert (panel.x, panel.width) == (0, 80)
        assert "come here too" in " ".join(screen_text(app).replace("┃", " ").split())


async def test_numbers_of_runs_stay_below_their_titles_when_the_list_gets_short(
    opened: Open,
) -> None:
    async with opened((200, 30)) as (app, pilot):
        for number in range(30):
            make_run(app.settings, f"run-{number}", 1, Finished(step=30), losses=(1.0,))
        await pilot.press("3")
        await shows(pilot, "✓ run-29")
        await pilot.press("/", *"run-7")
        await until(pilot, lambda: "✓ run-29" not in screen_text(app))
        lines = screen_text(app).splitlines()
        title = next(line for line in lines if "  run  " in line)
        row = next(line for line in lines if "✓ run-7" in line)
        assert title.index("dev") == row.index("71.50")
        make_run(app.settings, "run-77", 1, Failed(message="the disk is full", hint="free it"))
        await pilot.resize_terminal(100, 40)  # where no pane has room for the facts of a run
        await shows(pilot, "✗ run-77")
        app.go_to_run("run-77")
        await shows(pilot, "the disk is full", "hint: free it")


async def test_a_window_that_is_too_small_says_so_until_it_grows(opened: Open) -> None:
    async with opened((50, 12)) as (app, pilot):
        assert "too small" in str(app.screen.render())
        await pilot.resize_terminal(100, 30)
        await rooms_alone(pilot)
        await pilot.resize_terminal(50, 12)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("ctrl+p")  # over what says that the window is too small
        for size in ((100, 30), (140, 45)):
            await pilot.resize_terminal(*size)
        await pilot.press("escape")
        await rooms_alone(pilot)


async def test_the_search_for_commands_is_open_once_under_whatever_is_over_it(
    opened: Open,
) -> None:
    async with opened() as (app, pilot):
        await pilot.press("ctrl+p")
        app.push_screen(ModalScreen())
        await pilot.press("ctrl+p")
        assert [type(screen) for screen in app.screen_stack[1:]] == [CommandPalette, ModalScreen]
        app.pop_screen()
        await pilot.press("escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))


async def test_the_sidebar_goes_where_it_has_no_room_beside_the_others(opened: Open) -> None:
    async with opened((80, 24)) as (app, pilot):
        sidebar, rooms = app.query_one(Sidebar), app.query_one("#rooms")

        async def sidebar_is(*, called: bool) -> None:
            await until(pilot, lambda: (sidebar.display, rooms.display) == (called, not called))

        for room in "123":
            await pilot.press(room)
            await sidebar_is(called=False)
            await pilot.press("c")
            await sidebar_is(called=True)
            await until(pilot, lambda: sidebar.outer_size.width == 80)
            await pilot.press("escape")
            await sidebar_is(called=False)
        await pilot.press("c", "slash")
        await until(pilot, lambda: isinstance(app.focused, Input) and rooms.display)
        await pilot.press("escape", "c", "2")
        await sidebar_is(called=False)
        assert app.room.id == "compare"


async def test_what_is_focused_marked_and_typed_is_seen(opened: Open) -> None:
    """A heavier border; signs that no chosen model has; words that are no markup."""
    async with opened() as (app, pilot):
        for name in ("one", "two"):
            make_run(app.settings, name, 1, Finished(step=30))
        await shows(pilot, "┏━ items")
        await pilot.press("tab", "tab")
        await shows(pilot, "┏━ gold")
        await pilot.press("2", "tab")
        await shows(pilot, "┏━ why")
        await pilot.press("3")
        await lists(pilot, 2)
        await pilot.press("space", "j", "space")
        marked = re.compile(r"^[│┃].*▲ .*\n[│┃].*◆ ", re.MULTILINE)
        await until(pilot, lambda: marked.search(screen_text(app)))
        await pilot.press("tab")
        await shows(pilot, "┏━ loss")
        await pilot.press("c")
        await shows(pilot, "┏━ models")
        await pilot.press("slash", *"/[/")
        await shows(pilot, " · //[/")


async def test_what_is_shown_is_written_as_csv(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as (app, pilot):
        file = tmp_path / "some.csv"
        assert app.shown.outcomes is not None
        sentences = app.shown.outcomes.sentences
        sentences[0, "sentence1"] = "=1+1"  # a formula, for a spreadsheet
        await pilot.press("space", "j", "space", "e")
        await answer(pilot, str(file))
        await until(pilot, file.exists)
        table = pl.read_csv(file)
        assert table.columns[:5] == ["dataset", "item", "sentence1", "sentence2", "gold"]
        assert table["item"].to_list() == [0, 2]
        assert table["sentence1"].to_list() == ["'=1+1", sentences[2, "sentence1"]]
        assert table["near"].to_list() == app.view.facts.predictions["near"][[0, 2]].tolist()
        reported: list[EmbedlabError] = []
        monkeypatch.setattr(app, "report", reported.append)
        file.write_text("mine")
        await pilot.press("e")
        await answer(pilot, str(file))
        await until(pilot, lambda: "exists already" in " ".join(map(str, reported)))
        assert file.read_text() == "mine"


async def test_the_header_of_a_folder_without_a_name_and_no_run_shows_the_rooms(
    opened: Open,
) -> None:
    async with opened() as (app, _):
        header = app.query_one(Header)
        header.show("runs", ["", ""], Content(), Content())
        assert "3 Runs" in header.render().plain
