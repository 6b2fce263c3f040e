"""Curves in braille dots, two across and four down in a cell, with round numbers on both axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from embedlab.core.printable import thinned
from embedlab.runs.events import Curve
from embedlab.tui.data.histogram import joined_runs
from embedlab.tui.plain import faint, following
from embedlab.tui.runs.model import round_ticks, short_number

_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # by row and column
_LABEL = 7  # cells of the numbers at the left
SMOOTHING = (0.0, 0.6, 0.95)  # the weight of the value before


@dataclass(frozen=True, kw_only=True)
class RunCurve:
    """The curve of one run; X ascends."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str


def drawn_curves(
    series: Sequence[RunCurve],
    width: int,
    height: int,
    *,
    is_log: bool = False,
    smoothing: float = 0.0,
    floor_at: float | None = None,
) -> list[list[tuple[str, str]]]:
    """Lines of (text, colour) in WIDTH x HEIGHT cells; values that are not numbers are left out.

    IS_LOG: the y axis; values that are not positive are left out. FLOOR_AT: the y axis begins here.
    """
    columns, rows = width - _LABEL - 1, height - 1
    if columns < 8 or rows < 2:
        return []
    curves = [_points(curve, 2 * columns, is_log=is_log, smoothing=smoothing) for curve in series]
    curves = [(x, y, colour) for x, y, colour in curves if len(x)]
    if not curves:
        return []
    x_low, x_high = _ends([x for x, _, _ in curves])
    y_low, y_high = _ends([y for _, y, _ in curves], floor_at)
    bits = np.zeros((rows, columns), dtype=np.int64)
    owner = np.full((rows, columns), -1)
    for index, (x, y, _) in enumerate(curves):
        across, up = (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low)
        braille_cells = braille(_dots(across, up, 2 * columns, 4 * rows))
        bits |= braille_cells
        owner[braille_cells > 0] = index
    label_of_row = {
        rows - 1 - round((value - y_low) / (y_high - y_low) * (rows - 1)): text
        for value, text in round_ticks(y_low, y_high, max(2, rows // 3), is_log=is_log)
    }
    colours = np.array([colour for _, _, colour in curves])
    lines = []
    for row, dots in enumerate(dot_lines(bits, colours[owner])):
        rule = "┤" if row in label_of_row else "│"
        lines.append([(f"{label_of_row.get(row, ''):>{_LABEL}}{rule}", "$faint"), *dots])
    left_label, right_label = short_number(x_low), short_number(x_high)
    axis_line = f"{'':{_LABEL + 1}}{left_label}{'step':^{columns - len(left_label) - len(right_label)}}{right_label}"
    return [*lines, [(axis_line, "$faint")]]


def braille(dots: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The bits of the braille signs that DOTS make: four lines and two columns a sign."""
    rows, columns = dots.shape
    bits: NDArray[np.int64] = np.einsum(
        "rycx,yx->rc", dots.reshape(rows // 4, 4, columns // 2, 2), _BITS
    )
    return bits


def dot_lines(bits: NDArray[np.int64], styles: NDArray[np.str_]) -> Iterator[list[tuple[str, str]]]:
    """The braille sign of the BITS of each cell, a blank where there are none, with its style."""
    for line_bits, line_styles in zip(bits.tolist(), styles.tolist(), strict=True):
        signs = (chr(0x2800 + bit) if bit else " " for bit in line_bits)
        yield [*zip(signs, line_styles, strict=True)]


def _points(
    series: RunCurve, limit: int, *, is_log: bool, smoothing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    x = np.asarray(series.x, dtype=float)
    y = np.asarray(series.y, dtype=float)
    is_drawn = np.isfinite(y) & ((y > 0) | (not is_log))
    x, y = x[is_drawn], y[is_drawn]
    if smoothing and len(y):
        average = 0.0
        for index, value in enumerate(y.tolist()):
            average = smoothing * average + (1 - smoothing) * value
            y[index] = average / (1 - smoothing ** (index + 1))
    y = np.log10(y) if is_log else y
    return np.array(thinned(x, limit)).round(), np.array(thinned(y, limit)), series.colour


def _ends(
    values: Sequence[NDArray[np.float64]], floor_at: float | None = None
) -> tuple[float, float]:
    low = min(float(array.min()) for array in values) if floor_at is None else floor_at
    high = max(float(array.max()) for array in values)
    if high - low > 1e-9 * max(abs(high), abs(low)):
        return low, high
    slack = abs(high) * 0.05 or 1.0
    return (low if floor_at is not None else low - slack), high + slack


def _dots(
    x: NDArray[np.float64], y: NDArray[np.float64], columns: int, rows: int
) -> NDArray[np.bool_]:
    """The dots of a line through points from 0 to 1, the highest row first; every two neighbouring
    columns are joined.
    """
    dots = np.zeros((rows, columns), dtype=bool)
    column_of_point = np.round(x * (columns - 1)).astype(int)
    across = np.arange(column_of_point[0], column_of_point[-1] + 1)
    heights = np.interp(across / max(columns - 1, 1), x, y)
    down = rows - 1 - np.round(np.clip(heights, 0, 1) * (rows - 1)).astype(int)
    for index, column in enumerate(across.tolist()):
        from_row, to_row = down[max(index - 1, 0)], down[index]
        dots[min(from_row, to_row) : max(from_row, to_row) + 1, column] = True
    if len(across) == 1:  # one value is a point that can be seen
        dots[max(down[0] - 1, 0) : down[0] + 1, max(across[0] - 1, 0) : across[0] + 1] = True
    return dots


class CurvePlot(Widget):
    """A panel with curves and a title."""

    def __init__(self, title: str, *, id: str, floor_at: float | None = None) -> None:
        super().__init__(id=id, classes="panel")
        self.border_title = title
        self._floor_at = floor_at
        self._series: Sequence[RunCurve] = ()
        self._options: tuple[bool, float] = (False, 0.0)

    def show(
        self, series: Sequence[RunCurve], *, is_log: bool = False, smoothing: float = 0.0
    ) -> None:
        """Draw SERIES from now on; the last value of a single one stands in the border."""
        if (series, (is_log, smoothing)) == (self._series, self._options):
            return
        self._series, self._options = series, (is_log, smoothing)
        last_values = [curve.y[-1] for curve in series if len(curve.y)]
        self.border_subtitle = short_number(last_values[0]) if len(last_values) == 1 else ""
        self.refresh()

    def render(self) -> Content:
        """The curves, or what is missing."""
        width, height = self.content_size
        is_log, smoothing = self._options
        lines = drawn_curves(
            self._series,
            width,
            height,
            is_log=is_log,
            smoothing=smoothing,
            floor_at=self._floor_at,
        )
        if not lines:
            is_blank = not any(len(series.x) for series in self._series)
            return faint("nothing recorded" if is_blank else "no room")
        return Content("\n").join(joined_runs(line) for line in lines)


# a plot → the values by step that it draws
_PLOTS = {
    "loss-curve": "losses",
    "dev-curve": "dev_scores",
    "cpu-curve": "cpu_percent",
    "memory-curve": "memory_mib",
}


class Curves(Horizontal, can_focus=True):
    """Loss and dev score, and below them the load of the machine."""

    DEFAULT_CSS = """
    Curves Vertical { width: 1fr; }
    Curves CurvePlot { height: 2fr; }
    Curves #cpu-curve, Curves #memory-curve { height: 1fr; min-height: 5; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tilde", "smooth", "Smooth", tooltip="smooth a little, much, not"),
        Binding("vertical_line", "log_axis", "Log axis", tooltip="the loss on a log axis"),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.is_log = False
        self.smoothing = SMOOTHING[0]
        self._curves: Sequence[tuple[str, Curve]] = ()

    def compose(self) -> ComposeResult:
        """Yield the plots."""
        with Vertical():
            yield CurvePlot("loss", id="loss-curve")
            yield CurvePlot("CPU %", id="cpu-curve", floor_at=0.0)
        with Vertical():
            yield CurvePlot("dev score", id="dev-curve")
            yield CurvePlot("memory MiB", id="memory-curve", floor_at=0.0)

    def show(self, curves: Sequence[tuple[str, Curve]]) -> None:
        """Draw these CURVES, each with the colour of its run."""
        self._curves = curves
        for id, name in _PLOTS.items():
            series = []
            for colour, curve in curves:
                values = getattr(curve, name)
                series.append(RunCurve(x=[*values], y=[*values.values()], colour=colour))
            self.query_one(f"#{id}", CurvePlot).show(
                series,
                is_log=self.is_log and id == "loss-curve",
                smoothing=self.smoothing if id in {"loss-curve", "dev-curve"} else 0.0,
            )

    def action_smooth(self) -> None:
        """Smooth the curves a little, much, or not."""
        self.smoothing = following(SMOOTHING, self.smoothing)
        self.show(self._curves)

    def action_log_axis(self) -> None:
        """Draw the loss on a logarithmic axis, or on a linear one."""
        self.is_log = not self.is_log
        self.show(self._curves)
