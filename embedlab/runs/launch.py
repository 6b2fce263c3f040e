"""Start embedlab processes that outlive their terminal or work together, and stop them."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedlab.core import python_processes
from embedlab.core.disk import as_disk_errors
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.foreign_files import open_own
from embedlab.core.interrupts import handle_stops
from embedlab.core.printable import visible
from embedlab.core.python_processes import python_command
from embedlab.core.settings import ERRORS_TO, Settings, words_of
from embedlab.runs.events import Cancelled, EndingReport, EventLog
from embedlab.runs.store import RunFolder, is_process

POLL_S = 0.1
# settings that a process started by another one shares
SHARED = (
    *("runs", "device", "precision", "data"),
    *("threads", "offline", "allow_partial", "deterministic"),
)
GRACE_S = 5.0  # for processes whose team has lost one, before they are killed


@dataclass(frozen=True, kw_only=True)
class Detached:
    """A process that outlives its terminal, and where it reports why it ended."""

    process: "subprocess.Popen[bytes]"
    log: Path
    ending: EndingReport  # receives its error; one that was killed reports nothing

    def error(self, task: str) -> EmbedlabError:
        """Why the process that did TASK ended."""
        if (failed := self.ending.failed) is not None:
            return EmbedlabError(failed.message, hint=failed.hint)
        ending = describe_ending(self.process.returncode)
        return EmbedlabError(
            f"{task} failed: process {self.process.pid}: {ending}", hint=f"its log: {self.log}"
        )


def describe_ending(returncode: int) -> str:
    """Return in words how a process ended that reported no error."""
    if returncode >= 0:
        return f"exit code {returncode} without an error"
    is_killed = returncode == -signal.SIGKILL
    by_system = ", as the system does when memory runs out" if is_killed else ""
    return f"killed by {signal.Signals(-returncode).name}{by_system}"


def shared_flags(settings: Settings) -> list[str]:
    """The common options under which a process works on the same data and runs as this one."""
    return words_of(settings, SHARED)


def start_run(
    arguments: Sequence[str], run: RunFolder, *, inherited: Sequence[int] = (), **options: Any
) -> Detached:
    """Start `embedlab ARGUMENTS`, which trains RUN, detached; the new process holds the run from
    now on: if it dies before it begins, the run does not count as running.

    INHERITED and OPTIONS are those of `start_detached`.
    """
    with run.claim() as claim:
        descriptors = (*inherited, claim)
        detached = start_detached(
            arguments, run.log_file, errors=run.events_file, inherited=descriptors, **options
        )
        run.hand_over(detached.process.pid)
    return detached


def start_detached(
    arguments: Sequence[str],
    log: Path,
    *,
    errors: Path | None = None,
    inherited: Sequence[int] = (),
    program: Sequence[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Detached:
    """Start `embedlab ARGUMENTS`, or another PROGRAM, in a session of its own, its output appended
    to LOG.

    It reports an error in ERRORS, by default the file beside LOG that ends in .jsonl. INHERITED are
    descriptors that it keeps open; without an ENVIRONMENT it has that of this process.
    """
    ending = EndingReport(errors or log.with_suffix(".jsonl"))
    with as_disk_errors(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        file = open_own(log)
    with file:
        process = python_processes.start(
            [*(program or python_command()), *arguments],
            environment={**(environment or os.environ), ERRORS_TO: str(ending.file.absolute())},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=inherited,
        )
    return Detached(process=process, log=log, ending=ending)


def run_together(arguments: Sequence[str], count: int) -> int:
    """Start COUNT processes `embedlab ARGUMENTS` that train together, and wait for them; gives the
    exit code, 0 if all is well.

    They find each other by the variables that torchrun sets too. The first one writes to the
    terminal; the errors of another one are shown when it fails before the first. When one fails the
    others are ended.
    """
    with tempfile.TemporaryFile() as complaints:
        team = _start_team(arguments, count, complaints.fileno())
        with handle_stops(lambda number, _: _send(team, number)):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all of them
            failed = _first_failure(team)
        if failed not in (None, team[0]):
            complaints.seek(0)
            sys.stderr.write(visible(complaints.read().decode(errors="replace")))
        return 0 if failed is None else failed.returncode


def _start_team(
    arguments: Sequence[str], count: int, complaints: int
) -> list["subprocess.Popen[bytes]"]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    team_environment = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
    }
    return [
        python_processes.start(
            python_command(*arguments),
            environment={**team_environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.DEVNULL if rank else None,
            stderr=complaints if rank else None,
        )
        for rank in range(count)
    ]


def _first_failure(team: Sequence["subprocess.Popen[bytes]"]) -> "subprocess.Popen[bytes] | None":
    """Wait until all have ended, or one of them has failed and the others were ended; gives that
    one.
    """
    while None in [process.poll() for process in team]:
        if failed := next((process for process in team if process.returncode), None):
            _end(team)
            return failed
        time.sleep(POLL_S)
    return next((process for process in team if process.returncode), None)


def _end(team: Sequence["subprocess.Popen[bytes]"]) -> None:
    """End what still runs: it waits for a process that is gone."""
    deadline = time.monotonic() + GRACE_S
    while any(process.poll() is None for process in team) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    for process in team:
        process.kill()
        process.wait()


def _send(team: Sequence["subprocess.Popen[bytes]"], number: int) -> None:
    for process in team:
        if process.poll() is None:
            process.send_signal(number)


def cancel_run(run: RunFolder, *, force: bool = False) -> int:
    """Make the run's process save a checkpoint and stop, or with FORCE end it at once; gives its
    process id.

    A run that is not running, or that another machine or user runs, is an EmbedlabError.
    """
    holder = run.holder()
    if holder is None:
        raise _not_running(run)
    if holder.host != socket.gethostname():
        raise EmbedlabError(
            f"run {run.id!r} runs on {holder.host!r}, not on this machine",
            hint=f"type this there: embedlab runs cancel {run.id}",
        )
    if not is_process(holder.pid, holder.started_s):
        raise EmbedlabError(
            f"process {holder.pid} is not that of run {run.id!r}, which another process holds",
            hint=f"find the process that has {str(run.path / 'lock')!r} open, and end it",
        )
    with EventLog(run.events_file) as log:
        log.append(Cancelled())
    try:
        _signal(holder.pid, signal.SIGKILL if force else signal.SIGTERM)
    except ProcessLookupError as error:
        raise _not_running(run) from error
    except PermissionError as error:
        raise EmbedlabError(
            f"run {run.id!r} belongs to another user",
            hint=f"only that user can stop process {holder.pid}",
        ) from error
    return holder.pid


def _not_running(run: RunFolder) -> UsageError:
    return UsageError(
        f"run {run.id!r} is not running", hint="`embedlab runs ls` shows the state of all runs"
    )


def _signal(pid: int, number: int) -> None:
    # A process started by hand shares its group with whoever started it: then it alone is meant.
    if os.getpgid(pid) == pid:
        os.killpg(pid, number)
    else:
        os.kill(pid, number)
