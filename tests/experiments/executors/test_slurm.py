"""Cells as jobs of Slurm: where there is none, scripts with the names of its commands start the
jobs on this machine.
"""

import json
import os
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.executors.executor import run_cells
from embedlab.experiments.executors.slurm import sbatch_options, slurm_jobs
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.preparation import prepare_grid
from embedlab.experiments.queue import Queue
from embedlab.workflows.grid.plan import cancel_grid
from tests.experiments.conftest import STAND_IN
from tests.experiments.executors.test_local import assert_each_done_once, expected_value

# sbatch starts the command, squeue lists the jobs whose process lives, scancel signals them.
COMMANDS = {
    "sbatch": """
options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
if "partition" in options:
    sys.exit("sbatch: error: invalid partition specified: " + options["partition"])
command = options["wrap"]
if (jobs / "lost").exists() and options["job-name"].endswith((jobs / "lost").read_text()):
    command = "true"
number = len(list(jobs.glob("*.name"))) + 1
output = open(options["output"].replace("%j", str(number)), "w")
process = subprocess.Popen(["sh", "-c", command], stdout=output, stderr=output, start_new_session=True)
(jobs / f"{number}.name").write_text(options["job-name"])
(jobs / f"{number}.pid").write_text(str(process.pid))
(jobs / f"{number}.options").write_text(" ".join(sorted(options)))
print(number)
""",
    "squeue": """
for name in jobs.glob("*.name"):
    state = subprocess.run(["ps", "-o", "stat=", (jobs / f"{name.stem}.pid").read_text()], capture_output=True, text=True).stdout
    if state and not state.startswith("Z"):
        print(name.stem, name.read_text())
""",
    "scancel": """
for number in sys.argv[1:]:
    if number.isdigit() and "--batch" in sys.argv:
        subprocess.run(["kill", "-TERM", (jobs / f"{number}.pid").read_text()])
""",
    "scontrol": "print(f'JobId={sys.argv[-1]} JobState=TIMEOUT Reason=TimeLimit')\n",
}


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts in place of the commands of Slurm, and the folder of their jobs."""
    commands, made = tmp_path / "bin", tmp_path / "jobs"
    commands.mkdir()
    made.mkdir()
    for name, text in COMMANDS.items():
        path = commands / name
        path.write_text(
            f"#!{sys.executable} -IS\nimport pathlib, subprocess, sys\njobs = "
            f"pathlib.Path({str(made)!r})\n{text}"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("embedlab.experiments.executors.slurm.LOOK_S", 0.1)
    return made


def states(folder: GridFolder) -> list[str]:
    with Queue(folder.queue_file) as queue:
        return [entry.state for entry in queue.entries()]


def test_jobs_do_every_cell_once(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path
) -> None:
    prepare_grid(short_plan, short_folder)
    run_cells(
        short_plan,
        short_folder,
        slurm_jobs(short_plan, short_folder, "slurm", at_once=2, program=STAND_IN),
    )
    assert_each_done_once(short_plan, short_folder)
    assert len(list(jobs.glob("*.name"))) == 3
    assert {"cpus-per-task", "export", "no-requeue", "signal"} <= {
        *(jobs / "1.options").read_text().split()
    }


def test_a_failed_job_and_one_that_slurm_ended_say_why(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("FAULTS", json.dumps({short_plan.cell(1).id: "usage"}))
    monkeypatch.setattr("embedlab.experiments.cell.MAX_KILLS", 2)
    (jobs / "lost").write_text("-2")  # the job of this cell ends without having written anything
    run_cells(
        short_plan,
        short_folder,
        slurm_jobs(short_plan, short_folder, "slurm", at_once=3, program=STAND_IN),
    )
    with Queue(short_folder.queue_file) as queue:
        failed, lost, done = queue.entries()
    assert (failed.state, failed.reason, done.state) == (
        "failed",
        "what was typed is wrong",
        "done",
    )
    assert (lost.state, lost.kills) == ("failed", 2)  # it was submitted again
    assert str(lost.reason).startswith("Slurm ended job ")
    assert str(lost.reason).endswith(": TIMEOUT")


def test_a_stopped_grid_saves_its_cells_and_removes_what_waits(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("HOLD_AT", "3")  # until the end is requested
    run = short_plan.run(short_plan.cell(1))
    with pytest.raises(Interrupted):
        run_cells(
            short_plan,
            short_folder,
            slurm_jobs(short_plan, short_folder, "slurm", at_once=1, program=STAND_IN),
            is_stopping=lambda: (
                (run.checkpoints / "state").is_file()
                and (run.checkpoints / "state").read_text().startswith("3 ")
            ),
        )
    assert states(short_folder) == ["waiting"] * 3
    monkeypatch.delenv("HOLD_AT")
    run_cells(
        short_plan,
        short_folder,
        slurm_jobs(short_plan, short_folder, "slurm", at_once=3, program=STAND_IN),
    )
    assert (run.model / "value").read_text() == expected_value(short_plan, 1)


def test_jobs_of_a_process_that_died_are_found_again(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("STEP_S", "0.1")
    with (
        suppress(KeyError),
        slurm_jobs(short_plan, short_folder, "slurm", at_once=3, program=STAND_IN) as machines,
    ):
        machines.submit()
        raise KeyError
    assert states(short_folder) == ["running"] * 3
    run_cells(
        short_plan,
        short_folder,
        slurm_jobs(short_plan, short_folder, "slurm", at_once=3, program=STAND_IN),
    )
    assert_each_done_once(short_plan, short_folder)
    assert len(list(jobs.glob("*.name"))) == 3


def test_a_refused_job_is_an_error_with_its_words(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path
) -> None:
    prepare_grid(short_plan, short_folder)
    with pytest.raises(EmbedlabError, match="invalid partition specified: none"):
        run_cells(
            short_plan,
            short_folder,
            slurm_jobs(short_plan, short_folder, "slurm:partition=none", program=STAND_IN),
        )


def test_without_slurm_its_command_is_named(
    short_plan: GridPlan, short_folder: GridFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingError, match="sbatch is not on this machine"):
        run_cells(short_plan, short_folder, slurm_jobs(short_plan, short_folder, "slurm"))


@pytest.mark.parametrize("address", ["slurm:output=x", "slurm:--time=1", "slurm:wrap=rm"])
def test_options_of_ours_are_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not yours to set"):
        sbatch_options(address)
    assert sbatch_options("slurm:partition=gpu,time=2:00:00,exclusive") == [
        "--partition=gpu",
        "--time=2:00:00",
        "--exclusive",
    ]


@pytest.mark.slow
def test_a_real_slurm_does_every_cell_once(short_plan: GridPlan, short_folder: GridFolder) -> None:
    if (
        subprocess.run(
            ["sh", "-c", "sinfo --noheader"], capture_output=True, check=False
        ).returncode
        != 0
    ):
        pytest.skip("no Slurm answers")
    prepare_grid(short_plan, short_folder)
    run_cells(
        short_plan,
        short_folder,
        slurm_jobs(short_plan, short_folder, "slurm:time=5", program=STAND_IN),
    )
    assert_each_done_once(short_plan, short_folder)


def test_jobs_of_a_process_that_died_can_be_cancelled(
    short_plan: GridPlan, short_folder: GridFolder, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("HOLD_AT", "3")
    with (
        suppress(KeyError),
        slurm_jobs(short_plan, short_folder, "slurm", at_once=3, program=STAND_IN) as machines,
    ):
        machines.submit()
        raise KeyError
    settings = Settings(runs=short_plan.place.runs_folder)
    assert cancel_grid(short_plan.name, settings) == short_plan
    assert states(short_folder) == ["waiting"] * 3
    for _ in range(300):
        if not subprocess.run(["squeue"], capture_output=True, check=True).stdout:
            break
        time.sleep(0.1)
    with pytest.raises(UsageError, match="is not running"):
        cancel_grid(short_plan.name, settings)


@pytest.mark.parametrize("squeue", ["exit 1", "sleep 60"])
def test_a_stop_is_heeded_while_squeue_fails(
    squeue: str,
    short_plan: GridPlan,
    short_folder: GridFolder,
    jobs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare_grid(short_plan, short_folder)
    monkeypatch.setenv("HOLD_AT", "3")
    monkeypatch.setattr("embedlab.experiments.executors.slurm.ANSWER_S", 0.2)
    broken = jobs.parent / "bin" / "squeue"
    working = broken.read_text()
    broken.write_text(
        f"#!/bin/sh\nexec {squeue}\n" if "sleep" in squeue else f"#!/bin/sh\n{squeue}\n"
    )
    try:
        with pytest.raises(EmbedlabError, match="Slurm does not answer"):
            run_cells(
                short_plan,
                short_folder,
                slurm_jobs(short_plan, short_folder, "slurm", at_once=1, program=STAND_IN),
                is_stopping=lambda: True,
            )
    finally:
        broken.write_text(working)
        monkeypatch.setattr("embedlab.experiments.executors.slurm.ANSWER_S", 60)
        with suppress(UsageError):  # its jobs have ended by themselves
            cancel_grid(short_plan.name, Settings(runs=short_plan.place.runs_folder))
