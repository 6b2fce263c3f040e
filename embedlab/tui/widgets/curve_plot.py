"""Lines over steps in braille dots: each column shows its smallest and largest value, for any number of points."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from textual.content import Content

from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

_LEFT = 8
_STYLES = ("$text-primary", "$text-success", "$text-warning", "$text-error", "$text-accent", "$text-secondary")
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column within a cell
CellBits = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One series."""

    title: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class CurvePlot(SteadyText, can_focus=True):
    """A few lines on common axes, with their names below."""

    def __init__(self, title: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = title
        self.shown: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Draw these lines."""
        self.shown = lines
        self.update(draw_curves(self._title, lines, self.content_size.width, self.content_size.height))

    def on_resize(self) -> None:
        self.show(self.shown)


def draw_curves(title: str, lines: Sequence[Line], width: int, height: int) -> Content:
    """The plot in WIDTH x HEIGHT cells, axes and names included."""
    curves = [_finite(line) for line in lines]
    curves = [line for line in curves if len(line.x)]
    columns, rows = width - _LEFT - 1, height - 3
    if columns < 8 or rows < 2 or not curves:
        return Content.styled(f"{title}: no events yet" if not curves else title, "$text-muted")
    x_range, y_range = (_span([getattr(line, axis) for line in curves]) for axis in ("x", "y"))
    cells, owner = np.zeros((rows, columns), dtype=np.int64), np.full((rows, columns), -1)
    for number, line in enumerate(curves):
        dots = _trace(line, x_range, y_range, columns * 2, rows * 4)
        mine = _to_cells(dots)
        cells |= mine
        owner[mine > 0] = number
    lines_shown = [Content.styled(title, "bold")]
    for row in range(rows):
        label = y_range[1] if row == 0 else y_range[0] if row == rows - 1 else None
        text = f"{_number(label):>{_LEFT - 1}} " if label is not None else " " * _LEFT
        lines_shown.append(Content.assemble((f"{text}│", "$text-muted"), *_coloured(cells[row], owner[row])))
    low, high = f"{x_range[0]:.0f}", f"{x_range[1]:.0f}"
    lines_shown.append(
        Content.styled(" " * (_LEFT + 1) + low + f"{'step':^{max(0, columns - len(low) - len(high))}}" + high, "$text-muted")
    )
    room = max(6, columns // len(curves) - 12)  # without the sign and the number
    names = [
        (f"━ {short_name(plain(line.title), room)} {line.y[-1]:.4g}   ", _STYLES[number % len(_STYLES)])
        for number, line in enumerate(curves)
    ]
    lines_shown.append(Content.assemble(" " * (_LEFT + 1), *names))
    return Content("\n").join(lines_shown)


def _finite(line: Line) -> Line:
    known = np.isfinite(line.x) & np.isfinite(line.y)
    return Line(title=line.title, x=line.x[known], y=line.y[known])


def _span(columns: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    low, high = min(float(values.min()) for values in columns), max(float(values.max()) for values in columns)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _number(value: float) -> str:
    """The value with as many digits, at most four, as fit left of the axis."""
    texts = [f"{value:.{digits}g}" for digits in (4, 3, 2, 1)]
    return next((text for text in texts if len(text) < _LEFT), texts[-1])


def _trace(line: Line, x_range: tuple[float, float], y_range: tuple[float, float], width: int, height: int) -> NDArray[np.bool_]:
    """The dots of a line: each column from its smallest to its largest value, joined to the previous column."""
    place = np.clip(((line.x - x_range[0]) / (x_range[1] - x_range[0]) * (width - 1)).round().astype(int), 0, width - 1)
    level = np.clip(((line.y - y_range[0]) / (y_range[1] - y_range[0]) * (height - 1)).round().astype(int), 0, height - 1)
    lowest, highest = np.full(width, height), np.full(width, -1)
    np.minimum.at(lowest, place, level)
    np.maximum.at(highest, place, level)
    dots = np.zeros((height, width), dtype=bool)
    seen = np.flatnonzero(highest >= 0)
    for before, here in zip([None, *seen[:-1].tolist()], seen.tolist(), strict=True):
        dots[lowest[here] : highest[here] + 1, here] = True
        if before is not None:
            _join(dots, before, here, (int(highest[before]) + int(lowest[before])) // 2, (int(highest[here]) + int(lowest[here])) // 2)
    return dots[::-1]


def _join(dots: NDArray[np.bool_], left: int, right: int, low: int, high: int) -> None:
    for column in range(left, right + 1):
        share = (column - left) / max(right - left, 1)
        dots[round(low + (high - low) * share), column] = True


def _to_cells(dots: NDArray[np.bool_]) -> CellBits:
    """The braille bits of each cell."""
    blocks = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2)
    bits: CellBits = np.einsum("rycx,yx->rc", blocks.astype(np.int64), np.array(_DOTS, dtype=np.int64))
    return bits


def _coloured(bits: CellBits, owner: CellBits) -> list[tuple[str, str]]:
    """A row of cells as runs of one colour each."""
    edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
    return [
        ("".join(chr(0x2800 + bit) if bit else " " for bit in bits[start:end].tolist()), _STYLES[int(owner[start]) % len(_STYLES)])
        for start, end in pairwise(edges)
    ]
