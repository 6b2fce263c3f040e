"""The detached `embedlab evaluate` processes that the dashboard started, and how far they are."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.paths import state_folder
from embedlab.core.settings import Settings
from embedlab.tui.command_line import shared_flags

_TAIL = 4096


@dataclass(frozen=True, kw_only=True)
class _Process:
    name: str
    pid: int
    log: Path
    start: int  # of its part of the log


class Evaluations:
    """Those that run now."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._running: list[_Process] = []

    def start(self, name: str, tasks: Sequence[str]) -> None:
        """Score the model called NAME on TASKS; a name that stands for nothing is refused before a process starts."""
        from embedlab.models.catalog import resolve
        from embedlab.runs.launch import start_detached

        resolve(name, self._settings.runs_folder)
        if any(process.name == name for process in self._running):
            raise UsageError(f"{name!r} is being scored already")
        log = state_folder() / "evaluations" / f"{re.sub(r'[^A-Za-z0-9._@-]+', '-', name)}.log"
        start = log.stat().st_size if log.exists() else 0
        chosen = [word for task in tasks for word in ("--task", task)]
        pid = start_detached(["evaluate", name, *chosen, *shared_flags(self._settings)], log)
        self._running.append(_Process(name=name, pid=pid, log=log, start=start))

    def poll(self) -> Sequence[tuple[str, EmbedlabError | None]]:
        """The models whose processes ended since the last time, each with what went wrong."""
        codes = [(process, _exit_code(process.pid)) for process in self._running]
        self._running = [process for process, code in codes if code is None]
        return [(process.name, _error(process, code) if code else None) for process, code in codes if code is not None]

    @property
    def progress(self) -> str:
        """One line about all of them; empty when none runs."""
        return "   ".join(f"scoring {process.name}: {_last_line(process) or 'starting'}" for process in self._running)


def _exit_code(pid: int) -> int | None:
    """How the process ended, negative by a signal; None while it runs."""
    try:
        ended, state = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:  # reaped by somebody else
        return 0
    return os.waitstatus_to_exitcode(state) if ended else None


def _printed(process: _Process) -> list[str]:
    with suppress(OSError), process.log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(process.start, size - _TAIL))
        return [line for line in re.split(r"[\r\n]+", file.read().decode(errors="replace")) if line.strip()]
    return []


def _last_line(process: _Process) -> str:
    return next(iter(reversed(_printed(process))), "").strip()


def _error(process: _Process, code: int) -> EmbedlabError:
    """The two lines that the process ended with, or how it was ended."""
    lines = _printed(process)
    for index, line in enumerate(lines):
        if line.startswith("embedlab: error: "):
            hint = lines[index + 1].removeprefix("hint: ") if index + 1 < len(lines) and lines[index + 1].startswith("hint: ") else ""
            return EmbedlabError(line.removeprefix("embedlab: error: "), hint=hint)
    how = f"it was ended by signal {-code}" if code < 0 else lines[-1] if lines else f"it ended with {code}"
    return EmbedlabError(f"scoring {process.name!r} failed: {how}", hint=f"its log: {process.log}")
