"""Curves over steps with a cursor that names the values below it."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType

from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.runs.curve_drawing import LEFT, CurveOptions, CurveSeries, draw_curves
from embedlab.tui.widgets.text import SteadyText


class CurvePlot(SteadyText, can_focus=True):
    """The curves of a few runs on common axes, with their names below."""

    KEYS: ClassVar[KeyScope] = "curves"
    BINDINGS: ClassVar[list[BindingType]] = bindings("curves")

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = title
        self.shown: Sequence[CurveSeries] = ()
        self.options = CurveOptions()
        self.cursor: int | None = None  # column of cells

    def show(self, series: Sequence[CurveSeries], options: CurveOptions | None = None) -> None:
        """Draw these series."""
        self.shown, self.options = series, options or self.options
        cursor = None if self.cursor is None else self.cursor / max(1, self._columns - 1)
        self.update(
            draw_curves(
                self._title,
                series,
                self.content_size.width,
                self.content_size.height,
                self.options,
                cursor,
            )
        )

    @property
    def _columns(self) -> int:
        return self.content_size.width - LEFT - 1

    def on_resize(self) -> None:
        """Fit the curves to the size."""
        self._move_to(self.cursor)

    def action_move(self, by: int) -> None:
        """Move the cursor by columns; the first key puts it in the middle."""
        self._move_to(self._columns // 2 if self.cursor is None else self.cursor + by)

    def action_leave(self) -> None:
        """Remove the cursor: the names show the last values again."""
        self._move_to(None)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the mouse."""
        if (offset := event.get_content_offset(self)) is not None and offset.x > LEFT:
            self._move_to(offset.x - LEFT - 1)

    def _move_to(self, column: int | None) -> None:
        self.cursor = None if column is None else max(0, min(column, self._columns - 1))
        self.show(self.shown)
