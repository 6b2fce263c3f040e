"""Cells as jobs of Slurm: where there is none, scripts with the names of its commands start the
jobs on this machine.
"""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.grid_plan import cancel_grid
from embedlab.commands.training import submit_training
from embedlab.commands.training_plan import TrainOptions, plan_training
from embedlab.core.errors import EmbedlabError, Interrupted, MissingError, UsageError
from embedlab.core.settings import Settings
from embedlab.experiments.cells import Cells
from embedlab.experiments.executors.executor import run_cells
from embedlab.experiments.executors.slurm import SlurmTasks, Submission
from embedlab.experiments.plan import GridPlan
from tests.experiments.conftest import STAND_IN, states
from tests.experiments.executors.test_local import assert_each_done_once, expected_value

# sbatch starts the script once a task, squeue lists the tasks whose script lives, scancel signals
# them, scontrol requeues.
COMMANDS = {
    "sbatch": """
options = dict(word.removeprefix("--").partition("=")[::2] for word in sys.argv[1:])
if "partition" in options:
    sys.exit("sbatch: error: invalid partition specified: " + options["partition"])
number = 1 + len(list(jobs.glob("*.script")))
script = jobs / f"{number}.script"
script.write_text(sys.stdin.read())
(jobs / f"{number}.options").write_text(json.dumps(options))
for index in options.get("array", "").partition("%")[0].split(","):
    task = f"{number}_{index}" if index else str(number)
    lost = (jobs / "lost").exists() and index == (jobs / "lost").read_text()
    output = open(options["output"].replace("%A_%a", task).replace("%j", task), "a")
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": index, "SLURM_JOB_ID": task}
    command = ["true"] if lost else ["bash", str(script)]
    process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, start_new_session=True)
    (jobs / f"{task}.pid").write_text(str(process.pid))
    (jobs / f"{task}.name").write_text(options["job-name"])
print(number)
""",
    "squeue": """
for name in jobs.glob("*.name"):
    state = subprocess.run(["ps", "-o", "stat=", (jobs / f"{name.stem}.pid").read_text()], capture_output=True, text=True).stdout
    if state and not state.startswith("Z"):
        print(name.stem, name.read_text())
""",
    "scancel": """
for task in sys.argv[1:]:
    if task[0].isdigit() and "--batch" in sys.argv:
        subprocess.run(["kill", "-TERM", (jobs / f"{task}.pid").read_text()])
""",
    "scontrol": """
if sys.argv[1] == "show":
    print(f"JobId={sys.argv[-1]} JobState=TIMEOUT Reason=TimeLimit")
else:
    task = sys.argv[-1]
    with (jobs / "requeued").open("a") as file:
        file.write(task + chr(10))
    environment = {**os.environ, "SLURM_RESTART_COUNT": str(1 + int(os.environ.get("SLURM_RESTART_COUNT", "0")))}
    script = jobs / (task.partition("_")[0] + ".script")
    process = subprocess.Popen(["bash", str(script)], env=environment, start_new_session=True)
    (jobs / f"{task}.pid").write_text(str(process.pid))
""",
    "sinfo": "print('gpu:h200:8' if (jobs / 'gpus').exists() else '(null)')",
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
            f"#!{sys.executable} -IS\nimport json, os, pathlib, subprocess, sys\njobs = "
            f"pathlib.Path({str(made)!r})\n{text}"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("embedlab.experiments.executors.slurm.LOOK_S", 0.1)
    monkeypatch.setattr("embedlab.experiments.executors.slurm.POLL_S", 0.1)
    return made


def slurm_of(plan: GridPlan, at_once: int | None = None, address: str = "slurm") -> SlurmTasks:
    return SlurmTasks(plan, address, at_once=at_once, program=STAND_IN)


def run_slurm(
    plan: GridPlan, at_once: int | None = None, address: str = "slurm", **options: Any
) -> None:
    """Run a grid as jobs, AT_ONCE of them."""
    run_cells(plan, slurm_of(plan, at_once, address), **options)


def submit_and_die(plan: GridPlan, at_once: int | None = None) -> None:
    """Submit the jobs of a grid from a process that does not wait for them."""
    with suppress(KeyError), slurm_of(plan, at_once) as machines:
        machines.submit()
        raise KeyError


def test_a_failed_job_and_one_that_slurm_ended_say_why(
    short_plan: GridPlan, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULTS", json.dumps({short_plan.cell(1).id: "usage"}))
    monkeypatch.setattr("embedlab.experiments.cells.MAX_KILLS", 2)
    (jobs / "lost").write_text("2")  # the job of this cell ends without having written anything
    run_slurm(short_plan, 3)
    failed, lost, done = Cells(short_plan).entries()
    assert (failed.state, failed.reason, done.state) == (
        "failed",
        "what was typed is wrong",
        "done",
    )
    assert (lost.state, lost.kills) == ("failed", 2)  # it was submitted again
    assert str(lost.reason).startswith("Slurm ended task ")
    assert str(lost.reason).endswith(": TIMEOUT")


def test_a_stopped_grid_saves_its_cells_and_removes_what_waits(
    short_plan: GridPlan, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "3")  # until the end is requested
    run = short_plan.cell(1).run
    with pytest.raises(Interrupted):
        run_slurm(short_plan, 1, is_stopping=lambda: _step(run.checkpoints) == 3)
    assert states(short_plan) == ["waiting"] * 3
    monkeypatch.delenv("HOLD_AT")
    run_slurm(short_plan, 3)
    assert (run.model / "value").read_text() == expected_value(short_plan, 1)


def test_jobs_do_every_cell_once_and_those_of_a_process_that_died_are_found_again(
    short_plan: GridPlan, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.1")
    submit_and_die(short_plan, 3)
    while states(short_plan) != ["running"] * 3:
        time.sleep(0.02)
    run_slurm(short_plan, 3)
    assert_each_done_once(short_plan)
    assert len(list(jobs.glob("*.name"))) == 3
    options = json.loads((jobs / "1.options").read_text())
    assert {"cpus-per-task", "export", "requeue", "signal"} <= {*options}
    assert (options["array"], "gpus" in options) == ("1,2,3%3", False)


def test_a_refused_job_is_an_error_with_its_words(short_plan: GridPlan, jobs: Path) -> None:
    with pytest.raises(EmbedlabError, match="invalid partition specified: none"):
        run_slurm(short_plan, address="slurm:partition=none")


def test_without_slurm_its_command_is_named(
    short_plan: GridPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingError, match="sbatch is not on this machine"):
        run_slurm(short_plan)


@pytest.mark.parametrize("address", ["slurm:output=x", "slurm:--time=1", "slurm:wrap=rm"])
def test_options_of_ours_are_refused(address: str, jobs: Path) -> None:
    with pytest.raises(UsageError, match="is not yours to set"):
        Submission.from_address(address)
    assert Submission.from_address("slurm:partition=gpu,time=2:00:00,exclusive").options == (
        "--partition=gpu",
        "--time=2:00:00",
        "--exclusive",
    )


@pytest.mark.parametrize(
    ("device", "address", "gpus"),
    [
        ("auto", "slurm", "1"),
        ("cuda", "slurm", "1"),
        ("cpu", "slurm", None),
        ("auto", "slurm:gpus=2", "2"),
        ("auto", "slurm:gres=gpu:2", None),
    ],
)
def test_a_gpu_is_requested_where_cells_train_on_one(
    device: str, address: str, gpus: str | None, jobs: Path, tmp_path: Path
) -> None:
    (jobs / "gpus").touch()
    Submission.from_address(address).submit("name", "true", tmp_path, device=device, threads=1)
    assert json.loads((jobs / "1.options").read_text()).get("gpus") == gpus


def test_lines_of_setup_run_before_the_command_and_may_wrap_it(jobs: Path, tmp_path: Path) -> None:
    setup = tmp_path / "setup.sh"
    setup.write_text('export WHERE=container\nset -- sh -c \'echo in $WHERE: "$@"\' sh "$@"\n')
    submission = Submission.from_address(f"slurm:setup={setup}")
    job = submission.submit("name", "echo 'two  words'", tmp_path, device="cpu", threads=1)
    output = tmp_path / f"{job}.txt"
    for _ in range(100):
        if output.read_text():
            break
        time.sleep(0.05)
    assert output.read_text() == "in container: echo two  words\n"
    with pytest.raises(MissingError, match="setup=gone"):
        Submission.from_address("slurm:setup=gone")


def test_a_task_at_its_time_limit_goes_on_though_nobody_waits(
    short_plan: GridPlan, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEP_S", "0.3")
    submit_and_die(short_plan)
    run = short_plan.cell(2).run
    for step in (2, 5):  # as Slurm warns before the end of the time
        while _step(run.checkpoints) < step:
            time.sleep(0.01)
        os.kill(int((jobs / "1_2.pid").read_text()), signal.SIGUSR1)
    while states(short_plan) != ["done"] * 3:
        time.sleep(0.05)
    assert (jobs / "requeued").read_text().split() == ["1_2", "1_2"]
    for cell in short_plan.cells:
        assert (cell.run.model / "value").read_text() == expected_value(short_plan, cell.number)


def _step(checkpoints: Path) -> int:
    path = checkpoints / "state"
    return int(path.read_text().split()[0]) if path.is_file() else 0


@pytest.mark.slow
def test_a_real_slurm_does_every_cell_once(
    short_plan: GridPlan,
) -> None:
    if (
        subprocess.run(
            ["sh", "-c", "sinfo --noheader"], capture_output=True, check=False
        ).returncode
        != 0
    ):
        pytest.skip("no Slurm answers")
    run_slurm(short_plan, address="slurm:time=5")
    assert_each_done_once(short_plan)


def test_jobs_of_a_process_that_died_can_be_cancelled(
    short_plan: GridPlan, jobs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLD_AT", "3")
    submit_and_die(short_plan, 3)
    settings = Settings(runs=short_plan.place.runs)
    assert cancel_grid(short_plan.name, settings) == short_plan
    for _ in range(300):
        if not subprocess.run(["squeue"], capture_output=True, check=True).stdout:
            break
        time.sleep(0.1)
    assert states(short_plan) == ["waiting"] * 3
    with pytest.raises(UsageError, match="is not running"):
        cancel_grid(short_plan.name, settings)


@pytest.mark.parametrize("squeue", ["false", "sleep 60"])
def test_a_stop_is_heeded_while_squeue_fails(
    squeue: str,
    short_plan: GridPlan,
    jobs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLD_AT", "3")
    monkeypatch.setattr("embedlab.experiments.executors.slurm.ANSWER_S", 0.2)
    broken = jobs.parent / "bin" / "squeue"
    working = broken.read_text()
    broken.write_text(f"#!/bin/sh\nexec {squeue}\n")
    try:
        with pytest.raises(EmbedlabError, match="Slurm does not answer"):
            run_slurm(short_plan, 1, is_stopping=lambda: True)
    finally:
        broken.write_text(working)
        monkeypatch.setattr("embedlab.experiments.executors.slurm.ANSWER_S", 60)
        with suppress(UsageError):  # its jobs have ended by themselves
            cancel_grid(short_plan.name, Settings(runs=short_plan.place.runs))


def test_a_training_is_a_job_a_seed_that_goes_on_where_it_was(jobs: Path, tmp_path: Path) -> None:
    (jobs / "lost").write_text("")  # only submitted
    settings = Settings(runs=tmp_path / "runs", data=Path("tiny"), quiet=True)
    options = TrainOptions(recipe="snli-ce", seeds=(1, 2), epochs=3, gpus=2)
    plan = plan_training(options, settings)
    (jobs / "gpus").touch()
    assert submit_training(plan, "slurm", NotebookSession(settings=settings)) == ("1", "2")
    script = (jobs / "2.script").read_text()
    assert "train snli-ce --epochs 3 --seed 2 --gpus 2 --resume" in script
    assert json.loads((jobs / "2.options").read_text())["gpus"] == "2"
    with pytest.raises(UsageError, match="a training runs on Slurm"):
        submit_training(plan, "auto", NotebookSession(settings=settings))
