"""Runs followed, stopped and tidied."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.runs import events, launch
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder, find_runs, select_runs
from embedlab.runs.tidy import prune_removed, prune_run

FOLLOW_S = 0.5  # between two looks at the events of a running run


@dataclass(frozen=True, kw_only=True)
class CancelledRun:
    """A run that was requested to stop, and the process that trains it."""

    run: RunFolder
    pid: int


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What a clean-up deleted."""

    freed: Mapping[str, int]  # bytes by run; runs of which nothing had to go are absent
    running: tuple[str, ...]  # runs that were left alone
    looked_at: int

    @property
    def freed_bytes(self) -> int:
        """All bytes that are free now."""
        return sum(self.freed.values())


def read_events(run: RunFolder, *, follows: bool) -> Iterator[Sequence[events.Event]]:
    """Yield a run's events as they come; with FOLLOWS until the run ends."""
    offset = 0
    while True:
        is_running = run_status(run).state in {"starting", "running", "silent"}
        recorded, offset = (
            events.events_after(run.events_file, offset) if run.events_file.exists() else ([], 0)
        )
        if recorded:
            yield recorded
        if not (follows and is_running):
            return
        time.sleep(FOLLOW_S)


def unfinished_runs(name: str, settings: Settings) -> list[RunFolder]:
    """Return the seeds of a run that can be resumed; none is a UsageError."""
    chosen = [run for run in select_runs(settings.runs, name) if run_status(run).is_unfinished]
    if not chosen:
        raise UsageError(
            f"run {name!r} has no unfinished seed",
            hint="`embedlab runs ls` shows the state of all runs",
        )
    return chosen


def cancel_runs(name: str, settings: Settings, *, force: bool) -> list[CancelledRun]:
    """Stop the running seeds of a run, with FORCE without a checkpoint; where none runs that is an
    error.
    """
    chosen = select_runs(settings.runs, name)
    running = [folder for folder in chosen if folder.holder() is not None] or chosen[:1]
    return [
        CancelledRun(run=folder, pid=launch.cancel_run(folder, force=force)) for folder in running
    ]


def prune_runs(names: Sequence[str], settings: Settings) -> Pruned:
    """Delete what the runs called NAMES, or all, do not need any more.

    Without NAMES that includes what is left of runs whose removal was killed.
    """
    folder = settings.runs
    chosen = list(
        dict.fromkeys(
            [run for name in names for run in select_runs(folder, name)]
            if names
            else find_runs(folder)
        )
    )
    idle = [run for run in chosen if run.holder() is None]
    freed = {run.id: size for run in idle if (size := prune_run(run))}
    removed = prune_removed(folder) if not names else {}
    freed |= {name: freed.get(name, 0) + size for name, size in removed.items()}
    running = tuple(run.id for run in chosen if run not in idle)
    return Pruned(
        freed=freed, running=running, looked_at=len({run.id for run in chosen} | removed.keys())
    )
