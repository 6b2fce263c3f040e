"""Arrange a table in the width there is: the one way for all commands, on a terminal and in a pipe.

Nothing is cut. Where the columns need more than the width, texts and names break at words, then
minor columns are left out, then numbers break from their intervals or the columns are divided into
parts below each other, whichever takes fewer lines. Sentences go below their rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len, chop_cells

from embedlab.core.printable import one_line
from embedlab.reports.tables import ABSENT, Column, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

LineKind = Literal["title", "header", "body", "note"]
_STYLES: dict[LineKind, str] = {"title": "italic", "header": "bold", "note": "dim"}
_GAP = 2  # blanks between columns; one more where there is room
_LEAST_NAME, _LEAST_TEXT = 12, 28  # cells: what a name or a text is broken into where it is longer
_LONGEST_WORD = 20  # cells: a longer word is broken where there is no room
# where a line may break: a number from its spread or interval; a name after its signs too
_BREAKS = {
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
    lines = [
        TableLine(text=line, kind="header")
        for text in table.answer
        for line in _wrapped(one_line(text), width, 2)
    ]
    lines += [
        TableLine(text=line, kind="title") for line in _wrapped(form.shown_title, width) if line
    ]
    lines += body
    lines += [
        TableLine(text=line, kind="note")
        for note in form.shown_notes
        for line in _wrapped(note, width, 2)
    ]
    # a signature is one line, so that it can be copied
    signatures = table.signature_lines if table.is_signed else []
    return [*lines, *(TableLine(text=text, kind="note") for text in signatures)]


def _body(table: Table, width: int | None) -> tuple[Table, list[TableLine]]:
    """Return the table as it fits, with its lines."""
    blank = TableLine(text="")
    if not table.rows and table.notes:  # which say why; a header over nothing would say less
        return table, [blank]
    cells = {
        column.key: texts for column, *texts in zip(table.columns, *table.texts(), strict=True)
    }
    # a column of texts without any is left out
    full = [
        column
        for column in table.columns
        if not (column.is_text and table.rows and {*cells[column.key][1:]} <= {"", ABSENT})
    ]
    firm = [column for column in full if column.role != "minor"]
    smaller = table
    if len(firm) < len(full):
        gone = ", ".join(column.title for column in full if column.role == "minor")
        smaller = replace(
            table, notes=[*table.notes, f"a wider terminal and --json also show: {gone}"]
        )
    for form, columns in ((table, full), (smaller, firm)):
        if lines := _part(_texts(table, columns, cells), width, breaks_numbers=False):
            return form, [blank, *lines, blank]
    texts = _texts(table, firm, cells)
    ways = [_parts(texts, width, breaks_numbers=breaks) for breaks in (False, True)]
    if any(ways):
        whole, divided = ways
        # numbers stay with their intervals unless that takes many more lines
        is_long = not whole or (divided and len(whole) > 1.5 * len(divided))
        return smaller, [blank, *(divided if is_long else whole), blank]
    return table, [blank, *_blocks(_texts(table, full, cells), width or 0)]


@dataclass(frozen=True, kw_only=True)
class _Texts:
    """One column as people read it: its title, its cells, and how they may break."""

    title: str
    cells: Sequence[str]
    role: str | None
    kind: Literal["number", "name", "text"]
    is_right: bool

    def longest(self, breaks: bool) -> int:
        """Return the width of the longest cell, or of the longest part that cannot break."""
        lines = (line for cell in self.cells for line in cell.split("\n"))
        parts = (
            part
            for line in lines
            for part in (_BREAKS[self.kind].split(line) if breaks else [line])
        )
        return max(map(cell_len, parts), default=0)

    @property
    def least_title(self) -> int:
        """Return the width that the title needs at least."""
        parts = (part for line in self.title.split("\n") for part in _BREAKS["name"].split(line))
        return min(max(map(cell_len, parts)), _LEAST_NAME)

    @property
    def natural(self) -> int:
        """Return the width at which nothing breaks."""
        return max([self.longest(breaks=False), *map(cell_len, self.title.split("\n"))])

    def least(self, breaks_numbers: bool) -> int:
        """Return the smallest width that is acceptable."""
        words = max(self.least_title, self.longest(breaks=self.kind != "number" or breaks_numbers))
        if self.kind == "number":
            return words
        bound = _LEAST_TEXT if self.kind == "text" else _LEAST_NAME
        return min(self.natural, max(min(words, _LONGEST_WORD), bound))


def _texts(table: Table, columns: Sequence[Column], cells: Mapping[str, list[str]]) -> list[_Texts]:
    texts = []
    for column in columns:
        title, *body = cells[column.key]
        is_firm = column.role in {"group", "minor"} or table.is_numeric(column)
        texts.append(
            _Texts(
                title=title,
                cells=body,
                role=column.role,
                kind="text" if column.is_text else "number" if is_firm else "name",
                is_right=table.align(column) == "right",
            )
        )
    return texts


def _fit(
    columns: Sequence[_Texts], width: int | None, *, breaks_numbers: bool
) -> tuple[list[int], int] | None:
    """Return the widths of COLUMNS within WIDTH cells, and the gap between them; None where they do
    not fit. Texts break first, then titles of numbers, then names.
    """
    widths = [column.natural for column in columns]
    least = [column.least(breaks_numbers) for column in columns]
    if width is None:
        return widths, _GAP + 1
    for gap in (_GAP + 1, _GAP):
        over = 1 + sum(widths) + gap * (len(widths) - 1) - width
        if over <= 0:
            return widths, gap
    for kind in ("text", "number", "name"):
        while over > 0:
            room = [
                (widths[place], place)
                for place, column in enumerate(columns)
                if column.kind == kind and widths[place] > least[place]
            ]
            if not room:
                break
            widths[max(room)[1]] -= 1
            over -= 1
    return (widths, _GAP) if over <= 0 else None


def _part(columns: Sequence[_Texts], width: int | None, *, breaks_numbers: bool) -> list[TableLine]:
    """Return the lines of COLUMNS; none where they do not fit."""
    if (fit := _fit(columns, width, breaks_numbers=breaks_numbers)) is None:
        return []
    widths, gap = fit
    sized = list(zip(columns, widths, strict=True))
    titles = [
        [line for text in column.title.split("\n") for line in broken(text, size, "name")]
        for column, size in sized
    ]
    highest = max(map(len, titles))
    titles = [[""] * (highest - len(title)) + title for title in titles]  # next to the rule
    lines = [TableLine(text=text, kind="header") for text in _cell_lines(titles, sized, gap)]
    lines.append(TableLine(text=f" {'─' * (sum(widths) + gap * (len(widths) - 1))}"))
    for cells in zip(*(column.cells for column in columns), strict=True):
        broken_cells = [
            [line for text in cell.split("\n") for line in broken(text, size, column.kind)]
            for cell, (column, size) in zip(cells, sized, strict=True)
        ]
        lines += [TableLine(text=text) for text in _cell_lines(broken_cells, sized, gap)]
    return lines


def _cell_lines(
    cells: Sequence[Sequence[str]], sized: Sequence[tuple[_Texts, int]], gap: int
) -> Iterator[str]:
    """Yield the lines of a row, as many as its highest cell has."""
    for texts in zip_longest(*cells, fillvalue=""):
        padded = []
        for text, (column, width) in zip(texts, sized, strict=True):
            blank = " " * (width - cell_len(text))
            padded.append(blank + text if column.is_right else text + blank)
        yield f" {(' ' * gap).join(padded)}".rstrip()


def _parts(
    columns: Sequence[_Texts], width: int | None, *, breaks_numbers: bool
) -> list[TableLine]:
    """Return the columns in parts below each other, each with the columns that name the row; none
    where one does not fit. Differences that do not all fit beside scores are parts of their own.
    """
    names = [column for column in columns if column.role in {"key", "group"}]
    rest = [column for column in columns if column.role not in {"key", "group"}]
    lines: list[TableLine] = []
    while rest:
        fits = [
            count
            for count in range(1, len(rest) + 1)
            if _fit([*names, *rest[:count]], width, breaks_numbers=breaks_numbers)
        ]
        if not fits or not names or any(column.role == "sentence" for column in columns):
            return []
        count = fits[-1]
        if count < len(rest) and rest[count].role == "difference":
            first = next(place for place, column in enumerate(rest) if column.role == "difference")
            count = first or count
        lines += [TableLine(text="")] if lines else []
        lines += _part([*names, *rest[:count]], width, breaks_numbers=breaks_numbers)
        rest = rest[count:]
    return lines


def _blocks(columns: Sequence[_Texts], width: int) -> Iterator[TableLine]:
    """Yield each row as its titled values, none of them broken, with its sentences below."""
    for cells in zip(*(column.cells for column in columns), strict=True):
        facts = [""]
        for column, cell in zip(columns, cells, strict=True):
            if column.role == "sentence":
                continue
            fact = f"{one_line(column.title)} {cell}"
            longer = f"{facts[-1]} · {fact}" if facts[-1] else fact
            if cell_len(longer) < width:
                facts[-1] = longer
            else:
                facts.append(fact)
        for line in filter(None, facts):
            yield from (TableLine(text=f" {piece}") for piece in broken(line, width - 1, "name"))
        for column, cell in zip(columns, cells, strict=True):
            if column.role == "sentence":
                yield from (
                    TableLine(text=f"   {piece}") for piece in broken(cell, width - 3, "text")
                )
        yield TableLine(text="")


def broken(text: str, width: int, kind: Literal["number", "name", "text"]) -> list[str]:
    """Return TEXT in lines of at most WIDTH cells, broken where its KIND allows it; a word that is
    longer is cut.
    """
    if cell_len(text) <= width:
        return [text]
    lines, start = [""], 0
    for end, after in [
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
        start = after
    return [line for line in lines if line] or [""]


def _wrapped(text: str, width: int | None, indent: int = 0) -> list[str]:
    """Return TEXT in lines of WIDTH cells, all but the first indented."""
    if width is None or cell_len(text) <= width:
        return [text]
    first, *rest = broken(text, width, "text")
    below = broken(" ".join(rest), width - indent, "text")
    return [first, *(f"{' ' * indent}{piece}" for piece in below)]
