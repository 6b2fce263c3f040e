"""The scores of a grid over two axes: a shade and a number in each finished cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.content import Content

from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

_SHADES = " ░▒▓█"
_CELL = 9


@dataclass(frozen=True, kw_only=True)
class Heat:
    """Scores by (row, column); absent for unfinished cells."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Mapping[tuple[str, str], float]
    states: Mapping[tuple[str, str], str]  # the state of a cell without a score


class HeatMap(SteadyText):
    """Rows and columns of scores."""

    def show(self, heat: Heat | None) -> None:
        """Show these scores."""
        self.update("" if heat is None else draw_heat_map(heat))


def draw_heat_map(heat: Heat) -> Content:
    """The map as text; shades repeat the information of the colours."""
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
