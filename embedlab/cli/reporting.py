"""How a command shows the report of a workflow, and how it ends."""

from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

if TYPE_CHECKING:
    from embedlab.workflows.report import Report


def show_report(report: "Report", terminal: Terminal, *, is_signed: bool = False) -> None:
    """Write the tables of REPORT as the answer, with their signatures where IS_SIGNED."""
    terminal.show(*(replace(table, is_signed=is_signed) for table in report.tables))


def end(report: "Report") -> None:
    """End the command with 3 where something that was selected is missing."""
    if not report.is_whole:
        raise typer.Exit(ExitCode.MISSING)
