"""A planned grid run, one of its cells run alone, or all its processes stopped."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass

from embedlab.core.settings import Settings
from embedlab.experiments.executors.executor import Executor, run_cells
from embedlab.experiments.executors.local import LocalWorkers
from embedlab.experiments.executors.ray import ray_tasks
from embedlab.experiments.executors.slurm import is_slurm, slurm_tasks
from embedlab.experiments.grid_file import grid_names
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.experiments.preparation import alone, started, store_plan
from embedlab.experiments.progress import GridFollower, GridProgress
from embedlab.experiments.queue import QueueEntry
from embedlab.experiments.single_cell import run_cell
from embedlab.training.signals import stop_requests
from embedlab.workflows.grid.checks import check_variant_rows, check_variants
from embedlab.workflows.grid.plan import GridEstimate, PlannedGrid, estimate, plan_grid, start_of
from embedlab.workflows.options.grid import GridOptions
from embedlab.workflows.session import Session
from embedlab.workflows.tiny_encoder import build_tiny_encoder

ShowGrid = Callable[[GridProgress], None]
"""Replaces what was shown of a grid before."""

Board = Callable[[str], AbstractContextManager[ShowGrid]]
"""Shows the grid of this name while its cells run."""


@dataclass(frozen=True, kw_only=True)
class GridResult:
    """How the cells of a grid ended."""

    plan: GridPlan
    entries: tuple[QueueEntry, ...]

    @property
    def has_failed(self) -> bool:
        """Whether a cell failed."""
        return any(entry.state == "failed" for entry in self.entries)


def planned_grid(options: GridOptions, settings: Settings) -> PlannedGrid:
    """Return the plan of a grid; the encoder of the generated corpora is built before, since it
    decides the names of the runs.
    """
    if options.grid in grid_names() or options.grid.endswith(".toml"):
        build_tiny_encoder(start_of(options, settings), settings)
    return plan_grid(options, settings)


def run_grid(planned: PlannedGrid, session: Session, board: Board | None = None) -> GridResult:
    """Run the cells that are not done, and return all as they ended; BOARD shows them meanwhile."""
    with (
        started(planned.plan, planned.folder),
        closing(GridFollower(planned.folder)) as follower,
    ):
        expected = estimate(planned, follower.look().entries)
        session.note(expected.text)
        if expected.cost.cells:
            _check_cells(planned, follower.look().entries, session)
            with (board or _plain_board(session))(planned.plan.name) as show:
                _run_cells(planned, expected, lambda: show(follower.look()))
        return GridResult(plan=planned.plan, entries=follower.look().entries)


def run_one_cell(planned: PlannedGrid, number: int, session: Session) -> Cell:
    """Run the cell of this NUMBER alone, as one task of a job array does."""
    plan, folder = planned.plan, planned.folder
    cell = plan.cell(number)
    session.note(f"cell {number} of {len(plan)}: {cell.id}, log {plan.run(cell).log_file}")
    with alone(folder):
        store_plan(plan, folder)
    run_cell(plan, folder, number)
    session.note(f"cell {number} is done")
    return cell


def look_at_grid(name: str, settings: Settings) -> GridProgress:
    """Return a started grid as it is now."""
    with closing(GridFollower(GridFolder.find(settings.runs, name))) as follower:
        return follower.look()


def _check_cells(planned: PlannedGrid, entries: Sequence[QueueEntry], session: Session) -> None:
    """Check what the cells that are not done need, unless it is on the machines of a cluster."""
    if planned.hands.cluster is None:
        todo = {entry.run for entry in entries if entry.state != "done"}
        for error in check_variants(
            [variant for variant in planned.plan.variants if variant.run in todo], session.settings
        ):
            session.report(error)
        check_variant_rows(planned.plan, session.settings)


def _run_cells(planned: PlannedGrid, expected: GridEstimate, look: Callable[[], None]) -> None:
    with stop_requests() as stop:

        def is_stopping() -> bool:
            return stop.signal is not None

        run_cells(
            planned.plan,
            planned.folder,
            _executor(planned, expected),
            show=look,
            is_stopping=is_stopping,
        )


def _executor(planned: PlannedGrid, expected: GridEstimate) -> AbstractContextManager[Executor]:
    """Return what runs the cells: this machine, Slurm or a Ray cluster."""
    plan, folder, hands = planned.plan, planned.folder, planned.hands
    if hands.cluster is None:
        return LocalWorkers(folder, expected.at_once, gpus=expected.gpus)
    if is_slurm(hands.cluster):
        return slurm_tasks(plan, folder, hands.cluster, at_once=hands.workers)
    return ray_tasks(plan, folder, hands.cluster, at_once=hands.workers)


def _plain_board(session: Session) -> Board:
    """The board of a session that has none of its own: how many cells have ended."""

    @contextmanager
    def board(name: str) -> Iterator[ShowGrid]:
        with session.progress(name) as tick:
            yield lambda progress: tick(progress.ended, len(progress.entries))

    return board
