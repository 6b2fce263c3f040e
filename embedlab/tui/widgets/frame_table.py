"""A table over a polars frame that formats a row only when it is drawn, so that a million rows cost what fifty do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from embedlab.tui.commands import bindings
from embedlab.tui.widgets.bars import thin_bar
from embedlab.tui.widgets.plain import plain

GUTTER = 2  # cells before the first column: the mark
GAP = 1  # cell between two columns
_SHORTEST_BAR = 5


@dataclass(frozen=True, kw_only=True)
class FrameColumn:
    """How one column of the frame is shown."""

    key: str
    title: str
    width: int
    digits: int | None = None  # decimals of a number; absent = text
    is_signed: bool = False
    grows: bool = False  # takes a share of the width that is left over
    align_right: bool = False  # of text; numbers always are
    loud_from: float | None = None  # numbers at least this far from 0 are set apart
    bar: str | None = None  # column of numbers from 0 to 1, drawn as a bar in the room that the text leaves

    @property
    def is_right(self) -> bool:
        """Whether cells stand at the right edge."""
        return self.align_right or self.digits is not None


class FrameTable(ScrollView, can_focus=True):
    """Rows of a frame, in the order and selection given by row numbers.

    The header is line 0. Marks belong to frame rows, the cursor to a place in the view.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("table")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "frame-table--header",
        "frame-table--header-cursor",
        "frame-table--row",
        "frame-table--odd",
        "frame-table--cursor",
        "frame-table--cursor-cell",
        "frame-table--mark",
        "frame-table--absent",
        "frame-table--loud",
        "frame-table--bar",
    }

    cursor_row: reactive[int] = reactive(0, init=False, repaint=False)
    cursor_column: reactive[int] = reactive(0, init=False, repaint=False)

    @dataclass
    class RowReached(Message):
        """The cursor stands on another row; None when the view is empty."""

        table: "FrameTable"
        row: int | None  # of the frame

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FrameTable.RowReached)

    @dataclass
    class ColumnReached(Message):
        """The cursor stands in another column."""

        table: "FrameTable"

    @dataclass
    class RowOpened(Message):
        """The user wants to see more of a row of the frame."""

        table: "FrameTable"
        row: int

    @dataclass
    class SortAsked(Message):
        """The user wants the view sorted by a column, or the present order reversed (key None)."""

        table: "FrameTable"
        key: str | None

    @dataclass
    class MarkAsked(Message):
        """The user wants a row of the frame marked, or its mark gone."""

        table: "FrameTable"
        row: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.frame = pl.DataFrame()
        self.rows: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self.columns: tuple[FrameColumn, ...] = ()
        self.sorted_by: str | None = None
        self.is_descending = False
        self.marks: frozenset[int] = frozenset()
        self._series: list[pl.Series] = []
        self._bars: list[pl.Series | None] = []
        self._widths: list[int] = []
        self._strips: LRUCache[tuple[int, int, bool, int], Strip] = LRUCache(1000)

    # what is shown

    def show(
        self,
        frame: pl.DataFrame,
        rows: NDArray[np.intp],
        columns: Sequence[FrameColumn],
        *,
        sorted_by: str | None = None,
        is_descending: bool = False,
        stay_on: int | None = None,
    ) -> None:
        """Show ROWS of FRAME, in this order; the cursor goes to the row of the frame to STAY_ON where it is shown, otherwise to the top."""
        self.frame, self.rows, self.columns = frame, rows, tuple(columns)
        self.sorted_by, self.is_descending = sorted_by, is_descending
        self._series = [frame[column.key] for column in columns]
        self._bars = [frame[column.bar] if column.bar else None for column in columns]
        self.set_reactive(FrameTable.cursor_column, min(self.cursor_column, max(len(self.columns) - 1, 0)))
        self._measure()
        places = np.flatnonzero(rows == stay_on).tolist() if stay_on is not None else []
        self.set_reactive(FrameTable.cursor_row, places[0] if places else 0)
        self._reveal_row()
        self.post_message(self.RowReached(self, self.current_row))

    def take_height(self, most: int) -> None:
        """Be as high as the rows need, at most MOST lines: what is left over belongs to the panes below."""
        self.styles.height = min(len(self.rows) + 2, most)  # the header and a scrollbar

    def show_marks(self, marks: Iterable[int]) -> None:
        """Show these frame rows as marked."""
        self.marks = frozenset(marks)
        self._redraw()

    @property
    def current_row(self) -> int | None:
        """The row of the frame under the cursor."""
        return int(self.rows[self.cursor_row]) if 0 <= self.cursor_row < len(self.rows) else None

    @property
    def current_column(self) -> FrameColumn | None:
        """The column under the cursor."""
        return self.columns[self.cursor_column] if self.cursor_column < len(self.columns) else None

    def _measure(self) -> None:
        """Share the width: text columns that may grow take what the others leave."""
        widths = [column.width for column in self.columns]
        growing = [index for index, column in enumerate(self.columns) if column.grows]
        spare = self.scrollable_content_region.width - GUTTER - sum(width + GAP for width in widths)
        for place, index in enumerate(growing):
            widths[index] += max(0, spare // len(growing) + (place < spare % len(growing)))
        self._widths = widths
        self.virtual_size = Size(GUTTER + sum(width + GAP for width in widths), len(self.rows) + 1)
        self._redraw()

    def _redraw(self) -> None:
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        self._measure()
        self._reveal_row()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    # drawing

    def render_line(self, y: int) -> Strip:
        if y == 0:
            strip = self._header()
        else:
            place = y - 1 + self.scroll_offset.y
            if place >= len(self.rows):
                return Strip.blank(self.size.width, self.get_component_rich_style("frame-table--row"))
            strip = self._row(place)
        left = self.scroll_offset.x
        return strip.crop(left, left + self.size.width)  # every strip reaches beyond the right edge

    def _header(self) -> Strip:
        style, cursor = (self.get_component_rich_style(f"frame-table--{name}") for name in ("header", "header-cursor"))
        segments = [Segment(" " * GUTTER, style)]
        for index, (column, width) in enumerate(zip(self.columns, self._widths, strict=True)):
            arrow = ("▼" if self.is_descending else "▲") if column.key == self.sorted_by else ""
            text = _fitted(f"{column.title}{arrow}", width, align_right=column.is_right)
            segments.append(Segment(text + " " * GAP, cursor if index == self.cursor_column and self.has_focus else style))
        return self._filled(segments, style)

    def _row(self, place: int) -> Strip:
        row = int(self.rows[place])
        is_cursor = place == self.cursor_row
        key = (row, place % 2, is_cursor, self.cursor_column if is_cursor else -1)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._draw_row(row, is_odd=bool(place % 2), is_cursor=is_cursor)
        return strip

    def _draw_row(self, row: int, *, is_odd: bool, is_cursor: bool) -> Strip:
        kind = "cursor" if is_cursor else "odd" if is_odd else "row"
        style = self.get_component_rich_style(f"frame-table--{kind}")
        mark = style + self.get_component_rich_style("frame-table--mark", partial=True)
        segments = [Segment("● " if row in self.marks else " " * GUTTER, mark)]
        for index, column in enumerate(self.columns):
            is_under = is_cursor and index == self.cursor_column
            segments += self._cell(index, column, row, self.get_component_rich_style("frame-table--cursor-cell") if is_under else style)
            segments.append(Segment(" " * GAP, style))
        return self._filled(segments, style)

    def _cell(self, index: int, column: FrameColumn, row: int, style: Style) -> list[Segment]:
        value, width, lengths = self._series[index][row], self._widths[index], self._bars[index]
        text = cell_text(value, column)
        if value is None:
            style += self.get_component_rich_style("frame-table--absent", partial=True)
        elif column.loud_from is not None and abs(value) >= column.loud_from:
            style += self.get_component_rich_style("frame-table--loud", partial=True)
        room = width - cell_len(text) - 1
        if lengths is None or room < _SHORTEST_BAR:
            return [Segment(_fitted(text, width, align_right=column.is_right), style)]
        drawn = thin_bar(lengths[row], 0.0, 1.0, room)
        filled = Segment(drawn, style + self.get_component_rich_style("frame-table--bar", partial=True))
        return [filled, Segment(" " * (width - len(drawn) - cell_len(text)) + text, style)]

    def _filled(self, segments: list[Segment], style: Style) -> Strip:
        """The strip of a line that reaches the right edge in its own style."""
        drawn = GUTTER + sum(self._widths) + GAP * len(self._widths)
        rest = max(0, self.size.width - drawn)
        # Few long segments: what Textual does to a line it does to each of them.
        return Strip(list(Segment.simplify([*segments, Segment(" " * rest, style)])), drawn + rest)

    # moving

    def action_move_rows(self, by: int) -> None:
        self.cursor_row += by

    def action_move_pages(self, by: int) -> None:
        self.cursor_row += by * max(1, self.scrollable_content_region.height - 2)

    def action_move_to_end(self, end: int) -> None:
        self.cursor_row = 0 if end < 0 else len(self.rows) - 1

    def action_move_columns(self, by: int) -> None:
        self.cursor_column += by

    def validate_cursor_row(self, place: int) -> int:
        return max(0, min(place, len(self.rows) - 1))

    def validate_cursor_column(self, place: int) -> int:
        return max(0, min(place, len(self.columns) - 1))

    def watch_cursor_row(self, old: int, new: int) -> None:
        for place in (old, new):
            self.refresh(Region(0, place + 1 - self.scroll_offset.y, self.size.width, 1))
        self._reveal_row()
        self.post_message(self.RowReached(self, self.current_row))

    def watch_cursor_column(self) -> None:
        left = GUTTER + sum(width + GAP for width in self._widths[: self.cursor_column])
        right = left + (self._widths[self.cursor_column] if self._widths else 0)
        width = self.scrollable_content_region.width
        if self.cursor_column == 0:
            left = 0
        if left < self.scroll_offset.x or right > self.scroll_offset.x + width:
            x = left if left < self.scroll_offset.x else min(left, right - width + GAP)
            self.scroll_to(x=x, animate=False, immediate=True)
        self._redraw()
        self.post_message(self.ColumnReached(self))

    def on_focus(self) -> None:
        self._redraw()

    def on_blur(self) -> None:
        self._redraw()

    def _reveal_row(self) -> None:
        height = max(1, self.scrollable_content_region.height - 1)  # without the header
        top = self.scroll_offset.y
        if self.cursor_row < top:
            self.scroll_to(y=self.cursor_row, animate=False, immediate=True)
        elif self.cursor_row >= top + height:
            self.scroll_to(y=self.cursor_row - height + 1, animate=False, immediate=True)

    # asking

    def action_sort(self) -> None:
        if self.current_column is not None:
            self.post_message(self.SortAsked(self, self.current_column.key))

    def action_sort_reversed(self) -> None:
        self.post_message(self.SortAsked(self, None))

    def action_mark(self) -> None:
        if self.current_row is not None:
            self.post_message(self.MarkAsked(self, self.current_row))
            self.cursor_row += 1

    def action_open(self) -> None:
        if self.current_row is not None:
            self.post_message(self.RowOpened(self, self.current_row))

    def on_click(self, event: events.Click) -> None:
        column = self._column_at(event.x + self.scroll_offset.x)
        if event.y == 0:
            if column is not None:
                self.post_message(self.SortAsked(self, self.columns[column].key))
            return
        place = event.y - 1 + self.scroll_offset.y
        if place >= len(self.rows):
            return
        self.cursor_row = place
        if column is not None:
            self.cursor_column = column
        if event.chain == 2:
            self.action_open()

    def _column_at(self, x: int) -> int | None:
        edge = GUTTER
        for index, width in enumerate(self._widths):
            edge += width + GAP
            if x < edge:
                return index if x >= GUTTER else None
        return None


def cell_text(value: object, column: FrameColumn) -> str:
    """A value as its column shows it; an absent one is a middle dot."""
    if value is None or value != value:
        return "·"
    if column.digits is not None and isinstance(value, int | float):
        return f"{value:+.{column.digits}f}" if column.is_signed else f"{value:.{column.digits}f}"
    return plain(str(value))


def _fitted(text: str, width: int, *, align_right: bool) -> str:
    """TEXT in exactly WIDTH cells; what is cut off is an ellipsis."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width > 1 else set_cell_size(text, width)
    return " " * (width - length) + text if align_right else text + " " * (width - length)
