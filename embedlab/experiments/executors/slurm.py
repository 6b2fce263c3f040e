"""Cells as jobs of Slurm; the queue stays with the process that submits them, and all nodes see the
grid's folder.
"""

import hashlib
import json
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from embedlab.core import python_processes
from embedlab.core.errors import EmbedlabError, ExitCode, MissingError, UsageError
from embedlab.core.python_processes import python_command
from embedlab.experiments.cell import PROGRAM, ending_of
from embedlab.experiments.executors.executor import POLL_S, Claims, Executor
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.queue import Ending, QueueEntry

SLURM = "slurm"  # the address, which options of sbatch may follow: slurm:partition=gpu,time=2:00:00
LOOK_S = 1.0  # between two looks at the jobs: each is a request to Slurm's controller
# after which a job that is not there has ended, even if its output is not: a network disk may be
# late
LOOKS = 3
AT_ONCE = 64  # jobs, unless --workers says otherwise: Slurm decides how many of them run
GRACE_S = 120  # before the end of its time, a job is warned so that it saves a checkpoint
ANSWER_S = 60  # after which a command of Slurm failed
KILLED = -15  # how a job counts that Slurm ended

OURS = {
    "job-name",
    "output",
    "error",
    "parsable",
    "wrap",
    "array",
    "export",
    "chdir",
    "signal",
}  # options that are not the user's


def is_slurm(address: str) -> bool:
    """Return whether an address of `--cluster` is Slurm's."""
    return address.partition(":")[0] == SLURM


def sbatch_options(address: str) -> list[str]:
    """Return the options of sbatch that an address has."""
    options = []
    for text in filter(None, address.partition(":")[2].split(",")):
        key, equals, _ = text.partition("=")
        if key in OURS or key.startswith("-"):
            raise UsageError(
                f"--cluster {address}: {key!r} is not yours to set",
                hint="for example --cluster slurm:partition=gpu,time=2:00:00",
            )
        options.append(f"--{text}" if equals else f"--{key}")
    return options


class SlurmJobs:
    """The cells of one grid as jobs, each with the plan's threads.

    A job that Slurm ends, at its time limit or with its node, continues from its checkpoint in
    another one. Jobs outlive the process that submitted them: the next one finds them by their
    names.
    """

    def __init__(
        self,
        plan: GridPlan,
        folder: GridFolder,
        address: str,
        at_once: int | None,
        program: Sequence[str],
    ) -> None:
        self.plan, self.folder, self.program = plan, folder, tuple(program)
        self.options = sbatch_options(address)
        self.claims: Claims[str] = Claims(folder, at_once or AT_ONCE)
        self.outputs, self.prefix = _outputs(folder), _prefix(folder)
        self._looked = 0.0
        self._missed: Counter[str] = Counter()  # how often a job was not there
        self._is_cancelled = False

    def submit(self) -> None:
        """Submit cells that wait; one whose job is still there from before keeps it."""
        there: dict[str, str] | None = None
        for entry in self.claims.new():
            there = {name: job for job, name in self._jobs().items()} if there is None else there
            name = f"{self.prefix}-{entry.number}"
            self.claims.hold(
                there[name] if name in there else self._submit(name, entry.number), entry
            )

    def _submit(self, name: str, number: int) -> str:
        self.outputs.mkdir(parents=True, exist_ok=True)
        module = "embedlab.experiments.single_cell"
        command = python_command(
            str(self.folder.path.absolute()), str(number), "--", *self.program, module=module
        )
        gpus = (
            ["--gpus=1"]
            if self.plan.place.device == "cuda"
            and not any(option.startswith("--g") for option in self.options)
            else []
        )
        ours = [
            "--parsable",
            f"--job-name={name}",
            f"--output={self.outputs.absolute()}/%j.txt",
            f"--cpus-per-task={self.plan.threads}",
            "--ntasks=1",
            "--no-requeue",
            "--chdir=/",
            "--export=ALL",  # with what keeps Python from importing files of the working folder
            f"--signal=B:TERM@{GRACE_S}",
        ]
        done = _run("sbatch", *ours, *gpus, *self.options, f"--wrap=exec {shlex.join(command)}")
        if done.returncode != 0:
            raise EmbedlabError(
                f"Slurm refused a job: {_last_line(done.stderr)}",
                hint="see the options after `slurm:` and `sinfo`",
            )
        return done.stdout.strip().partition(";")[0]

    def poll(self) -> bool:
        """Settle the jobs that ended, and renew the claims of the others."""
        time.sleep(POLL_S)
        if self.claims.jobs and time.monotonic() - self._looked > LOOK_S:
            there = self._jobs()
            self._looked = time.monotonic()
            for job in self.claims.jobs:
                self._missed[job] += job not in there
                if self._missed[job] and (
                    _outcome(self._output(job)) is not None or self._missed[job] >= LOOKS
                ):
                    self.claims.settle(job, self._ending(job, self.claims.entry(job)))
        self.claims.renew()
        return bool(self.claims.jobs) or (not self._is_cancelled and self.claims.queue.is_open())

    def _jobs(self) -> dict[str, str]:
        """Return the names of this grid's jobs that have not ended, by their ids."""
        try:
            return _listed(self.prefix)
        except EmbedlabError:  # the jobs run on, and whoever wants to stop does not wait for them
            if self._is_cancelled:
                raise
            return dict.fromkeys(self.claims.jobs, "")

    def _output(self, job: str) -> Path:
        return self.outputs / f"{job}.txt"

    def _ending(self, job: str, entry: QueueEntry) -> Ending:
        """Return how a job ended by what it wrote last; one that wrote nothing was ended by
        Slurm.
        """
        outcome = _outcome(self._output(job))
        if outcome is None:
            state = _state(job)
            return (
                Ending(state="waiting")
                if self._is_cancelled
                else ending_of(entry, KILLED, f"Slurm ended job {job}: {state}")
            )
        returncode, reason = outcome
        if returncode == 0:
            return Ending(state="done")
        if self._is_cancelled:
            return Ending(state="waiting")
        if (
            returncode == ExitCode.INTERRUPTED
        ):  # saved a checkpoint, although this process did not stop it
            return ending_of(entry, KILLED, f"Slurm stopped job {job}: {_state(job)}")
        return ending_of(entry, returncode, reason)

    def cancel(self) -> None:
        """Remove the jobs that wait, and request that the others save their cells' checkpoints and
        stop.
        """
        self._is_cancelled = True
        _cancel(self.claims.jobs)

    def complaint(self) -> str:
        """Return nothing: a job that fails is a cell that fails."""
        return ""


def cancel_jobs(folder: GridFolder) -> list[int]:
    """Cancel the jobs of a grid whoever submitted them, as `SlurmJobs` does; return the numbers of
    their cells.
    """
    if not _outputs(folder).is_dir() or shutil.which("squeue") is None:
        return []
    there = _listed(_prefix(folder))
    _cancel([*there])
    return [int(name.rpartition("-")[2]) for name in there.values()]


def _outputs(folder: GridFolder) -> Path:
    return folder.path / "slurm"


def _prefix(folder: GridFolder) -> str:
    return f"embedlab-{hashlib.sha256(str(folder.path.absolute()).encode()).hexdigest()[:8]}"


def _listed(prefix: str) -> dict[str, str]:
    """Return the names that begin with PREFIX of the user's jobs that have not ended, by their
    ids.
    """
    done = _run("squeue", "--me", "--noheader", "--format=%i %j")
    if done.returncode != 0:
        raise EmbedlabError(
            f"Slurm does not answer, and jobs may run on: {_last_line(done.stderr)}",
            hint="when `squeue --me` answers, `embedlab grid cancel` stops them",
        )
    lines = (line.split(maxsplit=1) for line in done.stdout.splitlines())
    return {job: name.strip() for job, name in lines if name.startswith(f"{prefix}-")}


def _cancel(jobs: Sequence[str]) -> None:
    if jobs:
        _run("scancel", "--state=PENDING", *jobs)
        _run("scancel", "--batch", "--signal=TERM", *jobs)


@contextmanager
def slurm_jobs(
    plan: GridPlan,
    folder: GridFolder,
    address: str,
    *,
    at_once: int | None = None,
    program: Sequence[str] = PROGRAM,
) -> Iterator[Executor]:
    """Run the cells of PLAN as jobs of Slurm within the block; ADDRESS may have options of
    sbatch.
    """
    if shutil.which("sbatch") is None:
        raise MissingError(
            "--cluster slurm needs the commands of Slurm; sbatch is not on this machine",
            hint="run it on a login node",
        )
    jobs = SlurmJobs(plan, folder, address, at_once, program)
    with jobs.claims.alive():
        yield jobs


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    with python_processes.start(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            output, errors = process.communicate(timeout=ANSWER_S)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
    return subprocess.CompletedProcess(
        command,
        process.returncode,
        output.decode(errors="replace"),
        errors.decode(errors="replace"),
    )


def _outcome(output: Path) -> tuple[int, str] | None:
    """Return the exit code and the reason in the last line of a job's OUTPUT; None where the job
    did not come to write it.
    """
    try:
        values = json.loads(_last_line(output.read_text(encoding="utf-8", errors="replace")))
        return int(values["returncode"]), str(values["reason"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _state(job: str) -> str:
    """Return what Slurm says of a job that ended."""
    done = _run("scontrol", "show", "job", "--oneliner", job)
    return next(
        (word.partition("=")[2] for word in done.stdout.split() if word.startswith("JobState=")),
        "its state is not known",
    )


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
