"""The state of every run; each update reads only the runs that changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from time import time

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.durations import duration
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.schema import read_toml
from embedlab.runs.scoring import is_being_scored
from embedlab.runs.status import Status, run_status
from embedlab.runs.store import RunFolder, find_runs, unreadable_folders
from embedlab.tui.runs.odd_seeds import ODD, odd_seeds
from embedlab.tui.widgets.bars import thin_bar
from embedlab.tui.widgets.frame_lines import GAP, GUTTER, FrameColumn

SIGNS = {
    "starting": "·",
    "running": "▶",
    "scoring": "▷",
    "silent": "…",
    "finished": "✓",
    "failed": "✗",
    "crashed": "!",
    "interrupted": "‖",
    "cancelled": "‖",
    "unreadable": "?",
}
_ENDED = {"finished", "failed", "crashed", "interrupted", "cancelled"}

_WIDEST_NAME, _LEAST_NAME = 42, 16
_ROOMY = 120  # cells, from which names and all numbers have room
_CAN_WAIT = {"loss", "rows_per_s", "memory_mib", "last"}
_COLUMNS = (
    FrameColumn(key="state", title="state", width=13),
    FrameColumn(key="progress", title="progress", width=20),
    FrameColumn(key="loss", title="loss", width=8, digits=4),
    FrameColumn(key="dev", title="dev", width=6, digits=2),
    FrameColumn(key="rows_per_s", title="rows/s", width=7, digits=0),
    FrameColumn(key="eta", title="left", width=7, align_right=True),
    FrameColumn(key="memory_mib", title="MiB", width=7, digits=0),
    FrameColumn(key="last", title="last event", width=10, align_right=True),
)
_NOTE = FrameColumn(key="note", title="note", width=10, grows=True)
_OBJECTIVE = FrameColumn(key="objective", title="objective", width=24)
_ORDERS = {
    "last": "last_s",
    "eta": "eta_s",
    "progress": "share",
    "state": "state_place",
}  # the numbers of columns whose text has another order
_SCHEMA = {"run": pl.String, **dict.fromkeys(_ORDERS.values(), pl.Float64)} | {
    column.key: pl.Float64 if column.digits is not None else pl.String
    for column in (*_COLUMNS, _NOTE, _OBJECTIVE)
}


@dataclass(frozen=True, kw_only=True)
class BoardRun:
    """One run and its status."""

    run: RunFolder
    status: Status
    objective: str
    marks: tuple[
        str, ...
    ] = ()  # of its training, as the command line prints them: partial data, fewer steps than the recipe has


@dataclass(frozen=True, kw_only=True)
class Board:
    """All runs at one moment."""

    runs: tuple[BoardRun, ...] = ()
    unreadable: tuple[tuple[Path, str], ...] = ()
    trouble: EmbedlabError | None = None
    time_s: float = 0.0

    @property
    def troubles(self) -> list[EmbedlabError]:
        """The errors of reading, to be reported once."""
        errors = [self.trouble] if self.trouble is not None else []
        hint = "check its files and permissions"
        errors += [
            MissingError(f"cannot read the folder {str(path)!r}: {reason}", hint=hint)
            for path, reason in self.unreadable
        ]
        damaged = [run for run in self.runs if run.status.state == "unreadable"]
        return [
            *errors,
            *(
                MissingError(f"cannot read the run {run.run.id!r}: {run.status.message}", hint=hint)
                for run in damaged
            ),
        ]

    @property
    def has_ended(self) -> bool:
        """Whether no run is at work: its texts then change with the day alone."""
        return all(
            run.status.state in {*_ENDED, "unreadable"} and not run.status.is_scoring
            for run in self.runs
        )

    @cached_property
    def odd(self) -> Mapping[str, str]:
        """What is odd about a seed that is apart from the others of its run, by run id."""
        return odd_seeds((run.run, run.status) for run in self.runs)

    def by_id(self) -> Mapping[str, BoardRun]:
        """The runs by the id that a user types."""
        return {run.run.id: run for run in self.runs}

    def frame(self, rows: Iterable[Mapping[str, object]] | None = None) -> pl.DataFrame:
        """ROWS, or one row per run, for `columns`; then the folders that cannot be read."""
        rows = (
            list(rows)
            if rows is not None
            else [board_row(run, self.time_s, self.odd) for run in self.runs]
        )
        rows += [
            {"run": path.name, "state": f"{SIGNS['unreadable']} unreadable", "note": reason}
            for path, reason in self.unreadable
        ]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def columns(self, room: int = 140) -> list[FrameColumn]:
        """The columns of the frame in ROOM cells. Names of a grid's cells are long and differ in
        the middle.

        Where they would hide the dev score and the time left, these come before the numbers that
        can wait, and a name has what is left. Notes take room only where a run has one.
        """
        longest = max((len(run.run.id) for run in self.runs), default=0)
        has_notes = bool(self.unreadable or self.odd) or any(run_note(run) for run in self.runs)
        last = (_NOTE, _OBJECTIVE) if has_notes else (replace(_OBJECTIVE, grows=True),)
        width = min(max(longest, 12), _WIDEST_NAME)
        columns = [
            replace(frame_column, width=frame_column.width + len(ODD) + 1)
            if self.odd and frame_column.key == "state"
            else frame_column
            for frame_column in _COLUMNS
        ]
        shown = (
            sorted(columns, key=lambda column: column.key in _CAN_WAIT)
            if room < _ROOMY
            else columns
        )
        if room < _ROOMY:
            first = GUTTER + sum(
                column.width + GAP for column in shown if column.key not in _CAN_WAIT
            )
            width = max(_LEAST_NAME, min(width, room - first - GAP))
        return [FrameColumn(key="run", title="run", width=width, is_name=True), *shown, *last]


def board_order(frame: pl.DataFrame, key: str, *, is_descending: bool) -> NDArray[np.intp]:
    """The rows of a board's FRAME in the order of the column KEY: by time, share or state where its
    text is not in that order.
    """
    order: NDArray[np.intp] = (
        frame[_ORDERS.get(key, key)]
        .arg_sort(descending=is_descending, nulls_last=True)
        .to_numpy()
        .astype(np.intp)
    )
    return order


class RunFollower:
    """Reads the runs folder; finished runs that did not change are not read again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ended: dict[Path, tuple[object, Status]] = {}
        self._objectives: dict[Path, tuple[object, str]] = {}
        self._marks: dict[Path, tuple[object, tuple[str, ...]]] = {}

    def look(self) -> Board:
        """All runs now; never raises, whatever the folder holds."""
        now = time()
        try:
            runs = tuple(self._read(run, now) for run in find_runs(self._folder))
            return Board(runs=runs, unreadable=tuple(unreadable_folders(self._folder)), time_s=now)
        except EmbedlabError as error:
            return Board(trouble=error, time_s=now)
        except OSError as error:
            trouble = MissingError(
                f"cannot read {str(self._folder)!r}: {error.strerror}",
                hint="choose another with --runs",
            )
            return Board(trouble=trouble, time_s=now)

    def _read(self, run: RunFolder, now: float) -> BoardRun:
        stamp = _stamp(run)
        known = self._ended.get(run.path)
        if known is not None and known[0] == stamp:
            status = replace(
                known[1], is_scoring=known[1].state == "finished" and is_being_scored(run)
            )  # which changes no file
        else:
            status = run_status(run, now)
            if status.state in _ENDED:
                self._ended[run.path] = (stamp, status)
        return BoardRun(
            run=run, status=status, objective=self._objective(run), marks=self._marks_of(run)
        )

    def _marks_of(self, run: RunFolder) -> tuple[str, ...]:
        """How RUN was trained where that differs from its recipe and the whole corpora; read once
        for each version of the file.
        """
        stamp = _stamp_of(run.environment_file)
        known = self._marks.get(run.path)
        if known is None or known[0] != stamp:
            try:
                environment = run.environment()
            except (EmbedlabError, OSError):  # it is written when the run begins
                return ()
            shortened = (
                f"shortened to {environment.steps} of {environment.whole_steps} steps"
                if environment.is_shortened
                else ""
            )
            known = (
                stamp,
                tuple(
                    mark
                    for mark in (shortened, "partial data" if environment.is_partial else "")
                    if mark
                ),
            )
            self._marks[run.path] = known
        return known[1]

    def _objective(self, run: RunFolder) -> str:
        stamp = _stamp_of(run.recipe_file)
        known = self._objectives.get(run.path)
        if known is None or known[0] != stamp:
            try:
                stages = read_toml(run.recipe_file)["stage"]
                known = stamp, " → ".join(stage["objective"]["name"] for stage in stages)
            except (EmbedlabError, ValueError, KeyError, TypeError):  # the file may be incomplete
                return ""
            self._objectives[run.path] = known
        return known[1]


def _stamp(run: RunFolder) -> object:
    """A value that changes with the run: every start rewrites the pid file, every event makes its
    file longer.
    """
    return tuple(
        _stamp_of(path) for path in (run.events_file, run.pid_file, run.log_file, run.recipe_file)
    )


def _stamp_of(path: Path) -> object:
    try:
        fact = path.stat()
    except OSError as error:
        return error.errno
    return fact.st_size, fact.st_mtime_ns


def board_row(run: BoardRun, now: float, odd: Mapping[str, str]) -> dict[str, object]:
    """The values of one run, as of NOW; ODD: of the seeds that are apart from others, by run id."""
    status, step, apart = run.status, run.status.step, odd.get(run.run.id, "")
    is_alive = status.state in {"running", "silent"}
    return {
        "run": run.run.id,
        "state": f"{SIGNS[status.shown_state]} {status.shown_state}{f' {ODD}' if apart else ''}",
        "progress": _progress(step.step, step.steps) if step else "",
        "loss": step.loss if step else None,
        "dev": status.dev.score if status.dev else None,
        "rows_per_s": step.rows_per_s if step else None,
        "eta": duration(step.eta_s) if step and is_alive else "",
        "memory_mib": step.memory_mib if step else None,
        "last": _last(status.last_s, now, is_alive=is_alive),
        "last_s": status.last_s or None,
        "eta_s": step.eta_s if step and is_alive else None,
        "share": step.step / max(step.steps, 1) if step else None,
        "state_place": float(list(SIGNS).index(status.shown_state)),
        "objective": run.objective,
        "note": run_note(run, apart),
    }


def run_note(run: BoardRun, apart: str = "") -> str:
    """What the user should know of RUN: why it ended, that it goes on from a checkpoint, its marks,
    or that its seed is APART.
    """
    status = run.status
    resumed = (
        f"goes on from step {status.resumed_at}" if status.resumed_at and status.is_alive else ""
    )
    return "; ".join(text for text in (status.message or resumed, *run.marks, apart) if text)


def dev_dataset(run: RunFolder) -> str:
    """The dataset that the dev score of a run is of, as the pair table names it; empty where its
    recipe cannot be read.
    """
    try:
        return f"{run.recipe().evaluate.dev}:dev"
    except (EmbedlabError, OSError):
        return ""


def _last(last_s: float | None, now: float, *, is_alive: bool) -> str:
    """The age of the last event or, of an ended run, its time or day: text that changes would be
    sent to the terminal again.
    """
    if not last_s:
        return ""
    if is_alive:
        return f"{duration(now - last_s)} ago"
    then = datetime.fromtimestamp(last_s).astimezone()
    return then.strftime(
        "%H:%M" if then.date() == datetime.fromtimestamp(now).astimezone().date() else "%Y-%m-%d"
    )


def _progress(step: int, steps: int) -> str:
    return f"{thin_bar(step, 0, steps, 8):<8} {step}/{steps}"


def states(board: Board) -> str:
    """The number of runs in each state, for the line above the table."""
    counts: dict[str, int] = {}
    for run in board.runs:
        counts[run.status.shown_state] = counts.get(run.status.shown_state, 0) + 1
    order: Sequence[str] = tuple(SIGNS)
    return "  ".join(
        f"{SIGNS[state]} {counts[state]} {state}" for state in order if state in counts
    )
