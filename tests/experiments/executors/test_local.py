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
from embedlab.experiments.cells import CellLock, hold_plan, is_alive, prepare_grid
from embedlab.experiments.executors.executor import visible_gpus
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.single_cell import finish_cell, run_cell
from embedlab.runs import events
from embedlab.runs.status import run_status
from tests.experiments.conftest import (
    GRID,
    SHORT,
    STAND_IN,
    cells_of,
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


def assert_each_done_once(plan: GridPlan, folder: GridFolder) -> None:
    assert states(folder) == ["done"] * len(plan)
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
from embedlab.experiments.plan import GridFolder, GridPlan
folder = GridFolder(Path(sys.argv[1]))
plan = GridPlan.load(folder.plan_file)
prepare_grid(plan, folder)
run_cells(plan, folder, LocalTasks(plan, folder, int(sys.argv[2]), program=sys.argv[3:]))
"""


def grid_process(folder: GridFolder, workers: int) -> "subprocess.Popen[bytes]":
    """What `embedlab grid run` does, in a process that can be killed."""
    return subprocess.Popen(
        [sys.executable, "-c", WHOLE_GRID, str(folder.path), str(workers), *STAND_IN]
    )


def test_three_workers_do_a_grid_of_3_x_2_x_2_cells_each_on_one_of_two_gpus(
    plan: GridPlan, folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # of the grid's own process, not of a cell's
    assert len(plan) == 12
    prepare_grid(plan, folder)
    run_local(folder, 3, gpus=["GPU-a", "GPU-b"])
    assert_each_done_once(plan, folder)
    assert {(cell.run.path / "threads").read_text() for cell in plan.cells} == {"1 1"}
    assert {(cell.run.path / "gpu").read_text() for cell in plan.cells} == {"GPU-a", "GPU-b"}
    assert not is_alive(folder)


def test_a_grid_goes_on_where_its_runs_folder_was_moved(
    short_plan: GridPlan, short_folder: GridFolder, tmp_path: Path
) -> None:
    prepare_grid(short_plan, short_folder)
    run_cell(short_plan, short_folder, 2, program=STAND_IN)
    now = GridFolder.of(
        short_plan.place.runs_folder.rename(tmp_path / "moved-sample"), short_plan.name
    )
    plan = GridPlan.load(now.plan_file)
    prepare_grid(plan, now)
    assert states(now) == ["waiting", "done", "waiting"]
    work_here(now)
    assert_each_done_once(plan, now)
    assert not short_folder.path.exists()


@pytest.mark.slow
def test_kills_at_random_times_leave_every_cell_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(tmp_path, GRID.replace('"cls", "mean"', '"cls"'))
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    monkeypatch.setenv("STEP_S", "0.06")
    kill_until_done(plan, folder, random.Random(0), most=6)
    assert_each_done_once(plan, folder)


def kill_until_done(plan: GridPlan, folder: GridFolder, rng: random.Random, most: int = 15) -> None:
    """Start the grid again and again, and kill -9 the grid, a worker or a cell in between, until it
    ends by itself.
    """
    prepare_grid(plan, folder)
    deadline = time.monotonic() + 240
    grid = grid_process(folder, workers=3)
    kills = 0
    while grid.poll() is None or set(states(folder)) != {"done"}:
        assert time.monotonic() < deadline
        if grid.poll() is not None:
            grid = grid_process(folder, workers=3)
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
    short_plan: GridPlan, short_folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.2")
    prepare_grid(short_plan, short_folder)
    grid = grid_process(short_folder, workers=1)
    while not (started := [child for child in family(grid.pid) if "train" in child.cmdline()]):
        time.sleep(0.02)
    for process in (grid.pid, started[0].parent().pid):
        os.kill(process, signal.SIGKILL)
    monkeypatch.setenv("STEP_S", "0.01")
    run_local(short_folder, 2)
    assert_each_done_once(short_plan, short_folder)
    log, _ = events.events_after(short_plan.cell(1).run.events_file)
    assert sum(isinstance(event, events.Started) for event in log) == 1


def test_workers_end_with_the_process_that_started_them(
    plan: GridPlan, folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.3")
    prepare_grid(plan, folder)
    grid = grid_process(folder, workers=2)
    while len(children := family(grid.pid)) < 4:
        time.sleep(0.05)
    grid.kill()
    grid.wait()
    psutil.wait_procs(children, timeout=120)
    assert not [
        child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    ]
    assert "running" not in set(states(folder))


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
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    faults = {plan.cell(number).id: fault for number, fault in enumerate(FAULTS, start=1)}
    monkeypatch.setenv("FAULTS", json.dumps(faults))
    prepare_grid(plan, folder)
    run_local(folder, 2)
    *bad, good = sorted(cells_of(folder).entries(), key=lambda entry: entry.cell.number)
    assert {entry.state for entry in bad} == {"failed"}
    assert [(entry.reason, entry.errors, entry.kills) for entry in bad] == list(FAULTS.values())
    assert good.state == "done"

    monkeypatch.setenv("FAULTS", "{}")
    prepare_grid(plan, folder)  # a new start is a new chance
    work_here(folder)
    assert_each_done_once(plan, folder)


def test_a_cancelled_grid_saves_its_cells_and_goes_on_later(
    short_plan: GridPlan, short_folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "4")
    prepare_grid(short_plan, short_folder)
    began = time.time()

    def show() -> None:
        cells = cells_of(short_folder)
        is_busy = states(short_folder).count("running") == 2
        if is_busy and not cells.is_cancelled(began):
            cells.request_cancel()

    with pytest.raises(Interrupted, match="is stopped"):
        run_local(short_folder, 2, show=show)
    assert "running" not in set(states(short_folder))
    monkeypatch.delenv("HOLD_AT")
    prepare_grid(short_plan, short_folder)
    work_here(short_folder)
    assert_each_done_once(short_plan, short_folder)


def test_one_cell_by_number_is_found_by_the_grid(plan: GridPlan, folder: GridFolder) -> None:
    run_cell(plan, folder, 4, program=STAND_IN)
    run_cell(plan, folder, 4, program=STAND_IN)
    prepare_grid(plan, folder)
    assert [place for place, state in enumerate(states(folder), start=1) if state == "done"] == [4]
    with pytest.raises(UsageError, match="no cell 13"):
        run_cell(plan, folder, 13, program=STAND_IN)


def test_a_failed_or_busy_cell_by_number_says_why(
    plan: GridPlan, folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({plan.cell(1).id: "diverge"}))
    with pytest.raises(EmbedlabError, match=r"cell 1 .* failed: training diverged"):
        run_cell(plan, folder, 1, program=STAND_IN)
    with CellLock(plan.cell(2)) as lock:
        assert lock.acquire()
        with pytest.raises(EmbedlabError, match="is run by another process"):
            run_cell(plan, folder, 2, program=STAND_IN)


def test_a_cell_that_is_stopped_while_it_starts_is_not_running(
    plan: GridPlan, folder: GridFolder
) -> None:
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
    short_plan: GridPlan, short_folder: GridFolder, tmp_path: Path
) -> None:
    edited = plan_of(tmp_path, SHORT.replace("5e-5", "4e-5"))

    def planned() -> list[str]:
        return [entry.cell.variant.run for entry in cells_of(short_folder).entries()]

    with hold_plan(short_plan, short_folder):
        with (
            pytest.raises(UsageError, match="is running with another plan"),
            hold_plan(edited, short_folder),
        ):
            pass
        with hold_plan(short_plan, short_folder):  # the same one is shared
            assert planned() == [variant.run for variant in short_plan.variants]
    with hold_plan(edited, short_folder):
        assert planned() == [variant.run for variant in edited.variants]


def test_a_cell_whose_parent_is_gone_stops_at_once(
    short_plan: GridPlan, short_folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "1")
    prepare_grid(short_plan, short_folder)
    cell = short_plan.cell(1)
    with CellLock(cell) as lock:
        assert lock.acquire()
        ending = finish_cell(
            short_plan, short_folder, cell, lock, program=STAND_IN, parent=os.getpid()
        )
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
    short_plan: GridPlan, short_folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({short_plan.cell(2).id: "suicide"}))
    prepare_grid(short_plan, short_folder)
    refused = short_folder.cells / f"{short_plan.cell(2).id}.jsonl"
    refused.parent.mkdir()
    refused.symlink_to("elsewhere")
    with pytest.raises(MissingError, match=r"\.jsonl.*a link"):
        run_local(short_folder, 1)
    refused.unlink()
    monkeypatch.delenv("FAULTS")
    prepare_grid(short_plan, short_folder)
    work_here(short_folder)
    assert_each_done_once(short_plan, short_folder)


def test_a_cell_whose_run_cannot_be_written_fails_with_its_reason_alone(
    short_plan: GridPlan, short_folder: GridFolder
) -> None:
    prepare_grid(short_plan, short_folder)
    blocked = short_plan.cell(2).run.path.parent
    blocked.parent.mkdir(exist_ok=True)
    blocked.write_text("a file where its folder should be")
    work_here(short_folder)
    first, second, third = cells_of(short_folder).entries()
    assert (first.state, third.state) == ("done", "done")
    assert (second.state, second.errors) == ("failed", 2)
    assert second.reason.startswith(f"cannot write '{blocked}")
    blocked.unlink()
    prepare_grid(short_plan, short_folder)
    work_here(short_folder)
    assert_each_done_once(short_plan, short_folder)
