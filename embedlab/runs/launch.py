"""Starting embedlab processes that outlive their terminal, and asking them to stop."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from embedlab.errors import EmbedlabError, UsageError
from embedlab.paths import disk_errors
from embedlab.runs.events import Cancelled, EventLog
from embedlab.runs.store import RunFolder


def start_detached(arguments: Sequence[str], log: Path) -> int:
    """Start `embedlab ARGUMENTS` in a session of its own, its output appended to LOG; gives its process id."""
    with disk_errors(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("ab")
    with file:
        process = subprocess.Popen(
            [sys.executable, "-m", "embedlab", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return process.pid


def cancel(run: RunFolder, *, force: bool = False) -> int:
    """Ask the run's process to save a checkpoint and stop, or with FORCE end it at once; gives its process id."""
    holder = run.holder()
    if holder is None:
        raise UsageError(f"run {run.id!r} is not running", hint="`embedlab runs ls` shows the state of all runs")
    if holder.host != socket.gethostname():
        raise EmbedlabError(
            f"run {run.id!r} runs on {holder.host!r}, not on this machine", hint=f"type this there: embedlab runs cancel {run.id}"
        )
    with EventLog(run.events_file) as log:
        log.append(Cancelled())
    number = signal.SIGKILL if force else signal.SIGTERM
    # A process started by hand shares its group with whoever started it: then it alone is meant.
    if os.getpgid(holder.pid) == holder.pid:
        os.killpg(holder.pid, number)
    else:
        os.kill(holder.pid, number)
    return holder.pid
