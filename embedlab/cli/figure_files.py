"""The option --figure: checked before the work, written after it, with the caption as a note."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.terminal import Terminal

if TYPE_CHECKING:
    from embedlab.reports.figure_file import FigureFile
    from embedlab.reports.figure_subjects import Subject

FigureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="FILE",
        help="Also draw FILE.pdf, .svg or .png for a paper; 'FILE?kind=KIND&width=INCHES&title' chooses (a wrong kind lists them).",
        readable=False,
    ),
]


def check_figures(names: Sequence[str] | None, of: "type[Subject]") -> "list[FigureFile]":
    """Return the figures OF a kind of results that were typed; what could not be drawn or written is refused before any work."""
    from embedlab.reports.figure_file import FigureFile

    return [FigureFile.parse(name, of) for name in names or ()]


def write_figures(figures: "Sequence[FigureFile]", subject: "Subject", terminal: Terminal) -> None:
    """Write the figures of a SUBJECT, and say where they are and what they show."""
    for figure in figures:
        caption = figure.write(subject)
        terminal.note(f"the figure is {figure.path}; caption: {caption}")
