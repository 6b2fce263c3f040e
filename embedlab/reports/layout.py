"""Arrange a table in the width there is: the one way for all commands, on a terminal and in a pipe.

Nothing is cut. Where the columns need more than the width, texts and names break at words, then
minor columns are left out, then numbers break from their intervals or the columns are divided into
parts below each other, whichever takes fewer lines. Sentences go below their rows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, chop_cells

from embedlab.core.printable import one_line
from embedlab.reports.tables import ABSENT, Column, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

LineKind = Literal["title", "header", "body", "note"]
Kind = Literal["number", "name", "text"]  # of what a column holds
_STYLES: dict[LineKind, str] = {"title": "italic", "header": "bold", "note": "dim"}
_GAP = 2  # blanks between columns; one more where there is room
# cells: what a name or a text is broken into where it is longer
_LEAST = {"name": 12, "text": 28}
_LONGEST_WORD = 20  # cells: a longer word is broken where there is no room
# where a line may break: a number from its spread or interval; a name after its signs too
_BREAKS: dict[Kind, re.Pattern[str]] = {
    "number": re.compile(r" (?=[±\[])"),
    "name": re.compile(r"(?<!−) |(?<=[-_/,:+&=])(?=.)|(?<=.)(?=[@?])"),
    "text": re.compile(r" "),
}


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
    """Return the lines of TABLE in WIDTH cells, or as wide as it is: answer, title, rows, notes."""
    if table.brief and not table.has_all_notes:
        title = f"{table.title}: {len(table.brief)} of {len(table.rows)} rows"
        table = replace(table, title=title, rows=[table.rows[row] for row in table.brief])
    form, body = _body(table, width) if table.columns else (table, [])

    def said(texts: Iterable[str], kind: LineKind, indent: int = 2) -> list[TableLine]:
        lines = [line for text in texts for line in _wrap(text, width, indent)]
        return [TableLine(text=line, kind=kind) for line in lines if line]

    # a signature is one line, so that it can be copied
    signatures = table.signature_lines if table.is_signed else []
    return [
        *said(map(one_line, table.answer), "header"),
        *said([form.shown_title], "title", 0),
        *body,
        *said(form.shown_notes, "note"),
        *(TableLine(text=text, kind="note") for text in signatures),
    ]


def _body(table: Table, width: int | None) -> tuple[Table, list[TableLine]]:
    """Return the table as it fits, with its lines."""
    blank = TableLine(text="")
    if not table.rows and table.notes:  # which say why; a header over nothing would say less
        return table, [blank]
    columns = [
        _Shown(table, column, texts)
        for column, *texts in zip(table.columns, *table.texts(), strict=True)
    ]
    # a column of texts without any is left out
    shown_columns = [
        kept_column
        for kept_column in columns
        if kept_column.kind != "text" or kept_column.has_texts
    ]
    major_columns = [kept_column for kept_column in shown_columns if kept_column.role != "minor"]
    if lines := _part(shown_columns, width):
        return table, [blank, *lines, blank]
    smaller = table
    if len(major_columns) < len(shown_columns):
        gone = ", ".join(
            kept_column.title for kept_column in shown_columns if kept_column.role == "minor"
        )
        notes = [*table.notes, f"a wider terminal and --json also show: {gone}"]
        smaller = replace(table, notes=notes)
        if lines := _part(major_columns, width):
            return smaller, [blank, *lines, blank]
    unbroken, divided = (
        _parts(major_columns, width, breaks_numbers=breaks) for breaks in (False, True)
    )
    if not (unbroken or divided):
        return table, [blank, *_blocks(shown_columns, width or 0)]
    # numbers stay with their intervals unless that takes many more lines
    is_long = not unbroken or (divided and len(unbroken) > 1.5 * len(divided))
    return smaller, [blank, *(divided if is_long else unbroken), blank]


class _Shown:
    """One column as people read it: its title, its cells, and how they may break."""

    def __init__(self, table: Table, column: Column, texts: Sequence[str]) -> None:
        self.title, *self.cells = texts
        self.role = column.role
        self.is_right = table.align(column) == "right"
        self.has_texts = not self.cells or bool({*self.cells} - {"", ABSENT})
        is_firm = column.role in {"group", "minor"} or table.is_numeric(column)
        self.kind: Kind = "text" if column.is_text else "number" if is_firm else "name"
        self.natural = _widest(texts)  # nothing breaks

    def least(self, *, breaks_numbers: bool) -> int:
        """Return the smallest width that is acceptable."""
        may_break = self.kind != "number" or breaks_numbers
        title = min(_widest([self.title], "name"), _LEAST["name"])
        word_width = max(title, _widest(self.cells, self.kind if may_break else None))
        if self.kind == "number":
            return word_width
        return min(self.natural, max(min(word_width, _LONGEST_WORD), _LEAST[self.kind]))


def _widest(texts: Iterable[str], kind: Kind | None = None) -> int:
    """Return the width of the longest line, or of the longest part of a KIND that cannot break."""
    lines = [line for text in texts for line in text.split("\n")]
    if kind is not None:
        lines = [piece for line in lines for piece in _BREAKS[kind].split(line)]
    return max(map(cell_len, lines), default=0)


def _fit(
    columns: Sequence[_Shown], width: int | None, *, breaks_numbers: bool
) -> tuple[list[int], int] | None:
    """Return the widths of COLUMNS within WIDTH cells, and the gap between them; None where they do
    not fit. Texts break first, then titles of numbers, then names.
    """
    widths = [column.natural for column in columns]
    excess = 0
    for gap in (_GAP + 1, _GAP):
        excess = 1 + sum(widths) + gap * (len(widths) - 1) - (width or 0)
        if width is None or excess <= 0:
            return widths, gap
    least_widths = [column.least(breaks_numbers=breaks_numbers) for column in columns]
    for kind in ("text", "number", "name"):
        same_kind = [index for index, column in enumerate(columns) if column.kind == kind]
        while excess > 0 and (
            reducible := [index for index in same_kind if widths[index] > least_widths[index]]
        ):
            widths[max(reducible, key=lambda index: (widths[index], index))] -= 1
            excess -= 1
    return (widths, _GAP) if excess <= 0 else None


def _part(
    columns: Sequence[_Shown], width: int | None, *, breaks_numbers: bool = False
) -> list[TableLine]:
    """Return the lines of COLUMNS; none where they do not fit."""
    if (fit := _fit(columns, width, breaks_numbers=breaks_numbers)) is None:
        return []
    widths, gap = fit

    def row(texts: Sequence[str], kind: LineKind) -> list[TableLine]:
        """Return the lines of a row, as many as its highest cell has; titles are next to the
        rule.
        """
        pieces = []
        for text, column, size in zip(texts, columns, widths, strict=True):
            lines = text.split("\n")
            text_kind = "name" if kind == "header" else column.kind
            pieces.append([piece for line in lines for piece in break_lines(line, size, text_kind)])
        height = max(map(len, pieces))
        for column, size, lines in zip(columns, widths, pieces, strict=True):
            padding = [""] * (height - len(lines))
            lines[:] = [*padding, *lines] if kind == "header" else [*lines, *padding]
            for index, line in enumerate(lines):
                blank = " " * (size - cell_len(line))
                lines[index] = f"{blank}{line}" if column.is_right else f"{line}{blank}"
        joined = [(" " * gap).join(cells) for cells in zip(*pieces, strict=True)]
        return [TableLine(text=f" {line}".rstrip(), kind=kind) for line in joined]

    rule = "─" * (sum(widths) + gap * (len(widths) - 1))
    cells = zip(*(column.cells for column in columns), strict=True)
    return [
        *row([column.title for column in columns], "header"),
        TableLine(text=f" {rule}"),
        *(line for texts in cells for line in row(texts, "body")),
    ]


def _parts(
    columns: Sequence[_Shown], width: int | None, *, breaks_numbers: bool
) -> list[TableLine]:
    """Return the columns in parts below each other, each with the columns that name the row; none
    where one does not fit. Differences that do not all fit beside scores are parts of their own.
    """
    names = [column for column in columns if column.role in {"key", "group"}]
    remaining = [column for column in columns if column.role not in {"key", "group"}]
    lines: list[TableLine] = []
    while remaining:
        fitting_counts = [
            count
            for count in range(1, len(remaining) + 1)
            if _fit([*names, *remaining[:count]], width, breaks_numbers=breaks_numbers)
        ]
        if not fitting_counts or not names or any(column.role == "sentence" for column in columns):
            return []
        count = fitting_counts[-1]
        if count < len(remaining) and remaining[count].role == "difference":
            first_difference = next(
                index for index, column in enumerate(remaining) if column.role == "difference"
            )
            count = first_difference or count
        lines += [TableLine(text="")] if lines else []
        lines += _part([*names, *remaining[:count]], width, breaks_numbers=breaks_numbers)
        remaining = remaining[count:]
    return lines


def _blocks(columns: Sequence[_Shown], width: int) -> Iterator[TableLine]:
    """Yield each row as its titled values, none of them broken, with its sentences below."""
    for cells in zip(*(column.cells for column in columns), strict=True):
        value_lines = [""]
        for column, cell in zip(columns, cells, strict=True):
            if column.role == "sentence":
                continue
            titled_value = f"{one_line(column.title)} {cell}"
            joined = f"{value_lines[-1]} · {titled_value}" if value_lines[-1] else titled_value
            if cell_len(joined) < width:
                value_lines[-1] = joined
            else:
                value_lines.append(titled_value)
        for line in filter(None, value_lines):
            yield from (
                TableLine(text=f" {piece}") for piece in break_lines(line, width - 1, "name")
            )
        for column, cell in zip(columns, cells, strict=True):
            if column.role == "sentence":
                yield from (
                    TableLine(text=f"   {piece}") for piece in break_lines(cell, width - 3, "text")
                )
        yield TableLine(text="")


def break_lines(text: str, width: int, kind: Kind) -> list[str]:
    """Return TEXT in lines of at most WIDTH cells, broken where its KIND allows it; a word that is
    longer is cut.
    """
    if cell_len(text) <= width:
        return [text]
    lines, start = [""], 0
    for end, next_start in [
        *(match.span() for match in _BREAKS[kind].finditer(text)),
        (len(text), len(text)),
    ]:
        piece = text[start:end]
        blank = " " if start and text[start - 1] == " " else ""
        joined = f"{lines[-1]}{blank}{piece}" if lines[-1] else piece
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines += chop_cells(piece, max(width, 2))  # a character may take two cells
        start = next_start
    return [line for line in lines if line] or [""]


def _wrap(text: str, width: int | None, indent: int) -> list[str]:
    """Return TEXT in lines of WIDTH cells, all but the first indented."""
    if width is None or cell_len(text) <= width:
        return [text]
    first_line, *other_lines = break_lines(text, width, "text")
    continuation = break_lines(" ".join(other_lines), width - indent, "text")
    return [first_line, *(f"{' ' * indent}{piece}" for piece in continuation)]
