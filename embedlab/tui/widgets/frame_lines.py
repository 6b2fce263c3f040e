"""Draw a row of a frame as lines of the terminal: each cell in its exact width, with as few
segments as the styles allow.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import polars as pl
from rich.cells import cell_len, set_cell_size, split_text
from rich.segment import Segment
from rich.style import Style

from embedlab.data.words import distinct_words
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.bars import signed_bar
from embedlab.tui.widgets.plain import plain

GUTTER = 2  # cells before the first column, for the mark
GAP = 1  # cell between two columns
SHORTEST_BAR = 5
_WORD = re.compile(r"\w+")

Parts = list[tuple[str, int, Style]]  # text, its cells, style
CellSpan = tuple[int, int]  # the first visible cell of a line, and the first after the visible ones


@dataclass(frozen=True, kw_only=True)
class FrameColumn:
    """The display of one column of a frame."""

    key: str
    title: str
    width: int
    needs: int = 0  # cells of its longest text; given before columns grow
    digits: int | None = None  # decimals of a number; absent = text
    is_signed: bool = False
    grows: bool = False  # takes a share of the remaining width
    align_right: bool = False  # of text; numbers always are
    loud_from: float | None = None  # numbers at least this far from 0 are highlighted
    bar: str | None = None  # column of numbers from -1 to 1, drawn as a bar in the remaining room
    below: str | None = (
        # column of text on a second line; the words that the two texts do not share are highlighted
        None
    )
    joined: tuple[str, ...] = ()  # columns whose values follow in the same cell
    is_dim: bool = False
    is_name: bool = False  # cut in the middle: names differ at their ends

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the frame that it shows."""
        return tuple(
            key for key in (self.key, *self.joined, self.below, self.bar) if key is not None
        )

    @property
    def is_right(self) -> bool:
        """Whether cells are right-aligned."""
        return self.align_right or self.digits is not None


def shared_widths(columns: Sequence[FrameColumn], room: int) -> list[int]:
    """The width of each column in ROOM cells: the least width, then what the texts need, then the
    rest for those that grow.
    """
    widths = [column.width for column in columns]
    spare = room - GUTTER - sum(width + GAP for width in widths)
    for index, column in enumerate(columns):
        more = max(0, min(column.needs - column.width, spare))
        widths[index] += more
        spare -= more
    growing = [index for index, column in enumerate(columns) if column.grows]
    for number, index in enumerate(growing):
        widths[index] += max(0, spare // len(growing) + (number < spare % len(growing)))
    return widths


@dataclass(frozen=True, kw_only=True)
class LineStyles:
    """The styles of one kind of line."""

    base: Style
    mark: Style
    absent: Style
    loud: Style
    bar: Style
    differs: Style


@dataclass(frozen=True, kw_only=True, eq=False)
class FrameLines:
    """Draws the columns of a frame in the given widths."""

    columns: Sequence[FrameColumn] = ()
    widths: Sequence[int] = ()
    series: Sequence[pl.Series] = ()  # of each column
    bars: Sequence[pl.Series | None] = ()  # the lengths of its bars
    below: Sequence[pl.Series | None] = ()  # its second line
    joined: Sequence[Sequence[pl.Series]] = ()  # what follows in its cells

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Sequence[FrameColumn], widths: Sequence[int]) -> Self:
        """Return the lines of FRAME."""
        return cls(
            columns=columns,
            widths=widths,
            series=[frame[column.key] for column in columns],
            bars=[frame[column.bar] if column.bar else None for column in columns],
            below=[frame[column.below] if column.below else None for column in columns],
            joined=[[frame[key] for key in column.joined] for column in columns],
        )

    @property
    def per_row(self) -> int:
        """Lines of a row."""
        return 2 if any(series is not None for series in self.below) else 1

    @property
    def width(self) -> int:
        """Cells of a line."""
        return GUTTER + sum(self.widths) + GAP * len(self.widths)

    def header(
        self,
        style: Style,
        span: CellSpan,
        *,
        arrow: Mapping[str, str],
        under: int | None,
        under_style: Style,
    ) -> list[Segment]:
        """The titles; ARROW marks the column that the rows are sorted by, UNDER is the column of
        the cursor.
        """
        parts: Parts = [(" " * GUTTER, GUTTER, style)]
        for index, (column, width) in enumerate(zip(self.columns, self.widths, strict=True)):
            text = _fitted(
                column.title + arrow.get(column.key, ""), width, align_right=column.is_right
            )
            parts.append((text + " " * GAP, width + GAP, under_style if index == under else style))
        return _joined(parts, span, style)

    def row(
        self,
        row: int,
        styles: LineStyles,
        span: CellSpan,
        *,
        is_marked: bool,
        line: int = 0,
        under: int | None = None,
        under_styles: LineStyles,
    ) -> list[Segment]:
        """A LINE of a ROW of the frame; the cell of column UNDER the cursor has UNDER_STYLES."""
        parts: Parts = [("● " if is_marked and line == 0 else " " * GUTTER, GUTTER, styles.mark)]
        at = GUTTER
        for index, width in enumerate(self.widths):
            if at < span[1] and at + width > span[0]:
                self._add_cell(parts, index, row, under_styles if index == under else styles, line)
            else:
                parts.append((" " * width, width, styles.base))
            parts.append((" " * GAP, GAP, styles.base))
            at += width + GAP
        return _joined(parts, span, styles.base)

    def _add_cell(self, parts: Parts, index: int, row: int, styles: LineStyles, line: int) -> None:
        column, value, width, lengths = (
            self.columns[index],
            self.series[index][row],
            self.widths[index],
            self.bars[index],
        )
        if (below := self.below[index]) is not None:
            first, second = (cell_text(content, column) for content in (value, below[row]))
            shown, other = (first, second) if line == 0 else (second, first)
            parts.extend(_compared(shown, distinct_words(other), width, styles))
            return
        if line > 0:
            parts.append((" " * width, width, styles.base))
            return
        text, style = cell_text(value, column), styles.base
        if column.joined:
            text = " ".join(
                plain(str(content))
                for content in (value, *(series[row] for series in self.joined[index]))
                if content is not None
            )
        if column.is_name and _cells(text) > width:
            text = short_name(text, width)
        if value is None or column.is_dim:
            style = styles.absent
        elif column.loud_from is not None and abs(value) >= column.loud_from:
            style = styles.loud
        if lengths is not None and (room := width - _cells(text) - 1) >= SHORTEST_BAR:
            drawn = signed_bar(lengths[row], room)
            parts.append((drawn, len(drawn), styles.bar))
            parts.append((" " * (room + 1 - len(drawn)) + text, width - len(drawn), style))
        else:
            parts.append((_fitted(text, width, align_right=column.is_right), width, style))


def cell_text(value: object, column: FrameColumn) -> str:
    """A value in the format of its column; a middle dot for an absent value."""
    if value is None or value != value:
        return "·"
    if column.digits is not None and isinstance(value, int | float):
        return f"{value:+z.{column.digits}f}" if column.is_signed else f"{value:z.{column.digits}f}"
    return plain(str(value))


def _compared(
    text: str, others: frozenset[str], width: int, styles: LineStyles
) -> Iterator[tuple[str, int, Style]]:
    """TEXT in WIDTH cells, its words that are not among OTHERS highlighted."""
    shown, at = _fitted(text, width, align_right=False), 0
    for match in _WORD.finditer(text):
        if match.start() >= len(shown):
            break
        if match.group().lower() not in others:
            for piece, style in (
                (shown[at : match.start()], styles.base),
                (shown[match.start() : match.end()], styles.differs),
            ):
                if piece:
                    yield piece, _cells(piece), style
            at = match.end()
    if rest := shown[at:]:
        yield rest, _cells(rest), styles.base


def _cells(text: str) -> int:
    # The text is printable: an ASCII character takes one cell and needs no look-up.
    return len(text) if text.isascii() else cell_len(text)


def _fitted(text: str, width: int, *, align_right: bool) -> str:
    """TEXT in exactly WIDTH cells; an ellipsis replaces the end of a longer one."""
    length = _cells(text)
    if length <= width:
        return (
            text.rjust(width - length + len(text))
            if align_right
            else text.ljust(width - length + len(text))
        )
    if width <= 1:
        return set_cell_size(text, width)
    return (text[: width - 1] if text.isascii() else set_cell_size(text, width - 1)) + "…"


def _joined(parts: Parts, span: CellSpan, rest: Style) -> list[Segment]:
    """The visible part of PARTS, padded with REST; adjacent parts of one style are one segment,
    since each costs time.
    """
    (left, right), at = span, 0
    segments: list[Segment] = []
    run: list[str] = []
    present = rest
    for text, cells, style in (*parts, (" " * right, right, rest)):
        start, end = max(left - at, 0), min(right - at, cells)
        at += cells
        if start >= end:
            continue
        if style is not present and run:
            segments.append(Segment("".join(run), present))
            run = []
        present = style
        run.append(text if end - start == cells else _slice(text, start, end))
    return [*segments, Segment("".join(run), present)]


def _slice(text: str, start: int, end: int) -> str:
    """Cells START to END of TEXT; half of a wide character becomes a blank."""
    return text[start:end] if text.isascii() else split_text(split_text(text, end)[0], start)[1]
