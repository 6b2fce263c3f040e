"""What became of a cell: by its run, its lock, and its attempts since the grid was started."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core.errors import ExitCode
from embedlab.experiments.cells import CellEntry, CellLock, Cells, prepare_grid
from embedlab.experiments.plan import Cell, GridFolder, GridPlan, Variant
from embedlab.runs.events import Attempt
from embedlab.runs.store import remove_runs
from tests.experiments.conftest import cells_of, work_here


@pytest.fixture
def cells(short_plan: GridPlan, short_folder: GridFolder) -> Cells:
    prepare_grid(short_plan, short_folder)
    return cells_of(short_folder)


def states(cells: Cells) -> list[str]:
    return [entry.state for entry in cells_of(cells.folder).entries()]


ENTRY = CellEntry(
    cell=Cell(
        number=1, variant=Variant(run="a", labels={}, recipe={}, rows=0.0), seed=1, runs=Path()
    ),
    state="waiting",
)


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (0, "done"),
        (ExitCode.INTERRUPTED, "cancelled"),
        (ExitCode.USAGE, "failed"),
        (ExitCode.FAILED, "waiting"),
        (-9, "waiting"),
    ],
)
def test_the_first_attempt_is_final_where_another_would_not_help(code: int, state: str) -> None:
    attempt = ENTRY.ended(code, "why", 2.5)
    assert (attempt.state, attempt.seconds) == (state, 2.5)
    assert attempt.reason == ("stopped by its user" if state == "cancelled" else "why")


@pytest.mark.parametrize(("code", "tries"), [(ExitCode.FAILED, 2), (-9, 4)])
def test_errors_and_kills_are_counted_until_one_is_final(
    cells: Cells, code: int, tries: int
) -> None:
    cell = cells.plan.cell(2)
    for number in range(1, tries + 1):
        assert states(cells) == ["waiting"] * 3
        cells.record(cell, cells.entry(cell).ended(code, f"the {number}th", 1.0))
    entry = cells.entry(cell)
    assert (entry.state, entry.reason, entry.seconds) == ("failed", f"the {tries}th", tries)
    assert entry.errors + entry.kills == tries


def test_a_new_start_is_a_new_chance_and_seconds_add_up(cells: Cells) -> None:
    cell = cells.plan.cell(1)
    cells.record(cell, Attempt(state="failed", reason="why", errors=2, seconds=3.0))
    cells.record(cells.plan.cell(2), Attempt(state="cancelled"))
    assert states(cells) == ["failed", "cancelled", "waiting"]
    prepare_grid(cells.plan, cells.folder)
    assert states(cells) == ["waiting"] * 3
    entry = cells.entry(cell)
    assert (entry.errors, entry.reason, entry.seconds) == (0, "", 3.0)


def test_a_held_cell_is_running(cells: Cells) -> None:
    cell = cells.plan.cell(2)
    with CellLock(cell) as lock:
        assert lock.acquire()
        assert states(cells) == ["waiting", "running", "waiting"]
    assert states(cells) == ["waiting"] * 3


def test_a_done_cell_whose_run_is_gone_waits_again(cells: Cells) -> None:
    work_here(cells.folder)
    assert all(entry.seconds > 0 for entry in cells.entries())
    remove_runs([cells.plan.cell(3).run])
    assert states(cells) == ["done", "done", "waiting"]
    work_here(cells.folder)
    assert states(cells) == ["done"] * 3


def test_cancelling_reaches_those_who_started_before(cells: Cells) -> None:
    before = time.time()
    assert not cells.is_cancelled(before)
    cells.request_cancel()
    assert cells_of(cells.folder).is_cancelled(before)
    assert not cells.is_cancelled(time.time())


def flipped(content: bytes) -> bytes:
    return content[:20] + bytes([content[20] ^ 1]) + content[21:]


@pytest.mark.parametrize("damage", [flipped, lambda content: content[:-9]], ids=["bit", "cut"])
def test_a_damaged_attempt_costs_another_try_alone(
    cells: Cells, damage: Callable[[bytes], bytes]
) -> None:
    cell = cells.plan.cell(1)
    cells.record(cell, Attempt(state="failed", reason="why", errors=1))
    (log,) = cells.folder.cells.glob("*.jsonl")
    log.write_bytes(damage(log.read_bytes()))
    assert cells.entry(cell).state == "waiting"
    cells.record(cell, Attempt(state="failed", reason="again", errors=1))
    assert (cells.entry(cell).state, cells.entry(cell).reason) == ("failed", "again")


def test_looking_writes_nothing(cells: Cells, tmp_path: Path) -> None:
    cells.record(cells.plan.cell(1), Attempt(state="failed", reason="why", errors=1))
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    assert states(cells) == ["failed", "waiting", "waiting"]
    assert before == sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
