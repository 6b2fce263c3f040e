"""A table to print or to write as JSON, CSV or Markdown: the same rows with the same keys in every format."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len

from embedlab.core.printable import one_line, visible, without_formula

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

Value = str | float | int | bool | None
ABSENT = "–"
PROSE_WIDTH, WORD_WIDTH = 24, 20  # cells reserved for a column of sentences, and for one long word such as a path


@dataclass(frozen=True, kw_only=True)
class TableCell:
    """A raw value for machines and the text that people read, such as 0.7842 and "78.4 ± 0.3 a"."""

    value: Value
    text: str


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: KEY in JSON and CSV, TITLE for people."""

    key: str
    title: str
    digits: int | None = None  # after the point, for people; None: Python's own format
    align: Literal["left", "right"] | None = None  # None: right when it holds nothing but numbers
    is_prose: bool = False  # whole sentences, which wrap, and go below the other values in a narrow terminal


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under columns, with a title above and notes below.

    A row may lack a column, and may have keys without a column: those are for JSON and CSV only. Where there is a tidy FRAME, JSON and
    CSV hold its rows instead: one row a model and number, while people compare models in columns. A table without columns is only its
    title and notes.
    """

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Value | TableCell]]
    title: str = ""
    notes: Sequence[str] = ()
    frame: "pl.DataFrame | None" = field(default=None, compare=False)
    signatures: Mapping[str, str] = field(default_factory=dict)  # of each model's numbers; always in JSON and on pages
    is_signed: bool = False  # people see them too, below the notes

    @property
    def signature_lines(self) -> list[str]:
        """Return the signatures as people read them."""
        return [f"signature of {one_line(model)}: {line}" for model, line in self.signatures.items()]

    def data(self) -> dict[str, Any]:
        """Return the table as plain values at full precision; nan and infinity are None."""
        keys, rows = self._keys(), self.rows if self.frame is None else self.frame.to_dicts()
        return {
            "title": self.title,
            "rows": [{key: _finite(_raw(row.get(key))) for key in keys} for row in rows],
            "notes": list(self.notes),
            **({"signatures": dict(self.signatures)} if self.signatures else {}),
        }

    def to_json(self) -> str:
        """Return one JSON object: title, rows with stable keys, notes, and signatures where there are any."""
        return json.dumps(self.data(), ensure_ascii=False, allow_nan=False, indent=2)

    def to_csv(self) -> str:
        """Return a header of keys and the raw values; absent values are empty, and a text that would be a formula gets an apostrophe."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(_field, self._keys()))
        writer.writerows([_field(value) for value in row.values()] for row in self.data()["rows"])
        return text.getvalue()

    def texts(self) -> list[list[str]]:
        """Return the titles, then each row, as people read them: control characters are escaped; only a cell's own line breaks remain."""
        return [
            [one_line(column.title) for column in self.columns],
            *([_text(row.get(column.key), column) for column in self.columns] for row in self.rows),
        ]

    def align(self, column: Column) -> Literal["left", "right"]:
        """Return the alignment of a column's texts."""
        if column.align:
            return column.align
        values = [_raw(row.get(column.key)) for row in self.rows]
        found = [value for value in values if value is not None]
        return "right" if found and all(isinstance(value, int | float) and not isinstance(value, bool) for value in found) else "left"

    def to_markdown(self) -> str:
        """Return a Markdown table of what people read, with numbers aligned to the right."""
        header, *body = ([_escape(text) for text in texts] for texts in self.texts())
        rule = ["---:" if self.align(column) == "right" else "---" for column in self.columns]
        lines = [f"| {' | '.join(cells)} |" for cells in [header, rule, *body]]
        title = [f"**{_escape(one_line(self.title))}**", ""] if self.title else []
        notes = [f"- {_escape(one_line(note))}" for note in self.notes]
        # As code: nothing in a signature needs escaping then, so that it can be copied from the text.
        notes += [f"- signature of {_escape(one_line(model))}: `{line}`" for model, line in self.signatures.items() if self.is_signed]
        return "\n".join([*title, *([*lines, *([""] if notes else [])] if self.columns else []), *notes]) + "\n"

    def to_plain(self) -> str:
        """Return the same table for a pipe, without width and styles: what Rich would print there, in a fraction of its time."""
        if not self.columns:
            return "".join(f"{line}\n" for line in (one_line(self.title), *self._notes()) if line)
        header, *body = ([text.split("\n") for text in texts] for texts in self.texts())
        widths = [max(cell_len(line) for cell in column for line in cell) for column in zip(header, *body, strict=True)]
        rights = [self.align(column) == "right" for column in self.columns]
        rule = " " + "─" * (sum(widths) + 3 * (len(widths) - 1))
        lines = [one_line(self.title)] if self.title else []
        lines += [
            "",
            *_lines(header, widths, rights),
            rule,
            *(line for row in body for line in _lines(row, widths, rights)),
            "",
            *self._notes(),
        ]
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def to_rich(self, width: int) -> "RenderableType":
        """Return the table for a terminal of WIDTH cells, notes as dim lines below; a block a row where the columns need more."""
        from rich.console import Group
        from rich.text import Text

        title = [Text(one_line(self.title), style="table.title")] if self.title else []
        body = [] if not self.columns else [self._columns()] if self._least_width() <= width else [Text(), *self._blocks(width)]
        return Group(*title, *body, *(Text(note, style="dim") for note in self._notes()))

    def _columns(self) -> "RenderableType":
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            align = self.align(column)
            # Texts may wrap in a narrow terminal; half a number would be a wrong number.
            table.add_column(Text(one_line(column.title)), justify=align, no_wrap=align == "right", overflow="fold")
        for texts in self.texts()[1:]:
            table.add_row(*(Text(text) for text in texts))
        return table

    def _least_width(self) -> int:
        """Return the cells that the columns need at least: numbers whole, texts by their longest words."""
        widths = []
        for column, texts in zip(self.columns, zip(*self.texts(), strict=True), strict=True):
            is_whole = column.is_prose or self.align(column) == "right"
            widest = max(cell_len(part) for text in texts for part in (text.split("\n") if is_whole else text.split() or [""]))
            widths.append(widest if self.align(column) == "right" else min(widest, PROSE_WIDTH if column.is_prose else WORD_WIDTH))
        return 2 + sum(widths) + 3 * (len(widths) - 1)

    def _blocks(self, width: int) -> "Iterator[RenderableType]":
        """Yield each row as its titled values, none of them broken, with its sentences below, and an empty line."""
        from rich.padding import Padding
        from rich.text import Text

        for texts in self.texts()[1:]:
            cells = list(zip(self.columns, texts, strict=True))
            facts = [f"{one_line(column.title)} {text}" for column, text in cells if not column.is_prose]
            yield from (Padding(Text(line, overflow="fold"), (0, 0, 0, 1)) for line in _packed(facts, width - 1))
            yield from (Padding(Text(text, overflow="fold"), (0, 0, 0, 3)) for column, text in cells if column.is_prose)
            yield Text()

    def _notes(self) -> list[str]:
        """Return the notes as people read them, and the signatures if selected."""
        return [*(one_line(note) for note in self.notes), *(self.signature_lines if self.is_signed else [])]

    def _keys(self) -> list[str]:
        """The keys of JSON and CSV."""
        if self.frame is not None:
            return self.frame.columns
        return list(dict.fromkeys([column.key for column in self.columns] + [key for row in self.rows for key in row]))


def _packed(facts: Sequence[str], width: int) -> list[str]:
    """Return the facts on as few lines of WIDTH cells as possible, in order; a longer fact has its own line."""
    lines: list[str] = []
    for fact in facts:
        if lines and cell_len(longer := f"{lines[-1]} · {fact}") <= width:
            lines[-1] = longer
        else:
            lines.append(fact)
    return lines


def _lines(cells: Sequence[Sequence[str]], widths: Sequence[int], rights: Sequence[bool]) -> list[str]:
    """Return the lines of a row, as many as its highest cell has."""
    padded = [list(cell) + [""] * (max(map(len, cells)) - len(cell)) for cell in cells]
    lines = []
    for texts in zip(*padded, strict=True):
        blanks = [" " * (width - cell_len(text)) for text, width in zip(texts, widths, strict=True)]
        parts = [blank + text if right else text + blank for text, blank, right in zip(texts, blanks, rights, strict=True)]
        lines.append(" " + "   ".join(parts))
    return lines


def _raw(value: Value | TableCell) -> Value:
    return value.value if isinstance(value, TableCell) else value


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(value: Value | TableCell, column: Column) -> str:
    if isinstance(value, TableCell):
        return visible(value.text).replace("\t", " ")
    if _finite(value) is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.digits is not None and isinstance(value, int | float):
        return f"{value:.{column.digits}f}"
    return one_line(str(value))


def _field(value: Value) -> Value:
    return without_formula(value) if isinstance(value, str) else value


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
