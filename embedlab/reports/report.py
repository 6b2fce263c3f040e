"""What a command gives: tables for people, the same numbers as a tidy frame, and the notes on
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from embedlab.core.errors import ExitCode, UsageError, with_hint
from embedlab.reports.series import COLUMN_IN
from embedlab.reports.tables import Table

if TYPE_CHECKING:
    import polars as pl

    from embedlab.core.settings import Format
    from embedlab.reports.frames import Schema
    from embedlab.reports.plots import PaperFigure


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Report:
    """Numbers of models: a tidy frame, and the tables that the command prints."""

    frame: pl.DataFrame
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    is_whole: bool = True  # whether nothing that was selected is missing
    exit_code: ExitCode = ExitCode.OK  # of a command that has another one to say
    last: str = ""  # what the command notes at its end
    command: str = ""  # whose figures are drawn of it; empty: there are none
    figure_subject: Mapping[str, Any] = field(default_factory=dict)  # what those are drawn of
    by_model: int = 0  # of the first tables, those that a notebook shows with a row a model
    behind: Mapping[str, Any] = field(default_factory=dict)  # what else it has, by attribute

    @classmethod
    def of(cls, *tables: Table, schema: Schema | None = None, **fields: Any) -> Self:
        """A report of TABLES, whose frames have the columns of SCHEMA; without one its frame has
        the rows that JSON has.
        """
        import polars as pl

        from embedlab.reports.frames import tidy_frame

        frames = [table.frame for table in tables if table.frame is not None]
        if schema is None:
            rows = [table.data()["rows"] for table in tables if table.rows]
            frames = [pl.DataFrame(table_rows, infer_schema_length=None) for table_rows in rows]
        else:
            frames.insert(0, tidy_frame([], schema))
        frame = pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()
        notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
        return cls(**{"frame": frame, "tables": tables, "notes": notes, **fields})

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["behind"][name]
        except KeyError:
            raise AttributeError(f"a report of this kind has no {name!r}") from None

    @with_hint
    def table(self, format: Format = "table") -> str:
        """The tables as text, Markdown, LaTeX, CSV or JSON."""
        from embedlab.reports.latex import to_latex
        from embedlab.reports.layout import plain_text

        write: dict[str, Callable[[Table], str]] = {
            "table": plain_text,
            "markdown": Table.to_markdown,
            "latex": to_latex,
            "csv": Table.to_csv,
            "json": Table.to_json,
        }
        if format not in write:
            raise UsageError(f"no format named {format!r}", hint=f"one of {', '.join(write)}")
        return "\n".join(map(write[format], self.tables))

    @with_hint
    def plot(
        self, kind: str | None = None, *, width: float = COLUMN_IN, title: bool = False
    ) -> PaperFigure:
        """Return the figure called KIND, or the usual one, as one of Matplotlib, WIDTH inches wide;
        its caption is in `.caption`.
        """
        if not self.command:
            hint = "its numbers are in .frame"
            raise UsageError("no figure is declared for this result", hint=hint)
        from embedlab.reports.figures import draw_figure, figure_kind

        figure = figure_kind(self.command, kind)
        return draw_figure(self.figure_subject, figure, width_in=width, is_titled=title)

    @property
    def notebook_tables(self) -> Sequence[Table]:
        """The tables as a notebook shows them."""
        from embedlab.reports.scores import with_model_rows

        score_tables = map(with_model_rows, self.tables[: self.by_model])
        return [*score_tables, *self.tables[self.by_model :]]

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from embedlab.reports.pages import report_html

        of_tables = {note for table in self.tables for note in table.notes}
        own_notes = [note for note in self.notes if note not in of_tables]
        return report_html(self.notebook_tables, own_notes)
