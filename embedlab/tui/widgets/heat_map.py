"""A grid's scores over two axes: shade and number in each cell, filling in as cells finish."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from embedlab.tui.widgets.plain import plain

_SHADES = " ░▒▓█"
_CELL = 9


@dataclass(frozen=True, kw_only=True)
class Heat:
    """Scores by (row, column); an absent one is not there yet."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Mapping[tuple[str, str], float]
    states: Mapping[tuple[str, str], str]  # what a cell without a score is doing


class HeatMap(Static):
    """Rows and columns of scores."""

    def show(self, heat: Heat | None) -> None:
        """Show these scores."""
        self.update("" if heat is None else draw(heat))


def draw(heat: Heat) -> Content:
    """The map as text; the shade says what the colour would."""
    known = list(heat.values.values())
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    width = max([4, *(len(row) for row in heat.rows)])
    lines = [Content.styled(plain(heat.title), "bold")]
    names = "".join(f"{plain(name)[: _CELL - 1]:>{_CELL}}" for name in heat.columns)
    lines.append(Content.styled(" " * (width + 1) + names, "$text-muted"))
    for row in heat.rows:
        cells = [_cell(heat, (row, column), low, high) for column in heat.columns]
        lines.append(Content.assemble((f"{plain(row):>{width}} ", "$text-muted"), *cells))
    return Content("\n").join(lines)


def _cell(heat: Heat, place: tuple[str, str], low: float, high: float) -> Content:
    value = heat.values.get(place)
    if value is None:
        return Content.styled(f"{heat.states.get(place, ''):>{_CELL}}", "$text-muted")
    share = (value - low) / (high - low) if high > low else 1.0
    shade = _SHADES[round(share * (len(_SHADES) - 1))]
    style = "$text-success" if share > 0.66 else "$text-warning" if share > 0.33 else "$text-error"
    return Content.assemble(" ", (f"{shade * 2}{value:6.2f}", style))
