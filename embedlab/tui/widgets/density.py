"""The density of many points as shades of a coarse grid: a thousand points in one cell are one dark cell."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from textual.content import Content
from textual.widgets import Static

_SHADES = " ·░▒▓█"
_LEFT = 6  # cells of the axis labels


@dataclass(frozen=True, kw_only=True)
class DensityPoints:
    """Two columns and their titles."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    x_title: str
    y_title: str


class DensityPlot(Static, can_focus=True):
    """A scatter plot of two columns; darker cells hold more points."""

    def on_mount(self) -> None:
        self._points: DensityPoints | None = None

    def show(self, points: DensityPoints | None) -> None:
        """Plot these points except rows without one of the two values."""
        self._points = points
        self.update("" if points is None else draw_density(points, self.content_size.width, self.content_size.height))

    def on_resize(self) -> None:
        self.show(self._points)


def draw_density(points: DensityPoints, width: int, height: int) -> Content:
    """The plot in WIDTH x HEIGHT cells, axes included."""
    known = np.isfinite(points.x) & np.isfinite(points.y)
    x, y = points.x[known], points.y[known]
    columns, rows = width - _LEFT - 1, height - 2
    if columns < 8 or rows < 3 or not len(x):
        return Content.styled("no pairs to plot" if not len(x) else "", "$text-muted")
    x_range, y_range = _range(x), _range(y)
    # Gold scores are discrete: use one bin per value, several cells wide, to avoid stripes.
    wide = max(1, columns // min(len(np.unique(x)), columns))
    counts, _, _ = np.histogram2d(y, x, bins=(rows, columns // wide), range=(y_range, x_range))
    columns = columns // wide * wide
    lines = [Content.styled(f"{points.y_title[: width - 2]} ↑", "$text-muted")]
    for index, row in enumerate(np.repeat(_shades(counts)[::-1], wide, axis=1)):
        label = y_range[1] if index == 0 else y_range[0] if index == rows - 1 else None
        text = " " * (_LEFT - 1) if label is None else f"{label:{_LEFT - 1}.2f}"
        cells = "".join(_SHADES[shade] for shade in row)
        lines.append(Content.assemble((f"{text} ", "$text-muted"), ("│", "$text-muted"), (cells, "$text-primary")))
    low, high, title = f"{x_range[0]:.2f}", f"{x_range[1]:.2f}", f"{points.x_title} →"
    axis = f"{low}{title[: max(columns - 12, 0)]:^{columns - len(low) - len(high)}}{high}"
    lines.append(Content.styled(" " * (_LEFT + 1) + axis, "$text-muted"))
    return Content("\n").join(lines)


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _shades(counts: NDArray[np.float64]) -> NDArray[np.intp]:
    """Shades 0–5 by the logarithm of the count: one point is visible, and the largest count has the darkest shade."""
    top = np.log1p(counts.max())
    shades: NDArray[np.intp] = np.ceil(np.log1p(counts) / (top or 1) * (len(_SHADES) - 1)).astype(np.intp)
    return shades
