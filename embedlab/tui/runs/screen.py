"""The Runs screen: the status of every run, the curves of the marked runs, and the actions on
them.
"""

from asyncio import to_thread
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.models.catalog import refuse_other_meaning
from embedlab.runs import launch
from embedlab.runs.curves import Curve
from embedlab.runs.launch import shared_flags
from embedlab.runs.store import RunFolder, free_folder, remove_runs, rename_runs
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.pairs.selection import open_model
from embedlab.tui.runs.board import Board, BoardRun, RunFollower, dev_dataset, states
from embedlab.tui.runs.curves import Curves, log_tail
from embedlab.tui.runs.entries import RunEntry
from embedlab.tui.runs.model import Log, RunsModel, rest_of, to_compare
from embedlab.tui.runs.panes import RunPanes
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

LOOK_EVERY_S = 1.0
CURVES_SHOWN = 30  # runs, each seed counted


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of the runs folder at one moment."""

    board: Board
    curves: dict[str, Curve]
    log: Log


class RunsScreen(DashboardScreen):
    """Follow runs, which are separate processes."""

    SCOPE: ClassVar[KeyScope] = "runs"
    BINDINGS: ClassVar[list[BindingType]] = bindings("runs")

    def __init__(self) -> None:
        super().__init__()
        self.model = RunsModel()
        self._follower: RunFollower | None = None
        self._curves = Curves()
        self._is_frozen = False
        self._is_looking = False
        self._is_wanted = False  # for a key
        self._rest: object = None  # of what is shown
        self._looks_again = False  # something changed during an update
        self._followed: str | None = None  # the run whose curves and log are shown

    def compose_body(self) -> ComposeResult:
        """Yield status, filter, table and panes."""
        yield SteadyText("reading runs", id="runs-status", classes="status", markup=False)
        yield FilterBar("search: words of a name, an objective or a state")
        yield FrameTable(id="runs-table")
        yield SteadyText("", id="run-note", markup=False)
        yield RunPanes(id="run-panes")
        yield SteadyText("", id="no-runs", classes="empty", markup=False)

    def on_mount(self) -> None:
        """Follow the runs from now on."""
        self._follower = RunFollower(self.dashboard.settings.runs)
        self.query_one("#no-runs").display = self.query_one(FilterBar).display = False
        self.set_focus(self.query_one(FrameTable))
        self.look()
        self.set_interval(LOOK_EVERY_S, self._look_again)

    @property
    def panes(self) -> RunPanes:
        """The curves and the log below the table."""
        return self.query_one(RunPanes)

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
        """Start an update; one that is not WANTED for a key shows nothing where nothing has
        changed.
        """
        self._is_looking, self._is_wanted = True, wanted
        self._look([run.run for run in self._chosen()][:CURVES_SHOWN])

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, runs: list[RunFolder]) -> None:
        assert self._follower is not None
        board = self._follower.look()
        runs = (
            runs
            or [run.run for run in board.runs if run.run.name == board.runs[0].run.name][
                :CURVES_SHOWN
            ]
        )
        log = (runs[0].id, log_tail(runs[0])) if runs and self.panes.shows_log else ("", [])
        look = Look(board=board, curves=self._curves.read(runs), log=log)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, look)

    def _show(self, look: Look) -> None:
        self._is_looking = False
        rest = rest_of(look.board, look.curves, look.log)
        if (
            rest is not None
            and rest == self._rest
            and not self._is_wanted
            and not self._looks_again
        ):
            return
        self._rest = rest
        self.dashboard.report_once(
            [*look.board.troubles, *self.model.lost(self._entry_under_cursor(), look.board)]
        )
        self.show_table(look.board)
        self._show_emptiness(is_empty=not look.board.runs and not look.board.unreadable)
        self._show_note()
        self.panes.show(look.board, look.curves, look.log)
        self.refresh_bindings()
        if self._looks_again:
            self.look()

    def show_table(self, board: Board) -> None:
        """Show the runs of BOARD that the search leaves, folded or not; the cursor stays on its
        run.
        """
        table, model, before = self.query_one(FrameTable), self.model, self._entry_under_cursor()
        model.take(board)
        frame, columns = model.frame(), board.columns(self.size.width - 1)
        if not self.is_sortable(model.order[0] if model.order else None, columns):
            model.order = None
        order, by = model.sorted_rows(frame, columns), model.order or (None, False)
        table.marks = model.marked_rows
        table.show(
            frame,
            order,
            columns,
            sorted_by=by[0],
            is_descending=by[1],
            stay_on=model.row_to_go_to(frame, before),
        )
        table.take_height(self.size.height // 2)
        frozen = f"frozen: {shown_key('freeze')} continues" if self._is_frozen else ""
        parts = [
            str(self.dashboard.settings.runs),
            states(board),
            model.searched_count,
            frozen,
        ]
        self.query_one("#runs-status", Static).update("   ".join(part for part in parts if part))

    def _show_emptiness(self, *, is_empty: bool) -> None:
        empty = self.query_one("#no-runs", Static)
        empty.display = is_empty
        for selector in ("#runs-table", "#run-panes"):
            self.query_one(selector).display = not is_empty
        self.settle_focus(self.query_one(FrameTable))
        empty.update(
            f"no runs in {self.dashboard.settings.runs}\n\npress 4 to start one,\nor "
            f"type: embedlab train RECIPE"
        )

    def _show_note(self) -> None:
        """Show the full message of the run under the cursor: its column shows only the
        beginning.
        """
        here, line = self._run_under_cursor(), self.query_one("#run-note", Static)
        text = self.model.note_of(here) if here is not None else ""
        hint = _hint(here) if here is not None else ""
        shown = f"{here.run.id}: {text}{hint}" if here is not None and text else ""
        line.display = bool(shown)
        line.update(plain(shown))

    def go_to_all(self, runs: Sequence[str]) -> None:
        """Put the cursor on the first of these RUNS as soon as the table shows it, and mark
        several; they are ids.
        """
        self.model.marked = set(runs) if len(runs) > 1 else set()
        self.model.wanted = runs[0]
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
                return bool(self.model.entries)
        return super().offers(meaning)

    # the selected runs

    def _entry_under_cursor(self) -> RunEntry | None:
        return self.model.entry(self.query_one(FrameTable).current_row)

    def _run_under_cursor(self) -> BoardRun | None:
        return self.model.run_of(self._entry_under_cursor())

    def _chosen(self) -> list[BoardRun]:
        """The marked runs, or those of the row under the cursor."""
        return self.model.chosen(self._entry_under_cursor())

    def _one(self, *, of_all_seeds: bool = False) -> BoardRun | None:
        """The run under the cursor; warns the user if there is none, or several that are folded and
        of which one is meant.
        """
        run, here = self._run_under_cursor(), self._entry_under_cursor()
        if run is None:
            self.dashboard.report(
                UsageError("no run is under the cursor", hint="press 4 to start one"),
                severity="warning",
            )
        elif here is not None and here.is_folded and not of_all_seeds:
            error = UsageError(
                f"{here.name!r} has {len(here.runs)} seeds",
                hint="press enter to show them, then choose one",
            )
            self.dashboard.report(error, severity="warning")
            return None
        return run

    # messages of the table

    def on_frame_table_row_reached(self) -> None:
        """Show the run under the cursor unless runs are marked."""
        here = self._entry_under_cursor()
        self._show_note()
        self.refresh_bindings()
        if not self.model.marked and here is not None and here.name != self._followed:
            self._followed = here.name
            self.look()

    def on_frame_table_mark_requested(self, event: FrameTable.MarkRequested) -> None:
        """Mark a run, or all folded seeds, for the plot and the difference."""
        if self.model.toggle_mark(event.row):
            event.table.show_marks(event.table.marks ^ {event.row})
            self.look()

    def on_frame_table_sort_requested(self, event: FrameTable.SortRequested) -> None:
        """Sort by a column, then in reverse, then not at all."""
        self.model.sort_by(event.key)
        self.look()

    def on_frame_table_row_opened(self, event: FrameTable.RowOpened) -> None:
        """Show the pairs behind a dev score; elsewhere in the row show folded seeds, or open the
        run's log.
        """
        here, column = self._entry_under_cursor(), event.table.current_column
        if (
            here is not None
            and column is not None
            and column.key == "dev"
            and any(run.status.dev for run in here.runs)
        ):
            self._open_pairs(here)
        elif here is not None and here.is_folded:
            self.model.unfolded.add(here.name)
            self.show_table(self.model.board)
        else:
            self.action_log()

    @work(group=DIALOG)
    async def _open_pairs(self, here: RunEntry) -> None:
        """Show the pairs that the dev score of a run is about, with its model and the reference."""
        dataset = await to_thread(dev_dataset, here.runs[0].run)
        await open_model(
            self.dashboard, self.model.model_name(here), title=f"Runs: {here.name}", dataset=dataset
        )

    # messages of the search

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Search after each key."""
        self.model.searched = event.query
        self.show_table(self.model.board)

    def on_filter_bar_left(self) -> None:
        """Go from the search to the table; an empty search disappears."""
        self.query_one(FilterBar).display = bool(self.model.searched)
        self.set_focus(self.query_one(FrameTable))

    # keys

    def action_reload(self) -> None:
        """Read the runs folder now."""
        self.look()

    def action_search(self) -> None:
        """Search the runs."""
        bar = self.query_one(FilterBar)
        bar.display = True
        self.set_focus(bar)

    def action_fold(self) -> None:
        """Fold the seeds of each run into one row, or show each."""
        self.model.fold()
        self.show_table(self.model.board)

    def action_log(self) -> None:
        """Switch between log and curves."""
        self.panes.switch_log()
        self.look()

    def action_log_axis(self) -> None:
        """Draw the loss on a logarithmic axis, or on a linear one."""
        self.panes.switch_axis()

    def action_smooth(self) -> None:
        """Smooth the curves a little, much, or not."""
        self.panes.smooth()

    def action_seed_dots(self) -> None:
        """Show the points of each seed, or the range of the seeds alone."""
        self.panes.switch_seeds()

    def action_back(self) -> None:
        """End the search, go from the log to the curves, or clear the marks."""
        if self.maximized is not None:
            self.minimize()
        elif (bar := self.query_one(FilterBar)).display:
            bar.value, bar.display = "", False
            self.set_focus(self.query_one(FrameTable))
        elif self.panes.shows_log:
            self.action_log()
        elif self.model.marked:
            self.model.marked.clear()
            self.look()

    def action_freeze(self) -> None:
        """Stop or continue live updates."""
        self._is_frozen = not self._is_frozen
        self.look()

    def action_difference(self) -> None:
        """Show the differences between two runs."""
        from embedlab.tui.runs.difference import DifferenceScreen

        chosen = to_compare(self._chosen(), self._run_under_cursor())
        if len(chosen) == 2:
            self.app.push_screen(DifferenceScreen(*chosen))
        else:
            error = UsageError(
                f"{len(chosen)} runs are chosen, not two",
                hint=f"mark two with space, then press {shown_key('recipes')}",
            )
            self.dashboard.report(error, severity="warning")

    @work(group=DIALOG)
    async def action_cancel(self) -> None:
        """Stop the run after it has saved a checkpoint."""
        run = self._one()
        if run is not None and await self.app.push_screen_wait(
            Confirm(f"Stop {run.run.id}? It saves a checkpoint first.")
        ):
            self._do(lambda: launch.cancel_run(run.run), f"stopping {run.run.id}")

    @work(group=DIALOG)
    async def action_resume(self) -> None:
        """Resume an unfinished run in a separate process."""
        run = self._one()
        if run is None:
            return
        if not run.status.is_unfinished:
            self.dashboard.report(
                UsageError(f"run {run.run.id!r} is {run.status.state}: nothing to resume"),
                severity="warning",
            )
        elif not run.run.recipe_file.exists():
            hint = (
                f"press {shown_key('log')} to read why, 4 to start it again, "
                f"{shown_key('delete')} to delete it"
            )
            self.dashboard.report(
                UsageError(
                    f"run {run.run.id!r} ended before its first step: nothing to resume", hint=hint
                ),
                severity="warning",
            )
        elif await self.app.push_screen_wait(Confirm(f"Resume {run.run.id}?", is_safe=True)):
            arguments = ["runs", "resume", run.run.id, *shared_flags(self.dashboard.settings)]
            self._do(lambda: launch.start_run(arguments, run.run), f"resumed {run.run.id}")

    @work(group=DIALOG)
    async def action_rename(self) -> None:
        """Give the run with all its seeds another name."""
        run = self._one(of_all_seeds=True)
        if run is None:
            return
        folder, old = self.dashboard.settings.runs, run.run.name

        def refuse_taken(name: str) -> None:
            if name != old:
                refuse_other_meaning(name)
                free_folder(folder, name)

        question = TextDialog(
            f"New name of {old} with all its seeds",
            value=old,
            check=refuse_taken,
        )
        if (name := await self.app.push_screen_wait(question)) and name != old:
            self.model.take_away(
                {run for run in self.model.board.by_id() if run.partition("@")[0] == old}
            )
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
        if await self.app.push_screen_wait(
            Confirm(f"Delete {names} with checkpoints, model and scores? This cannot be undone.")
        ):
            self.model.marked.clear()
            self.model.take_away({run.id for run in runs})
            self._delete(runs, names)

    @work(thread=True, group="delete", exit_on_error=False)
    def _delete(self, runs: list[RunFolder], names: str) -> None:
        try:
            remove_runs(runs)
        except EmbedlabError as error:
            self.app.call_from_thread(self.dashboard.report, error)
        except OSError as error:
            trouble = EmbedlabError(
                f"could not delete {names}: {error}", hint="check the folder's permissions"
            )
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
                EmbedlabError(
                    f"this failed: {error}",
                    hint=f"press {shown_key('reload')} to see the present state of the runs",
                )
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
