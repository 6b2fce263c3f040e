"""A planned grid run, with a board of what is at work; one of its cells run alone."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from embedlab.commands.grid_plan import (
    GridEstimate,
    GridOptions,
    PlannedGrid,
    check_variants,
    estimate,
    plan_grid,
    start_of,
)
from embedlab.commands.terminal import Terminal, Visible
from embedlab.commands.training_plan import build_tiny_encoder
from embedlab.core.interrupts import stop_requests
from embedlab.core.printable import duration, one_line, sparkline
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.experiments.cells import CellEntry, hold_plan, hold_plan_lock, store_plan
from embedlab.experiments.executors.executor import Executor, LocalTasks, run_cells
from embedlab.experiments.executors.ray import ray_tasks
from embedlab.experiments.executors.slurm import SlurmTasks, is_slurm
from embedlab.experiments.grid_file import grid_names
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.experiments.progress import GridFollower, GridProgress
from embedlab.experiments.single_cell import run_cell
from embedlab.reports.grids import states_line
from embedlab.runs.events import Curve


def planned_grid(options: GridOptions, settings: Settings) -> PlannedGrid:
    """Return the plan of a grid; the encoder of the generated corpora is built before, since it
    decides the names of the runs.
    """
    if options.grid in grid_names() or options.grid.endswith(".toml"):
        build_tiny_encoder(start_of(options, settings), settings)
    return plan_grid(options, settings)


def run_grid(planned: PlannedGrid, session: Session) -> GridProgress:
    """Run the cells that are not done, and return all as they ended; a board shows them
    meanwhile.
    """
    with hold_plan(planned.plan):
        follower = GridFollower(planned.plan)
        expected = estimate(planned, follower.look().entries)
        session.note(expected.text)
        if expected.cost.cells:
            _check_cells(planned, follower.look().entries, session)
            board = _open_board(planned.plan.name, session)
            with board as show, stop_requests() as stop:
                run_cells(
                    planned.plan,
                    _executor(planned, expected),
                    show=lambda: show(follower.look()),
                    is_stopping=lambda: stop.signal is not None,
                )
        return follower.look()


def run_one_cell(planned: PlannedGrid, number: int, session: Session) -> None:
    """Run the cell of this NUMBER alone, as one task of a job array does."""
    plan = planned.plan
    cell = plan.cell(number)
    session.note(f"cell {number} of {len(plan)}: {cell.id}, log {cell.run.log_file}")
    with hold_plan_lock(plan.folder):
        store_plan(plan)
    run_cell(plan, number)
    session.note(f"cell {number} is done")


def look_at_grid(name: str, settings: Settings) -> GridProgress:
    """Return a started grid as it is now."""
    return GridFollower(GridPlan.find(settings.runs, name)).look()


def _check_cells(planned: PlannedGrid, entries: Sequence[CellEntry], session: Session) -> None:
    """Check what the cells that are not done need, unless it is on the machines of a cluster."""
    if planned.run_options.cluster is None:
        unfinished_runs = {entry.cell.variant.run for entry in entries if entry.state != "done"}
        variants = [variant for variant in planned.plan.variants if variant.run in unfinished_runs]
        for error in check_variants(variants, planned.plan.seeds[0], session.settings):
            session.report(error)


def _executor(
    planned: PlannedGrid, expected: GridEstimate
) -> AbstractContextManager[Executor[Any]]:
    """Return what runs the cells: this machine, Slurm or a Ray cluster."""
    plan, options = planned.plan, planned.run_options
    if options.cluster is None:
        return LocalTasks(plan, expected.at_once, gpus=expected.gpus)
    if is_slurm(options.cluster):
        return SlurmTasks(plan, options.cluster, at_once=options.workers)
    return ray_tasks(plan, options.cluster, at_once=options.workers)


CURVE_WIDTH = 24
FAILURES = 5  # the newest that are shown
REFRESHES_PER_S = 4


@contextmanager
def _open_board(name: str, session: Session) -> Iterator[Callable[[GridProgress], None]]:
    """Yield what shows a grid: a live board on a terminal, elsewhere what the session shows of any
    progress.
    """
    is_typed = isinstance(session, Terminal) and not session.settings.quiet
    if is_typed and sys.stderr.isatty():
        with Live(
            console=Console(stderr=True), refresh_per_second=REFRESHES_PER_S, transient=True
        ) as live:
            yield lambda progress: live.update(Visible(render(progress)))
    else:
        with session.progress(name) as tick:
            yield lambda progress: tick(
                progress.ended, len(progress.entries), states_line(progress)
            )


def render(progress: "GridProgress") -> "RenderableType":
    """The board: a bar of the whole grid, a line a running cell, the newest failures."""
    table = Table(box=None, pad_edge=False)
    for title in ("cell", *progress.plan.axes, "seed", "step", "loss", "", "dev", ""):
        table.add_column(title, no_wrap=True)
    for cell, curve in progress.running:
        table.add_row(*_row(cell, curve, list(progress.plan.axes)))
    failures = [
        f"cell {entry.cell.number} failed: {one_line(entry.reason)}"
        for entry in progress.failed[-FAILURES:]
    ]
    bar = ProgressBar(total=max(1, len(progress.entries)), completed=progress.ended, width=60)
    return Group(
        Text(f"{progress.plan.name}: {states_line(progress)}", style="bold"),
        # A bar alone does not end its line, on which the header would follow.
        Padding(bar, 0),
        table,
        *(Text(text, "red", overflow="ellipsis", no_wrap=True) for text in failures),
    )


def _stage(cell: Cell, curve: Curve) -> str:
    """How far a cell is: its step, or the task that is scored and for how long."""
    if curve.finished is not None:
        waited = duration(max(0.0, time.time() - curve.finished.time))
        scored = len(cell.tasks) - len(cell.unscored)
        return f"scoring {min(scored + 1, len(cell.tasks))}/{len(cell.tasks)} {waited}"
    return f"{curve.newest.step}/{curve.newest.steps}" if curve.newest else "starting"


def _row(cell: Cell, curve: Curve, axes: Sequence[str]) -> list[str]:
    losses, dev_scores = [*curve.losses.values()], [*curve.dev_scores.values()]
    return [
        str(cell.number),
        *(escape(one_line(cell.variant.labels.get(axis, ""))) for axis in axes),
        str(cell.seed),
        _stage(cell, curve),
        f"{curve.newest.loss:.4f}" if curve.newest else "",
        sparkline(losses, CURVE_WIDTH),
        f"{dev_scores[-1]:.2f}" if dev_scores else "",
        sparkline(dev_scores, CURVE_WIDTH),
    ]
