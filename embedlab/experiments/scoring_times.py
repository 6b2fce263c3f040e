"""How long the cells of earlier grids took to start, and tasks to score them: by the times of their
files, within what the queue says the cells took.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from embedlab.core.errors import EmbedlabError
from embedlab.experiments.plan import GridFolder
from embedlab.experiments.queue import Queue, QueueEntry
from embedlab.runs import events
from embedlab.runs.store import GRIDS, RunFolder

START_UP = "start-up"  # what a cell takes beside its training and its tasks
GRIDS_READ, CELLS_READ = 5, 20  # the newest grids, and cells of each


def scoring_seconds(runs: Path, encoders: Collection[str]) -> Mapping[tuple[str, str], float]:
    """Return the mean seconds of each task, and of the START_UP, by (encoder, task), from cells of
    grids in RUNS that started from one of ENCODERS.
    """
    timings: dict[tuple[str, str], list[float]] = {}
    for run, entry in _finished_cells(runs):
        with suppress(EmbedlabError, OSError):  # a damaged run says nothing of the time
            if (encoder := run.recipe().encoder.model) in encoders:
                for task, seconds in _of_run(run, entry.seconds).items():
                    timings.setdefault((encoder, task), []).append(seconds)
    return {key: fmean(values) for key, values in timings.items()}


def _finished_cells(runs: Path) -> Iterator[tuple[RunFolder, QueueEntry]]:
    queues = [
        path
        for folder in (runs / GRIDS).glob("*")
        if (path := GridFolder(folder).queue_file).is_file()
    ]
    for path in sorted(queues, key=lambda path: path.stat().st_mtime, reverse=True)[:GRIDS_READ]:
        with suppress(EmbedlabError, OSError), Queue(path) as queue:
            done = [
                entry for entry in queue.entries() if entry.state == "done" and entry.seconds > 0
            ]
            yield from (
                (RunFolder.of(runs, entry.run, entry.seed), entry) for entry in done[-CELLS_READ:]
            )


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
