"""The progress of a grid, from its cells and their event files, and what is left of it: time from
the times of earlier grids, disk from the size of the encoders.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import Recipe, recipe_to_table
from embedlab.core.settings import Settings
from embedlab.experiments.cells import CellEntry, Cells, CellState
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.models.folder_files import weight_files
from embedlab.runs import events
from embedlab.runs.store import GRIDS, RunFolder

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
        return cls(seconds=seconds, measured=measured, cells=len(todo), sizes=_sizes(todo))

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
) -> tuple[dict[str, float] | None, str]:
    """Return the seconds of each cell in TODO by its id, and what they were measured on; None where
    a part of the work was never measured.
    """
    if not todo:
        return None, "nothing is left to do"
    if done:
        rows = sum(entry.cell.variant.rows for entry in done)
        spent_s = sum(entry.seconds for entry in done)
        scale = spent_s / rows if rows else 0.0
        per_cell = spent_s / len(done)
        return (
            {cell.id: cell.variant.rows * scale or per_cell for cell in todo},
            f"{len(done)} finished cells",
        )
    measured = measured_seconds(plan.place, {_encoder(cell) for cell in todo})
    if not measured or not all(cell.variant.rows for cell in todo):
        return None, "nothing measured yet"
    seconds: dict[str, float] = {}
    unknown = set()
    for cell in todo:
        encoder = _encoder(cell)
        amounts = {TRAINING: cell.variant.rows, START_UP: 1.0, **dict.fromkeys(cell.tasks, 1.0)}
        unknown |= {work for work in amounts if (encoder, work) not in measured}
        works = [measured.get((encoder, work), 0.0) * amount for work, amount in amounts.items()]
        seconds[cell.id] = sum(works)
    if unknown:
        return None, f"{' and '.join(sorted(unknown))} not measured yet"
    return seconds, "earlier cells of the same encoder"


def _encoder(cell: Cell) -> str:
    return str(cell.variant.recipe["encoder"]["model"])


def seconds_spent(run: RunFolder) -> float:
    """Return the seconds from start to end of a run that was not interrupted; 0 for others.

    The speed of its last steps is not enough: the stages of a recipe differ by far.
    """
    if not run.events_file.is_file():  # a model alone was copied
        return 0.0
    with run.events_file.open("rb") as file:
        first = events.from_line(file.readline())
    recent = events.tail(run.events_file)
    is_resumed = any(isinstance(event, events.Started) and event != first for event in recent)
    if (
        is_resumed
        or not isinstance(first, events.Started)
        or not isinstance(recent[-1], events.Finished)
    ):
        return 0.0
    return recent[-1].time - first.time


def _sizes(todo: Sequence[Cell]) -> list[int] | None:
    """Return the bytes of each model to come; None if an encoder is not on this disk."""
    size_by_folder: dict[Path, int] = {}
    for folder in {Path(_encoder(cell)) for cell in todo}:
        if not folder.is_dir():
            return None
        size_by_folder[folder] = sum(file.stat().st_size for file in weight_files(folder))
    return [size_by_folder[Path(_encoder(cell))] for cell in todo]


TRAINING = "training"  # a row of it
START_UP = "start-up"  # what a cell takes beside its training and its tasks
GRIDS_READ, CELLS_READ = 5, 20  # the newest grids, and cells of each


def measured_seconds(place: Settings, encoders: Collection[str]) -> Mapping[tuple[str, str], float]:
    """Return the mean seconds of a row of TRAINING, of the START_UP and of each task, by (encoder,
    work), from cells of earlier grids that started from one of ENCODERS.
    """
    timings: dict[tuple[str, str], list[float]] = {}
    for run, spent_s in _finished_cells(place.runs):
        with suppress(EmbedlabError, OSError):  # a damaged run says nothing of the time
            recipe = run.recipe()
            if (encoder := recipe.encoder.model) in encoders:
                for work, seconds in _of_run(run, recipe, place, spent_s).items():
                    timings.setdefault((encoder, work), []).append(seconds)
    return {key: fmean(values) for key, values in timings.items()}


def _finished_cells(runs: Path) -> Iterator[tuple[RunFolder, float]]:
    """Yield finished cells with the seconds that all their attempts took."""
    folders = [GridFolder(path).cells for path in (runs / GRIDS).glob("*")]
    folders = [folder for folder in folders if folder.is_dir()]
    folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[:GRIDS_READ]:
        for path in sorted(folder.glob("*@*.jsonl"))[-CELLS_READ:]:
            # a damaged log, or a copy of one under another name
            with suppress(EmbedlabError, OSError, ValueError):
                logged, _ = events.events_after(path)
                attempts = [event for event in logged if isinstance(event, events.Attempt)]
                seconds = sum(attempt.seconds for attempt in attempts)
                if seconds and attempts[-1].state == "done":
                    name, _, seed = path.stem.rpartition("@")
                    yield RunFolder.of(runs, name, int(seed)), seconds


def _of_run(run: RunFolder, recipe: Recipe, place: Settings, whole_s: float) -> Mapping[str, float]:
    """Return the seconds of a row of TRAINING, of each task, one after another from its end, and of
    the START_UP; nothing if they do not fit into the whole time.
    """
    from embedlab.experiments.planner import (
        stage_rows,
    )  # imports the readers of data, which a grid of finished cells does not need

    if not (trained_s := seconds_spent(run)):
        return {}
    rows = sum(stage_rows(stage, place) for stage in recipe_to_table(recipe)["stage"])
    task_ends = sorted(
        (path.stat().st_mtime, str(path.relative_to(run.evaluations)).removesuffix(".json"))
        for path in run.evaluations.rglob("*.json")
    )
    times = [events.tail(run.events_file)[-1].time, *(time for time, _ in task_ends)]
    start_up_s = whole_s - trained_s - (times[-1] - times[0])
    if times != sorted(times) or start_up_s < 0 or not rows:  # evaluated again since
        return {}
    tasks = {
        task: end_time - start_time
        for (_, task), (start_time, end_time) in zip(task_ends, pairwise(times), strict=True)
    }
    return {TRAINING: trained_s / rows, START_UP: start_up_s, **tasks}


@dataclass(frozen=True, kw_only=True)
class GridProgress:
    """A grid at one moment."""

    plan: GridPlan
    entries: tuple[CellEntry, ...]
    running: tuple[tuple[Cell, events.Curve], ...]
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

    def __init__(self, plan: GridPlan) -> None:
        self.plan, self._cells = plan, Cells(plan)
        self._curves: dict[str, events.Curve] = {}  # by the cell's id
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
        running = [(cell, self._curves.setdefault(cell.id, events.Curve())) for cell in cells]
        for cell, curve in running:
            curve.read_on(cell.run.events_file)
        spent_s = {
            name: time.time() - curve.started.time
            for name, curve in self._curves.items()
            if curve.started is not None
        }
        cost = self._times[1].cost(max(1, len(running)), spent_s)
        return GridProgress(plan=self.plan, entries=entries, running=tuple(running), cost=cost)
