"""The pane of Compare that shows a plot of differences, or why there is none; a cursor goes over
its rows and cells.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from embedlab.tui.commands import bindings
from embedlab.tui.compare.slice_difference import DifferencePlot, SliceDifference


class DifferencePane(VerticalScroll, inherit_bindings=False):
    """A plot of differences, or a text in its place."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table", without={"mark", "sort", "reverse"})

    @dataclass
    class Opened(Message):
        """The user wants to see the pairs behind a difference."""

        row: SliceDifference
        by: str  # what the slices were cut by
        model: str

    def compose(self) -> ComposeResult:
        """Yield the text of the plot."""
        yield Static(markup=False)

    def on_mount(self) -> None:
        """Begin without differences."""
        self.shown: DifferencePlot | str = ""
        self.cursor = (0, 0)  # row and column

    def show(self, shown: DifferencePlot | str) -> None:
        """Draw the differences, or a text in their place."""
        self.shown = shown
        self._move_to(*self.cursor)

    def _move_to(self, row: int, column: int) -> None:
        """Move the cursor as far as there are cells, and draw."""
        if isinstance(self.shown, str):
            content = Content.styled(self.shown, "$text-faint")
        else:
            rows, columns = self.shown.size
            self.cursor = (max(0, min(row, rows - 1)), max(0, min(column, columns - 1)))
            content = self.shown.draw(self.scrollable_content_region.width, self.cursor)
        self.query_one(Static).update(content)

    @property
    def under_cursor(self) -> SliceDifference | None:
        """The difference under the cursor."""
        return None if isinstance(self.shown, str) else self.shown.at(*self.cursor)

    def on_resize(self) -> None:
        """Fit the axis to the width."""
        self.show(self.shown)

    # keys

    def action_move_rows(self, by: int) -> None:
        """Move the cursor by so many lines."""
        self._move_to(self.cursor[0] + by, self.cursor[1])
        head = 1 if isinstance(self.shown, str) else self.shown.head
        line, top, height = (
            self.cursor[0] + head,
            self.scroll_offset.y,
            self.scrollable_content_region.height,
        )
        if not top <= line < top + height:
            self.scroll_to(
                y=line - height + 1 if line >= top + height else line - head, animate=False
            )

    def action_move_columns(self, by: int) -> None:
        """Move the cursor by so many columns."""
        self._move_to(self.cursor[0], self.cursor[1] + by)

    def action_move_pages(self, by: int) -> None:
        """Move the cursor by as many lines as the pane shows."""
        self.action_move_rows(by * max(1, self.scrollable_content_region.height - 1))

    def action_move_to_end(self, end: int) -> None:
        """Go to the last line, or with a negative END to the first."""
        self.action_move_rows(0 if isinstance(self.shown, str) else end * self.shown.size[0])

    def action_open(self) -> None:
        """Open the pairs behind the difference under the cursor."""
        if (row := self.under_cursor) is not None and not isinstance(self.shown, str):
            self.post_message(self.Opened(row, self.shown.by, self.shown.model))
