"""The progress of a grid, from its cells and their event files, and what is left of it: time from
measured speeds and the times of earlier grids, disk from the size of the encoders.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import recipe_to_table
from embedlab.experiments.cells import CellEntry, Cells, CellState
from embedlab.experiments.plan import Cell, GridEnvironment, GridFolder, GridPlan
from embedlab.models.folder_files import weight_files
from embedlab.runs import events
from embedlab.runs.store import GRIDS, RunFolder, find_runs

LOOKS = 50  # maximum number of runs that are read for a speed
# copies of the weights: three checkpoints, the third while it is written, each with the two moments
# of AdamW
TRAINING_COPIES = 9


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The remaining work; None where no measurement exists."""

    cells: int
    seconds: float | None
    measured: str  # source of the time estimate
    disk_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class CellTimes:
    """The expected seconds of each unfinished cell, training and scoring; None where no measurement
    exists.
    """

    seconds: Mapping[str, float] | None  # by the cell's id
    measured: str
    cells: int
    sizes: Sequence[int] | None  # of the cells' models, in bytes

    @classmethod
    def of(cls, plan: GridPlan, entries: Sequence[CellEntry]) -> "CellTimes":
        """The times of the cells that ENTRIES have to do; failed, stopped and cancelled cells wait
        for a new start.
        """
        todo = [
            entry.cell for entry in entries if entry.state not in {"done", "failed", "cancelled"}
        ]
        done = [entry for entry in entries if entry.state == "done" and entry.seconds > 0]
        seconds, measured = _seconds(plan, todo, done)
        keys = [cell.id for cell in todo]
        return cls(
            seconds=dict(zip(keys, seconds, strict=True)) if seconds is not None else None,
            measured=measured,
            cells=len(todo),
            sizes=_sizes(todo),
        )

    def cost(self, workers: int, spent_s: Mapping[str, float] = MappingProxyType({})) -> Cost:
        """The cost with this many workers, less what was SPENT on cells that run."""
        remaining_s = None
        if self.seconds is not None:
            cell_seconds = [
                max(seconds - spent_s.get(key, 0.0), 0.0) for key, seconds in self.seconds.items()
            ]
            remaining_s = max(
                sum(cell_seconds) / min(workers, max(1, len(cell_seconds))),
                max(cell_seconds, default=0.0),
            )
        # The models to come, and the checkpoints of the cells that run.
        disk = (
            sum(self.sizes) + TRAINING_COPIES * workers * max(self.sizes, default=0)
            if self.sizes is not None
            else None
        )
        return Cost(
            cells=self.cells,
            seconds=remaining_s,
            measured=self.measured,
            disk_bytes=disk,
        )


def _seconds(
    plan: GridPlan, todo: Sequence[Cell], done: Sequence[CellEntry]
) -> tuple[list[float] | None, str]:
    """Return the seconds of each cell in TODO, and what they were measured on; None where a part of
    the work was never measured.
    """
    if not todo:
        return None, "nothing is left to do"
    if done:
        rows = sum(entry.cell.variant.rows for entry in done)
        spent_s = sum(entry.seconds for entry in done)
        scale = spent_s / rows if rows else 0.0
        per_cell = spent_s / len(done)
        return (
            [cell.variant.rows * scale or per_cell for cell in todo],
            f"{len(done)} finished cells",
        )
    encoders = {_encoder(cell) for cell in todo}
    speeds = _speeds(plan.place, encoders)
    if not encoders <= speeds.keys() or not all(cell.variant.rows for cell in todo):
        return None, "nothing measured yet"
    scoring = scoring_seconds(plan.place.runs_folder, encoders)
    cell_steps = [
        (cell, [(_encoder(cell), task) for task in (START_UP, *cell.tasks)]) for cell in todo
    ]
    if unknown := {step[1] for _, steps in cell_steps for step in steps if step not in scoring}:
        return None, f"{' and '.join(sorted(unknown))} not measured yet"
    seconds = [
        cell.variant.rows / speeds[_encoder(cell)] + sum(scoring[step] for step in steps)
        for cell, steps in cell_steps
    ]
    return seconds, "other runs of the same encoder"


def _encoder(cell: Cell) -> str:
    return str(cell.variant.recipe["encoder"]["model"])


def _speeds(place: GridEnvironment, encoders: Collection[str]) -> dict[str, float]:
    """Return the rows per second of the newest finished runs that started from one of ENCODERS."""
    from embedlab.experiments.planner import (
        stage_rows,
    )  # imports the readers of data, which a grid of finished cells does not need

    rows: dict[str, float] = {}
    seconds: dict[str, float] = {}
    newest = sorted(
        find_runs(place.runs_folder), key=lambda run: run.path.stat().st_mtime, reverse=True
    )
    for run in newest[:LOOKS]:
        try:
            spent_s = seconds_spent(run)
            if spent_s > 0 and (encoder := (recipe := run.recipe()).encoder.model) in encoders:
                rows[encoder] = rows.get(encoder, 0.0) + sum(
                    stage_rows(stage, place) for stage in recipe_to_table(recipe)["stage"]
                )
                seconds[encoder] = seconds.get(encoder, 0.0) + spent_s
        except (
            EmbedlabError,
            OSError,
        ):  # a damaged run has no speed, and must not stop the estimate
            continue
    return {
        encoder: read_rows / seconds[encoder] for encoder, read_rows in rows.items() if read_rows
    }


def seconds_spent(run: RunFolder) -> float:
    """Return the seconds from start to end of a run that was not interrupted; 0 for others.

    The speed of its last steps is not enough: the stages of a recipe differ by far.
    """
    first, recent = _first_and_recent(run)
    is_resumed = any(isinstance(event, events.Started) and event != first for event in recent)
    if (
        is_resumed
        or not isinstance(first, events.Started)
        or not isinstance(recent[-1], events.Finished)
    ):
        return 0.0
    return recent[-1].time - first.time


def _first_and_recent(run: RunFolder) -> tuple[events.Event | None, list[events.Event]]:
    with run.events_file.open("rb") as file:
        first = events.from_line(file.readline())
    return first, events.tail(run.events_file)


def _sizes(todo: Sequence[Cell]) -> list[int] | None:
    """Return the bytes of each model to come; None if an encoder is not on this disk."""
    size_by_folder: dict[Path, int] = {}
    for folder in {Path(_encoder(cell)) for cell in todo}:
        if not folder.is_dir():
            return None
        size_by_folder[folder] = sum(file.stat().st_size for file in weight_files(folder))
    return [size_by_folder[Path(_encoder(cell))] for cell in todo]


START_UP = "start-up"  # what a cell takes beside its training and its tasks
GRIDS_READ, CELLS_READ = 5, 20  # the newest grids, and cells of each


def scoring_seconds(runs: Path, encoders: Collection[str]) -> Mapping[tuple[str, str], float]:
    """Return the mean seconds of each task, and of the START_UP, by (encoder, task), from cells of
    grids in RUNS that started from one of ENCODERS.
    """
    timings: dict[tuple[str, str], list[float]] = {}
    for run, spent_s in _finished_cells(runs):
        with suppress(EmbedlabError, OSError):  # a damaged run says nothing of the time
            if (encoder := run.recipe().encoder.model) in encoders:
                for task, seconds in _of_run(run, spent_s).items():
                    timings.setdefault((encoder, task), []).append(seconds)
    return {key: fmean(values) for key, values in timings.items()}


def _finished_cells(runs: Path) -> Iterator[tuple[RunFolder, float]]:
    """Yield finished cells with the seconds that all their attempts took."""
    grids = [grid for path in (runs / GRIDS).glob("*") if (grid := GridFolder(path)).cells.is_dir()]
    grids.sort(key=lambda grid: grid.cells.stat().st_mtime, reverse=True)
    for grid in grids[:GRIDS_READ]:
        for path in sorted(grid.cells.glob("*@*.jsonl"))[-CELLS_READ:]:
            with suppress(EmbedlabError, OSError):
                logged, _ = events.events_after(path)
                attempts = [event for event in logged if isinstance(event, events.Attempt)]
                seconds = sum(attempt.seconds for attempt in attempts)
                if seconds and attempts[-1].state == "done":
                    name, _, seed = path.stem.rpartition("@")
                    yield RunFolder.of(runs, name, int(seed)), seconds


def _of_run(run: RunFolder, whole_s: float) -> Mapping[str, float]:
    """Return the seconds of each task, one after another from the end of the training, and what
    else the cell took; nothing if they do not fit into the whole time.
    """
    first, recent = _first_and_recent(run)
    if first is None or not recent or not isinstance(recent[-1], events.Finished):
        return {}
    trained_s = recent[-1].time
    task_ends = sorted(
        (path.stat().st_mtime, str(path.relative_to(run.evaluations)).removesuffix(".json"))
        for path in run.evaluations.rglob("*.json")
    )
    times = [trained_s, *(time for time, _ in task_ends)]
    start_up_s = whole_s - (times[-1] - first.time)
    if times != sorted(times) or start_up_s < 0:  # evaluated again since, or resumed
        return {}
    return {START_UP: start_up_s} | {
        task: end_time - start_time
        for (_, task), (start_time, end_time) in zip(task_ends, pairwise(times), strict=True)
    }


CURVE = 400  # newest points of a curve in memory


@dataclass(kw_only=True)
class CellProgress:
    """A cell, and what was read of its run's events so far."""

    cell: Cell
    step: events.Step | None = None
    losses: list[float] = field(default_factory=list)
    dev: list[float] = field(default_factory=list)
    started_s: float | None = None  # by its newest process, seconds since 1970
    trained_s: float | None = None  # when its training ended
    offset: int = 0

    @property
    def scored(self) -> int:
        """Return how many of its tasks it is evaluated on."""
        return len(self.cell.tasks) - len(self.cell.unscored)

    def read(self) -> None:
        """Read the events since the last look."""
        try:
            new_events, self.offset = events.events_after(self.cell.run.events_file, self.offset)
        except FileNotFoundError:
            return
        for event in new_events:
            if isinstance(event, events.Started):
                self.started_s, self.trained_s = event.time, None
            elif isinstance(event, events.Finished):
                self.trained_s = event.time
            elif isinstance(event, events.Step):
                self.step = event
                self.losses.append(event.loss)
            elif isinstance(event, events.Progress) and self.step is not None:
                self.step = replace(self.step, step=event.step, eta_s=event.eta_s)
            elif isinstance(event, events.Dev):
                self.dev.append(event.score)
        del self.losses[:-CURVE], self.dev[:-CURVE]


@dataclass(frozen=True, kw_only=True)
class GridProgress:
    """A grid at one moment."""

    plan: GridPlan
    entries: tuple[CellEntry, ...]
    running: tuple[CellProgress, ...]
    cost: Cost  # of what is left

    @property
    def counts(self) -> Mapping[CellState, int]:
        """Return the number of cells by state."""
        return Counter(entry.state for entry in self.entries)

    @property
    def ended(self) -> int:
        """The number of cells that will not run again."""
        return sum(entry.state in {"done", "failed", "cancelled"} for entry in self.entries)

    @property
    def failed(self) -> list[CellEntry]:
        """Return the cells that failed finally."""
        return [entry for entry in self.entries if entry.state == "failed"]


class GridFollower:
    """Follows a grid: each look reads only new events."""

    def __init__(self, folder: GridFolder) -> None:
        self.plan = GridPlan.load(folder.plan_file)
        self._cells = Cells(self.plan, folder)
        self._followed: dict[str, CellProgress] = {}  # by the cell's id
        self._times: tuple[tuple[int, int], CellTimes] | None = None

    def look(self) -> GridProgress:
        """Return the grid's progress now."""
        entries = tuple(self._cells.entries())
        cells = [entry.cell for entry in entries if entry.state == "running"]
        state = (
            sum(entry.state not in {"waiting", "running"} for entry in entries),
            len(cells),
        )
        if (
            self._times is None or self._times[0] != state
        ):  # a cell's time changes only when a cell begins or ends
            self._times = state, CellTimes.of(self.plan, entries)
        running = [self._followed.setdefault(cell.id, CellProgress(cell=cell)) for cell in cells]
        for progress in running:
            progress.read()
        spent_s = {
            name: time.time() - progress.started_s
            for name, progress in self._followed.items()
            if progress.started_s is not None
        }
        cost = self._times[1].cost(max(1, len(running)), spent_s)
        return GridProgress(plan=self.plan, entries=entries, running=tuple(running), cost=cost)
