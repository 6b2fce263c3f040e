"""The only module that writes to the terminal: the answer to stdout, everything else to stderr,
control characters escaped.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from embedlab.core import printable
from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.note import Note
from embedlab.core.printable import count_text
from embedlab.core.session import successive

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from embedlab.core.session import ProgressDisplay
    from embedlab.core.settings import Settings
    from embedlab.reports.tables import Table

PLAIN_FIRST_S = 30.0  # of progress in a pipe; each pause is twice the one before it, …
PLAIN_LONGEST_S = 600.0  # … up to this
RUN_COMMAND = re.compile(r"\bembedlab (?:runs|grid) [a-z]+")


class Terminal:
    """The output of one command, in the format and with the quietness of its settings.

    RUNS are the options for its runs folder, and DATA those for its corpora, as the user would type
    them again.
    """

    def __init__(
        self, settings: Settings, runs: Sequence[str] = (), data: Sequence[str] = ()
    ) -> None:
        self.settings = settings
        self._runs, self._data = runs, data
        self._noted: set[str] = set()
        self._pause_s, self._last_s = PLAIN_FIRST_S, time.monotonic()  # of plain progress

    def show(self, *tables: Table) -> None:
        """Write tables as the answer, in the chosen format; `--quiet` leaves out notes, except
        in JSON.
        """
        from embedlab.reports.latex import to_latex
        from embedlab.reports.layout import plain_text

        has_all, quiet = self.settings.notes, self.settings.quiet
        tables = tuple(
            replace(table, notes=[*map(self.placed, table.notes)], has_all_notes=has_all)
            for table in tables
        )
        shown_tables = tables if has_all else _without_details(tables)
        if quiet:
            shown_tables = [replace(table, notes=()) for table in shown_tables]
        match self.settings.format:
            case "json":
                data = [table.data() for table in tables]
                document = data[0] if len(data) == 1 else {"tables": data}
                self.write_json(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2))
            case "csv":
                self.write("\n".join(table.to_csv() for table in tables))
                self._note_all([replace(table, notes=()) for table in tables] if quiet else tables)
            case "markdown":
                self.write("\n".join(table.to_markdown() for table in shown_tables))
            case "latex":
                self.write("\n".join(map(to_latex, shown_tables)))
            case "table" if sys.stdout.isatty():
                self._show_rich(*shown_tables)
            case "table":
                width = shutil.get_terminal_size().columns
                texts = [
                    plain_text(table, width) + _gap(table, shown_tables) for table in shown_tables
                ]
                self.write("".join(texts))

    def _note_all(self, tables: Sequence[Table]) -> None:
        """Write the notes of tables to stderr, because CSV has no place for them."""
        for note in dict.fromkeys(note for table in tables for note in table.notes):
            self.note(note)
        signed = (table for table in tables if table.is_signed)
        for line in dict.fromkeys(line for table in signed for line in table.signature_lines):
            self.error(line)

    def _show_rich(self, *tables: Table) -> None:
        from rich.console import Console

        from embedlab.reports.layout import to_rich

        console = Console(file=sys.stdout, highlight=False)
        with console.capture() as captured:
            for table in tables:
                console.print(Visible(to_rich(table, console.width)))
                console.print(_gap(table, tables), end="")
        _to_stdout(
            "".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1])
        )  # the colours are Rich's own

    def write(self, text: str) -> None:
        """Write text as the answer."""
        _to_stdout(printable.visible(text))

    def write_json(self, text: str) -> None:
        """Write JSON text as the answer, with escapes for characters that the encoding of stdout
        lacks.
        """
        encoding = codecs.lookup(sys.stdout.encoding or "utf-8").name
        self.write(text if encoding.startswith("utf") else printable.ascii_json(text))

    def done(self, text: str, **facts: Any) -> None:
        """Report what was done, and with `--json` its FACTS as the answer."""
        if self.settings.format == "json":
            self.write_json(json.dumps(facts, ensure_ascii=False, indent=2))
        self.note(text)

    def note(self, text: str) -> None:
        """Write a note to stderr, once however often it is made, unless `--quiet`."""
        if not self.settings.quiet and not (text and text in self._noted):
            self._noted.add(text)
            self.error(printable.one_line(self.placed(text)))

    def warn(self, text: str) -> None:
        """Write a warning to stderr, even with `--quiet`."""
        self.error(printable.one_line(f"embedlab: warning: {self.placed(text)}"))

    def error(self, text: str) -> None:
        """Write lines to stderr."""
        to_stderr(text)

    def report(self, error: EmbedlabError) -> None:
        """Show an error that does not end the work."""
        report(error)

    def placed(self, text: str) -> str:
        """Return TEXT with the options of this command's runs and data added to each `embedlab runs
        …` and `embedlab grid …` in it.
        """
        placed = RUN_COMMAND.sub(self._typed, text)
        return text.with_text(placed) if isinstance(text, Note) else placed

    def _typed(self, command: re.Match[str]) -> str:
        data = self._data if command[0] == "embedlab grid run" else ()
        return shlex.join([*command[0].split(), *self._runs, *data])

    def confirm(self, question: str) -> bool:
        """Ask for confirmation before something is lost; without a terminal, the answer is no."""
        if not sys.stdin.isatty():
            return False
        sys.stderr.write(f"{printable.one_line(question)} [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    @contextmanager
    def progress(self, label: str) -> Iterator[ProgressDisplay]:
        """Yield a callback (done, total, text): a bar on a terminal, a plain line ever more
        rarely elsewhere, nothing with `--quiet`.
        """
        if self.settings.quiet:
            yield lambda _done, _total, text="": None
        elif sys.stderr.isatty():
            with _bar(label) as tick:
                yield tick
        else:
            yield lambda done, total, text="": self._tick(f"{label}: {done} of {total}  {text}")

    def _tick(self, line: str) -> None:
        now = time.monotonic()
        if now - self._last_s >= self._pause_s:
            self._last_s, self._pause_s = now, min(2 * self._pause_s, PLAIN_LONGEST_S)
            to_stderr(line.rstrip())

    def progresses(self) -> AbstractContextManager[Callable[[str], ProgressDisplay]]:
        """Yield a function that starts the progress display of a label; labels come one after the
        other.
        """
        return successive(self.progress)


def _without_details(tables: Sequence[Table]) -> Sequence[Table]:
    """Return the tables that people see; the last says how many more there are."""
    shown_tables = [table for table in tables if not table.is_detail]
    if count := len(tables) - len(shown_tables):
        hint = f"--notes shows {count_text(count, 'more tables')}"
        shown_tables[-1] = replace(shown_tables[-1], hidden_note=hint)
    return shown_tables


def _gap(table: Table, tables: Sequence[Table]) -> str:
    """Return the empty line between the notes of a table and the next table; rows without notes end
    in one already.
    """
    return "\n" if table.shown_notes and table is not tables[-1] else ""


@contextmanager
def _bar(label: str) -> Iterator[ProgressDisplay]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable.one_line(label), total=None, text="")
        yield lambda done, total, text="": bar.update(
            task, completed=done, total=total, text=printable.one_line(text)
        )


class Visible:
    """Rich output without control characters: the styles are Rich's, the text is not trusted."""

    def __init__(self, content: RenderableType) -> None:
        self.content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for segment in console.render(self.content, options):
            yield (
                segment
                if segment.control
                else Segment(printable.visible(segment.text), segment.style)
            )


def open_door() -> None:
    """Let stdout and stderr accept any text in any locale: characters that their encoding lacks are
    escaped. One that was closed before the start (`>&-`) counts as /dev/null, so that no file that
    is opened later takes its number.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=printable.ERROR_HANDLER)


def _to_stdout(text: str) -> None:
    """Write lines to stdout; end the program quietly when its reader (`| head`) has gone."""
    if not _has_reader(sys.stdout, text):
        raise SystemExit(ExitCode.OK)


def to_stderr(text: str) -> None:
    """Write lines to stderr; a closed stderr is not an error."""
    _has_reader(sys.stderr, printable.visible(text))


def _has_reader(stream: TextIO, text: str) -> bool:
    """Write lines to STREAM; return whether its reader is still there."""
    try:
        stream.write(text if text.endswith("\n") else f"{text}\n")
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes the stream once more when it ends: redirect it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True


def report(error: EmbedlabError) -> None:
    """Show the two lines that a user sees of an error."""
    label = "" if error.exit_code is ExitCode.INTERRUPTED else "error: "
    to_stderr(printable.one_line(f"embedlab: {label}{error.message}"))
    if error.hint:
        to_stderr(printable.one_line(f"hint: {error.hint}"))
