"""The Launch screen: choose a recipe or a grid, change its values, start it in a process of its own, and follow a grid."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from time import sleep
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.timer import Timer
from textual.widget import MountError
from textual.widgets import OptionList, Static
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, TextDialog
from embedlab.tui.launch.form import (
    STARTED,
    Choice,
    Field,
    Launch,
    choice_of_file,
    choices,
    choices_of_files,
    form_fields,
    launch_or_error,
)
from embedlab.tui.launch.grid_board import started_grids
from embedlab.tui.launch.grid_pane import GridPane
from embedlab.tui.launch.lines import FieldInput, FormLines
from embedlab.tui.launch.starting import StartingScreen
from embedlab.tui.launch.widgets import LaunchList, start_notes
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.heat_map import HeatMap
from embedlab.tui.widgets.plain import plain

OWN_FILES = 20  # remembered
CHECK_AFTER_S = 0.15  # of quiet
REST_S = 0.1  # of the cursor on an entry, before its form is shown: a form takes many times longer than a step of the cursor


@dataclass(frozen=True, eq=False)
class _Loaded:
    choice: Choice  # the very object that was wanted: an equal one is another request
    fields: tuple[Field, ...]


class LaunchScreen(StartingScreen):
    """Starts processes; none of them belongs to the dashboard."""

    SCOPE: ClassVar[KeyScope] = "launch"
    BINDINGS: ClassVar[list[BindingType]] = bindings("launch")

    def __init__(self) -> None:
        super().__init__()
        self.choices: dict[str, Choice] = {}
        self._files: dict[str, Choice] = {}  # the user's own, by their paths
        self.form: _Loaded | None = None  # whose lines are shown
        self.launch: Launch | None = None  # what the notes show; None while the form is wrong or not checked. A start plans anew
        self._wanted: Choice | None = None  # whose form is to be shown: that of the entry under the cursor
        self._opened = asyncio.Event()  # set while the form is the wanted one: until then it takes no keys and starts nothing
        self._being_checked: tuple[_Loaded, dict[str, str]] | None = None  # or checked, as last
        self._typed: dict[str, dict[str, str]] = {}  # the changed lines of the forms of other entries
        self._replacing = asyncio.Lock()
        self._is_entered = False  # enter was pressed before the form was there
        self._next_entry: str | None = None  # goes under the cursor when the list is shown again
        self._timer: Timer | None = None

    def compose_body(self) -> ComposeResult:
        bar = FilterBar("search: words of a name or a summary")
        bar.display = False
        yield bar
        with Container(id="launch-body"):
            yield LaunchList(id="launch-choices", classes="pane")
            with Vertical(id="launch-side"):
                yield Static("reading recipes and grids", id="launch-title", markup=False)
                yield FormLines(id="launch-form")
                yield Static("", id="launch-notes", markup=False)
                yield Static("", id="launch-error", markup=False)
        yield GridPane(self.dashboard.settings, id="grid-board", classes="pane")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._list()

    def on_screen_resume(self) -> None:
        """Check the form again: a run that it names may have been trained meanwhile."""
        self._check()

    @work(thread=True, exclusive=True, group="list", exit_on_error=False)
    def _list(self) -> None:
        worker = get_current_worker()
        try:
            own = {str(Path(choice.name).absolute()): choice for choice in choices_of_files(self.dashboard.memory.state.own_files)}
            opened = {str(Path(choice.name).absolute()): choice for choice in self._files.values()}
            found = [*choices(), *{**own, **opened}.values()]
            started = started_grids(self.dashboard.settings)
        except (EmbedlabError, OSError) as error:
            trouble = error if isinstance(error, EmbedlabError) else EmbedlabError(str(error))
            self.app.call_from_thread(self.dashboard.report, trouble)
            return
        if not worker.is_cancelled:  # a newer list comes
            self.app.call_from_thread(self._show_choices, found, started)

    def _show_choices(self, found: list[Choice], started: list[str]) -> None:
        found = [*found, *(Choice(kind=STARTED, name=name, summary="") for name in reversed(started))]
        self.choices = {choice.key: choice for choice in found}
        if self.form is not None and self._lines.is_in_use:  # its file is gone: what was typed is not
            self.choices.setdefault(self.form.choice.key, self.form.choice)
        options = self.query_one(LaunchList)
        under = self._next_entry if self._next_entry in self.choices else options.under_cursor
        options.show(self.choices, under, self.query_one(FilterBar).value)
        if under == self._next_entry:
            self._next_entry = None
        self._check()
        if started and self.grids.grid is None:
            self.grids.follow(started[-1])

    # the search

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Search after each key."""
        options = self.query_one(LaunchList)
        options.show(self.choices, options.under_cursor, event.query)

    def on_filter_bar_left(self) -> None:
        """Go from the search to the list; an empty search disappears."""
        bar = self.query_one(FilterBar)
        bar.display = bool(bar.value)
        self.set_focus(self.query_one(OptionList))

    def action_search(self) -> None:
        """Search the list."""
        bar = self.query_one(FilterBar)
        bar.display = True
        self.set_focus(bar)

    # the form

    @property
    def _lines(self) -> FormLines:
        return self.query_one(FormLines)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the form of the entry under the cursor."""
        event.stop()
        self._follow_cursor()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go to its first line, once it is there."""
        event.stop()
        self._follow_cursor()
        self._is_entered = True
        self._enter()

    @property
    def is_opening(self) -> bool:
        """Also while the list is read, or the form that enter goes to."""
        return super().is_opening or self._is_entered or self.is_working("list")

    def _follow_cursor(self) -> None:
        choice = self.choices.get(self.query_one(LaunchList).under_cursor or "")
        if choice is not None and (self._wanted is None or self._wanted.key != choice.key):
            self._is_entered = False
            self._want(choice, rest_s=REST_S)

    def _enter(self) -> None:
        if self._is_entered and self._wanted is not None and self._opened.is_set():
            self._is_entered = False
            if self._wanted.kind == STARTED:
                self.set_focus(self.grids.query_one(HeatMap))
            elif lines := self._lines.lines:
                self.set_focus(lines[0])

    def on_descendant_focus(self) -> None:
        """Wait for the next form: keys typed into one that is about to be replaced would be lost."""
        self._leave_old_form()

    def _leave_old_form(self) -> None:
        if isinstance(self.focused, FieldInput) and not self._opened.is_set():
            self._is_entered = True
            self.set_focus(self.query_one(OptionList))

    def _want(self, choice: Choice, *, rest_s: float = 0.0) -> None:
        """Show the form of CHOICE next; the shown one stays if it is that and the cursor came back to it."""
        if self.form is not None and self.form.choice.key == choice.key:
            self.workers.cancel_group(self, "form")
            self._wanted = self.form.choice
            self._opened.set()
            self._check()
        else:
            self._build(choice, rest_s=rest_s)

    def _build(self, choice: Choice, *, rest_s: float = 0.0) -> None:
        """Read the form of CHOICE, and show it unless another is wanted by then."""
        self._wanted = replace(choice)
        self._opened.clear()
        self._unchecked()
        self._leave_old_form()
        self._load(self._wanted, rest_s)

    @work(thread=True, exclusive=True, group="form", exit_on_error=False)
    def _load(self, choice: Choice, rest_s: float) -> None:
        worker = get_current_worker()
        sleep(rest_s)
        if worker.is_cancelled:  # the cursor has gone on
            return
        fields: tuple[Field, ...] = ()
        try:
            fields = tuple(form_fields(choice))
        except EmbedlabError as error:
            self.app.call_from_thread(self.dashboard.report, error)
        finally:  # without lines, below which its check says what is wrong
            self.app.call_from_thread(self._open_form, _Loaded(choice, fields))

    @work(group="open")
    async def _open_form(self, loaded: _Loaded) -> None:
        async with self._replacing:  # one after the other: where the removal of a widget is cancelled, Textual ends the app
            if loaded.choice is not self._wanted:
                return
            try:
                await self._replace_form(loaded)
            except (NoMatches, MountError):
                if self.app.is_running:  # else the dashboard is ending, and its widgets are gone before its workers
                    raise

    async def _replace_form(self, loaded: _Loaded) -> None:
        if self.form is not None:
            self._typed[self.form.choice.key] = self._lines.typed
        self.form = None  # until the lines are those of its choice
        self._unchecked()
        for notes in ("#launch-notes", "#launch-error"):
            self.query_one(notes, Static).update("")
        choice = loaded.choice
        if choice.kind == STARTED:
            self.grids.follow(choice.name)
        title = Content.assemble((f"{choice.kind} {plain(choice.name)}", "bold $text-primary"), f"\n{plain(choice.summary)}")
        self.query_one("#launch-title", Static).update(title)
        await self._lines.show(loaded.fields, self._typed.pop(choice.key, {}))
        self.form = loaded
        self.set_class(not loaded.fields, "-without-form")  # the started grid has the room of the lines
        if choice is self._wanted:  # else the next one follows
            self._opened.set()
            self._enter()
            self._check()

    def on_form_lines_edited(self) -> None:
        """Check the form once the typing rests; a line that is shown for the first time says nothing new."""
        self.refresh_bindings()
        if self._being_checked is not None and self._says(*self._being_checked):
            return
        self._unchecked()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(CHECK_AFTER_S, self._check)

    @property
    def values(self) -> dict[str, str]:
        """What the form says."""
        return self._lines.values

    def _unchecked(self) -> None:
        self.launch = None

    def _check(self) -> None:
        if self._timer is not None:  # lines that were shown before: this check is of what they say too
            self._timer.stop()
            self._timer = None
        if self.form is not None:
            self._being_checked = self.form, self.values
            self._check_values(*self._being_checked)

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def _check_values(self, loaded: _Loaded, values: dict[str, str]) -> None:
        """By the same rules as the command line; a grid reads its data's state, so this may take a moment."""
        worker = get_current_worker()
        error = launch_or_error(loaded.choice, values, self.dashboard.settings)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_check, error, loaded, values)

    def _show_check(self, error: Launch | EmbedlabError, loaded: _Loaded, values: dict[str, str]) -> None:
        if not self._says(loaded, values):
            return
        notes, wrong = self.query_one("#launch-notes", Static), self.query_one("#launch-error", Static)
        if isinstance(error, EmbedlabError):
            self.launch = None
            wrong.update(f"{error.message}\n{error.hint}".strip())
            notes.update("")
        else:
            self.launch = error
            wrong.update("")
            notes.update(start_notes(error))

    def _says(self, loaded: _Loaded, values: dict[str, str]) -> bool:
        """Whether the screen shows the form LOADED with these VALUES, and no other is to follow."""
        return self.form is loaded and self._opened.is_set() and self.values == values

    # starting

    @work(group=DIALOG)
    async def action_start(self) -> None:
        """Start what the form says at this moment, planned anew: a check may be of what was typed before."""
        if self._wanted is not None:
            await self._opened.wait()
        if (loaded := self.form) is None:
            self._refuse_start("nothing is chosen yet", hint="choose a recipe or a grid in the list")
            return
        values = self.values
        error = await asyncio.to_thread(launch_or_error, loaded.choice, values, self.dashboard.settings)
        self._show_check(error, loaded, values)
        if isinstance(error, EmbedlabError):
            self._refuse_start("its values are not right yet", hint="see the line below the form")
        elif await self._is_confirmed(error):
            if self._says(loaded, values):
                self.set_focus(self.query_one(LaunchList))  # the next key is a command, not a value
                await self._start(loaded.choice, values)
            else:
                self._refuse_start("the form was changed meanwhile", hint="ctrl+s starts what it says now")

    def offers(self, meaning: str) -> bool:
        """Undo what was typed."""
        return bool(self._lines.typed) if meaning == "undo" else super().offers(meaning)

    def action_undo(self) -> None:
        """Take the recipe's own values again."""
        if self._wanted is not None:
            self._typed.pop(self._wanted.key, None)
            if self._opened.is_set():
                self._lines.reset()
            self._build(self._wanted)  # its file may have changed

    def action_back(self) -> None:
        """From the form to the list, and from there to all entries."""
        if self.maximized is not None:
            self.minimize()
            return
        bar = self.query_one(FilterBar)
        if self.focused in {bar, self.query_one(OptionList)}:  # not from the form: its entry would no longer be the only one
            bar.value, bar.display = "", False
        self.set_focus(self.query_one(OptionList))

    def action_reload(self) -> None:
        """List recipes and grids again."""
        self._list()

    @work(group=DIALOG)
    async def action_open_file(self) -> None:
        """Open a recipe or grid of the user's own."""
        question = TextDialog(
            "Path of a recipe, a grid, or rows to train on", hint=".toml, .csv, .tsv, .jsonl, .parquet, .txt", check=choice_of_file
        )
        if (text := await self.app.push_screen_wait(question)) is None:
            return
        choice = choice_of_file(text)
        self._files[choice.name] = choice
        self._remember_file(choice)
        self._next_entry = choice.key
        self.query_one(FilterBar).value = ""
        self._list()
        self.set_focus(self.query_one(OptionList))

    def _remember_file(self, choice: Choice) -> None:
        """List a file of the user's own at the next start too."""
        state, path = self.dashboard.memory.state, str(Path(choice.name).absolute())
        self.dashboard.remember(replace(state, own_files=(*(file for file in state.own_files if file != path), path)[-OWN_FILES:]))

    def on_grid_pane_shown(self, event: GridPane.Shown) -> None:
        """List a grid that was started now."""
        if Choice(kind=STARTED, name=event.grid, summary="").key not in self.choices:
            self._list()
