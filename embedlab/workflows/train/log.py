"""What a training reports while it runs: its events as notes and progress, the notes also in the
run's log.txt.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.foreign_files import open_own
from embedlab.core.progress import ProgressDisplay
from embedlab.runs import events
from embedlab.runs.status import collapse_of
from embedlab.store.files import disk_errors
from embedlab.workflows.session import Session

Note = Callable[[str], None]


def logged(log: Path, session: Session) -> Note:
    """Return a function that notes a line in SESSION and appends it to LOG, unless stderr is that
    file already, as of a detached run.
    """

    def note(text: str) -> None:
        session.note(text)
        if not _is_stderr(log):
            _append(log, text, session)

    return note


def event_reporter(
    label: str, note: Note, progress: ProgressDisplay
) -> Callable[[events.Event], None]:
    """Return a function that reports each event of the run LABEL as a line or as progress."""
    latest = ""  # loss and speed of the last step that has them

    def report(event: events.Event) -> None:
        nonlocal latest
        match event:
            case events.Started(step=step) if step:
                note(f"{label}: resumed after step {step} of {event.steps}")
            case events.Step():
                skipped = f"{event.skipped} skipped  " if event.skipped else ""
                latest = f"loss {event.loss:.4f}  {event.rows_per_s:.0f} rows/s  {skipped}"
                progress(event.step, event.steps, f"{latest}{event.eta_s:.0f} s left")
            case events.Progress():
                progress(event.step, event.steps, f"{latest}{event.eta_s:.0f} s left")
            case events.Dev():
                note(f"{label}: dev {event.score:.2f} after step {event.step}")
            case events.VectorSpread() if event.is_collapsed:
                note(f"{label}: after step {event.step} {collapse_of(event)}")
            case events.Noted():
                note(f"{label}: {event.text}")
            case events.Finished():
                note(f"{label}: finished after {event.step} steps")
                if event.flaw:
                    note(f"{label}: {event.flaw}")
            case _:
                pass

    return report


def _append(log: Path, text: str, session: Session) -> None:
    """A disk that refuses costs the line, not the training."""
    try:
        with disk_errors(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            with open_own(log) as file:
                file.write(f"{text}\n".encode())
    except MissingError as error:
        session.warn(error.message)


def _is_stderr(log: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stderr.fileno()), log.stat())
    except (OSError, ValueError):  # no log yet, or a stderr without a descriptor
        return False
