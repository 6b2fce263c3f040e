"""Curves in braille dots, two across and four down in a cell, with round numbers on both axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import NDArray
from textual.content import Content
from textual.widget import Widget

from embedlab.tui.data.histogram import joined_runs
from embedlab.tui.runs.model import thinned

_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # by row and column
_LABEL = 7  # cells of the numbers at the left
SMOOTHING = (0.0, 0.6, 0.95)  # the weight of the value before


@dataclass(frozen=True, kw_only=True)
class Series:
    """The curve of one run; X ascends."""

    x: Sequence[float]
    y: Sequence[float]
    colour: str


def drawn_curves(
    series: Sequence[Series],
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
    curves = [_points(one, 2 * columns, is_log=is_log, smoothing=smoothing) for one in series]
    curves = [(x, y, colour) for x, y, colour in curves if len(x)]
    if not curves or columns < 8 or rows < 2:
        return []
    x_low, x_high = _ends([x for x, _, _ in curves])
    y_low, y_high = _ends([y for _, y, _ in curves], floor_at)
    bits = np.zeros((rows, columns), dtype=np.int64)
    owner = np.full((rows, columns), -1)
    for index, (x, y, _) in enumerate(curves):
        dots = _dots(
            (x - x_low) / (x_high - x_low), (y - y_low) / (y_high - y_low), 2 * columns, 4 * rows
        )
        cells = braille(dots)
        bits |= cells
        owner[cells > 0] = index
    marks = {
        rows - 1 - round((value - y_low) / (y_high - y_low) * (rows - 1)): text
        for value, text in _ticks(y_low, y_high, max(2, rows // 3), is_log=is_log)
    }
    lines = []
    for row in range(rows):
        line = [(f"{marks.get(row, ''):>{_LABEL}}{'┤' if row in marks else '│'}", "")]
        for bit, place in zip(bits[row].tolist(), owner[row].tolist(), strict=True):
            line.append((dots_sign(bit), curves[place][2] if bit else ""))
        lines.append(line)
    below = f"{'':{_LABEL + 1}}"
    for value, text in _ticks(x_low, x_high, max(2, columns // 12)):
        place = _LABEL + 1 + round((value - x_low) / (x_high - x_low) * (columns - 1))
        place = min(place - len(text) // 2, width - len(text))
        if place > len(below.rstrip()) + 1 or not below.strip():
            below = f"{below.rstrip():{max(place, 0)}}{text}"
    return [*lines, [(f"{below:{width}}", "")]]


def braille(dots: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The bits of the braille signs that DOTS make: four lines and two columns a sign."""
    rows, columns = dots.shape
    bits: NDArray[np.int64] = np.einsum(
        "rycx,yx->rc", dots.reshape(rows // 4, 4, columns // 2, 2), _BITS
    )
    return bits


def dots_sign(bits: int) -> str:
    """The braille sign of BITS; a blank where there are none."""
    return chr(0x2800 + bits) if bits else " "


def _points(
    series: Series, most: int, *, is_log: bool, smoothing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    x = np.asarray(series.x, dtype=float)
    y = np.asarray(series.y, dtype=float)
    count = min(len(x), len(y))  # another thread may add points
    kept = np.isfinite(y[:count]) & ((y[:count] > 0) | (not is_log))
    x, y = x[:count][kept], y[:count][kept]
    if smoothing and len(y):
        average = 0.0
        for index, value in enumerate(y.tolist()):
            average = smoothing * average + (1 - smoothing) * value
            y[index] = average / (1 - smoothing ** (index + 1))
    y = np.log10(y) if is_log else y
    return np.array(thinned(x, most)), np.array(thinned(y, most)), series.colour


def _ends(
    values: Sequence[NDArray[np.float64]], floor_at: float | None = None
) -> tuple[float, float]:
    low = min(float(one.min()) for one in values) if floor_at is None else floor_at
    high = max(float(one.max()) for one in values)
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
    places = np.round(x * (columns - 1)).astype(int)
    across = np.arange(places[0], places[-1] + 1)
    heights = np.interp(across / max(columns - 1, 1), x, y)
    down = rows - 1 - np.round(np.clip(heights, 0, 1) * (rows - 1)).astype(int)
    for index, column in enumerate(across.tolist()):
        one, other = down[max(index - 1, 0)], down[index]
        dots[min(one, other) : max(one, other) + 1, column] = True
    if len(across) == 1:  # one value is a point that can be seen
        dots[max(down[0] - 1, 0) : down[0] + 1, max(across[0] - 1, 0) : across[0] + 1] = True
    return dots


def _ticks(low: float, high: float, most: int, *, is_log: bool = False) -> list[tuple[float, str]]:
    """At most MOST round values between LOW and HIGH, with their text."""
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough * 0.999)
    values = [
        index * step for index in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    ]
    return [(value, short_number(10**value if is_log else value)) for value in values]


def short_number(value: float) -> str:
    """VALUE in at most six characters."""
    if not isfinite(value):
        return "–"
    if abs(value) >= 10_000:
        return f"{value / 1000:z.0f}k" if abs(value) < 1e6 else f"{value / 1e6:.3g}M"
    return f"{value:.4g}" if abs(value) >= 0.001 or value == 0 else f"{value:.0e}"


class CurvePlot(Widget):
    """A panel with curves and a title."""

    def __init__(self, title: str, *, id: str, floor_at: float | None = None) -> None:
        super().__init__(id=id, classes="panel")
        self.border_title = title
        self._floor_at = floor_at
        self._series: Sequence[Series] = ()
        self._options: tuple[bool, float] = (False, 0.0)

    def show(
        self, series: Sequence[Series], *, is_log: bool = False, smoothing: float = 0.0
    ) -> None:
        """Draw SERIES from now on; the last value of a single one stands in the border."""
        if (series, (is_log, smoothing)) == (self._series, self._options):
            return
        self._series, self._options = series, (is_log, smoothing)
        last = [one.y[-1] for one in series if len(one.y)]
        self.border_subtitle = short_number(last[0]) if len(last) == 1 else ""
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
            return Content.styled("nothing recorded yet", "$faint")
        return Content("\n").join(
            joined_runs([(text, colour or "$faint") for text, colour in line]) for line in lines
        )
