"""The scores of a grid over two axes: a shade and a number in each finished cell."""

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from embedlab.tui.commands import bindings
from embedlab.tui.launch.heat import Heat
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

_SHADES = " ░▒▓█"
_CELL = 10


class HeatMap(SteadyText, can_focus=True):
    """Rows and columns of scores, with a cursor while it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("map")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.heat: Heat | None = None
        self.cursor = (0, 0)  # row, column

    def show(self, heat: Heat | None) -> None:
        """Show these scores."""
        self.heat = heat
        self.action_move(0, 0)

    @property
    def place(self) -> tuple[str, str] | None:
        """The row and column under the cursor; None without any cell."""
        if self.heat is None or not self.heat.rows or not self.heat.columns:
            return None
        return self.heat.rows[self.cursor[0]], self.heat.columns[self.cursor[1]]

    def action_move(self, down: int, across: int) -> None:
        """Move the cursor, and draw."""
        if self.heat is not None:
            row, column = self.cursor[0] + down, self.cursor[1] + across
            self.cursor = (
                max(0, min(row, len(self.heat.rows) - 1)),
                max(0, min(column, len(self.heat.columns) - 1)),
            )
        self.update(
            ""
            if self.heat is None
            else draw_heat_map(self.heat, self.place if self.has_focus else None)
        )

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show or hide the cursor."""
        super().watch_has_focus(has_focus)
        self.action_move(0, 0)


def draw_heat_map(heat: Heat, under: tuple[str, str] | None = None) -> Content:
    """The map as text, with the cursor on the cell UNDER it; shades repeat the information of the
    colours.
    """
    known = list(heat.values.values())
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    width = max([4, *(len(row) for row in heat.rows)])
    lines = [Content.styled(plain(heat.title), "bold")]
    names = "".join(f"{plain(name)[: _CELL - 1]:>{_CELL}}" for name in heat.columns)
    lines.append(Content.styled(" " * (width + 1) + names, "$text-faint"))
    for row in heat.rows:
        cells = [_cell(heat, (row, column), low, high) for column in heat.columns]
        cells = [
            cell.stylize("reverse") if (row, column) == under else cell
            for cell, column in zip(cells, heat.columns, strict=True)
        ]
        lines.append(Content.assemble((f"{plain(row):>{width}} ", "$text-faint"), *cells))
    lines += [Content.styled(plain(heat.note), "$text-faint")] if heat.note else []
    return Content("\n").join(lines)


def _cell(heat: Heat, labels: tuple[str, str], low: float, high: float) -> Content:
    value = heat.values.get(labels)
    if value is None:
        return Content.styled(f"{heat.states.get(labels, ''):>{_CELL}}", "$text-faint")
    share = (value - low) / (high - low) if high > low else 1.0
    shade = _SHADES[round(share * (len(_SHADES) - 1))]
    style = "$text-success" if share > 0.66 else "$text-warning" if share > 0.33 else "$text-error"
    return Content.assemble(" ", (f"{shade * 2}{value:z6.2f}{heat.marks.get(labels, ' ')}", style))
