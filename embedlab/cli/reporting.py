"""How a command shows the report of a workflow, what else it writes of it, and how it ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.flag import Flag

if TYPE_CHECKING:
    from embedlab.reports.figures import FigureFile
    from embedlab.workflows.report import Report

AnyReport = TypeVar("AnyReport", bound="Report")


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """What is drawn of an answer."""

    figure: Annotated[
        Sequence[str],
        Flag(
            names=("--figure",),
            is_expert=True,
            metavar="FILE",
            help="Also draw FILE.pdf, .svg or .png for a paper; "
            "'FILE?kind=KIND&width=INCHES&title' chooses (a wrong kind lists them).",
        ),
    ] = ()

    def checked(self, command: str) -> "list[FigureFile]":
        """Return the figures of a COMMAND that were typed; what could not be drawn or
        written is refused before any work.
        """
        if not self.figure:
            return []
        from embedlab.reports.figures import FigureFile

        return [FigureFile.parse(name, command) for name in self.figure]


@dataclass(frozen=True, kw_only=True)
class ShownOptions(FigureOptions):
    """How an answer with signatures is shown."""

    signature: Annotated[
        bool,
        Flag(
            names=("--signature",),
            is_expert=True,
            help="Also show, in one line a model, everything that decides its numbers.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class PageOptions(ShownOptions):
    """How an answer is shown that can be a page too."""

    html: Annotated[
        Path | None,
        Flag(names=("--html",), metavar="FILE", help="Also write a page with tables and plots."),
    ] = None

    def check_page(self) -> None:
        """Refuse a page that could not be written before anything is computed for it."""
        if self.html is not None:
            from embedlab.reports.pages import check_page_path

            check_page_path(self.html)


def show_report(report: "Report", terminal: Terminal, *, is_signed: bool = False) -> None:
    """Write the tables of REPORT as the answer, with their signatures where IS_SIGNED."""
    terminal.show(*(replace(table, is_signed=is_signed) for table in report.tables))


def write_figures(
    figures: "Sequence[FigureFile]", results: Mapping[str, Any], terminal: Terminal
) -> None:
    """Write the figures of a command's RESULTS, and say where they are and what they show."""
    for figure in figures:
        caption = figure.write(results)
        terminal.note(f"the figure is {figure.path}; caption: {caption}")


def end(report: "Report") -> None:
    """End the command with 3 where something that was selected is missing."""
    if not report.is_whole:
        raise typer.Exit(ExitCode.MISSING)


def answer(
    work: Callable[[], AnyReport],
    shown: ShownOptions,
    command: str,
    terminal: Terminal,
    *,
    page: Callable[[AnyReport], None] | None = None,
) -> None:
    """Do the WORK of a command, write its report as SHOWN says, its PAGE and its figures of the
    COMMAND, and end.
    """
    figures = shown.checked(command)
    report = work()
    show_report(report, terminal, is_signed=shown.signature)
    if page is not None:
        page(report)
    write_figures(figures, report.drawn(), terminal)
    end(report)
