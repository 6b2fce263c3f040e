"""A figure's file as it is named, FILE.pdf?kind=…&width=…&title, checked before the work and
written after it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from embedlab.core.errors import UsageError
from embedlab.core.foreign_files import check_output
from embedlab.core.name_options import option_values, outside_quotes
from embedlab.core.own_files import published
from embedlab.core.paths import typed_path
from embedlab.reports.figure_kinds import draw_figure, figure_kind
from embedlab.reports.figure_subjects import Subject
from embedlab.reports.figures import FigureKind
from embedlab.reports.plot_style import COLUMN_IN, WIDEST_IN, FileKind
from embedlab.store.files import write_atomic


@dataclass(frozen=True, kw_only=True)
class FigureFile:
    """Where a figure is written, which one, and how."""

    path: Path
    kind: FigureKind
    width_in: float = COLUMN_IN
    is_titled: bool = False

    @classmethod
    def parse(cls, text: str, of: type[Subject]) -> "FigureFile":
        """Read what was typed for a figure OF a kind of results; what cannot be written is
        refused.
        """
        name, *parts = outside_quotes(text, "?")
        values = option_values(text, parts, ("kind", "width"), ("title",))
        path = typed_path(name)
        _check(path)
        kind = figure_kind(of, values.get("kind"))
        width = _width(text, values["width"]) if "width" in values else COLUMN_IN
        return cls(path=path, kind=kind, width_in=width, is_titled="title" in values)

    def write(self, subject: Subject) -> str:
        """Write the figure of a SUBJECT and return its caption."""
        figure = draw_figure(subject, self.kind, width_in=self.width_in, is_titled=self.is_titled)
        figure.caption = published(figure.caption)
        write_atomic(
            self.path,
            figure.content(cast("FileKind", self.path.suffix[1:].lower())),
            hint="choose another place with --figure",
        )
        return figure.caption


def _check(path: Path) -> None:
    if path.suffix[1:].lower() not in get_args(FileKind):
        raise UsageError(
            f"--figure is {str(path)!r}: neither .pdf, .svg nor .png",
            hint=f"for example --figure {path.stem or 'figure'}.pdf",
        )
    check_output(path, "--figure", example="figure.pdf", what="a figure", mark=b"embedlab")


def _width(text: str, value: str) -> float:
    try:
        width = float(value)
    except ValueError:
        width = 0.0
    if not 1 <= width <= WIDEST_IN:
        raise UsageError(
            f"{text!r}: the width is {value!r}",
            hint=f"give inches from 1 to {WIDEST_IN:g}: a column has {COLUMN_IN:g}",
        )
    return width
