"""Cells as the tasks of a job array of Slurm, and trainings as its jobs.

All nodes see the runs folder. A task that nears its time limit saves a checkpoint and requeues
itself, so that the work goes on also when the process that submitted it has ended.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError, ExitCode, MissingError, UsageError
from embedlab.core.python_processes import isolated_environment, python_command
from embedlab.experiments.cells import PROGRAM, CellEntry
from embedlab.experiments.executors.executor import Executor
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.single_cell import read_ending

SLURM = "slurm"  # the address, which options of sbatch may follow: slurm:partition=gpu,time=2:00:00
POLL_S = 1.0  # between two looks at what the tasks wrote
LOOK_S = 15.0  # between two requests to Slurm's controller
# after which a task that is not listed has ended, even if its output is not there: a network disk
# may be late
LOOKS = 3
GRACE_S = 120  # before the end of its time, a task is warned so that it saves a checkpoint
ANSWER_S = 60  # after which a command of Slurm failed
KILLED = -15  # how a task counts that Slurm ended
ARRAY = 1000  # tasks of one array: Slurm's own default allows 1,001

# options of sbatch that are not the user's
OURS = {"array", "chdir", "error", "export", "job-name", "open-mode", "output", "parsable"}
OURS |= {"requeue", "no-requeue", "signal", "wrap"}

# $@ is the command of the task. The user's lines of set-up may change it, for instance to run it in
# a container. USR1 comes before the end of the time, and TERM from who cancels.
SCRIPT = """#!/bin/bash
set -- {command}
{setup}
"$@" & work=$!
trap 'again=1; kill -USR1 $work' USR1
trap 'again=; kill -TERM $work' TERM
while wait $work; code=$?; kill -0 $work 2>/dev/null; do :; done
if [ -n "$again" ] && [ $code -ge 128 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {restarts} ]; then
  exec scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
"""
RESTARTS = 100  # of one task at its time limit: one that needs more makes no progress


def is_slurm(address: str) -> bool:
    """Return whether an address of `--cluster` is Slurm's."""
    return address.partition(":")[0] == SLURM


@dataclass(frozen=True, kw_only=True)
class Submission:
    """How jobs are submitted: what `--cluster slurm:KEY=VALUE,...` says."""

    options: tuple[str, ...]  # of sbatch
    setup: str = ""  # lines of bash that run before each command

    @classmethod
    def from_address(cls, address: str) -> "Submission":
        """Return the submission that an ADDRESS describes; `setup=FILE` names a file of set-up
        lines.
        """
        if shutil.which("sbatch") is None:
            raise MissingError(
                "--cluster slurm needs the commands of Slurm; sbatch is not on this machine",
                hint="run it on a login node",
            )
        options, setup = [], ""
        for text in filter(None, address.partition(":")[2].split(",")):
            key, has_value, value = text.partition("=")
            if key == "setup":
                setup = _read_setup(value)
            elif key in OURS or key.startswith("-"):
                raise UsageError(
                    f"--cluster {address}: {key!r} is not yours to set",
                    hint="for example --cluster slurm:partition=gpu,time=2:00:00",
                )
            else:
                options.append(f"--{text}" if has_value else f"--{key}")
        return cls(options=tuple(options), setup=setup)

    def submit(
        self,
        name: str,
        command: str,
        outputs: Path,
        *,
        device: str,
        threads: int,
        gpus: int = 1,
        array: str = "",
        folder: Path = Path("/"),
    ) -> str:
        """Submit COMMAND, a line of bash, to run in FOLDER, and return the number of its job.

        With an ARRAY, such as 1,2,7%4, it is submitted once a task. GPUS are requested where DEVICE
        may be one and the cluster has some, unless the user's options say how many.
        """
        outputs.mkdir(parents=True, exist_ok=True)
        has_gpu_option = any(option.startswith(("--gpu", "--gres")) for option in self.options)
        our_options = [
            "--parsable",
            f"--job-name={name}",
            f"--output={outputs.absolute()}/{'%A_%a' if array else '%j'}.txt",
            "--open-mode=append",
            f"--cpus-per-task={threads}",
            "--ntasks=1",
            "--requeue",
            f"--chdir={folder}",
            "--export=ALL",  # with what keeps Python from importing files of the working folder
            f"--signal=B:USR1@{GRACE_S}",
            *([f"--array={array}"] if array else []),
            *([f"--gpus={gpus}"] if not has_gpu_option and _has_gpus(device) else []),
        ]
        script = SCRIPT.format(command=command, setup=self.setup, restarts=RESTARTS)
        done = _run("sbatch", *our_options, *self.options, typed=script)
        if done.returncode != 0:
            raise EmbedlabError(
                f"Slurm refused a job: {_last_line(done.stderr)}",
                hint="see the options after `slurm:` and `sinfo`",
            )
        return done.stdout.strip().partition(";")[0]


class SlurmTasks(Executor[str]):
    """The cells of one grid as tasks of job arrays, each with the plan's threads.

    A task is ARRAY_NUMBER, as Slurm calls it. Tasks outlive the process that submitted them: the
    next one finds them by the name of their array, and their cells by their number.
    """

    def __init__(
        self,
        plan: GridPlan,
        address: str,
        *,
        at_once: int | None = None,
        program: Sequence[str] = PROGRAM,
    ) -> None:
        super().__init__(plan, len(plan))
        self.submission, self.limit, self.program = (
            Submission.from_address(address),
            at_once,
            program,
        )
        self.outputs, self.prefix = _outputs(plan.folder), _prefix(plan.folder)
        self._looked = time.monotonic()
        self._missed: Counter[str] = Counter()  # how often a task was not there

    def submit(self) -> None:
        """Submit all cells that wait; one whose task is still there from before keeps it."""
        # one that runs is the task of a process that died
        entries = list(self.waiting("waiting", "running"))
        if not entries:
            return
        task_of_cell = {number: task for task, number in self._tasks().items()}
        arrays: dict[int, list[CellEntry]] = {}
        for entry in entries:
            if entry.cell.number in task_of_cell:
                self.hold(task_of_cell[entry.cell.number], entry)
            else:
                arrays.setdefault(entry.cell.number // ARRAY * ARRAY, []).append(entry)
        for base, cells in arrays.items():
            job = self._submit(base, [cell_entry.cell.number - base for cell_entry in cells])
            for cell_entry in cells:
                self.hold(f"{job}_{cell_entry.cell.number - base}", cell_entry)

    def _submit(self, base: int, indices: Sequence[int]) -> str:
        command = python_command(
            str(self.plan.folder.path.absolute()), module="embedlab.experiments.single_cell"
        )
        number = f'"$(({base} + SLURM_ARRAY_TASK_ID))"'
        limit = f"%{self.limit}" if self.limit else ""
        return self.submission.submit(
            f"{self.prefix}-{base}",
            f"{shlex.join(command)} {number} -- {shlex.join(self.program)}",
            self.outputs,
            device=self.plan.place.device,
            threads=self.plan.threads,
            array=",".join(map(str, indices)) + limit,
        )

    def check_jobs(self) -> None:
        """Record the tasks that ended."""
        time.sleep(POLL_S)
        for task in [*self.jobs]:
            outcome = self._reported(task)
            if outcome is not None and outcome[0] != ExitCode.INTERRUPTED:
                self._settle(task)
        patience_s = POLL_S if self.is_cancelled else LOOK_S
        if self.jobs and time.monotonic() - self._looked >= patience_s:
            queued_tasks = self._tasks()
            self._looked = time.monotonic()
            for task in [*self.jobs]:
                self._missed[task] = 0 if task in queued_tasks else self._missed[task] + 1
                if self._missed[task] >= LOOKS:
                    self._settle(task)

    def _tasks(self) -> dict[str, int]:
        """Return the cells of this grid's tasks that have not ended, by task."""
        try:
            return _listed(self.prefix)
        except EmbedlabError:  # the tasks run on, and whoever wants to stop does not wait for them
            if self.is_cancelled or not self.jobs:
                raise
            return {task: entry.cell.number for task, (entry, _) in self.jobs.items()}

    def _reported(self, task: str) -> tuple[int, str] | None:
        """Return how a task reported its end; None if it wrote nothing."""
        with suppress(OSError):
            output = (self.outputs / f"{task}.txt").read_text(encoding="utf-8", errors="replace")
            return read_ending(_last_line(output))
        return None

    def _settle(self, task: str) -> None:
        """Record how a task ended by what it wrote last; if it wrote nothing, Slurm ended it."""
        returncode, reason = self._reported(task) or (KILLED, "")
        # by others than this process
        if returncode in {KILLED, ExitCode.INTERRUPTED} and not self.is_cancelled:
            returncode, reason = KILLED, f"Slurm ended task {task}: {_state(task)}"
        self.record_end(task, returncode, reason)

    def stop(self) -> None:
        """Remove the tasks that wait, and request that the others save their cells' checkpoints and
        stop.
        """
        _cancel([*self.jobs])


def cancel_tasks(folder: GridFolder) -> list[int]:
    """Cancel the tasks of a grid whoever submitted them, as `SlurmTasks` does; return the numbers
    of their cells.
    """
    if not _outputs(folder).is_dir() or shutil.which("squeue") is None:
        return []
    queued_tasks = _listed(_prefix(folder))
    _cancel([*queued_tasks])
    return [*queued_tasks.values()]


def _outputs(folder: GridFolder) -> Path:
    return folder.path / "slurm"


def _prefix(folder: GridFolder) -> str:
    return f"embedlab-{hashlib.sha256(str(folder.path.absolute()).encode()).hexdigest()[:8]}"


def _listed(prefix: str) -> dict[str, int]:
    """Return the cells of the user's tasks that have not ended and whose arrays' names begin with
    PREFIX, by task.
    """
    done = _run("squeue", "--me", "--noheader", "--array", "--format=%F_%K %j")
    if done.returncode != 0:
        raise EmbedlabError(
            f"Slurm does not answer, and jobs may run on: {_last_line(done.stderr)}",
            hint="when `squeue --me` answers, `embedlab grid cancel` stops them",
        )
    cells = {}
    for line in done.stdout.splitlines():
        task, _, name = line.strip().partition(" ")
        if name.startswith(f"{prefix}-"):
            cells[task] = int(name.rpartition("-")[2]) + int(task.rpartition("_")[2])
    return cells


def _cancel(tasks: Sequence[str]) -> None:
    if tasks:
        _run("scancel", "--state=PENDING", *tasks)
        _run("scancel", "--batch", "--signal=TERM", *tasks)


def _has_gpus(device: str) -> bool:
    """Return whether a job that may use DEVICE should request a GPU."""
    if device == "auto":
        return "gpu" in _run("sinfo", "--noheader", "--format=%G").stdout
    return device.startswith("cuda")


def _read_setup(name: str) -> str:
    try:
        return Path(name).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        raise MissingError(
            f"--cluster slurm:setup={name}: cannot read {name!r}: {error}",
            hint="a file with the lines of bash that load modules or environments",
        ) from error


def _run(*command: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command of Slurm with this standard input."""
    try:
        return subprocess.run(
            command,
            input=typed,
            env=isolated_environment(os.environ),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=ANSWER_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, KILLED, "", f"no answer in {ANSWER_S} s")


def _state(task: str) -> str:
    """Return the state that Slurm reports of a task that ended."""
    done = _run("scontrol", "show", "job", "--oneliner", task)
    return next(
        (word.partition("=")[2] for word in done.stdout.split() if word.startswith("JobState=")),
        "its state is not known",
    )


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
