"""Arrange a table in the width there is: the one way for all commands, on a terminal and in a pipe.

Nothing is cut and no number broken. Where the columns need more than the width, in this order:
names, titles and texts break; minor columns are left out; values that all rows share go to the
title; the values of one column become headings; rows and columns change places; the columns are
divided into parts below each other. A table of sentences becomes a block a row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from embedlab.core.printable import one_line
from embedlab.reports.column_widths import ColumnTexts, broken, fitted
from embedlab.reports.table_forms import forms
from embedlab.reports.tables import ABSENT, Column, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

LineKind = Literal["title", "header", "body", "note"]
_STYLES: dict[LineKind, str] = {"title": "italic", "header": "bold", "note": "dim"}


@dataclass(frozen=True, kw_only=True)
class TableLine:
    """One line of a table for people."""

    text: str
    kind: LineKind = "body"


def plain_text(table: Table, width: int | None = None) -> str:
    """Return TABLE as text for a pipe, in WIDTH cells or as wide as it is."""
    return "".join(f"{line.text}\n" for line in table_lines(table, width))


def to_rich(table: Table, width: int) -> "RenderableType":
    """Return the same lines with styles, for a terminal of WIDTH cells."""
    from rich.text import Text

    return Text("\n").join(
        Text(line.text, style=_STYLES.get(line.kind, ""), overflow="fold")
        for line in table_lines(table, width)
    )


def table_lines(table: Table, width: int | None = None) -> list[TableLine]:
    """Return the lines of TABLE in WIDTH cells, or as wide as it is: title, rows, notes."""
    form, body = _body(table, width) if table.columns else (table, [])
    answer = [
        TableLine(text=line, kind="header")
        for text in table.answer
        for line in _wrapped(one_line(text), width, indent=2)
    ]
    title = [
        TableLine(text=line, kind="title") for line in _wrapped(form.shown_title, width) if line
    ]
    notes = [
        TableLine(text=line, kind="note")
        for note in form.shown_notes
        for line in _wrapped(note, width, indent=2)
    ]
    signatures = (
        table.signature_lines if table.is_signed else []
    )  # each in one line, so that it can be copied
    return [
        *answer,
        *title,
        *body,
        *notes,
        *(TableLine(text=text, kind="note") for text in signatures),
    ]


def _body(table: Table, width: int | None) -> tuple[Table, list[TableLine]]:
    """Return the form of the table with its lines: the first that is one part with whole numbers,
    else that of the fewest lines.
    """
    if not table.rows and table.notes:  # which say why; a header over nothing would say less
        return table, [TableLine(text="")]
    possible = list(forms(table))
    for form in possible:
        if (body := _part(form, form.columns, width, breaks_numbers=False)) is not None:
            return form, [*body, TableLine(text="")]
    if not any(column.role == "sentence" for column in table.columns):
        divided = [
            (form, _parts(form, width, breaks_numbers=breaks))
            for form in possible
            for breaks in (False, True)
        ]
        if fitting := [(form, lines) for form, lines in divided if lines]:
            return min(fitting, key=lambda fit: len(fit[1]))
    return table, [TableLine(text=""), *_blocks(table, width or 0)]


def _parts(table: Table, width: int | None, *, breaks_numbers: bool) -> list[TableLine]:
    """Return the columns in parts below each other, each with the columns that name the row; empty
    where one does not fit.
    """
    names = [column for column in table.columns if column.is_name]
    rest = [column for column in table.columns if not column.is_name]
    lines: list[TableLine] = []
    while rest:
        parts = [
            _part(table, [*names, *rest[:count]], width, breaks_numbers=breaks_numbers)
            for count in range(1, len(rest) + 1)
        ]
        fitting = sum(part is not None for part in parts)
        if not fitting or not names:
            return []
        count = _whole(rest, fitting)
        lines += parts[count - 1] or []
        rest = rest[count:]
    return [*lines, TableLine(text="")]


def _whole(columns: Sequence[Column], fitting: int) -> int:
    """Return how many of the first FITTING columns form a part: scores alone, where not all of the
    differences fit next to them.
    """
    if fitting == len(columns) or columns[fitting].role != "difference":
        return fitting
    first = next(index for index, column in enumerate(columns) if column.role == "difference")
    return first or fitting


def _part(
    table: Table, columns: Sequence[Column], width: int | None, *, breaks_numbers: bool
) -> list[TableLine] | None:
    """Return the lines of COLUMNS with an empty line above; None where they do not fit."""
    shown = [column for column in columns if column.role not in {"heading", "below"}]
    texts = _column_texts(table, shown)
    if (fit := fitted(texts, width, breaks_numbers=breaks_numbers)) is None:
        return None
    widths, gap = fit
    titles = [
        text.lines(text.title, width, is_title=True)
        for text, width in zip(texts, widths, strict=True)
    ]
    highest = max(map(len, titles))
    titles = [[""] * (highest - len(title)) + title for title in titles]  # next to the rule
    lines = [
        TableLine(text=""),
        *(TableLine(text=text, kind="header") for text in _cell_lines(titles, texts, widths, gap)),
    ]
    lines.append(TableLine(text=f" {'─' * (sum(widths) + gap * (len(widths) - 1))}"))
    headings = _headings(table, [column for column in columns if column.role == "heading"])
    below = replace(
        table, columns=[column for column in columns if column.role == "below"]
    ).texts()[1:]
    for index in range(len(table.rows)):
        if headings and (not index or headings[index] != headings[index - 1]):
            lines += [
                TableLine(text=f" {line}", kind="header")
                for line in _wrapped(headings[index], width and width - 1)
            ]
        cells = [
            text.lines(text.cells[index], width) for text, width in zip(texts, widths, strict=True)
        ]
        lines += [TableLine(text=text) for text in _cell_lines(cells, texts, widths, gap)]
        lines += [
            TableLine(text=f"   {line}")
            for text in below[index]
            if text not in {"", ABSENT}
            for line in _wrapped(text, width and width - 3)
        ]
    return lines


def _headings(table: Table, columns: Sequence[Column]) -> list[str]:
    """Return the heading of each row, where columns have become headings."""
    if not columns:
        return []
    header, *body = replace(table, columns=columns).texts()
    return [
        ", ".join(f"{title} {text}".strip() for title, text in zip(header, row, strict=True))
        for row in body
    ]


def _column_texts(table: Table, columns: Sequence[Column]) -> list[ColumnTexts]:
    header, *body = replace(table, columns=columns).texts()
    cells = list(zip(*body, strict=True)) or [()] * len(columns)
    firm = (
        {"group", "minor"}
        if not any(column.role == "minor" for column in columns)
        else {"group", "minor", "key", None}
    )
    return [
        ColumnTexts(
            title=title,
            cells=tuple(cell),
            kind="text"
            if column.is_text
            else "number"
            if column.role in firm or table.is_numeric(column)
            else "name",
            is_right=table.align(column) == "right",
            is_sentence=column.role == "sentence",
        )
        for column, title, cell in zip(columns, header, cells, strict=True)
    ]


def _cell_lines(
    cells: Sequence[Sequence[str]], columns: Sequence[ColumnTexts], widths: Sequence[int], gap: int
) -> list[str]:
    """Return the lines of a row, as many as its highest cell has."""
    lines = []
    for index in range(max(map(len, cells))):
        texts = [cell[index] if index < len(cell) else "" for cell in cells]
        blanks = [" " * (width - cell_len(text)) for text, width in zip(texts, widths, strict=True)]
        parts = [
            blank + text if column.is_right else text + blank
            for column, blank, text in zip(columns, blanks, texts, strict=True)
        ]
        lines.append(f" {(' ' * gap).join(parts)}".rstrip())
    return lines


def _blocks(table: Table, width: int) -> Iterator[TableLine]:
    """Yield each row as its titled values, none of them broken, with its sentences below, and an
    empty line.
    """
    for texts in table.texts()[1:]:
        cells = list(zip(table.columns, texts, strict=True))
        facts = [
            f"{one_line(column.title)} {text}"
            for column, text in cells
            if column.role != "sentence"
        ]
        for line in _packed(facts, width - 1):
            yield from (TableLine(text=f" {piece}") for piece in broken(line, width - 1, "name"))
        for text in (text for column, text in cells if column.role == "sentence"):
            yield from (TableLine(text=f"   {piece}") for piece in broken(text, width - 3, "text"))
        yield TableLine(text="")


def _packed(facts: Sequence[str], width: int) -> list[str]:
    """Return the facts on as few lines of WIDTH cells as possible, in order; a longer fact has its
    own line.
    """
    lines: list[str] = []
    for fact in facts:
        if lines and cell_len(longer := f"{lines[-1]} · {fact}") <= width:
            lines[-1] = longer
        else:
            lines.append(fact)
    return lines


def _wrapped(text: str, width: int | None, indent: int = 0) -> list[str]:
    """Return TEXT in lines of WIDTH cells, all but the first indented."""
    if width is None or cell_len(text) <= width:
        return [text]
    first, *rest = broken(text, width, "text")
    return [
        first,
        *(f"{' ' * indent}{piece}" for piece in broken(" ".join(rest), width - indent, "text")),
    ]
