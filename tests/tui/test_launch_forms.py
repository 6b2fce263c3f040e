"""The form of the Launch screen is that of the entry under the cursor, is never rebuilt under the
typist, and what it says is started.

Nothing here depends on time: a gate holds the reading of a form back, or the timer of the check
never fires.
"""

import asyncio
import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from embedlab.core.errors import EmbedlabError
from embedlab.core.hints import Hint, NamedOption, RecipeValue
from embedlab.core.names import recipe_path
from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.dialogs import Confirm
from embedlab.tui.launch.form import (
    NAME,
    OTHERS,
    SEEDS,
    Choice,
    Field,
    choice_of_file,
    form_fields,
    grid_fields,
    hint_in_form,
    launch_or_error,
    recipe_fields,
)
from embedlab.tui.launch.lines import FieldInput
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.launch.widgets import LaunchList
from tests.tui.driving import Open, make_run, noticed, on_top, send_at_once, type_text, until
from tests.tui.test_launch_screen import Started, choose, error_of, go_to, line, shows, started

__all__ = ["started"]

HERE, NEXT = "recipe snli-ce", "recipe snli-supcl"


class Gate:
    """Holds the reading of the form of one entry back while it is closed."""

    def __init__(self) -> None:
        self.closed_to: str | None = None
        self.reached = threading.Event()
        self._open = threading.Event()

    def close(self, key: str) -> None:
        """Hold the form of the entry KEY back from now on."""
        self.closed_to = key
        self.reached.clear()
        self._open.clear()

    def open(self) -> None:
        """Let all through."""
        self.closed_to = None
        self._open.set()

    def read(self, choice: Choice) -> list[Field]:
        """The lines of the form of CHOICE, once they may be read."""
        if choice.key == self.closed_to:
            self.reached.set()
            self._open.wait(60)
        return form_fields(choice)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    held = Gate()
    monkeypatch.setattr("embedlab.tui.launch.screen.form_fields", held.read)
    monkeypatch.setattr("embedlab.tui.launch.screen.REST_S", 0.0)
    yield held
    held.open()


def move(screen: LaunchScreen, key: str) -> None:
    options = screen.query_one(OptionList)
    options.highlighted = options.get_option_index(key)


def question_of(confirm: Confirm) -> str:
    return str(confirm.query_one(".dialog-title", Static).content)


async def test_a_start_is_that_of_the_entry_under_the_cursor_though_another_form_is_still_shown(
    opened: Open, gate: Gate, started: Started
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await pilot.press("escape")
        gate.close(NEXT)
        move(screen, NEXT)
        await until(pilot, gate.reached.is_set)
        await pilot.press("ctrl+s")
        assert screen.is_opening
        assert not isinstance(pilot.app.screen, Confirm)
        gate.open()
        assert "Start snli-supcl?" in question_of(await on_top(pilot, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: started)
        assert started[0][0][:2] == ("train", "snli-supcl")


async def test_a_cursor_that_comes_back_finds_its_form_as_it_was_typed(
    opened: Open, gate: Gate
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        line(screen, NAME).value = "mine"
        gate.close(NEXT)
        move(screen, NEXT)
        await until(pilot, gate.reached.is_set)
        move(screen, HERE)
        await until(
            pilot, lambda: screen.model.launch is not None and screen.model.launch.title == "mine"
        )
        gate.open()
        await until(pilot, lambda: not screen.is_working("form") and not screen.is_working("open"))
        assert shows(screen, HERE)
        assert line(screen, NAME).value == "mine"


async def test_what_was_typed_comes_back_with_its_entry_until_u(opened: Open, gate: Gate) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        line(screen, NAME).value = "mine"
        await go_to(pilot, screen, NEXT)
        assert screen.values[NAME] == "snli-supcl"
        await go_to(pilot, screen, HERE)
        assert line(screen, NAME).value == "mine"
        assert line(screen, NAME).parent.has_class("-changed")  # type: ignore[union-attr]
        await pilot.press("escape", "u")
        await until(
            pilot,
            lambda: screen.model.launch is not None and screen.model.launch.title == "snli-ce",
        )
        await go_to(pilot, screen, NEXT)
        await go_to(pilot, screen, HERE)
        assert line(screen, NAME).value == "snli-ce"


@pytest.mark.parametrize("way_in", ["\r", "\t", None])
async def test_a_form_that_is_about_to_be_replaced_takes_no_keys(
    opened: Open, gate: Gate, way_in: str | None
) -> None:
    """Enter, tab and the mouse lead to the lines; what is typed then goes to those of the next
    form.
    """
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await pilot.press("escape")
        gate.close(HERE)
        screen.action_undo()
        await until(pilot, gate.reached.is_set)
        if way_in is None:
            await pilot.click(line(screen, SEEDS))
        send_at_once(pilot, f"{way_in or ''}x")
        await until(pilot, lambda: screen._is_entered)
        assert not any(field.is_changed for field in screen.query(FieldInput))
        gate.open()
        await until(pilot, lambda: screen.values.get(NAME) == "snli-cex")
        assert screen.focused is line(screen, NAME)


async def test_a_form_that_changes_while_the_start_is_confirmed_is_not_started(
    opened: Open, started: Started
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await pilot.press("ctrl+s")
        await on_top(pilot, Confirm)
        line(screen, NAME).value = "mine"
        await pilot.press("y")
        await noticed(pilot, "not started: the form was changed meanwhile")
        assert not started


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "own.toml"
    path.write_text(recipe_path("snli-ce").read_text())
    return path


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


async def open_file(pilot: Pilot[None], screen: LaunchScreen, path: Path) -> None:
    choice = choice_of_file(str(path))
    screen.model.files[choice.name] = choice
    screen.model.next_entry = choice.key
    await pilot.press("escape", "r")
    await until(pilot, lambda: shows(screen, choice.key) and screen.model.launch is not None)


async def test_a_start_uses_what_the_form_shows_though_its_file_was_changed(
    opened: Open, own_file: Path, started: Started
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await open_file(pilot, screen, own_file)
        shown = screen.values["optim.lr"]
        change(own_file, "lr = 2e-5", "lr = 7e-5")
        assert f"optim.lr={shown}" not in screen.model.launch.arguments  # type: ignore[union-attr]
        await pilot.press("ctrl+s")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: started)
        assert started[0][0][2:4] == ("--set", f"optim.lr={shown}")


async def test_a_form_without_a_key_that_its_file_has_by_now_is_refused_until_u_reads_it_again(
    opened: Open, own_file: Path, started: Started
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await open_file(pilot, screen, own_file)
        change(own_file, "[encoder]", "max_steps = 7\n[encoder]")
        await pilot.press("ctrl+s")
        await noticed(pilot, "not started")
        assert "its keys are not those of this form" in error_of(screen)
        assert not started
        await pilot.press("u")
        await until(
            pilot, lambda: screen.model.launch is not None and screen.values.get("max_steps") == "7"
        )


async def test_what_was_typed_into_the_form_of_a_file_that_is_gone_stays(
    opened: Open, own_file: Path
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        await open_file(pilot, screen, own_file)
        form = screen.model.form
        line(screen, NAME).value = "mine"
        await asyncio.to_thread(own_file.unlink)
        screen.model.files.clear()
        await pilot.press("escape", "r")
        await until(pilot, lambda: "own.toml" in error_of(screen))
        assert screen.model.form is form
        assert line(screen, NAME).value == "mine"
        assert screen.query_one(OptionList).highlighted_option.id == f"recipe {own_file}"  # type: ignore[union-attr]


async def test_a_check_that_is_through_late_shows_nothing_of_another_form(
    opened: Open, gate: Gate, world: Settings
) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, "grid sbert-lr")
        form, values = screen.model.form, screen.values
        assert form is not None
        late = launch_or_error(form.choice, values, world)
        gate.close("grid snli-supcl-lambda")
        move(screen, "grid snli-supcl-lambda")
        await until(pilot, gate.reached.is_set)
        screen._show_check(late, form, values)  # the next form is on its way
        assert screen.model.launch is None
        gate.open()
        await until(
            pilot,
            lambda: shows(screen, "grid snli-supcl-lambda") and screen.model.launch is not None,
        )
        before = screen.model.launch
        screen._show_check(late, form, screen.values)
        assert screen.model.launch is before


def test_a_form_with_other_keys_than_its_recipe_is_refused(world: Settings) -> None:
    choice = Choice(kind="recipe", name="snli-ce", summary="")
    values = {field.key: field.value for field in recipe_fields("snli-ce")}
    for wrong in (
        {**values, "no.such": "1"},
        {key: value for key, value in values.items() if key != "optim.lr"},
    ):
        found = launch_or_error(choice, wrong, world)
        assert isinstance(found, Exception)
        assert "was changed" in found.message


async def test_lines_that_are_shown_for_the_first_time_do_not_count_as_typed(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.launch.screen.CHECK_AFTER_S", 3600)
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        before = screen.model.launch
        assert screen._timer is None
        for field in screen.query(FieldInput):  # as Textual posts where a line is mounted late
            field.post_message(FieldInput.Changed(field, field.value))
        await pilot.pause()
        assert screen.model.launch is before
        line(screen, NAME).value = "mine"
        await until(pilot, lambda: screen.model.launch is None)


async def test_the_list_is_searched_and_esc_shows_all_again(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("4")
        screen = await on_top(pilot, LaunchScreen)
        options = screen.query_one(LaunchList)
        await until(pilot, lambda: options.option_count > 10)
        count = options.option_count
        await pilot.press("slash")
        await type_text(pilot, "grid lr")
        await until(pilot, lambda: 0 < options.option_count < count)
        listed = [str(option.id) for option in options.options if option.id is not None]
        assert "grid sbert-lr" in listed
        assert all("grid" in name for name in listed)
        await pilot.press("enter")
        assert screen.focused is options
        await until(
            pilot,
            lambda: (
                screen.model.form is not None
                and screen.model.form.choice.key == options.under_cursor
            ),
        )
        under = options.under_cursor
        await pilot.press("escape")
        await until(pilot, lambda: options.option_count == count)
        assert options.under_cursor == under
        await pilot.press("slash")
        await type_text(pilot, "zzz")
        await until(pilot, lambda: options.option_count == 1 and options.under_cursor is None)


@pytest.mark.parametrize(
    ("option", "of_recipe", "of_grid"),
    [
        (
            RecipeValue("optim.lr", "1e-5"),
            "1e-5 in the line 'optim.lr'",
            "optim.lr=1e-5 in the line 'other keys'",
        ),
        (
            RecipeValue("stage.0.optim.lr", "1e-5"),
            "1e-5 in the line 'optim.lr'",
            "optim.lr=1e-5 in the line 'other keys'",
        ),
        (
            RecipeValue("optim.clip", "1"),
            "optim.clip=1 in the line 'other keys'",
            "optim.clip=1 in the line 'other keys'",
        ),
        (NamedOption("--name", "b"), "b in the line 'run name'", "b in the line 'grid name'"),
        (
            NamedOption("--allow-partial"),
            "yes in the line 'allow partial'",
            "yes in the line 'allow partial'",
        ),
        (
            NamedOption("--data", "DIR"),
            "--data DIR when the dashboard is started",
            "--data DIR when the dashboard is started",
        ),
        (NamedOption("--resume"), "o on Runs", "o on Runs"),
    ],
)
def test_a_hint_names_the_lines_of_the_form_that_it_is_shown_below(
    option: NamedOption | RecipeValue, of_recipe: str, of_grid: str
) -> None:
    hint = Hint("take ", option, ".")
    assert (
        hint_in_form(hint, [field.key for field in recipe_fields("snli-ce")])
        == f"take {of_recipe}."
    )
    assert (
        hint_in_form(hint, [field.key for field in grid_fields("sbert-lr")]) == f"take {of_grid}."
    )


def test_the_errors_of_a_form_have_hints_about_its_lines(own_world: Settings) -> None:
    def refused(name: str = "snli-ce", **typed: str) -> tuple[str, str]:
        choice = Choice(kind="recipe", name=name, summary="")
        values = {field.key: field.value for field in form_fields(choice)} | typed
        error = launch_or_error(choice, values, own_world)
        assert isinstance(error, EmbedlabError)
        return error.message, error.hint

    assert refused(**{OTHERS: "lr"}) == (
        "'lr' is not KEY=VALUE",
        "for example 1e-5 in the line 'optim.lr'",
    )
    assert refused(**{"optim.lr": ""})[1].count("--") == 0
    make_run(own_world, "taken", 1, Finished(step=20), lr=1e-3).model.mkdir()  # by another recipe
    message, hint = refused(**{NAME: "taken"})
    assert "'taken@1' was made by another recipe" in message
    assert hint.startswith("give this one its own name, for example taken-2 in the line 'run name'")


async def test_lines_that_are_no_longer_shown_are_freed(opened: Open) -> None:
    async with opened() as pilot:
        screen = await choose(pilot, HERE)
        for name in (NEXT, HERE, NEXT):
            await go_to(pilot, screen, name)
        shown = {line.field.key for line in screen.query(FieldInput)}
        gc.collect()
        held = [thing for thing in gc.get_objects() if isinstance(thing, FieldInput)]
        assert {line.field.key for line in held} == shown
        assert len(held) == len(shown)
