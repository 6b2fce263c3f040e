import json
import os
import random
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import psutil
import pytest
import tomli_w

from embedlab.core.errors import EmbedlabError, ExitCode, Interrupted, MissingError, UsageError
from embedlab.experiments.cells import CellLock, Cells, hold_plan, is_alive, prepare_grid
from embedlab.experiments.executors.executor import visible_gpus
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.single_cell import finish_cell, run_cell
from embedlab.runs import events
from embedlab.runs.status import run_status
from tests.experiments.conftest import (
    GRID,
    SHORT,
    STAND_IN,
    plan_of,
    run_local,
    states,
    work_here,
)


def expected_value(plan: GridPlan, number: int) -> str:
    """What an undisturbed cell computes."""
    cell = plan.cell(number)
    value = f"{zlib.crc32(tomli_w.dumps(cell.variant.recipe).encode()):08x}"
    for step in range(1, 9):
        value = f"{zlib.crc32(f'{value} {cell.seed} {step}'.encode()):08x}"
    return value


def assert_each_done_once(plan: GridPlan) -> None:
    assert states(plan) == ["done"] * len(plan)
    for cell in plan.cells:
        run = cell.run
        log, _ = events.events_after(run.events_file)
        assert sum(isinstance(event, events.Finished) for event in log) == 1, cell.id
        assert (run.path / "evaluated").read_text() == "sts\n", cell.id
        assert (run.model / "value").read_text() == expected_value(plan, cell.number)
        assert not run.checkpoints.exists()


WHOLE_GRID = """
import sys
from pathlib import Path
from embedlab.experiments.cells import prepare_grid
from embedlab.experiments.executors.executor import LocalTasks, run_cells
from embedlab.experiments.plan import GridPlan
plan = GridPlan.load(Path(sys.argv[1]))
prepare_grid(plan)
run_cells(plan, LocalTasks(plan, int(sys.argv[2]), program=sys.argv[3:]))
"""


def grid_process(plan: GridPlan, workers: int) -> "subprocess.Popen[bytes]":
    """What `embedlab grid run` does, in a process that can be killed."""
    return subprocess.Popen(
        [sys.executable, "-c", WHOLE_GRID, str(plan.folder.plan_file), str(workers), *STAND_IN]
    )


def test_three_workers_do_every_cell_once_each_on_one_of_two_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, GRID.replace("[1, 2]", "[1]"))
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # of the grid's own process, not of a cell's
    prepare_grid(plan)
    run_local(plan, 3, gpus=["GPU-a", "GPU-b"])
    assert_each_done_once(plan)
    assert {(cell.run.path / "threads").read_text() for cell in plan.cells} == {"1 1"}
    assert {(cell.run.path / "gpu").read_text() for cell in plan.cells} == {"GPU-a", "GPU-b"}
    assert not is_alive(plan.folder)


def test_a_grid_goes_on_where_its_runs_folder_was_moved(
    short_plan: GridPlan, tmp_path: Path
) -> None:
    run_cell(short_plan, 2, program=STAND_IN)
    plan = GridPlan.find(short_plan.place.runs.rename(tmp_path / "moved"), "mine")
    prepare_grid(plan)
    assert states(plan) == ["waiting", "done", "waiting"]
    work_here(plan)
    assert_each_done_once(plan)
    assert not short_plan.folder.path.exists()


@pytest.mark.slow
def test_kills_at_random_times_leave_every_cell_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, GRID.replace('"cls", "mean"', '"cls"'))
    monkeypatch.setenv("STEP_S", "0.06")
    kill_until_done(plan, random.Random(0), most=6)
    assert_each_done_once(plan)


def kill_until_done(plan: GridPlan, rng: random.Random, most: int = 15) -> None:
    """Start the grid again and again, and kill -9 the grid, a worker or a cell in between, until it
    ends by itself.
    """
    prepare_grid(plan)
    deadline = time.monotonic() + 240
    grid = grid_process(plan, workers=3)
    kills = 0
    while grid.poll() is None or set(states(plan)) != {"done"}:
        assert time.monotonic() < deadline
        if grid.poll() is not None:
            grid = grid_process(plan, workers=3)
        time.sleep(rng.uniform(0.05, 0.8))
        victims = [grid.pid, *(child.pid for child in family(grid.pid))]
        if grid.poll() is None and kills < most:
            os.kill(rng.choice(victims), signal.SIGKILL)
            kills += 1
    assert kills > 2


def family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_an_orphaned_cell_is_waited_for_and_not_done_twice(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.2")
    grid = grid_process(short_plan, workers=1)
    while not (started := [child for child in family(grid.pid) if "train" in child.cmdline()]):
        time.sleep(0.02)
    for process in (grid.pid, started[0].parent().pid):
        os.kill(process, signal.SIGKILL)
    monkeypatch.setenv("STEP_S", "0.01")
    run_local(short_plan, 2)
    assert_each_done_once(short_plan)
    log, _ = events.events_after(short_plan.cell(1).run.events_file)
    assert sum(isinstance(event, events.Started) for event in log) == 1


def test_workers_end_with_the_process_that_started_them(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.3")
    prepare_grid(plan)
    grid = grid_process(plan, workers=2)
    while len(children := family(grid.pid)) < 4:
        time.sleep(0.05)
    grid.kill()
    grid.wait()
    psutil.wait_procs(children, timeout=120)
    assert not [
        child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    ]
    assert "running" not in set(states(plan))


FAULTS = {
    "raise": ("ValueError: it does not work", 2, 0),
    "diverge": ("training diverged at step 3: the loss is nan", 2, 0),
    "memory": ("out of memory: MemoryError: cannot allocate 4 TiB", 2, 0),
    "usage": ("what was typed is wrong", 1, 0),
    "suicide": ("killed by SIGKILL, as the system does when memory runs out", 0, 4),
}


def test_bad_cells_are_marked_with_their_reasons_and_the_others_finish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, GRID.replace("[1, 2]", "[1]"))
    faults = {plan.cell(number).id: fault for number, fault in enumerate(FAULTS, start=1)}
    monkeypatch.setenv("FAULTS", json.dumps(faults))
    prepare_grid(plan)
    work_here(plan)
    *bad, good = Cells(plan).entries()
    assert {entry.state for entry in bad} == {"failed"}
    assert [(entry.reason, entry.errors, entry.kills) for entry in bad] == list(FAULTS.values())
    assert good.state == "done"

    monkeypatch.setenv("FAULTS", "{}")
    prepare_grid(plan)  # a new start is a new chance
    work_here(plan)
    assert_each_done_once(plan)


def test_a_cancelled_grid_saves_its_cells_and_goes_on_later(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "4")

    def show() -> None:
        if states(short_plan).count("running") == 2:
            Cells(short_plan).request_cancel()

    with pytest.raises(Interrupted, match="is stopped"):
        run_local(short_plan, 2, show=show)
    assert "running" not in set(states(short_plan))
    monkeypatch.delenv("HOLD_AT")
    prepare_grid(short_plan)
    work_here(short_plan)
    assert_each_done_once(short_plan)


def test_one_cell_by_number_is_found_by_the_grid(plan: GridPlan) -> None:
    run_cell(plan, 4, program=STAND_IN)
    run_cell(plan, 4, program=STAND_IN)
    prepare_grid(plan)
    assert [place for place, state in enumerate(states(plan), start=1) if state == "done"] == [4]
    with pytest.raises(UsageError, match="no cell 13"):
        run_cell(plan, 13, program=STAND_IN)


def test_a_failed_or_busy_cell_by_number_says_why(
    plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({plan.cell(1).id: "diverge"}))
    with pytest.raises(EmbedlabError, match=r"cell 1 .* failed: training diverged"):
        run_cell(plan, 1, program=STAND_IN)
    with CellLock(plan.cell(2)) as lock:
        assert lock.acquire()
        with pytest.raises(EmbedlabError, match="is run by another process"):
            run_cell(plan, 2, program=STAND_IN)


def test_a_cell_that_is_stopped_while_it_starts_is_not_running(plan: GridPlan) -> None:
    run = plan.cell(1).run
    with CellLock(plan.cell(1)) as lock:
        assert lock.acquire()
        process = lock.start(("sh", "-c", "exec sleep 60"), ["train"], os.environ, run).process
    assert run_status(run).state == "starting"
    process.terminate()
    process.wait()
    assert run_status(run).state == "crashed"
    assert run.holder() is None


def test_another_plan_is_refused_before_the_first_worker_is_there(
    short_plan: GridPlan, tmp_path: Path
) -> None:
    edited = plan_of(tmp_path, SHORT.replace("5e-5", "4e-5"))

    def planned() -> GridPlan:
        return GridPlan.find(edited.place.runs, edited.name)

    with hold_plan(short_plan):
        with (
            pytest.raises(UsageError, match="is running with another plan"),
            hold_plan(edited),
        ):
            pass
        with hold_plan(short_plan):  # the same one is shared
            assert planned() == short_plan
    with hold_plan(edited):
        assert planned() == edited


def test_a_cell_whose_parent_is_gone_stops_at_once(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "1")
    cell = short_plan.cell(1)
    with CellLock(cell) as lock:
        assert lock.acquire()
        ending = finish_cell(short_plan, cell, lock, program=STAND_IN, parent=os.getpid())
    # where it was not yet ready for the signal, it ends by it
    assert ending[0] in {ExitCode.INTERRUPTED, -signal.SIGTERM}
    assert not cell.run.model.exists()


def test_the_gpus_are_those_of_the_machine_or_those_that_this_process_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\necho GPU-a\necho GPU-b\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus("auto") == visible_gpus("cuda") == ["GPU-a", "GPU-b"]
    assert visible_gpus("cpu") == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert visible_gpus("auto") == ["3", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b,-1,3")  # what follows -1 is hidden
    assert visible_gpus("auto") == ["GPU-b"]
    for nothing in ("", "-1", "NoDevFiles"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", nothing)
        assert visible_gpus("auto") == []


def test_attempts_that_cannot_be_written_stop_the_grid_with_the_reason_and_lose_nothing(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({short_plan.cell(2).id: "suicide"}))
    refused = short_plan.folder.cells / f"{short_plan.cell(2).id}.jsonl"
    refused.parent.mkdir()
    refused.symlink_to("elsewhere")
    with pytest.raises(MissingError, match=r"\.jsonl.*a link"):
        run_local(short_plan, 1)
    refused.unlink()
    monkeypatch.delenv("FAULTS")
    prepare_grid(short_plan)
    work_here(short_plan)
    assert_each_done_once(short_plan)


def test_a_cell_whose_run_cannot_be_written_fails_with_its_reason_alone(
    short_plan: GridPlan,
) -> None:
    blocked = short_plan.cell(2).run.path.parent
    blocked.parent.mkdir(exist_ok=True)
    blocked.write_text("a file where its folder should be")
    work_here(short_plan)
    first, second, third = Cells(short_plan).entries()
    assert (first.state, third.state) == ("done", "done")
    assert (second.state, second.errors) == ("failed", 2)
    assert second.reason.startswith(f"cannot write '{blocked}")
    blocked.unlink()
    prepare_grid(short_plan)
    work_here(short_plan)
    assert_each_done_once(short_plan)
