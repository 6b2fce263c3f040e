"""A screen that starts processes, none of which belongs to the dashboard, and follows a started grid."""

import asyncio
from collections.abc import Mapping, Sequence

from textual import work

from embedlab.core.errors import EmbedlabError, ExitCode, UsageError
from embedlab.runs import launch
from embedlab.runs.store import RunFolder
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.dialogs import DIALOG, Confirm
from embedlab.tui.key_table import shown_key
from embedlab.tui.launch.form import STARTED, Choice, Launch, launch_or_error
from embedlab.tui.launch.grid_pane import GridPane
from embedlab.tui.pairs.selection import open_model
from embedlab.tui.widgets.heat_map import HeatMap
from embedlab.workflows.grid.plan import cancel_grid

ENDED_EVERY_S = 1.0


class StartingScreen(DashboardScreen):
    """Subclasses say what is started, and have a `GridPane`."""

    def __init__(self) -> None:
        super().__init__()
        self._started: list[tuple[str, launch.Detached]] = []  # by their titles, those that run

    def on_mount(self) -> None:
        self.set_interval(ENDED_EVERY_S, self._report_ended)

    def _refuse_start(self, reason: str, *, hint: str) -> None:
        self.dashboard.report(EmbedlabError(f"not started: {reason}", hint=hint), severity="warning")

    async def _is_confirmed(self, found: Launch) -> bool:
        try:
            await asyncio.to_thread(found.check)
        except EmbedlabError as error:
            self.dashboard.report(error)
            return False
        return await self.app.push_screen_wait(Confirm("\n".join([*found.missing, f"Start {found.title}?"]), is_safe=True))

    async def _start(self, choice: Choice, values: Mapping[str, str]) -> None:
        """Start CHOICE with VALUES, planned once more: its files and its runs may have changed while the question was open."""
        embedlab_error = await asyncio.to_thread(launch_or_error, choice, values, self.dashboard.settings)
        if isinstance(embedlab_error, EmbedlabError):
            self.dashboard.report(embedlab_error)
            return
        try:
            process = (
                launch.start_run(embedlab_error.arguments, embedlab_error.run)
                if embedlab_error.run
                else launch.start_detached(embedlab_error.arguments, embedlab_error.log)
            )
        except EmbedlabError as error:
            self.dashboard.report(error)
            return
        self._started.append((embedlab_error.title, process))
        self.notify("started in a process of its own; quitting does not end it")
        if embedlab_error.plan is not None:
            self.grids.follow(embedlab_error.plan.name)
        else:
            self._show_run(embedlab_error.run)

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

    # the started grid

    @property
    def grids(self) -> GridPane:
        """The pane of the started grid."""
        return self.query_one(GridPane)

    def offers(self, meaning: str) -> bool:
        """Stop or resume the started grid where it runs or is unfinished."""
        match meaning:
            case "stop":
                return self.grids.can_stop
            case "resume":
                return self.grids.can_resume
        return super().offers(meaning)

    def on_grid_pane_lost(self, event: GridPane.Lost) -> None:
        """Report why a grid cannot be read."""
        self.dashboard.report_once([event.error])

    def action_map(self) -> None:
        """Go to the cells of the grid."""
        if self._started_grid() is not None:
            self.set_focus(self.grids.query_one(HeatMap))

    def action_open(self) -> None:
        """From a cell of the map to its pairs, of a finished grid to the comparison of its cells; elsewhere a widget takes the key."""
        if isinstance(self.focused, HeatMap) and (runs := self.grids.runs):
            self._open_cell(runs)

    @work(group=DIALOG)
    async def _open_cell(self, runs: Sequence[str]) -> None:
        """Show the cell of RUNS: on Compare with the others of a finished grid, else its pairs, or its runs while it has no scores."""
        board, names, compared = self.dashboard, list(dict.fromkeys(run.partition("@")[0] for run in runs)), self.grids.compared
        under = [] if board.memory.state.task else await board.scored(names)
        if not under:
            self._show_runs(runs)
        elif len(compared) > 1:
            await board.take_models([*under, *(name for name in compared if name not in under)])
            board.set_reference(under[0])
            board.action_mode("compare")
        else:
            await open_model(board, under[0], title=f"Launch: {self.grids.grid} {under[0]}")

    def _show_runs(self, runs: Sequence[str]) -> None:
        """Go to Runs with these marked."""
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
        error = await asyncio.to_thread(launch_or_error, choice, {}, self.dashboard.settings)
        if isinstance(error, EmbedlabError):
            self.dashboard.report(error)
        elif await self._is_confirmed(error):
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
            self.notify(f"stopping {name}: {shown_key('resume')} resumes it", markup=False)

    def _started_grid(self) -> str | None:
        """The grid that is shown; warns the user if there is none."""
        name = self.grids.grid
        if name is None:
            error = UsageError("no grid was started here", hint="choose one in the list and press ctrl+s")
            self.dashboard.report(error, severity="warning")
        return name
