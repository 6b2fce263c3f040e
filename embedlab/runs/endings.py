"""Why a process ended: an event in the file that the process which started it named, so that no
other process reads prose.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.settings import ERRORS_TO
from embedlab.runs.events import Event, EventLog, Failed, RunInterrupted, events_after


def with_errors_to(file: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """ENVIRONMENT for a process that reports in FILE why it ended."""
    return {**environment, ERRORS_TO: str(file.absolute())}


def length(file: Path) -> int:
    """The bytes of FILE now: what a process reports later comes after them."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def failure_after(file: Path, offset: int) -> Failed | None:
    """The first error that FILE reports after byte OFFSET: of several processes that work together,
    the first one is the cause.
    """
    return next((event for event in _events(file, offset) if isinstance(event, Failed)), None)


class EndingReport:
    """Reports why this process ended; made at its start."""

    def __init__(self, file: Path) -> None:
        self._file, self._offset = file, length(file)

    def write(self, message: str, *, hint: str = "", exit_code: int, cause: str = "") -> None:
        """Append the error to the file, unless that has the end of this process already: a run
        reports its own.
        """
        is_reported = any(
            isinstance(event, Failed | RunInterrupted)
            for event in _events(self._file, self._offset)
        )
        if is_reported or not self._file.parent.is_dir():  # the run was removed meanwhile
            return
        with (
            suppress(MissingError),
            EventLog(self._file) as log,
        ):  # a full disk may refuse this line too
            log.append(Failed(message=message, hint=hint, exit_code=exit_code, cause=cause))


def _events(file: Path, offset: int) -> list[Event]:
    try:
        return events_after(file, offset)[0]
    except OSError:
        return []
