"""What a workflow gives: tables for people, the same numbers as a tidy frame, and the notes on
them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.settings import Format
from embedlab.reports.frames import Schema, tidy_frame
from embedlab.reports.latex import to_latex
from embedlab.reports.layout import plain_text
from embedlab.reports.series import COLUMN_IN
from embedlab.reports.tables import Table

if TYPE_CHECKING:
    from embedlab.reports.plots import PaperFigure


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report:
    """Numbers of models: a tidy frame, and the tables that the command prints."""

    frame: pl.DataFrame
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    is_whole: bool = True  # whether nothing that was selected is missing
    command: ClassVar[str] = ""  # whose figures are drawn of it; empty: there are none

    @classmethod
    def of(cls, tables: Sequence[Table], schema: Schema, *, is_whole: bool) -> Self:
        """A report of TABLES, whose frames have the columns of SCHEMA."""
        frames = [table.frame for table in tables if table.frame is not None]
        return cls(
            frame=pl.concat([tidy_frame([], schema), *frames]),
            tables=tuple(tables),
            notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
            is_whole=is_whole,
        )

    def table(self, format: Format = "table") -> str:
        """The tables as text, Markdown, LaTeX, CSV or JSON."""
        write: dict[str, Callable[[Table], str]] = {
            "table": plain_text,
            "markdown": Table.to_markdown,
            "latex": to_latex,
            "csv": Table.to_csv,
            "json": Table.to_json,
        }
        if format not in write:
            raise UsageError(f"no format named {format!r}", hint=f"one of {', '.join(write)}")
        return "\n".join(write[format](table) for table in self.tables)

    def drawn(self) -> Mapping[str, Any]:
        """What its figures are drawn of."""
        raise UsageError("no figure is declared for this result", hint="its numbers are in .frame")

    def plot(
        self, kind: str | None = None, *, width: float = COLUMN_IN, title: bool = False
    ) -> "PaperFigure":
        """Return the figure called KIND, or the usual one, as one of Matplotlib, WIDTH inches wide;
        its caption is in `.caption`.
        """
        from embedlab.reports.figures import draw_figure, figure_kind

        drawn = self.drawn()
        figure = figure_kind(self.command, kind)
        return draw_figure(drawn, figure, width_in=width, is_titled=title)

    @property
    def notebook_tables(self) -> Sequence[Table]:
        """The tables as a notebook shows them."""
        return self.tables

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from embedlab.reports.pages import report_html

        of_tables = {note for table in self.tables for note in table.notes}
        return report_html(
            self.notebook_tables, said=[note for note in self.notes if note not in of_tables]
        )


def report_of(tables: Sequence[Table]) -> Report:
    """A report of TABLES that have no tidy frame of one schema: its frame has the rows that JSON
    has.
    """
    frames = [
        pl.DataFrame(table.data()["rows"], infer_schema_length=None)
        for table in tables
        if table.rows
    ]
    return Report(
        frame=pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame(),
        tables=tuple(tables),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    )
