"""The Launch screen: choose a recipe or a grid, change its values, start it in a process of its own, and follow a grid."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from time import sleep
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError, ExitCode, UsageError
from embedlab.runs import launch
from embedlab.runs.store import RunFolder
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
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
from embedlab.tui.launch.widgets import FieldInput, LaunchList, start_notes
from embedlab.tui.widgets.heat_map import HeatMap
from embedlab.tui.widgets.plain import plain
from embedlab.workflows.grid.plan import cancel_grid

OWN_FILES = 20  # remembered
CHECK_AFTER_S = 0.15  # of quiet
REST_S = 0.1  # of the cursor on an entry, before its form is shown: a form takes many times longer than a step of the cursor
ENDED_EVERY_S = 1.0


@dataclass(frozen=True, eq=False)
class _Loaded:
    choice: Choice  # the very object that was wanted: an equal one is another request
    fields: tuple[Field, ...]


class LaunchScreen(DashboardScreen):
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
        self._typed: dict[str, dict[str, str]] = {}  # the changed lines of the forms of other entries
        self._replacing = asyncio.Lock()
        self._is_entered = False  # enter was pressed before the form was there
        self._next_entry: str | None = None  # goes under the cursor when the list is shown again
        self._timer: Timer | None = None
        self._started: list[tuple[str, launch.Detached]] = []  # by their titles, those that run

    def compose_body(self) -> ComposeResult:
        with Container(id="launch-body"):
            yield LaunchList(id="launch-choices", classes="pane")
            with Vertical(id="launch-side"):
                yield Static("reading recipes and grids", id="launch-title", markup=False)
                yield VerticalScroll(id="launch-form", can_focus=False)
                yield Static("", id="launch-notes", markup=False)
                yield Static("", id="launch-error", markup=False)
        yield GridPane(self.dashboard.settings, id="grid-board", classes="pane")

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._list()
        self.set_interval(ENDED_EVERY_S, self._report_ended)

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
        if self.form is not None and self._is_edited:  # its file is gone: what was typed is not
            self.choices.setdefault(self.form.choice.key, self.form.choice)
        options = self.query_one(OptionList)
        highlighted = options.highlighted_option.id if options.highlighted_option is not None else None
        under = self._next_entry if self._next_entry in self.choices else highlighted
        options.clear_options()
        for kind in ("recipe", "grid", STARTED):
            mine = {key: choice for key, choice in self.choices.items() if choice.kind == kind}
            if mine:
                options.add_option(Option(f"{kind}s", disabled=True))
            options.add_options([Option(f"  {plain(_title(choice))}", id=key) for key, choice in mine.items()])
        options.highlighted = options.get_option_index(under) if under in self.choices else 1  # 0 is a title
        if under == self._next_entry:
            self._next_entry = None
        self._check()
        if started and self.grids.grid is None:
            self.grids.follow(started[-1])

    # the form

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
        highlighted = self.query_one(OptionList).highlighted_option
        choice = self.choices.get(highlighted.id or "") if highlighted is not None else None
        if choice is not None and (self._wanted is None or self._wanted.key != choice.key):
            self._is_entered = False
            self._want(choice, rest_s=REST_S)

    def _enter(self) -> None:
        if self._is_entered and self._wanted is not None and self._opened.is_set():
            self._is_entered = False
            lines = self.query(FieldInput)
            target = self.grids.query_one(HeatMap) if self._wanted.kind == STARTED else lines.first() if lines else None
            if target is not None:
                self.set_focus(target)

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
            if loaded.choice is self._wanted:
                await self._replace_form(loaded)

    async def _replace_form(self, loaded: _Loaded) -> None:
        if self.form is not None:
            self._typed[self.form.choice.key] = {line.field.key: line.value for line in self.query(FieldInput) if line.is_changed}
        self.form = None  # until the lines are those of its choice
        self._unchecked()
        for notes in ("#launch-notes", "#launch-error"):
            self.query_one(notes, Static).update("")
        choice, form = loaded.choice, self.query_one("#launch-form", VerticalScroll)
        if choice.kind == STARTED:
            self.grids.follow(choice.name)
        title = Content.assemble((f"{choice.kind} {plain(choice.name)}", "bold $text-primary"), f"\n{plain(choice.summary)}")
        self.query_one("#launch-title", Static).update(title)
        typed = self._typed.pop(choice.key, {})
        lines = [FieldInput(field, typed.get(field.key, field.value)) for field in loaded.fields]
        rows = [Horizontal(Label(line.field.key, markup=False), line, classes="form-row") for line in lines]
        for row, line in zip(rows, lines, strict=True):
            row.set_class(line.is_changed, "-changed")
        with self.app.batch_update():
            await form.remove_children()
            await form.mount_all(rows)
        self.form = loaded
        if choice is self._wanted:  # else the next one follows
            self._opened.set()
            self._enter()
            self._check()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check the form once the typing rests; a line that differs from the recipe is highlighted."""
        event.stop()
        if isinstance(event.input, FieldInput) and event.input.parent is not None:
            event.input.parent.set_class(event.input.is_changed, "-changed")
        self._unchecked()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(CHECK_AFTER_S, self._check)

    @property
    def values(self) -> dict[str, str]:
        """What the form says."""
        return {line.field.key: line.value for line in self.query(FieldInput)}

    @property
    def _is_edited(self) -> bool:
        return isinstance(self.focused, FieldInput) or any(line.is_changed for line in self.query(FieldInput))

    def _unchecked(self) -> None:
        self.launch = None

    def _check(self) -> None:
        if self.form is not None:
            self._check_values(self.form, self.values)

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def _check_values(self, loaded: _Loaded, values: dict[str, str]) -> None:
        """By the same rules as the command line; a grid reads its data's state, so this may take a moment."""
        worker = get_current_worker()
        found = launch_or_error(loaded.choice, values, self.dashboard.settings)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_check, found, loaded, values)

    def _show_check(self, found: Launch | EmbedlabError, loaded: _Loaded, values: dict[str, str]) -> None:
        if not self._says(loaded, values):
            return
        notes, wrong = self.query_one("#launch-notes", Static), self.query_one("#launch-error", Static)
        if isinstance(found, EmbedlabError):
            self.launch = None
            wrong.update(f"{found.message}\n{found.hint}".strip())
            notes.update("")
        else:
            self.launch = found
            wrong.update("")
            notes.update(start_notes(found))

    def _says(self, loaded: _Loaded, values: dict[str, str]) -> bool:
        """Whether the screen shows the form LOADED with these VALUES, and no other is to follow."""
        return self.form is loaded and self._opened.is_set() and self.values == values

    # starting and following

    @work(group=DIALOG)
    async def action_start(self) -> None:
        """Start what the form says at this moment, planned anew: a check may be of what was typed before."""
        if self._wanted is not None:
            await self._opened.wait()
        if (loaded := self.form) is None:
            self._refuse_start("nothing is chosen yet", hint="choose a recipe or a grid in the list")
            return
        values = self.values
        found = await asyncio.to_thread(launch_or_error, loaded.choice, values, self.dashboard.settings)
        self._show_check(found, loaded, values)
        if isinstance(found, EmbedlabError):
            self._refuse_start("its values are not right yet", hint="see the line below the form")
        elif await self._is_confirmed(found):
            if self._says(loaded, values):
                await self._start(loaded.choice, values)
            else:
                self._refuse_start("the form was changed meanwhile", hint="ctrl+s starts what it says now")

    def _refuse_start(self, reason: str, *, hint: str) -> None:
        self.dashboard.report(EmbedlabError(f"not started: {reason}", hint=hint), severity="warning")

    async def _is_confirmed(self, found: Launch) -> bool:
        try:
            await asyncio.to_thread(found.check)
        except EmbedlabError as error:
            self.dashboard.report(error)
            return False
        return await self.app.push_screen_wait(Confirm("\n".join([*found.missing, f"Start {found.title}?"])))

    async def _start(self, choice: Choice, values: Mapping[str, str]) -> None:
        """Start CHOICE with VALUES, planned once more: its files and its runs may have changed while the question was open."""
        found = await asyncio.to_thread(launch_or_error, choice, values, self.dashboard.settings)
        if isinstance(found, EmbedlabError):
            self.dashboard.report(found)
            return
        try:
            process = launch.start_run(found.arguments, found.run) if found.run else launch.start_detached(found.arguments, found.log)
        except EmbedlabError as error:
            self.dashboard.report(error)
            return
        self._started.append((found.title, process))
        self.notify("started in a process of its own; quitting does not end it")
        self.set_focus(self.query_one(OptionList))  # the next key is a command, not a value
        if found.plan is not None:
            self.grids.follow(found.plan.name)
        else:
            self._show_run(found.run)

    def _report_ended(self) -> None:
        """Report the errors of started processes that ended, whichever screen is shown; what was stopped is not an error."""
        for started in list(self._started):
            title, process = started
            if (code := process.exit_code()) is None:
                continue
            self._started.remove(started)
            if code not in {ExitCode.OK, ExitCode.INTERRUPTED}:
                self.dashboard.report(process.error(code, title))

    def _show_run(self, run: RunFolder | None) -> None:
        from embedlab.tui.runs.screen import RunsScreen

        self.dashboard.action_mode("runs")
        if run is not None and isinstance(self.app.screen, RunsScreen):
            self.app.screen.go_to(run)

    def action_undo(self) -> None:
        """Take the recipe's own values again."""
        if self._wanted is not None:
            self._typed.pop(self._wanted.key, None)
            for line in self.query(FieldInput) if self._opened.is_set() else ():
                line.value = line.field.value
            self._build(self._wanted)  # its file may have changed

    def action_back(self) -> None:
        """From the form to the list."""
        if self.maximized is not None:
            self.minimize()
        else:
            self.set_focus(self.query_one(OptionList))

    def action_reload(self) -> None:
        """List recipes and grids again."""
        self._list()

    @work(group=DIALOG)
    async def action_open_file(self) -> None:
        """Open a recipe or grid of the user's own."""
        question = TextDialog("Path of a recipe or grid", hint=".toml", check=choice_of_file)
        if (text := await self.app.push_screen_wait(question)) is None:
            return
        choice = choice_of_file(text)
        self._files[choice.name] = choice
        self._remember_file(choice)
        self._next_entry = choice.key
        self._list()
        self.set_focus(self.query_one(OptionList))

    def _remember_file(self, choice: Choice) -> None:
        """List a file of the user's own at the next start too."""
        state, path = self.dashboard.memory.state, str(Path(choice.name).absolute())
        self.dashboard.remember(replace(state, own_files=(*(one for one in state.own_files if one != path), path)[-OWN_FILES:]))

    # the started grid

    @property
    def grids(self) -> GridPane:
        """The pane of the started grid."""
        return self.query_one(GridPane)

    def on_grid_pane_lost(self, event: GridPane.Lost) -> None:
        """Report why a grid cannot be read."""
        self.dashboard.report_once([event.error])

    def on_grid_pane_shown(self, event: GridPane.Shown) -> None:
        """List a grid that was started now."""
        if Choice(kind=STARTED, name=event.grid, summary="").key not in self.choices:
            self._list()

    def action_map(self) -> None:
        """Go to the cells of the grid."""
        if self._started_grid() is not None:
            self.set_focus(self.grids.query_one(HeatMap))

    def action_open(self) -> None:
        """From a cell of the map to its runs; elsewhere a widget takes the key."""
        if not isinstance(self.focused, HeatMap) or not (runs := self.grids.runs):
            return
        from embedlab.tui.runs.screen import RunsScreen

        self.dashboard.action_mode("runs")
        if isinstance(self.app.screen, RunsScreen):
            self.app.screen.go_to_all(runs)

    def action_resume(self) -> None:
        """Resume the grid that is shown."""
        if (name := self._started_grid()) is not None:
            self._resume(name)

    @work(group=DIALOG)
    async def _resume(self, name: str) -> None:
        choice = Choice(kind=STARTED, name=name, summary="")
        found = await asyncio.to_thread(launch_or_error, choice, {}, self.dashboard.settings)
        if isinstance(found, EmbedlabError):
            self.dashboard.report(found)
        elif await self._is_confirmed(found):
            await self._start(choice, {})

    @work(group=DIALOG)
    async def action_cancel(self) -> None:
        """Stop the grid that is shown."""
        name = self._started_grid()
        if name is None or not await self.app.push_screen_wait(Confirm(f"Stop grid {name}? Its cells save a checkpoint first.")):
            return
        try:
            await asyncio.to_thread(cancel_grid, name, self.dashboard.settings)
        except EmbedlabError as error:
            self.dashboard.report(error)
        else:
            self.notify(f"stopping {name}: o resumes it", markup=False)

    def _started_grid(self) -> str | None:
        """The grid that is shown; warns the user if there is none."""
        name = self.grids.grid
        if name is None:
            error = UsageError("no grid was started here", hint="choose one in the list and press ctrl+s")
            self.dashboard.report(error, severity="warning")
        return name


def _title(choice: Choice) -> str:
    """The name in the list: of a file its last part."""
    return PurePath(choice.name).name if choice.name.endswith(".toml") else choice.name
