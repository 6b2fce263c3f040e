"""A plot of pairs with a cursor that names the pair below it and a box that selects pairs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.axis import round_ticks, tick_line, tick_text
from embedlab.tui.widgets.picture import Picture, PlotBars, PlotLine, RowNumbers
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.plot_drawing import STYLES, CellBox, Drawing, draw

LEFT = 8  # cells of the labels of the y axis and its line
_FRAME = 3  # lines of title, x axis and legend
_PART_OF_TITLE, _LEAST_TITLE = (
    3,
    12,
)  # of the cells of the x axis, and cells: a longer title is cut in its middle
_GAP = re.compile(" +")  # between the numbers of an axis
_TEXT_STYLES = ("muted", "text", "cursor", "selected")


class PairPlot(Widget, can_focus=True):
    """Draws a picture; the arrow keys move its cursor from cell to cell."""

    KEYS: ClassVar[KeyScope] = "plot"
    BINDINGS: ClassVar[list[BindingType]] = bindings("plot")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"pair-plot--{style}" for style in (*STYLES, *_TEXT_STYLES)
    }

    @dataclass
    class Opened(Message):
        """The user wants to see the pairs of the box, or of the cell under the cursor."""

        plot: "PairPlot"
        rows: RowNumbers  # of the pair table
        fields: tuple[str, ...]  # of the filter language, that the selection limits

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.picture: Picture | None = None
        self.drawing: Drawing | None = None
        self.cursor = (0, 0)  # column and row of cells; rows count from the bottom
        self.corner: tuple[int, int] | None = None  # the other corner of the box
        self._place = ""
        self._is_placed = False  # the cursor has its first place in the picture
        self._ranked: RowNumbers | None = None
        self._styles: dict[str, Style] = {}

    def show(self, picture: Picture | None, *, place: str = "") -> None:
        """Draw PICTURE, of the slice PLACE; the cursor goes to the most interesting pair of another
        plot.
        """
        named, size = self.pair, self._drawn_size
        before, self.picture, self.corner = self.picture, picture, None
        self._place = f"{plain(place)} · " if place else ""
        is_same = (
            before is not None
            and picture is not None
            and (before.x.title, before.y.title) == (picture.x.title, picture.y.title)
        )
        self._is_placed = self._is_placed and is_same
        self._draw()
        if (
            is_same and picture is not None and named is not None and self._drawn_size != size
        ):  # before its new size was announced
            there = np.flatnonzero(picture.points.rows == named)
            if len(there):
                self._go_to(int(there[0]))

    def on_resize(self) -> None:
        """Fit the picture to the size; the cursor remains on its pair."""
        pointed, self.corner = self._pointed(), None
        self._draw()
        if pointed is not None:
            self._go_to(pointed[1])

    def _draw(self) -> None:
        columns, rows = (
            self.content_size.width - LEFT - 1,
            self.content_size.height - _FRAME - self._info_lines,
        )
        has_room = self.picture is not None and columns >= 8 and rows >= 3
        self.drawing = (
            draw(self.picture, columns, rows)
            if has_room and self.picture is not None and len(self.picture.points.x)
            else None
        )
        self._ranked = None
        if self._is_placed:
            self._move(*self.cursor)
        else:
            self._go_to_first()
        self._is_placed = self._is_placed or self.drawing is not None
        self.refresh()

    @property
    def _drawn_size(self) -> tuple[int, int] | None:
        return self.drawing.size if self.drawing is not None else None

    @property
    def _info_lines(self) -> int:
        height = self.content_size.height
        return 4 if height >= 17 else 2 if height >= 11 else 0

    # cursor and box

    def _move(self, column: int, row: int) -> None:
        if self.drawing is not None:
            columns, rows = self.drawing.size
            before, self.cursor = (
                self.cursor,
                (max(0, min(column, columns - 1)), max(0, min(row, rows - 1))),
            )
            if self.corner is not None or self.drawing.is_columns:
                self.refresh()
            else:
                info = range(rows + _FRAME, self.content_size.height)
                lines = {rows - before[1], rows - self.cursor[1], *info}
                self.refresh(
                    *(Region(0, y + self.gutter.top, self.outer_size.width, 1) for y in lines)
                )

    def action_move(self, across: int, up: int) -> None:
        """Move the cursor by cells, or by values of an axis that has few."""
        if self.drawing is not None:
            wide = self.drawing.wide
            self._move(self.cursor[0] // wide * wide + across * wide, self.cursor[1] + up)

    def _go_to_first(self) -> None:
        """Move the cursor to the most interesting pair of all."""
        picture, drawing = self.picture, self.drawing
        if picture is not None and drawing is not None:
            inside = (drawing.columns >= 0) & (drawing.rows >= 0)
            if inside.any():
                self._go_to(
                    int(
                        np.where(
                            inside, np.nan_to_num(picture.points.interest, nan=-1.0), -2.0
                        ).argmax()
                    )
                )

    def _go_to(self, point: int) -> None:
        """Move the cursor to the cell of a point."""
        if (drawing := self.drawing) is not None:
            self._move(
                int(drawing.columns[point]) * drawing.wide,
                self.cursor[1] if drawing.is_columns else int(drawing.rows[point]),
            )

    def action_next_pair(self, by: int) -> None:
        """Go to the next cell by its most interesting pair."""
        ranked = self._ranked_cells()
        if self.drawing is None or not len(ranked):
            return
        matches = np.flatnonzero(ranked == self._cell_under_cursor())
        index = (int(matches[0]) + by) % len(ranked) if len(matches) else 0
        row, column = divmod(int(ranked[index]), self.drawing.across.bins)
        self._move(column * self.drawing.wide, self.cursor[1] if self.drawing.is_columns else row)

    def _cell_under_cursor(self) -> int:
        if self.drawing is None:
            return -1
        row = 0 if self.drawing.is_columns else self.cursor[1]
        return row * self.drawing.across.bins + self.cursor[0] // self.drawing.wide

    def _ranked_cells(self) -> RowNumbers:
        """The cells with points, by the interest of their most interesting one."""
        if self._ranked is None and self.drawing is not None and self.picture is not None:
            inside = np.flatnonzero((self.drawing.columns >= 0) & (self.drawing.rows >= 0))
            interest = np.nan_to_num(self.picture.points.interest[inside], nan=-1.0)
            order = inside[np.argsort(-interest, kind="stable")]
            cells = (
                self.drawing.rows[order] * self.drawing.across.bins + self.drawing.columns[order]
            )
            _, first = np.unique(cells, return_index=True)
            self._ranked = cells[np.sort(first)]
        return self._ranked if self._ranked is not None else np.zeros(0, dtype=np.intp)

    def action_corner(self) -> None:
        """Start a box at the cursor, or remove it."""
        self.corner = None if self.corner is not None else self.cursor
        self.refresh()

    def action_open(self) -> None:
        """Report the pairs of the box or of the cell under the cursor."""
        if self.picture is None or self.drawing is None:
            return
        in_box = self.drawing.points_in(self.box)
        if len(in_box):
            fields = (
                self.picture.x.field,
                None if self.drawing.is_columns else self.picture.y.field,
            )
            rows = self.picture.points.rows[in_box]
            self.corner = None
            self.refresh()
            self.post_message(
                self.Opened(self, rows, tuple(field for field in fields if field is not None))
            )

    @property
    def box(self) -> CellBox:
        """The cells of the selection: the box, or the cell under the cursor."""
        wide = self.drawing.wide if self.drawing is not None else 1
        (left, bottom), (right, top) = self.cursor, self.corner or self.cursor
        left, right = sorted((left, right))
        return CellBox(
            left=left // wide * wide,
            right=right // wide * wide + wide - 1,
            bottom=min(bottom, top),
            top=max(bottom, top),
        )

    @property
    def pair(self) -> int | None:
        """The row of the pair that the cursor names: the most interesting of its cell, or the
        nearest one.
        """
        pointed = self._pointed()
        return (
            int(self.picture.points.rows[pointed[1]])
            if self.picture is not None and pointed is not None
            else None
        )

    def _pointed(self) -> tuple[int, int] | None:
        """How many points are in the selection, and the point to name."""
        picture, drawing = self.picture, self.drawing
        if picture is None or drawing is None:
            return None
        in_box = drawing.points_in(self.box)
        if len(in_box):
            return len(in_box), int(
                in_box[np.nan_to_num(picture.points.interest[in_box], nan=-1.0).argmax()]
            )
        inside = np.flatnonzero((drawing.columns >= 0) & (drawing.rows >= 0))
        if not len(inside):
            return None
        column, row = self.cursor[0] // drawing.wide, 0 if drawing.is_columns else self.cursor[1]
        # A cell is about twice as high as it is wide.
        far = ((drawing.columns[inside] - column) * drawing.wide) ** 2 + (
            2 * (drawing.rows[inside] - row)
        ) ** 2
        return 0, int(inside[far.argmin()])

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the mouse; a double click opens the pairs there."""
        offset = event.get_content_offset(self)
        if self.drawing is None or offset is None:
            return
        column, row = offset.x - LEFT, self.drawing.size[1] - offset.y
        if 0 <= column < self.drawing.size[0] and 0 <= row < self.drawing.size[1]:
            self._move(column, row)
            if event.chain == 2:
                self.action_open()

    def on_focus(self) -> None:
        """Show the cursor in its full colour."""
        self.refresh()

    def on_blur(self) -> None:
        """Show the cursor in a faint colour."""
        self.refresh()

    # drawing

    def notify_style_update(self) -> None:
        """Forget the styles of before."""
        super().notify_style_update()
        self._styles.clear()

    def _style(self, name: str, over: str = "") -> Style:
        key = f"{name} {over}"
        if key not in self._styles:
            style = self.get_component_rich_style(f"pair-plot--{name}")
            if over:
                style += Style(bgcolor=self.get_component_rich_style(f"pair-plot--{over}").bgcolor)
            self._styles[key] = style
        return self._styles[key]

    def render_line(self, y: int) -> Strip:
        """Return line Y: the title, a row of cells, the x axis, the legend, or what is under the
        cursor.
        """
        width = self.content_size.width
        segments = list(self._segments(y))
        return Strip(segments).adjust_cell_length(width, self._style("blank"))

    def _segments(self, y: int) -> Iterator[Segment]:
        if self.picture is None or self.drawing is None:
            is_empty = self.picture is not None and not len(self.picture.points.x)
            yield Segment("no pairs to plot" if is_empty and y == 0 else "", self._style("muted"))
            return
        rows = self.drawing.size[1]
        if y == 0:
            yield Segment(f"{plain(self.picture.y.title)} ↑", self._style(self.picture.y.style))
            yield Segment(f"  {self._place}{plain(self.picture.title)}", self._style("muted"))
        elif y <= rows:
            yield Segment(f"{self._label(rows - y):>{LEFT - 2}} │", self._style("muted"))
            yield from self._cells(rows - y)
        elif y == rows + 1:
            before, title, after = self._x_axis()
            yield Segment(before, self._style("muted"))
            yield Segment(title, self._style(self.picture.x.style))
            yield Segment(after, self._style("muted"))
        elif y == rows + 2:
            yield from self._legend()
        else:
            yield from self._info(y - rows - _FRAME)

    def _label(self, row: int) -> str:
        """The round value of the y axis that belongs to a row of cells."""
        assert self.drawing is not None
        up, rows = self.drawing.up, self.drawing.size[1]
        ticks = (
            round_ticks(up.low, up.high, 3 if rows < 9 else 4 if rows < 24 else 6)
            if up.high > up.low
            else [up.low]
        )
        span = (up.high - up.low) or 1.0
        return next(
            (
                tick_text(tick)
                for tick in ticks
                if round((tick - up.low) / span * (rows - 1)) == row
            ),
            "",
        )

    def _cells(self, row: int) -> Iterator[Segment]:
        """A row of cells in runs of one style."""
        assert self.drawing is not None
        columns, rows = self.drawing.size
        signs, styles = (
            self.drawing.signs[rows - 1 - row],
            self.drawing.styles[rows - 1 - row].copy(),
        )
        box = self.box
        is_inside = self.corner is not None and (
            self.drawing.is_columns or box.bottom <= row <= box.top
        )
        if is_inside:
            styles[box.left : box.right + 1] += len(STYLES)
        if row == self.cursor[1] or self.drawing.is_columns:
            under = slice(self.cursor[0] // self.drawing.wide * self.drawing.wide, None)
            styles[under][: self.drawing.wide] = (
                2 * len(STYLES) if row == self.cursor[1] else len(STYLES)
            )
        edges = [0, *(np.flatnonzero(np.diff(styles)) + 1).tolist(), columns]
        text = "".join(map(chr, signs.tolist()))
        for start, end in pairwise(edges):
            yield Segment(text[start:end], self._cell_style(int(styles[start])))

    def _cell_style(self, number: int) -> Style:
        if number == 2 * len(STYLES):
            return self._style("cursor" if self.has_focus else "selected")
        return self._style(
            STYLES[number % len(STYLES)], "selected" if number >= len(STYLES) else ""
        )

    def _x_axis(self) -> tuple[str, str, str]:
        """The line below the plot: what is before its title, the title, and what is behind."""
        assert self.picture is not None
        assert self.drawing is not None
        columns, axis = self.drawing.size[0], self.picture.x
        title = f"{plain(axis.title)} →"
        if axis.short_title and len(title) > columns // _PART_OF_TITLE:
            title = f"{plain(axis.short_title)} →"
        title = short_name(title, max(columns // _PART_OF_TITLE, _LEAST_TITLE))
        line, (left, right) = "", (0, 0)
        for most in range(
            max(2, columns // 9), 1, -1
        ):  # fewer numbers until there is room for the title
            line = (
                tick_line(axis.low, axis.high, columns, most=most)
                if axis.high > axis.low
                else f"{tick_text(axis.low):<{columns}}"
            )
            gaps = [match.span() for match in _GAP.finditer(line)]
            left, right = max(
                gaps,
                key=lambda gap: (gap[1] - gap[0] >= len(title) + 2, -abs(sum(gap) - columns)),
                default=(0, 0),
            )
            if right - left >= len(title) + 2:
                break
        title = title[: max(right - left - 2, 0)]
        start = left + (right - left - len(title)) // 2
        return f"{'':{LEFT}}{line[:start]}", title, line[start + len(title) :]

    def _legend(self) -> Iterator[Segment]:
        """The densities with the least number of pairs of each, and the names of the lines."""
        assert self.picture is not None
        assert self.drawing is not None
        muted = self._style("muted")
        yield Segment(" " * LEFT, muted)
        if self.drawing.steps:
            yield Segment("pairs of a cell " if self.drawing.size[0] >= 60 else "pairs ", muted)
            for level, least in enumerate(self.drawing.steps, start=1):
                yield Segment("⣿ ", self._style(f"density-{level}"))
                yield Segment(
                    f"{least}{'+' if level == len(self.drawing.steps) and least > 1 else ''} ",
                    muted,
                )
        layers: list[PlotLine | PlotBars] = [*self.picture.lines, *self.picture.bars]
        named = {(layer.title, layer.style) for layer in layers if layer.title}
        for title, style in sorted(named, key=lambda entry: entry[1]):
            yield Segment(" ━ ", self._style(style))
            yield Segment(plain(title), muted)

    def _info(self, line: int) -> Iterator[Segment]:
        """What is under the cursor: the ranges and the number of pairs, then the pair to name."""
        assert self.picture is not None
        assert self.drawing is not None
        pointed = self._pointed()
        if pointed is None:
            return
        count, point = pointed
        if line == 0:
            across, up = self.drawing.limits(self.box)
            parts = [
                f"{count:,} pair{'s' if count > 1 else ''}"
                if count
                else "no pair here; the nearest"
            ]
            parts += [f"{plain(self.picture.x.title)} {_number(across[0])} to {_number(across[1])}"]
            parts += (
                []
                if self.drawing.is_columns
                else [f"{plain(self.picture.y.title)} {_number(up[0])} to {_number(up[1])}"]
            )
            parts += ["enter filters Pairs by it"] if self.corner is not None else []
            yield Segment(" · ".join(parts), self._style("muted"))
        else:
            described = self.picture.describe(int(self.picture.points.rows[point]))
            text = plain(described[line - 1]) if line <= len(described) else ""
            width = self.content_size.width
            yield Segment(
                text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…",
                self._style("text"),
            )


def _number(value: float) -> str:
    """VALUE in at most six cells."""
    return f"{value:z,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:z.3f}"
