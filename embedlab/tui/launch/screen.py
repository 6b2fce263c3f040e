"""The Launch screen: choose a recipe or a grid, change its values, start it in a process of its
own, and follow a grid.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.widget import MountError
from textual.widgets import OptionList, Static
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.launch.form import (
    STARTED,
    Choice,
    Field,
    Launch,
    choice_of_file,
    form_fields,
    launch_or_error,
)
from embedlab.tui.launch.grid_pane import GridPane
from embedlab.tui.launch.heat_map import HeatMap
from embedlab.tui.launch.lines import FieldInput, FormLines
from embedlab.tui.launch.model import LaunchModel, LoadedForm
from embedlab.tui.launch.widgets import LaunchList, start_notes
from embedlab.tui.pairs.selection import open_model
from embedlab.tui.terminal.delay import after
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.plain import plain
from embedlab.workflows.grid.plan import cancel_grid

OWN_FILES = 20  # remembered
CHECK_AFTER_S = 0.15  # of quiet
ENDED_EVERY_S = 1.0
# of the cursor on an entry, before its form is shown: a form takes many times longer than a step of
# the cursor
REST_S = 0.1


class LaunchScreen(DashboardScreen):
    """Starts processes; none of them belongs to the dashboard."""

    SCOPE: ClassVar[KeyScope] = "launch"
    BINDINGS: ClassVar[list[BindingType]] = bindings("launch")

    def __init__(self) -> None:
        super().__init__()
        self.model = LaunchModel()
        self._opened = (
            asyncio.Event()
        )  # set while the form is the wanted one: until then it takes no keys and starts nothing
        self._being_checked: tuple[LoadedForm, dict[str, str]] | None = None  # or checked, as last
        self._replacing = asyncio.Lock()
        self._is_entered = False  # enter was pressed before the form was there
        self._timer: asyncio.TimerHandle | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the list of recipes and grids beside the form or the board of one of them."""
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
        """Read recipes and grids, and follow those that run."""
        self.query_one(OptionList).focus()
        self._list()
        self.set_interval(ENDED_EVERY_S, self._report_failures)

    def on_screen_resume(self) -> None:
        """Check the form again: a run that it names may have been trained meanwhile."""
        self._check()

    @work(thread=True, exclusive=True, group="list", exit_on_error=False)
    def _list(self) -> None:
        worker = get_current_worker()
        try:
            listed, started = self.model.read(
                self.dashboard.memory.state.own_files, self.dashboard.settings
            )
        except (EmbedlabError, OSError) as error:
            trouble = error if isinstance(error, EmbedlabError) else EmbedlabError(str(error))
            self.app.call_from_thread(self.dashboard.report, trouble)
            return
        if not worker.is_cancelled:  # a newer list comes
            self.app.call_from_thread(self._show_choices, listed, started)

    def _show_choices(self, listed: list[Choice], started: list[str]) -> None:
        self.model.take_choices(listed, started, is_in_use=self._lines.is_in_use)
        options = self.query_one(LaunchList)
        options.show(
            self.model.choices,
            self.model.entry_to_go_to(options.under_cursor),
            self.query_one(FilterBar).value,
        )
        self._check()
        if started and self.grids.grid is None:
            self.grids.follow(started[-1])

    # the search

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Search after each key."""
        options = self.query_one(LaunchList)
        options.show(self.model.choices, options.under_cursor, event.query)

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
        choice = self.model.choices.get(self.query_one(LaunchList).under_cursor or "")
        if choice is not None and (
            self.model.wanted is None or self.model.wanted.key != choice.key
        ):
            self._is_entered = False
            self._want(choice, rest_s=REST_S)

    def _enter(self) -> None:
        if self._is_entered and self.model.wanted is not None and self._opened.is_set():
            self._is_entered = False
            if self.model.wanted.kind == STARTED:
                self.set_focus(self.grids.query_one(HeatMap))
            elif lines := self._lines.lines:
                self.set_focus(lines[0])

    def on_descendant_focus(self) -> None:
        """Wait for the next form: keys typed into one that is about to be replaced would be
        lost.
        """
        self._leave_old_form()

    def _leave_old_form(self) -> None:
        if isinstance(self.focused, FieldInput) and not self._opened.is_set():
            self._is_entered = True
            self.set_focus(self.query_one(OptionList))

    def _want(self, choice: Choice, *, rest_s: float = 0.0) -> None:
        """Show the form of CHOICE next; the shown one stays if it is that and the cursor came back
        to it.
        """
        if self.model.form is not None and self.model.form.choice.key == choice.key:
            self.workers.cancel_group(self, "form")
            self.model.wanted = self.model.form.choice
            self._opened.set()
            self._check()
        else:
            self._build(choice, rest_s=rest_s)

    def _build(self, choice: Choice, *, rest_s: float = 0.0) -> None:
        """Read the form of CHOICE, and show it unless another is wanted by then."""
        self.model.wanted = replace(choice)
        self._opened.clear()
        self._unchecked()
        self._leave_old_form()
        self._load(self.model.wanted, rest_s)

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
            self.app.call_from_thread(self._open_form, LoadedForm(choice, fields))

    @work(group="open")
    async def _open_form(self, loaded: LoadedForm) -> None:
        async with (
            self._replacing
        ):  # one after the other: where the removal of a widget is cancelled, Textual ends the app
            if loaded.choice is not self.model.wanted:
                return
            try:
                await self._replace_form(loaded)
            except (NoMatches, MountError):
                if (
                    self.app.is_running
                ):  # else the dashboard is ending, and its widgets are gone before its workers
                    raise

    async def _replace_form(self, loaded: LoadedForm) -> None:
        self.model.leave_form(self._lines.typed)  # until the lines are those of the next choice
        for notes in ("#launch-notes", "#launch-error"):
            self.query_one(notes, Static).update("")
        choice = loaded.choice
        if choice.kind == STARTED:
            self.grids.follow(choice.name)
        title = Content.assemble(
            (f"{choice.kind} {plain(choice.name)}", "bold $text-primary"),
            f"\n{plain(choice.summary)}",
        )
        self.query_one("#launch-title", Static).update(title)
        await self._lines.show(loaded.fields, self.model.typed_for(choice))
        self.model.form = loaded
        self.set_class(
            not loaded.fields, "-without-form"
        )  # the started grid has the room of the lines
        if choice is self.model.wanted:  # else the next one follows
            self._opened.set()
            self._enter()
            self._check()

    def on_form_lines_edited(self) -> None:
        """Check the form once the typing rests; a line that is shown for the first time says
        nothing new.
        """
        self.refresh_bindings()
        if self._being_checked is not None and self._says(*self._being_checked):
            return
        self._unchecked()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = after(CHECK_AFTER_S, self, self._check)

    @property
    def values(self) -> dict[str, str]:
        """What the form says."""
        return self._lines.values

    def _unchecked(self) -> None:
        self.model.launch = None

    def _check(self) -> None:
        if (
            self._timer is not None
        ):  # lines that were shown before: this check is of what they say too
            self._timer.cancel()
            self._timer = None
        if self.model.form is not None:
            self._being_checked = self.model.form, self.values
            self._check_values(*self._being_checked)

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def _check_values(self, loaded: LoadedForm, values: dict[str, str]) -> None:
        """By the same rules as the command line; a grid reads its data's state, so this may take a
        moment.
        """
        worker = get_current_worker()
        planned = launch_or_error(loaded.choice, values, self.dashboard.settings)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_check, planned, loaded, values)

    def _show_check(
        self, planned: Launch | EmbedlabError, loaded: LoadedForm, values: dict[str, str]
    ) -> None:
        if not self._says(loaded, values):
            return
        notes, wrong = (
            self.query_one("#launch-notes", Static),
            self.query_one("#launch-error", Static),
        )
        if isinstance(planned, EmbedlabError):
            self.model.launch = None
            wrong.update(f"{planned.message}\n{planned.hint}".strip())
            notes.update("")
        else:
            self.model.launch = planned
            wrong.update("")
            notes.update(start_notes(planned))

    def _says(self, loaded: LoadedForm, values: dict[str, str]) -> bool:
        """Whether the screen shows the form LOADED with these VALUES, and no other is to follow."""
        return self.model.form is loaded and self._opened.is_set() and self.values == values

    # starting

    @work(group=DIALOG)
    async def action_start(self) -> None:
        """Start what the form says at this moment, planned anew: a check may be of what was typed
        before.
        """
        if self.model.wanted is not None:
            await self._opened.wait()
        if (loaded := self.model.form) is None:
            self._refuse_start(
                "nothing is chosen yet", hint="choose a recipe or a grid in the list"
            )
            return
        values = self.values
        planned = await asyncio.to_thread(
            launch_or_error, loaded.choice, values, self.dashboard.settings
        )
        self._show_check(planned, loaded, values)
        if isinstance(planned, EmbedlabError):
            self._refuse_start("its values are not right yet", hint="see the line below the form")
        elif await self._is_confirmed(planned):
            if self._says(loaded, values):
                self.set_focus(self.query_one(LaunchList))  # the next key is a command, not a value
                await self._start(loaded.choice, values)
            else:
                self._refuse_start(
                    "the form was changed meanwhile", hint="ctrl+s starts what it says now"
                )

    def _refuse_start(self, reason: str, *, hint: str) -> None:
        self.dashboard.report(
            EmbedlabError(f"not started: {reason}", hint=hint), severity="warning"
        )

    async def _is_confirmed(self, planned: Launch) -> bool:
        try:
            await asyncio.to_thread(planned.check)
        except EmbedlabError as error:
            self.dashboard.report(error)
            return False
        return await self.app.push_screen_wait(
            Confirm("\n".join([*planned.missing, f"Start {planned.title}?"]), is_safe=True)
        )

    async def _start(self, choice: Choice, values: Mapping[str, str]) -> None:
        """Start CHOICE with VALUES, and go to what shows it."""
        try:
            launched = await asyncio.to_thread(
                self.model.start, choice, values, self.dashboard.settings
            )
        except EmbedlabError as error:
            self.dashboard.report(error)
            return
        self.notify("started in a process of its own; quitting does not end it")
        if launched.plan is not None:
            self.grids.follow(launched.plan.name)
        elif launched.run is not None:
            self._show_runs([launched.run.id])

    def _show_runs(self, runs: Sequence[str]) -> None:
        """Go to Runs, with the cursor on the first of RUNS and several marked."""
        from embedlab.tui.runs.screen import RunsScreen

        self.dashboard.action_mode("runs")
        if isinstance(self.app.screen, RunsScreen):
            self.app.screen.go_to_all(runs)

    def _report_failures(self) -> None:
        """Report the errors of started processes that ended, whichever screen is shown."""
        for error in self.model.failures():
            self.dashboard.report(error)

    def offers(self, meaning: str) -> bool:
        """Undo what was typed; stop or resume the started grid where it runs or is unfinished."""
        match meaning:
            case "undo":
                return bool(self._lines.typed)
            case "stop":
                return self.grids.can_stop
            case "resume":
                return self.grids.can_resume
        return super().offers(meaning)

    def action_undo(self) -> None:
        """Take the recipe's own values again."""
        if self.model.wanted is not None:
            self.model.forget_typed()
            if self._opened.is_set():
                self._lines.reset()
            self._build(self.model.wanted)  # its file may have changed

    def action_back(self) -> None:
        """From the form to the list, and from there to all entries."""
        if self.maximized is not None:
            self.minimize()
            return
        bar = self.query_one(FilterBar)
        if self.focused in {
            bar,
            self.query_one(OptionList),
        }:  # not from the form: its entry would no longer be the only one
            bar.value, bar.display = "", False
        self.set_focus(self.query_one(OptionList))

    def action_reload(self) -> None:
        """List recipes and grids again."""
        self._list()

    @work(group=DIALOG)
    async def action_open_file(self) -> None:
        """Open a recipe or grid of the user's own."""
        question = TextDialog(
            "Path of a recipe, a grid, or rows to train on",
            hint=".toml, .csv, .tsv, .jsonl, .parquet, .txt",
            check=choice_of_file,
        )
        if (text := await self.app.push_screen_wait(question)) is None:
            return
        choice = choice_of_file(text)
        self.model.open_file(choice)
        self._remember_file(choice)
        self.query_one(FilterBar).value = ""
        if self.model.form is not None and self.model.form.choice.key == choice.key:
            self._build(choice)  # the file may have changed
        self._list()
        self.set_focus(self.query_one(OptionList))

    def _remember_file(self, choice: Choice) -> None:
        """List a file of the user's own at the next start too."""
        state, path = self.dashboard.memory.state, str(Path(choice.name).absolute())
        self.dashboard.remember(
            replace(
                state,
                own_files=(*(file for file in state.own_files if file != path), path)[-OWN_FILES:],
            )
        )

    def on_grid_pane_shown(self, event: GridPane.Shown) -> None:
        """List a grid that was started now."""
        if self.model.is_new(event.grid):
            self._list()

    # the started grid

    @property
    def grids(self) -> GridPane:
        """The pane of the started grid."""
        return self.query_one(GridPane)

    def on_grid_pane_lost(self, event: GridPane.Lost) -> None:
        """Report why a grid cannot be read."""
        self.dashboard.report_once([event.error])

    def action_map(self) -> None:
        """Go to the cells of the grid."""
        if self._started_grid() is not None:
            self.set_focus(self.grids.query_one(HeatMap))

    def action_open(self) -> None:
        """From a cell of the map to its pairs, of a finished grid to the comparison of its cells;
        elsewhere a widget takes the key.
        """
        if isinstance(self.focused, HeatMap) and (runs := self.grids.runs):
            self._open_cell(runs)

    @work(group=DIALOG)
    async def _open_cell(self, runs: Sequence[str]) -> None:
        """Show the cell of RUNS: on Compare with the others of a finished grid, else its pairs, or
        its runs while it has no scores.
        """
        board, names, compared = (
            self.dashboard,
            list(dict.fromkeys(run.partition("@")[0] for run in runs)),
            self.grids.compared,
        )
        under = [] if board.memory.state.task else await board.scored(names)
        if not under:
            self._show_runs(runs)
        elif len(compared) > 1:
            await board.take_models([*under, *(name for name in compared if name not in under)])
            board.set_reference(under[0])
            board.selected.compare_from(f"Launch: {self.grids.grid}")
        else:
            await open_model(board, under[0], title=f"Launch: {self.grids.grid} {under[0]}")

    def action_resume(self) -> None:
        """Resume the grid that is shown."""
        if (name := self._started_grid()) is not None:
            self._resume(name)

    @work(group=DIALOG)
    async def _resume(self, name: str) -> None:
        choice = Choice(kind=STARTED, name=name, summary="")
        planned = await asyncio.to_thread(launch_or_error, choice, {}, self.dashboard.settings)
        if isinstance(planned, EmbedlabError):
            self.dashboard.report(planned)
        elif await self._is_confirmed(planned):
            await self._start(choice, {})

    @work(group=DIALOG)
    async def action_cancel(self) -> None:
        """Stop the grid that is shown."""
        name = self._started_grid()
        if name is None or not await self.app.push_screen_wait(
            Confirm(f"Stop grid {name}? Its cells save a checkpoint first.")
        ):
            return
        try:
            await asyncio.to_thread(cancel_grid, name, self.dashboard.settings)
        except EmbedlabError as error:
            self.dashboard.report(error)
        else:
            self.notify(f"stopping {name}: {shown_key('resume')} resumes it", markup=False)

    def _started_grid(self) -> str | None:
        """The grid that is shown; warns the user if there is none."""
        name = self.grids.grid
        if name is None:
            error = UsageError(
                "no grid was started here", hint="choose one in the list and press ctrl+s"
            )
            self.dashboard.report(error, severity="warning")
        return name
