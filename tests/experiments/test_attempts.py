"""What became of a cell: by its run, its lock, and its attempts since the grid was started."""

from collections.abc import Callable
from pathlib import Path

import pytest

from embedlab.core.errors import ExitCode
from embedlab.experiments.cells import CellEntry, CellLock, Cells, prepare_grid
from embedlab.experiments.plan import Cell, GridPlan, Variant
from embedlab.runs.events import Attempt
from embedlab.runs.store import remove_runs
from tests.experiments.conftest import states, work_here


@pytest.fixture
def cells(short_plan: GridPlan) -> Cells:
    return Cells(short_plan)


FAILED = Attempt(state="failed", reason="why", errors=1)
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


def test_a_new_start_is_a_new_chance_and_seconds_add_up(cells: Cells) -> None:
    cell = cells.plan.cell(1)
    cells.record(cell, Attempt(state="failed", reason="why", errors=2, seconds=3.0))
    cells.record(cells.plan.cell(2), Attempt(state="cancelled"))
    assert states(cells.plan) == ["failed", "cancelled", "waiting"]
    prepare_grid(cells.plan)
    assert states(cells.plan) == ["waiting"] * 3
    entry = cells.entry(cell)
    assert (entry.errors, entry.reason, entry.seconds) == (0, "", 3.0)


def test_a_done_cell_whose_run_is_gone_waits_again(cells: Cells) -> None:
    work_here(cells.plan)
    assert all(entry.seconds > 0 for entry in cells.entries())
    remove_runs([cells.plan.cell(3).run])
    assert states(cells.plan) == ["done", "done", "waiting"]
    work_here(cells.plan)
    assert states(cells.plan) == ["done"] * 3


def test_a_cell_at_work_is_running_whatever_its_last_attempt_was(cells: Cells) -> None:
    cell = cells.plan.cell(1)
    cells.record(cell, FAILED)
    with CellLock(cell) as lock:
        assert lock.acquire()
        assert cells.entry(cell).state == "running"
    assert cells.entry(cell).state == "failed"


def flipped(content: bytes) -> bytes:
    return content[:20] + bytes([content[20] ^ 1]) + content[21:]


@pytest.mark.parametrize("damage", [flipped, lambda content: content[:-9]], ids=["bit", "cut"])
def test_a_damaged_attempt_costs_another_try_alone(
    cells: Cells, damage: Callable[[bytes], bytes]
) -> None:
    cell = cells.plan.cell(1)
    cells.record(cell, FAILED)
    (log,) = cells.plan.folder.cells.glob("*.jsonl")
    log.write_bytes(damage(log.read_bytes()))
    assert cells.entry(cell).state == "waiting"
    cells.record(cell, Attempt(state="failed", reason="again", errors=1))
    assert (cells.entry(cell).state, cells.entry(cell).reason) == ("failed", "again")


def test_looking_writes_nothing(cells: Cells, tmp_path: Path) -> None:
    cells.record(cells.plan.cell(1), FAILED)
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    assert states(cells.plan) == ["failed", "waiting", "waiting"]
    assert before == sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
