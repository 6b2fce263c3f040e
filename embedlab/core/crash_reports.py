"""Unforeseen errors: two lines for the user, and a file with the traceback for whoever mends it."""

import errno
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from embedlab.core.errors import MEMORY, EmbedlabError, ExitCode
from embedlab.core.paths import state_folder
from embedlab.core.plugins import runtime_fault
from embedlab.core.printable import one_line
from embedlab.core.version import __version__

# What torch and C++ say in a RuntimeError where memory runs out, of a GPU or of the machine.
_OUT_OF_MEMORY = (
    "out of memory",
    "bad_alloc",
    "can't allocate memory",
    "Cannot allocate memory",
    "MemoryError",
)
ENDS = (KeyboardInterrupt, SystemExit, GeneratorExit)  # how a program is ended on purpose


class UnforeseenError(EmbedlabError):
    """A bug, as a user sees it: fuzzers count it as a traceback."""

    exit_code = ExitCode.FAILED


def reports_folder() -> Path:
    """Return the folder of the report files."""
    return state_folder() / "reports"


def report_unforeseen(error: BaseException) -> EmbedlabError:
    """Return the two lines on an unforeseen error, a bug unless a plug-in of the user fails, and
    write its report file.
    """
    summary = f"{type(error).__name__}: {one_line(str(error)).strip()[:200]}".removesuffix(": ")
    try:
        path = _write(error)
    except OSError as refusal:
        unwritten = f"cannot be written to {str(reports_folder())!r}: {refusal.strerror}"
        hint = f"a bug, whose report {unwritten}; --debug shows it"
        plugin_hint = "correct it: --debug shows where"
    else:
        hint = f"this is a bug; its report, to send with what you typed: {path}"
        plugin_hint = f"correct it; the traceback: {path}"
    reported = runtime_fault(error, plugin_hint) or UnforeseenError(
        f"unforeseen: {summary}", hint=hint
    )
    reported.cause = cause_of(error)
    return reported


def cause_of(error: BaseException) -> str:
    """Return MEMORY if ERROR means that memory ran out, by its type or by the words of a library
    that has no type for it; otherwise an empty text.
    """
    if isinstance(error, EmbedlabError):
        return error.cause
    ran_out = isinstance(error, MemoryError)
    if isinstance(error, OSError):
        ran_out = error.errno == errno.ENOMEM
    elif isinstance(error, RuntimeError):
        ran_out = any(phrase in str(error) for phrase in _OUT_OF_MEMORY)
    return MEMORY if ran_out else ""


def run_guarded(work: Callable[[], int], show: Callable[[EmbedlabError], None]) -> int:
    """Return the exit code of WORK, the whole work of a process; SHOW gets the error that ends it,
    a bug as an UnforeseenError.
    """
    with _guarded_threads(show):
        try:
            return work()
        except EmbedlabError as error:
            reported = error
        except ENDS:
            raise
        except BaseException as error:  # a panic of Rust is not an Exception
            reported = report_unforeseen(error)
        show(reported)
        return reported.exit_code


def show_in_log(error: EmbedlabError) -> None:
    """Write the two lines to stderr, which is the log of a process without a terminal."""
    with suppress(OSError):  # its reader has gone
        hint = f"hint: {one_line(error.hint)}" if error.hint else ""
        sys.stderr.write(f"embedlab: error: {one_line(error.message)}\n{hint}\n")
        sys.stderr.flush()


@contextmanager
def _guarded_threads(show: Callable[[EmbedlabError], None]) -> Iterator[None]:
    """SHOW also what ends a thread within the block; the process goes on."""

    def ended(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_value is not None and not isinstance(thread.exc_value, ENDS):
            show(report_unforeseen(thread.exc_value))

    previous_hook = threading.excepthook
    threading.excepthook = ended
    try:
        yield
    finally:
        threading.excepthook = previous_hook


def _write(error: BaseException) -> Path:
    now = datetime.now(UTC)
    path = reports_folder() / f"{now:%Y%m%d-%H%M%S}-{uuid4().hex[:6]}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    system = f"embedlab {__version__}, python {platform.python_version()}, {platform.platform()}"
    process = f"in {os.getpid()}: {sys.argv!r}"
    trace = "".join(traceback.format_exception(error))
    text = f"{now:%Y-%m-%d %H:%M:%S} UTC\n{system}\n{process}\n\n{trace}"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path
