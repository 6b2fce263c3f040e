"""What became of the cells of a grid: by its run whether a cell is done, by its lock whether it is
being run, and otherwise by its attempts.

The attempts are events in a file of the grid's folder for each cell, because a run that cannot be
written has a reason too. Only who holds the cell's lock, or waits for its job, adds to it.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from embedlab.core.disk import write_atomic
from embedlab.core.errors import ExitCode
from embedlab.experiments.cell import has_results, is_being_run, is_complete
from embedlab.experiments.plan import Cell, GridFolder, GridPlan
from embedlab.runs.events import Attempt, EventLog, tail
from embedlab.runs.status import run_status
from embedlab.runs.tidy import drop_checkpoints

CellState = Literal["waiting", "running", "done", "failed", "cancelled"]  # by its user

MAX_ERRORS = 2  # endings with an error: the second is final
MOST_BYTES = 2**20  # of a cell's newest attempts, which take some hundred each
MAX_KILLS = 4  # endings by a signal from outside: more are not a coincidence
_STATES: Mapping[str, CellState] = {
    "starting": "running",
    "running": "running",
    "silent": "running",
    "failed": "failed",
    "cancelled": "cancelled",
}  # a run's, as a cell's


@dataclass(frozen=True, kw_only=True)
class CellEntry:
    """A cell, and what became of it."""

    run: str
    seed: int
    number: int  # in the plan, from 1
    state: CellState
    errors: int = 0  # endings with an error since the grid was last started
    kills: int = 0  # endings by a signal from outside
    seconds: float = 0.0  # spent on it so far by all its processes, in total
    reason: str = ""  # why it failed

    @property
    def key(self) -> tuple[str, int]:
        """Return the permanent key of the cell: numbers change with the grid file."""
        return self.run, self.seed

    def ended(self, returncode: int, reason: str, seconds: float) -> Attempt:
        """Return the attempt that took SECONDS and ended with this exit code for this REASON: the
        end, or a reason for another try.
        """
        kills, errors = int(returncode < 0), int(returncode > 0)
        if returncode == 0:
            state = "done"
        elif returncode == ExitCode.INTERRUPTED:
            state, reason, errors = "cancelled", "stopped by its user", 0
        elif returncode == ExitCode.USAGE:  # it will not go away
            state = "failed"
        else:
            is_final = self.errors + errors >= MAX_ERRORS or self.kills + kills >= MAX_KILLS
            state = "failed" if is_final else "waiting"
        return Attempt(state=state, reason=reason, errors=errors, kills=kills, seconds=seconds)


class Cells:
    """The cells of a grid; of one that is done nothing more is read."""

    def __init__(self, plan: GridPlan, folder: GridFolder) -> None:
        self.plan, self.folder = plan, folder
        self._done: dict[int, CellEntry] = {}

    def start(self) -> None:
        """Note which cells are done, and give each other one a new chance."""
        for cell in self.plan.cells:
            last = [attempt.state for attempt in self._attempts(cell)][-1:]
            if is_complete(self.plan, cell):
                drop_checkpoints(self.plan.run(cell))  # left by a worker that was killed at its end
                if last != ["done"]:
                    self.record(cell, Attempt(state="done"))
            elif last == ["done"] or self.entry(cell).state in {"failed", "cancelled"}:
                self.record(cell, Attempt(state="waiting"))

    def entries(self) -> list[CellEntry]:
        """Return every cell in the plan's order."""
        return [self.entry(cell) for cell in self.plan.cells]

    def entry(self, cell: Cell) -> CellEntry:
        """Return what became of a CELL."""
        if cell.number in self._done:
            return self._done[cell.number]
        attempts = self._attempts(cell)
        last = attempts[-1] if attempts else Attempt(state="waiting")
        if last.state == "done" and has_results(self.plan, cell):
            entry = _entry(cell, "done")
        else:
            entry = entry_of_run(self.plan, cell)
            if attempts and entry.state not in {"done", "running"}:
                # what was done and is not was removed since
                state = "waiting" if last.state == "done" else cast("CellState", last.state)
                entry = replace(entry, state=state, reason=last.reason)
        chances = [number for number, attempt in enumerate(attempts) if attempt.is_new_chance]
        counted = attempts[chances[-1] :] if chances else attempts
        entry = replace(
            entry,
            errors=sum(attempt.errors for attempt in counted),
            kills=sum(attempt.kills for attempt in counted),
            seconds=sum(attempt.seconds for attempt in attempts),
        )
        if last.state == entry.state == "done":
            self._done[cell.number] = entry
        return entry

    def is_open(self) -> bool:
        """Return whether a cell waits or runs."""
        return any(self.entry(cell).state in {"waiting", "running"} for cell in self.plan.cells)

    def record(self, cell: Cell, attempt: Attempt) -> None:
        """Add an ATTEMPT of a cell."""
        with EventLog(self._log(cell)) as log:
            log.append(attempt)

    def request_cancel(self) -> None:
        """Request that every process that works on the grid stops."""
        write_atomic(self.folder.path / "cancelled", repr(time.time()))

    def is_cancelled(self, since_s: float) -> bool:
        """Return whether a stop was requested after SINCE."""
        with suppress(OSError, ValueError):
            text = (self.folder.path / "cancelled").read_text(encoding="utf-8")
            return float(text) > since_s
        return False

    def _attempts(self, cell: Cell) -> list[Attempt]:
        try:
            stored = tail(self._log(cell), size=MOST_BYTES)
        except FileNotFoundError:
            return []
        return [event for event in stored if isinstance(event, Attempt)]

    def _log(self, cell: Cell) -> Path:
        return self.folder.cells / f"{cell.id}.jsonl"


def entry_of_run(plan: GridPlan, cell: Cell) -> CellEntry:
    """Return the state of a cell from its run and its lock alone."""
    if is_being_run(plan, cell):  # by a process that may be loading or evaluating
        return _entry(cell, "running")
    run = plan.run(cell)
    if not run.path.is_dir():
        return _entry(cell, "waiting")
    status = run_status(run)
    if status.state == "finished" and has_results(plan, cell):
        return _entry(cell, "done")
    return replace(_entry(cell, _STATES.get(status.state, "waiting")), reason=status.message)


def _entry(cell: Cell, state: CellState) -> CellEntry:
    return CellEntry(run=cell.variant.run, seed=cell.seed, number=cell.number, state=state)
