"""The only place that writes: the answer to stdout, everything else to stderr."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from embedlab.errors import EmbedlabError, ExitCode
from embedlab.settings import Settings

if TYPE_CHECKING:
    from embedlab.reports.tables import Table

Watch = Callable[[int, int], None]

PLAIN_EVERY_S = 10.0


class Terminal:
    """Where one command writes, in the format and with the quietness its settings ask for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, *tables: "Table") -> None:
        """Write tables as the answer, in the chosen format."""
        from embedlab.reports import tables as formats

        match self.settings.format:
            case "json":
                self.write(formats.to_json(*tables))
            case "csv":
                self.write(formats.to_csv(*tables))
            case "markdown":
                self.write(formats.to_markdown(*tables))
            case "table":
                self._show_rich(*tables)

    def _show_rich(self, *tables: "Table") -> None:
        from rich.console import Console

        # A pipe has no width: nothing is cut there.
        console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 1000)
        with _closed_pipe_is_the_end():
            for table in tables:
                console.print(table.to_rich())
            sys.stdout.flush()

    def write(self, text: str) -> None:
        """Write text as the answer."""
        with _closed_pipe_is_the_end():
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
            sys.stdout.flush()

    def note(self, text: str) -> None:
        """Say something beside the answer, unless `--quiet`."""
        if not self.settings.quiet:
            self.error(text)

    def warn(self, text: str) -> None:
        """Say what the user should know even with `--quiet`."""
        self.error(f"embedlab: warning: {text}")

    def error(self, text: str) -> None:
        """Write a line to stderr as it is."""
        to_stderr(text)

    def confirm(self, question: str) -> bool:
        """Ask before something is lost; without a terminal to ask on, the answer is no."""
        if not sys.stdin.isatty():
            return False
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    @contextmanager
    def progress(self, label: str) -> Iterator[Watch]:
        """Yield a callback (done, total): a bar on a terminal, a plain line now and then elsewhere, nothing with `--quiet`."""
        if self.settings.quiet:
            yield lambda _done, _total: None
        elif sys.stderr.isatty():
            with _bar(label) as watch:
                yield watch
        else:
            yield _plain_progress(label)


@contextmanager
def _bar(label: str) -> Iterator[Watch]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _plain_progress(label: str) -> Watch:
    last = time.monotonic()

    def watch(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PLAIN_EVERY_S:
            last = time.monotonic()
            to_stderr(f"{label}: {done} of {total}")

    return watch


@contextmanager
def _closed_pipe_is_the_end() -> Iterator[None]:
    """End the program quietly when the reader of stdout (`| head`) has gone."""
    try:
        yield
    except BrokenPipeError:
        # The interpreter flushes stdout once more when it ends: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ExitCode.OK) from None


def to_stderr(text: str) -> None:
    """Write a line to stderr; a closed stderr is nobody listening, not an error."""
    try:
        sys.stderr.write(text if text.endswith("\n") else f"{text}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def report(error: EmbedlabError) -> None:
    """The two lines a user sees of an error."""
    label = "" if error.exit_code is ExitCode.INTERRUPTED else "error: "
    to_stderr(f"embedlab: {label}{error.message}")
    if error.hint:
        to_stderr(f"hint: {error.hint}")
