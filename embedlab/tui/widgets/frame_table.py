"""A table over a polars frame that formats only the rows it draws, so that its cost does not depend
on their number.
"""

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

from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.widgets.frame_lines import (
    GAP,
    GUTTER,
    FrameColumn,
    FrameLines,
    LineStyles,
    shared_widths,
)
from embedlab.tui.widgets.plain import plain

_COMPARED = 5_000  # rows; more are drawn again without a comparison
_ACCENTS = ("mark", "absent", "loud", "bar", "differs")


class FrameTable(ScrollView, can_focus=True):
    """Rows of a frame, in the order and selection given by row numbers.

    The header is line 0. Marks belong to frame rows, the cursor to a place in the view.
    """

    KEYS: ClassVar[KeyScope] = "table"
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
        "frame-table--differs",
    }

    cursor_row: reactive[int] = reactive(0, init=False, repaint=False)
    cursor_column: reactive[int] = reactive(0, init=False, repaint=False)

    @dataclass
    class RowReached(Message):
        """The cursor moved to another row; None if the view is empty."""

        table: "FrameTable"
        row: int | None  # of the frame

        def can_replace(self, message: Message) -> bool:
            """Return whether a later row makes MESSAGE superfluous."""
            return isinstance(message, FrameTable.RowReached)

    @dataclass
    class ColumnReached(Message):
        """The cursor moved to another column."""

        table: "FrameTable"

    @dataclass
    class RowOpened(Message):
        """The user opened a row of the frame."""

        table: "FrameTable"
        row: int

    @dataclass
    class SortRequested(Message):
        """The user wants to sort the view by a column, or to reverse the present order (key
        None).
        """

        table: "FrameTable"
        key: str | None

    @dataclass
    class MarkRequested(Message):
        """The user wants to mark a row of the frame, or to remove its mark."""

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
        self.emptiness = ""
        self._drawn_marks = self.marks
        self._lines = FrameLines()
        self._styles: dict[str, LineStyles] = {}
        self._strips: LRUCache[tuple[int, ...], Strip] = LRUCache(1000)

    # content

    def show(
        self,
        frame: pl.DataFrame,
        rows: NDArray[np.intp],
        columns: Sequence[FrameColumn],
        *,
        sorted_by: str | None = None,
        is_descending: bool = False,
        stay_on: int | None = None,
        emptiness: str = "",
    ) -> None:
        """Show ROWS of FRAME in this order; the cursor goes to the frame row STAY_ON if it is
        shown, otherwise to the top.

        EMPTINESS is shown where there are no rows.
        """
        if emptiness != self.emptiness:
            self.emptiness = emptiness
            self._redraw()
        if (
            changed := self._changed_rows(frame, rows, columns, sorted_by, is_descending)
        ) is not None:
            self._show_values(frame, changed, stay_on)
            return
        self.frame, self.rows, self.columns = frame, rows, tuple(columns)
        self.sorted_by, self.is_descending = sorted_by, is_descending
        self.set_reactive(
            FrameTable.cursor_column, min(self.cursor_column, max(len(self.columns) - 1, 0))
        )
        self._measure()
        places = np.flatnonzero(rows == stay_on).tolist() if stay_on is not None else []
        self.set_reactive(FrameTable.cursor_row, places[0] if places else 0)
        self._reveal_row()
        self.post_message(self.RowReached(self, self.current_row))

    def _changed_rows(
        self,
        frame: pl.DataFrame,
        rows: NDArray[np.intp],
        columns: Sequence[FrameColumn],
        sorted_by: str | None,
        is_descending: bool,
    ) -> NDArray[np.bool_] | None:
        """The rows of a new frame that look different, if it has the columns and the order of the
        shown one; None otherwise.
        """
        order = (self.columns, self.sorted_by, self.is_descending, self._drawn_marks)
        is_small = 0 < frame.height == self.frame.height <= _COMPARED
        if (
            not is_small
            or order != (tuple(columns), sorted_by, is_descending, self.marks)
            or not np.array_equal(rows, self.rows)
        ):
            return None
        keys = dict.fromkeys(key for column in columns for key in column.keys)
        if any(frame[key].dtype != self.frame[key].dtype for key in keys):
            return None
        differs: NDArray[np.bool_] = np.logical_or.reduce(
            [frame[key].ne_missing(self.frame[key]).to_numpy() for key in keys]
        )
        return differs

    def _show_values(
        self, frame: pl.DataFrame, changed: NDArray[np.bool_], stay_on: int | None
    ) -> None:
        """Take the values of FRAME and draw the CHANGED rows alone: a refresh of the same values
        sends nothing to the terminal.
        """
        self.frame = frame
        self._take_lines(self._lines.widths)
        lines, top, height = (
            self._lines.per_row,
            self.scroll_offset.y,
            self.scrollable_content_region.height,
        )
        if changed.any():
            self._strips.clear()
            for index in range(top // lines, min((top + height) // lines + 1, len(self.rows))):
                if changed[self.rows[index]]:
                    self._refresh_row(index)
        places = np.flatnonzero(self.rows == stay_on).tolist() if stay_on is not None else []
        index = places[0] if places else 0
        if changed.any() and index == self.cursor_row:
            self.post_message(self.RowReached(self, self.current_row))
        self.cursor_row = index

    def take_height(self, most: int) -> None:
        """Take the height of the rows, at most MOST lines: the panes below use the rest."""
        if not self.has_class("-maximized"):
            self.styles.height = min(
                len(self.rows) * self._lines.per_row + 2, most
            )  # the header and a scrollbar

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
        """Distribute the width among the columns."""
        self._take_lines(shared_widths(self.columns, self.scrollable_content_region.width))
        self._take_size(Size(self._lines.width, len(self.rows) * self._lines.per_row + 1))
        self._redraw()

    def _take_lines(self, widths: Sequence[int]) -> None:
        self._lines = FrameLines.of(self.frame, self.columns, widths)

    def _take_size(self, size: Size) -> None:
        """Set the scrollable size; a layout, which costs more than all rows, happens only when a
        scrollbar appears or disappears.
        """
        is_taller = self.show_vertical_scrollbar and size.height > self.container_size.height
        if is_taller and size.width == self.virtual_size.width:
            self.set_reactive(FrameTable.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_y = self.validate_scroll_y(self.scroll_y)
        else:
            self.virtual_size = size

    def _redraw(self) -> None:
        self._drawn_marks = self.marks
        self._strips.clear()
        self.refresh()

    def on_resize(self) -> None:
        """Distribute the new width, and show the cursor."""
        self._measure()
        self._reveal_row()

    def notify_style_update(self) -> None:
        """Forget what was drawn in the styles before."""
        super().notify_style_update()
        self._styles.clear()
        self._strips.clear()

    # drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the screen, without Textual's pass for border, padding and tint, which the
        table does not have.
        """
        strips = [self.render_line(y) for y in crop.line_range]
        return (
            strips
            if crop.column_span == (0, self.outer_size.width)
            else [strip.crop(*crop.column_span) for strip in strips]
        )

    def render_line(self, y: int) -> Strip:
        """Return line Y of the visible part: the header, a line of a row, or an empty one."""
        (index, line), left = (
            divmod(y - 1 + self.scroll_offset.y, self._lines.per_row),
            self.scroll_offset.x,
        )
        if y == 0:
            key: tuple[int, ...] = (left, self.cursor_column if self.has_focus else -1)
        elif index >= len(self.rows):
            key = (y,) if y == 2 and not len(self.rows) else ()
        else:
            row, is_cursor = int(self.rows[index]), index == self.cursor_row
            key = (left, row, line, index % 2, is_cursor, self.cursor_column if is_cursor else -1)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._drawn(key)
        return strip

    def _drawn(self, key: tuple[int, ...]) -> Strip:
        """The line of a KEY: empty, the header or a row. It ends at the scrollbar, so that it need
        not be split.
        """
        width = self.size.width if self.show_vertical_scrollbar else self.outer_size.width
        match key:
            case (left, row, line, is_odd, is_cursor, under):
                styles = self._line_styles("cursor" if is_cursor else "odd" if is_odd else "row")
                under_styles = self._line_styles("cursor-cell")
                span = (left, left + width)
                is_marked = row in self.marks
                segments = self._lines.row(
                    row,
                    styles,
                    span,
                    is_marked=is_marked,
                    line=line,
                    under=under,
                    under_styles=under_styles,
                )
            case (left, under):
                style, under_style = (
                    self._line_styles("header").base,
                    self._line_styles("header-cursor").base,
                )
                arrow = (
                    {self.sorted_by: "▼" if self.is_descending else "▲"} if self.sorted_by else {}
                )
                segments = self._lines.header(
                    style, (left, left + width), arrow=arrow, under=under, under_style=under_style
                )
            case (_,):
                text = set_cell_size(
                    plain(self.emptiness).rjust(GUTTER + cell_len(plain(self.emptiness))), width
                )
                segments = [Segment(text, self._line_styles("row").absent)]
            case _:
                segments = [Segment(" " * width, self._line_styles("row").base)]
        return Strip(segments, width)

    def _line_styles(self, kind: str) -> LineStyles:
        if kind not in self._styles:
            base = self.get_component_rich_style(f"frame-table--{kind}")
            # No accent is readable on the solid colour of the cursor's cell.
            accents = {
                name: self.get_component_rich_style(f"frame-table--{name}", partial=True)
                for name in _ACCENTS
            }
            over = {
                name: base if kind == "cursor-cell" else base + style
                for name, style in accents.items()
            }
            self._styles[kind] = LineStyles(
                base=self._filtered(base),
                **{name: self._filtered(style) for name, style in over.items()},
            )
        return self._styles[kind]

    def _filtered(self, style: Style) -> Style:
        """STYLE after the line filters of the app, such as the one that removes colours."""
        segments = [Segment(" ", style)]
        for line_filter in self.get_line_filters():
            segments = line_filter.apply(segments, self.background_colors[1])
        return segments[0].style or style

    # moving

    def action_move_rows(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.cursor_row += by

    def action_move_pages(self, by: int) -> None:
        """Move the cursor by as many rows as are visible, times BY."""
        self.cursor_row += by * max(
            1, (self.scrollable_content_region.height - 2) // self._lines.per_row
        )

    def action_move_to_end(self, end: int) -> None:
        """Go to the last row, or with a negative END to the first."""
        self.cursor_row = 0 if end < 0 else len(self.rows) - 1

    def action_move_columns(self, by: int) -> None:
        """Move the cursor by so many columns."""
        self.cursor_column += by

    def validate_cursor_row(self, index: int) -> int:
        """Return the nearest row that there is."""
        return max(0, min(index, len(self.rows) - 1))

    def validate_cursor_column(self, index: int) -> int:
        """Return the nearest column that there is."""
        return max(0, min(index, len(self.columns) - 1))

    def watch_cursor_row(self, old: int, new: int) -> None:
        """Draw both rows again, scroll to the new one and post it."""
        for index in (old, new):
            self._refresh_row(index)
        self._reveal_row()
        self.post_message(self.RowReached(self, self.current_row))

    def _refresh_row(self, index: int) -> None:
        lines = self._lines.per_row
        self.refresh(Region(0, index * lines + 1 - self.scroll_offset.y, self.size.width, lines))

    def watch_cursor_column(self) -> None:
        """Scroll to the column, draw it and post it."""
        left = GUTTER + sum(width + GAP for width in self._lines.widths[: self.cursor_column])
        right = left + (self._lines.widths[self.cursor_column] if self._lines.widths else 0)
        width = self.scrollable_content_region.width
        if self.cursor_column == 0:
            left = 0
        if left < self.scroll_offset.x or right > self.scroll_offset.x + width:
            x = left if left < self.scroll_offset.x else min(left, right - width + GAP)
            self.scroll_to(x=x, animate=False, immediate=True)
        self._redraw()
        self.post_message(self.ColumnReached(self))

    def on_focus(self) -> None:
        """Show the cursor in its full colour."""
        self._redraw()

    def on_blur(self) -> None:
        """Show the cursor in a faint colour."""
        self._redraw()

    def _reveal_row(self) -> None:
        height = max(1, self.scrollable_content_region.height - 1)  # without the header
        first, last = (
            self.cursor_row * self._lines.per_row,
            (self.cursor_row + 1) * self._lines.per_row - 1,
        )
        top = self.scroll_offset.y
        if first < top:
            self.scroll_to(y=first, animate=False, immediate=True)
        elif last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, immediate=True)

    # requests

    def action_sort(self) -> None:
        """Post that the column under the cursor is to be sorted by."""
        if self.current_column is not None:
            self.post_message(self.SortRequested(self, self.current_column.key))

    def action_sort_reversed(self) -> None:
        """Post that the order is to be reversed."""
        self.post_message(self.SortRequested(self, None))

    def action_mark(self) -> None:
        """Post that the row under the cursor is to be marked, and go to the next."""
        if self.current_row is not None:
            self.post_message(self.MarkRequested(self, self.current_row))
            self.cursor_row += 1

    def action_open(self) -> None:
        """Post that the row under the cursor is to be opened."""
        if self.current_row is not None:
            self.post_message(self.RowOpened(self, self.current_row))

    def on_click(self, event: events.Click) -> None:
        """Sort by a header, or move the cursor; a double click opens the row."""
        column = self._column_at(event.x + self.scroll_offset.x)
        if event.y == 0:
            if column is not None:
                self.post_message(self.SortRequested(self, self.columns[column].key))
            return
        index = (event.y - 1 + self.scroll_offset.y) // self._lines.per_row
        if index >= len(self.rows):
            return
        self.cursor_row = index
        if column is not None:
            self.cursor_column = column
        if event.chain == 2:
            self.action_open()

    def _column_at(self, x: int) -> int | None:
        edge = GUTTER
        for index, width in enumerate(self._lines.widths):
            edge += width + GAP
            if x < edge:
                return index if x >= GUTTER else None
        return None
