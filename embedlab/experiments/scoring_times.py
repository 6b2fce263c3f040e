"""How long the cells of earlier grids took to start, and tasks to score them: by the times of their
files, within what their attempts took.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from embedlab.core.errors import EmbedlabError
from embedlab.experiments.plan import GridFolder
from embedlab.runs import events
from embedlab.runs.store import GRIDS, RunFolder

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
                attempts = [
                    e for e in events.events_after(path)[0] if isinstance(e, events.Attempt)
                ]
                seconds = sum(attempt.seconds for attempt in attempts)
                if seconds and attempts[-1].state == "done":
                    name, _, seed = path.stem.rpartition("@")
                    yield RunFolder.of(runs, name, int(seed)), seconds


def _of_run(run: RunFolder, whole_s: float) -> Mapping[str, float]:
    """Return the seconds of each task, one after another from the end of the training, and what
    else the cell took; nothing if they do not fit into the whole time.
    """
    with run.events_file.open("rb") as file:
        first = events.from_line(file.readline())
    recent = events.tail(run.events_file)
    if first is None or not recent or not isinstance(recent[-1], events.Finished):
        return {}
    trained_s = recent[-1].time
    ended = sorted(
        (path.stat().st_mtime, str(path.relative_to(run.evaluations)).removesuffix(".json"))
        for path in run.evaluations.rglob("*.json")
    )
    times = [trained_s, *(time for time, _ in ended)]
    left_s = whole_s - (times[-1] - first.time)
    if times != sorted(times) or left_s < 0:  # evaluated again since, or resumed
        return {}
    return {START_UP: left_s} | {
        task: after - before
        for (_, task), (before, after) in zip(ended, pairwise(times), strict=True)
    }
