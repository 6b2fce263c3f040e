"""A run's log.txt: what is said of a training, kept also when it was said to a terminal."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from embedlab.cli.terminal import Terminal
from embedlab.core.errors import MissingError
from embedlab.core.paths import disk_errors


def logged(log: Path, terminal: Terminal) -> Callable[[str], None]:
    """What tells a note on TERMINAL and appends it to LOG, unless stderr is that file already, as of a detached run or a cell."""

    def note(text: str) -> None:
        terminal.note(text)
        if not _is_stderr(log):
            _append(log, text, terminal)

    return note


def _append(log: Path, text: str, terminal: Terminal) -> None:
    """A disk that refuses costs the line, not the training."""
    try:
        with disk_errors(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{text}\n")
    except MissingError as error:
        terminal.warn(error.message)


def _is_stderr(log: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stderr.fileno()), log.stat())
    except (OSError, ValueError):  # no log yet, or a stderr that is no file
        return False
