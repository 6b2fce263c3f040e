"""Arrange a table in the width there is: the one way for all commands, on a terminal and in a pipe.

Nothing is cut. Where the columns need more than the width, texts and names break at words, then
minor columns are left out, then numbers break from their intervals or the columns are divided into
parts below each other, whichever takes fewer lines. Sentences go below their rows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple

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


class TableLine(NamedTuple):
    """One line of a table for people."""

    text: str
    kind: LineKind = "body"


BLANK = TableLine("")


def plain_text(table: Table, width: float = inf) -> str:
    """Return TABLE as text for a pipe, in WIDTH cells or as wide as it is."""
    return "".join(f"{line.text}\n" for line in table_lines(table, width))


def to_rich(table: Table, width: int) -> "RenderableType":
    """Return the same lines with styles, for a terminal of WIDTH cells."""
    from rich.text import Text

    return Text("\n").join(
        Text(line.text, style=_STYLES.get(line.kind, ""), overflow="fold")
        for line in table_lines(table, width)
    )


def table_lines(table: Table, width: float = inf) -> list[TableLine]:
    """Return the lines of TABLE in WIDTH cells, or as wide as it is: answer, title, rows, notes."""
    if table.brief and not table.has_all_notes:
        title = f"{table.title}: {len(table.brief)} of {len(table.rows)} rows"
        table = replace(table, title=title, rows=[table.rows[row] for row in table.brief])
    form, body = table, list[TableLine]()
    if table.columns:
        if table.rows or not table.notes:  # a header over nothing would say less than these
            shown_forms = ((form, lines) for form, lines in _forms(table, width) if lines)
            form, body = next(shown_forms, (table, body))
        body.append(BLANK)

    def said(texts: Iterable[str], kind: LineKind, indent: int = 2) -> list[TableLine]:
        lines = [line for text in texts for line in _wrap(text, width, indent)]
        return [TableLine(line, kind) for line in lines if line]

    # a signature is one line, so that it can be copied
    signatures = table.signature_lines if table.is_signed else []
    return [
        *said(map(one_line, table.answer), "header"),
        *said([form.shown_title], "title", 0),
        *body,
        *said(form.shown_notes, "note"),
        *(TableLine(text, "note") for text in signatures),
    ]


def _forms(table: Table, width: float) -> Iterator[tuple[Table, list[TableLine]]]:
    """Yield the ways to show a table, the best first, each with the table that it shows; one that
    does not fit has no lines.
    """
    texts = zip(table.columns, *table.texts(), strict=True)
    columns = [_Shown(table, *column_texts) for column_texts in texts]
    # a column of texts without any is left out
    columns = [column for column in columns if column.kind != "text" or column.has_texts]
    yield table, _part(columns, width)
    major_columns = [column for column in columns if column.role != "minor"]
    minor_titles = [column.title for column in columns if column.role == "minor"]
    smaller = table
    if minor_titles:
        hint = f"a wider terminal and --json also show: {', '.join(minor_titles)}"
        smaller = replace(table, notes=[*table.notes, hint])
        yield smaller, _part(major_columns, width)
    unbroken, divided = (
        _parts(major_columns, width, breaks_numbers=breaks) for breaks in (False, True)
    )
    # numbers stay with their intervals unless that takes many more lines
    is_long = divided and len(unbroken[1:]) > 1.5 * len(divided[1:])
    yield smaller, divided if is_long else unbroken or divided
    yield table, [*_blocks(columns, width)]


class _Shown:
    """One column as people read it: its title, its cells, and how they may break."""

    def __init__(self, table: Table, column: Column, title: str, *cells: str) -> None:
        self.title, self.cells, self.role = title, cells, column.role
        self.is_right = table.align(column) == "right"
        self.has_texts = not cells or bool({*cells} - {"", ABSENT})
        is_firm = column.role in {"group", "minor"} or table.is_numeric(column)
        self.kind: Kind = "text" if column.is_text else "number" if is_firm else "name"
        self.natural = _widest([title, *cells])  # nothing breaks

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
    columns: Sequence[_Shown], width: float, *, breaks_numbers: bool
) -> tuple[list[int], int] | None:
    """Return the widths of COLUMNS within WIDTH cells, and the gap between them; None where they do
    not fit. Texts break first, then titles of numbers, then names.
    """
    widths = [column.natural for column in columns]
    gaps = len(widths) - 1
    excess = 1 + sum(widths) + _GAP * gaps - width
    if excess + gaps <= 0:
        return widths, _GAP + 1
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
    columns: Sequence[_Shown],
    width: float,
    *,
    breaks_numbers: bool = False,
    names: int | None = None,
) -> list[TableLine]:
    """Return the lines of COLUMNS below an empty one; none where they do not fit. Behind the first
    NAMES of them, rows without any text or number are left out.
    """
    fit = _fit(columns, width, breaks_numbers=breaks_numbers)
    if fit is None or not columns:
        return []
    widths, gap = fit

    def row(texts: Iterable[str], kind: LineKind) -> Iterator[TableLine]:
        """Yield the lines of a row, as many as its highest cell has; titles are next to the
        rule.
        """
        is_header = kind == "header"
        cells = []
        for text, column, size in zip(texts, columns, widths, strict=True):
            breaks = "name" if is_header else column.kind
            lines = [
                piece for line in text.split("\n") for piece in break_lines(line, size, breaks)
            ]
            cells.append(lines[::-1] if is_header else lines)
        for pieces in [*zip_longest(*cells, fillvalue="")][:: -1 if is_header else 1]:
            padded = []
            for piece, column, size in zip(pieces, columns, widths, strict=True):
                blank = " " * (size - cell_len(piece))
                padded.append(f"{blank}{piece}" if column.is_right else f"{piece}{blank}")
            yield TableLine(f" {(' ' * gap).join(padded)}".rstrip(), kind)

    lines = [BLANK, *row([column.title for column in columns], "header")]
    lines.append(TableLine(f" {'─' * (sum(widths) + gap * (len(widths) - 1))}"))
    for texts in zip(*(column.cells for column in columns), strict=True):
        if names is None or any(text not in {"", ABSENT} for text in texts[names:]):
            lines += row(texts, "body")
    return lines


def _parts(columns: Sequence[_Shown], width: float, *, breaks_numbers: bool) -> list[TableLine]:
    """Return the columns in parts below each other, each with the columns that name the row; none
    where one does not fit. Differences that do not all fit beside scores are parts of their own.
    """
    names = [column for column in columns if column.role in {"key", "group"}]
    remaining = [column for column in columns if column.role not in {"key", "group"}]
    if not names or any(column.role == "sentence" for column in columns):
        return []
    lines: list[TableLine] = []
    while remaining:
        count = len(remaining)
        while count and not _fit(
            [*names, *remaining[:count]], width, breaks_numbers=breaks_numbers
        ):
            count -= 1
        if not count:
            return []
        roles = [column.role for column in remaining]
        if roles[count:][:1] == ["difference"]:
            count = roles.index("difference") or count
        lines += _part(
            [*names, *remaining[:count]],
            width,
            breaks_numbers=breaks_numbers,
            names=len(names) if lines and remaining[0].kind == "text" else None,
        )
        remaining = remaining[count:]
    return lines


def _blocks(columns: Sequence[_Shown], width: float) -> Iterator[TableLine]:
    """Yield each row below an empty line: its titled values, none of them broken, and below them
    its sentences.
    """
    for cells in zip(*(column.cells for column in columns), strict=True):
        value_lines, sentences = [""], []
        for column, cell in zip(columns, cells, strict=True):
            titled_value = f"{column.title} {cell}"
            joined = f"{value_lines[-1]} · {titled_value}" if value_lines[-1] else titled_value
            if column.role == "sentence":
                sentences.append(cell)
            elif cell_len(joined) < width:
                value_lines[-1] = joined
            else:
                value_lines.append(titled_value)
        yield BLANK
        for line in filter(None, value_lines):
            yield from (TableLine(f" {piece}") for piece in break_lines(line, width - 1, "name"))
        for sentence in sentences:
            pieces = break_lines(sentence, width - 3, "text")
            yield from (TableLine(f"   {piece}") for piece in pieces)


def break_lines(text: str, width: float, kind: Kind) -> list[str]:
    """Return TEXT in lines of at most WIDTH cells, broken where its KIND allows it; a word that is
    longer is cut.
    """
    if cell_len(text) <= width:
        return [text]
    lines, start = [""], 0
    spans = [match.span() for match in _BREAKS[kind].finditer(text)]
    for end, next_start in [*spans, (len(text), len(text))]:
        piece = text[start:end]
        blank = " " if start and text[start - 1] == " " else ""
        joined = f"{lines[-1]}{blank}{piece}" if lines[-1] else piece
        if cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines += chop_cells(piece, max(int(width), 2))  # a character may take two cells
        start = next_start
    return [*filter(None, lines)] or [""]


def _wrap(text: str, width: float, indent: int) -> list[str]:
    """Return TEXT in lines of WIDTH cells, all but the first indented."""
    first_line, *other_lines = break_lines(text, width, "text")
    if not other_lines:
        return [first_line]
    continuation = break_lines(" ".join(other_lines), width - indent, "text")
    return [first_line, *(f"{' ' * indent}{piece}" for piece in continuation)]
