"""The Runs screen: the status of every run, the curves of the marked runs, and the actions on them."""

from asyncio import to_thread
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

import numpy as np
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Static
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.runs import launch
from embedlab.runs.curves import Curve
from embedlab.runs.launch import shared_flags
from embedlab.runs.store import RunFolder, free_folder, remove_runs, rename_runs
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.pairs.selection import open_model
from embedlab.tui.runs.board import Board, BoardRun, RunFollower, board_order, dev_dataset, run_note, states
from embedlab.tui.runs.curves import Curves, log_tail
from embedlab.tui.runs.entries import RunEntry, entries, rows
from embedlab.tui.runs.panes import RunPanes
from embedlab.tui.runs.search import RunSearch
from embedlab.tui.widgets.curve_plot import CurvePlot
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.log_tail import LogTail
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

LOOK_EVERY_S = 1.0
CURVES_SHOWN = 30  # runs, each seed counted


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of the runs folder at one moment."""

    board: Board
    curves: dict[str, Curve]
    log: tuple[str, Sequence[str]]  # run, lines

    @property
    def rest(self) -> object:
        """Equal for two looks that show the same; None while a run is at work, as its texts change with time."""
        if not self.board.has_ended:
            return None
        lengths = {name: (curve.offset, len(curve.steps)) for name, curve in self.curves.items()}
        day = datetime.fromtimestamp(self.board.time_s).astimezone().date()
        return replace(self.board, time_s=0.0), lengths, tuple(self.log[1]), self.log[0], day


class RunsScreen(RunSearch, RunPanes):
    """Follow runs, which are separate processes."""

    SCOPE: ClassVar[KeyScope] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = bindings("runs")

    def __init__(self) -> None:
        super().__init__()
        self.marked: set[str] = set()
        self.entries: list[RunEntry] = []  # the rows of the table
        self._follower: RunFollower | None = None
        self._curves = Curves()
        self._is_frozen = False
        self._is_looking = False
        self._is_wanted = False  # for a key
        self._rest: object = None  # of what is shown
        self._looks_again = False  # something changed during an update
        self._followed: str | None = None  # the run whose curves and log are shown
        self._order: tuple[str, bool] | None = None
        self._taken_away: set[str] = set()  # deleted or renamed from here
        self._goes_to: str | None = None  # the run to put the cursor on once it appears

    def compose_body(self) -> ComposeResult:
        yield SteadyText("reading runs", id="runs-status", classes="status", markup=False)
        yield FilterBar("search: words of a name, an objective or a state")
        yield FrameTable(id="runs-table")
        yield SteadyText("", id="run-note", markup=False)
        with Horizontal(id="run-panes"):
            yield CurvePlot("loss", id="loss-curves")
            yield CurvePlot("dev score", id="dev-curves")
            yield LogTail(id="run-log", classes="pane")
        yield SteadyText("", id="no-runs", classes="empty", markup=False)

    def on_mount(self) -> None:
        self._follower = RunFollower(self.dashboard.settings.runs_folder)
        self.query_one("#no-runs").display = self.query_one(FilterBar).display = False
        self.set_focus(self.query_one(FrameTable))
        self.look()
        self.set_interval(LOOK_EVERY_S, self._look_again)

    # updates

    def _look_again(self) -> None:
        if not self._is_frozen and self.is_current and not self._is_looking:
            self._read(wanted=False)

    def on_screen_resume(self) -> None:
        """Update at once."""
        if self._follower is not None:
            self.look()

    def look(self) -> None:
        """Read the runs folder in a thread, one update at a time."""
        self._looks_again = self._is_looking
        if not self._is_looking:
            self._read(wanted=True)

    def _read(self, *, wanted: bool) -> None:
        """Start an update; one that is not WANTED for a key shows nothing where nothing has changed."""
        self._is_looking, self._is_wanted = True, wanted
        self._look([run.run for run in self._chosen()][:CURVES_SHOWN])

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, runs: list[RunFolder]) -> None:
        assert self._follower is not None
        board = self._follower.look()
        runs = runs or [run.run for run in board.runs if run.run.name == board.runs[0].run.name][:CURVES_SHOWN]
        log = (runs[0].id, log_tail(runs[0])) if runs and self.shows_log else ("", [])
        look = Look(board=board, curves=self._curves.read(runs), log=log)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, look)

    def _show(self, look: Look) -> None:
        self._is_looking = False
        if look.rest is not None and look.rest == self._rest and not self._is_wanted and not self._looks_again:
            return
        self._rest = look.rest
        self.dashboard.report_once([*look.board.troubles, *self._gone(look.board)])
        self.show_table(look.board)
        self._show_emptiness(is_empty=not look.board.runs and not look.board.unreadable)
        self._show_note()
        self.show_panes(look.board, look.curves, look.log)
        self.refresh_bindings()
        if self._looks_again:
            self.look()

    def show_table(self, board: Board) -> None:
        """Show the runs of BOARD that the search leaves, folded or not; the cursor stays on its run."""
        table, here = self.query_one(FrameTable), self._entry_under_cursor()
        self.board = board
        if self._goes_to is not None and self._goes_to in board.by_id():
            self.opened.add(self._goes_to.partition("@")[0])
        self.entries = entries(board, self.searched, self.opened, is_folding=self.is_folding)
        frame, columns = board.frame(rows(self.entries, board.time_s, board.odd)), board.columns(self.size.width - 1)
        ids = frame["run"].to_list()
        order = np.arange(frame.height)
        if self._order is not None and not self.is_sortable(self._order[0], columns):
            self._order = None
        if self._order is not None:
            order = board_order(frame, self._order[0], is_descending=self._order[1])
        by, is_descending = self._order or (None, False)
        table.marks = frozenset(row for row, entry in enumerate(self.entries) if self.marked >= {run.run.id for run in entry.runs})
        names = [self._goes_to, *([here.name, here.runs[0].run.id, here.runs[0].run.name] if here is not None else [])]
        wanted = [name for name in names if name in ids]
        if self._goes_to in ids:
            self._goes_to = None
        table.show(frame, order, columns, sorted_by=by, is_descending=is_descending, stay_on=ids.index(wanted[0]) if wanted else None)
        table.take_height(self.size.height // 2)
        frozen = f"   frozen: {shown_key('freeze')} continues" if self._is_frozen else ""
        searched = f"   {sum(len(entry.runs) for entry in self.entries)} of {len(board.runs)} runs" if self.searched else ""
        status = f"{self.dashboard.settings.runs_folder}   {states(board)}{searched}{frozen}"
        self.query_one("#runs-status", Static).update(status)

    def _gone(self, board: Board) -> list[EmbedlabError]:
        """Errors about chosen runs that disappeared outside the dashboard."""
        gone = {chosen.run.id for chosen in self._chosen()} - set(board.by_id()) - self._taken_away
        hint = "its folder was deleted or renamed outside the dashboard"
        return [EmbedlabError(f"run {run!r} is no longer there", hint=hint) for run in sorted(gone)] if board.trouble is None else []

    def _show_emptiness(self, *, is_empty: bool) -> None:
        empty = self.query_one("#no-runs", Static)
        empty.display = is_empty
        for part in ("#runs-table", "#run-panes"):
            self.query_one(part).display = not is_empty
        self.settle_focus(self.query_one(FrameTable))
        empty.update(f"no runs in {self.dashboard.settings.runs_folder}\n\npress 4 to start one,\nor type: embedlab train RECIPE")

    def _show_note(self) -> None:
        """Show the full message of the run under the cursor: its column shows only the beginning."""
        here, line = self._run_under_cursor(), self.query_one("#run-note", Static)
        text = self._note_of(here) if here is not None else ""
        hint = _hint(here) if here is not None else ""
        shown = f"{here.run.id}: {text}{hint}" if here is not None and text else ""
        line.display = bool(shown)
        line.update(plain(shown))

    def _note_of(self, run: BoardRun) -> str:
        return run_note(run.status, self.board.odd.get(run.run.id, ""))

    def go_to(self, run: RunFolder) -> None:
        """Put the cursor on RUN as soon as the table shows it."""
        self._goes_to = run.id
        if self._follower is not None:
            self.look()

    def go_to_all(self, runs: Sequence[str]) -> None:
        """Mark these RUNS by their ids and put the cursor on the first as soon as the table shows it."""
        self.marked = set(runs) if len(runs) > 1 else set()
        self._goes_to = runs[0]
        if self._follower is not None:
            self.look()

    def offers(self, meaning: str) -> bool:
        """Stop what is at work, and resume what was interrupted."""
        run = self._run_under_cursor()
        match meaning:
            case "stop":
                return run is not None and run.status.is_alive
            case "resume":
                return run is not None and run.status.is_unfinished
            case "log" | "sort" | "mark" | "filter":
                return bool(self.entries)
        return super().offers(meaning)

    # the selected runs

    def _entry_under_cursor(self) -> RunEntry | None:
        row = self.query_one(FrameTable).current_row
        return self.entries[row] if row is not None and row < len(self.entries) else None

    def _run_under_cursor(self) -> BoardRun | None:
        """The run under the cursor; of folded seeds the first, or the first that has a message."""
        here = self._entry_under_cursor()
        runs = [self.board.by_id().get(run.run.id) for run in here.runs] if here is not None else []
        present = [run for run in runs if run is not None]
        return next((run for run in present if self._note_of(run)), present[0] if present else None)

    def _chosen(self) -> list[BoardRun]:
        """The marked runs, or those of the row under the cursor."""
        marked = [run for name, run in self.board.by_id().items() if name in self.marked]
        here = self._entry_under_cursor()
        return marked or (list(here.runs) if here is not None else [])

    def _one(self, *, of_all_seeds: bool = False) -> BoardRun | None:
        """The run under the cursor; warns the user if there is none, or several that are folded and of which one is meant."""
        run, here = self._run_under_cursor(), self._entry_under_cursor()
        if run is None:
            self.dashboard.report(UsageError("no run is under the cursor", hint="press 4 to start one"), severity="warning")
        elif here is not None and here.is_folded and not of_all_seeds:
            error = UsageError(f"{here.name!r} has {len(here.runs)} seeds", hint="press enter to show them, then choose one")
            self.dashboard.report(error, severity="warning")
            return None
        return run

    # messages of the table

    def on_frame_table_row_reached(self) -> None:
        """Show the run under the cursor unless runs are marked."""
        here = self._entry_under_cursor()
        self._show_note()
        self.refresh_bindings()
        if not self.marked and here is not None and here.name != self._followed:
            self._followed = here.name
            self.look()

    def on_frame_table_mark_requested(self, event: FrameTable.MarkRequested) -> None:
        """Mark a run, or all folded seeds, for the plot and the difference."""
        if event.row >= len(self.entries):  # a folder that cannot be read
            return
        runs = {run.run.id for run in self.entries[event.row].runs}
        self.marked = self.marked - runs if runs <= self.marked else self.marked | runs
        event.table.show_marks(event.table.marks ^ {event.row})
        self.look()

    def on_frame_table_sort_requested(self, event: FrameTable.SortRequested) -> None:
        """Sort by a column, then in reverse, then not at all."""
        old = self._order
        if event.key is None:
            self._order = (old[0], not old[1]) if old else None
        else:
            self._order = (event.key, False) if old is None or old[0] != event.key else None if old[1] else (event.key, True)
        self.look()

    def on_frame_table_row_opened(self, event: FrameTable.RowOpened) -> None:
        """Show the pairs behind a dev score; elsewhere in the row show folded seeds, or open the run's log."""
        here, column = self._entry_under_cursor(), event.table.current_column
        if here is not None and column is not None and column.key == "dev" and any(run.status.dev for run in here.runs):
            self._open_pairs(here)
        elif here is not None and here.is_folded:
            self.opened.add(here.name)
            self.show_table(self.board)
        else:
            self.action_log()

    @work(group=DIALOG)
    async def _open_pairs(self, here: RunEntry) -> None:
        """Show the pairs that the dev score of a run is about, with its model and the reference."""
        run = here.runs[0].run
        name = run.name if here.is_folded or len([one for one in self.board.runs if one.run.name == run.name]) == 1 else run.id
        await open_model(self.dashboard, name, title=f"Runs: {here.name}", dataset=await to_thread(dev_dataset, run))

    # keys

    def action_reload(self) -> None:
        """Read the runs folder now."""
        self.look()

    def action_back(self) -> None:
        """End the search, go from the log to the curves, or clear the marks."""
        if self.maximized is not None:
            self.minimize()
        elif self.query_one(FilterBar).display:
            self.end_search()
        elif self.shows_log:
            self.action_log()
        elif self.marked:
            self.marked.clear()
            self.look()

    def action_freeze(self) -> None:
        """Stop or continue live updates."""
        self._is_frozen = not self._is_frozen
        self.look()

    def action_difference(self) -> None:
        """Show the differences between two runs."""
        from embedlab.tui.runs.difference import DifferenceScreen

        here = self._run_under_cursor()
        chosen = [run.run for run in self._chosen()]
        if len(chosen) == 1 and here is not None and here.run not in chosen:
            chosen.append(here.run)
        if len(chosen) == 2:
            self.app.push_screen(DifferenceScreen(*chosen))
        else:
            error = UsageError(f"{len(chosen)} runs are chosen, not two", hint=f"mark two with space, then press {shown_key('recipes')}")
            self.dashboard.report(error, severity="warning")

    @work(group=DIALOG)
    async def action_cancel(self) -> None:
        """Stop the run after it has saved a checkpoint."""
        run = self._one()
        if run is not None and await self.app.push_screen_wait(Confirm(f"Stop {run.run.id}? It saves a checkpoint first.")):
            self._do(lambda: launch.cancel_run(run.run), f"stopping {run.run.id}")

    @work(group=DIALOG)
    async def action_resume(self) -> None:
        """Resume an unfinished run in a separate process."""
        run = self._one()
        if run is None:
            return
        if not run.status.is_unfinished:
            self.dashboard.report(UsageError(f"run {run.run.id!r} is {run.status.state}: nothing to resume"), severity="warning")
        elif not run.run.recipe_file.exists():
            hint = f"press {shown_key('log')} to read why, 4 to start it again, {shown_key('delete')} to delete it"
            self.dashboard.report(
                UsageError(f"run {run.run.id!r} ended before its first step: nothing to resume", hint=hint), severity="warning"
            )
        elif await self.app.push_screen_wait(Confirm(f"Resume {run.run.id}?", is_safe=True)):
            arguments = ["runs", "resume", run.run.id, *shared_flags(self.dashboard.settings)]
            self._do(lambda: launch.start_run(arguments, run.run), f"resumed {run.run.id}")

    @work(group=DIALOG)
    async def action_rename(self) -> None:
        """Give the run with all its seeds another name."""
        board_run = self._one(of_all_seeds=True)
        if board_run is None:
            return
        folder, old = self.dashboard.settings.runs_folder, board_run.run.name
        question = TextDialog(
            f"New name of {old} with all its seeds", value=old, check=lambda name: name == old or free_folder(folder, name)
        )
        if (name := await self.app.push_screen_wait(question)) and name != old:
            self._taken_away |= {run for run in self.board.by_id() if run.partition("@")[0] == old}
            if self._do(lambda: rename_runs(folder, old, name), f"{old} is now {name}"):
                self.dashboard.rename_model(old, name)

    @work(group=DIALOG)
    async def action_delete(self) -> None:
        """Delete the marked runs, or the one under the cursor."""
        runs = [run.run for run in self._chosen()]
        if not runs:
            self._one()
            return
        names = ", ".join(run.id for run in runs)
        if await self.app.push_screen_wait(Confirm(f"Delete {names} with checkpoints, model and scores? This cannot be undone.")):
            self.marked.clear()
            self._taken_away |= {run.id for run in runs}
            self._delete(runs, names)

    @work(thread=True, group="delete", exit_on_error=False)
    def _delete(self, runs: list[RunFolder], names: str) -> None:
        try:
            remove_runs(runs)
        except EmbedlabError as error:
            self.app.call_from_thread(self.dashboard.report, error)
        except OSError as error:
            trouble = EmbedlabError(f"could not delete {names}: {error}", hint="check the folder's permissions")
            self.app.call_from_thread(self.dashboard.report, trouble)
        else:
            self.notify(f"deleted {names}", markup=False)
        self.app.call_from_thread(self.look)

    def action_evaluate(self) -> None:
        """Score the available pairs with the run's model."""
        if (run := self._one(of_all_seeds=True)) is not None:
            self.dashboard.score_model(run.run.name)

    def _do(self, work: Callable[[], object], done: str) -> bool:
        """Do something quick and report it, or report the error; returns whether it succeeded."""
        is_done = False
        try:
            work()
        except EmbedlabError as error:
            self.dashboard.report(error)
        except OSError as error:
            self.dashboard.report(
                EmbedlabError(f"this failed: {error}", hint=f"press {shown_key('reload')} to see the present state of the runs")
            )
        else:
            self.notify(done, markup=False)
            is_done = True
        self.look()
        return is_done


def _hint(run: BoardRun) -> str:
    """The next step of an unfinished run, on a line of its own."""
    hint = run.status.hint
    if not hint and run.status.state == "crashed":
        hint = f"{shown_key('resume')} resumes it, {shown_key('log')} shows its log"
    return f"\nhint: {hint}" if hint else ""
