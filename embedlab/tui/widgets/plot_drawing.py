"""A picture in cells of the terminal: braille dots, coloured by the number of points in a cell, and
lines over them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.binning import Axis, Places, cell_counts, density_steps
from embedlab.tui.model_colours import COLOURS
from embedlab.tui.widgets.braille import ACROSS, DOWN, EMPTY, Dots, cell_bits, line_dots, step_dots
from embedlab.tui.widgets.picture import Picture, RowNumbers

LEVELS = 5
_PAIRS_PER_VALUE = 4  # on average, from which a value has cells of its own
_DENSITIES = tuple(f"density-{level}" for level in range(1, LEVELS + 1))
_MODELS = tuple(f"model-{number}" for number in range(COLOURS))
STYLES = ("blank", *_DENSITIES, "first", "second", "faint", "gold", *_MODELS)  # of cells


@dataclass(frozen=True, kw_only=True)
class CellBox:
    """A rectangle of cells, its last column and row included; rows count from the bottom."""

    left: int
    right: int
    bottom: int
    top: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawing:
    """The cells of a picture and the place of each of its points."""

    signs: NDArray[np.int64]  # code points, (rows, columns), the highest row first
    styles: NDArray[np.intp]  # places in STYLES
    across: Axis  # of the bins of points: each takes WIDE columns of cells
    up: Axis
    wide: int
    steps: tuple[int, ...]  # the least count of each density
    columns: Places  # the bin of each point, −1 outside
    rows: Places  # from the bottom; all 0 where a column of cells is one bin
    is_columns: bool  # a column of cells is one bin

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of cells."""
        return self.signs.shape[1], self.signs.shape[0]

    def points_in(self, box: CellBox) -> RowNumbers:
        """The points in the cells of a box."""
        left, right = box.left // self.wide, box.right // self.wide
        bottom, top = (0, 0) if self.is_columns else (box.bottom, box.top)
        inside = (
            (self.columns >= left)
            & (self.columns <= right)
            & (self.rows >= bottom)
            & (self.rows <= top)
        )
        return np.flatnonzero(inside)

    def limits(self, box: CellBox) -> tuple[tuple[float, float], tuple[float, float]]:
        """The range of both axes that the cells of a box cover."""
        left, right = box.left // self.wide, box.right // self.wide
        return (self.across.edge(left), self.across.edge(right + 1)), (
            self.up.edge(box.bottom),
            self.up.edge(box.top + 1),
        )


def draw(picture: Picture, columns: int, rows: int) -> Drawing:
    """Draw PICTURE in so many cells."""
    points, wide = picture.points, _cells_per_value(picture, columns)
    across = Axis(low=picture.x.low, high=picture.x.high, bins=columns // wide)
    columns = across.bins * wide
    tallest = max(
        (int(_counted(bar.values, across).max(initial=1)) for bar in picture.bars), default=0
    )
    up = (
        Axis(low=0.0, high=float(tallest), bins=rows)
        if picture.bars
        else Axis(low=picture.y.low, high=picture.y.high, bins=rows)
    )
    point_columns = across.places(points.x)
    point_rows = up.places(points.y) if points.is_drawn else np.where(point_columns >= 0, 0, -1)
    signs, styles = (
        np.full((rows, columns), ord(" "), dtype=np.int64),
        np.zeros((rows, columns), dtype=np.intp),
    )
    steps: tuple[int, ...] = ()
    if points.is_drawn:
        counts = cell_counts(point_columns, point_rows, (rows, across.bins))
        steps = density_steps(int(counts.max(initial=0)), LEVELS)
        bits = cell_bits(_point_dots(picture, across, up, wide))
        levels = np.repeat(np.searchsorted(steps, counts, side="right"), wide, axis=1)[::-1]
        signs[bits > 0], styles[bits > 0] = EMPTY + bits[bits > 0], levels[bits > 0]
    for dots, style in _overlays(picture, across, up, wide):
        bits = cell_bits(dots)
        signs[bits > 0], styles[bits > 0] = EMPTY + bits[bits > 0], STYLES.index(style)
    return Drawing(
        signs=signs,
        styles=_joined(styles),
        across=across,
        up=up,
        wide=wide,
        steps=steps,
        columns=point_columns,
        rows=point_rows,
        is_columns=not points.is_drawn,
    )


def _joined(styles: NDArray[np.intp]) -> NDArray[np.intp]:
    """STYLES in which a blank cell has that of the cell left of it: fewer runs of one style are
    faster to draw and to send.
    """
    last = np.maximum.accumulate(np.where(styles > 0, np.arange(styles.shape[1]), 0), axis=1)
    return np.take_along_axis(styles, last, axis=1)


def _cells_per_value(picture: Picture, columns: int) -> int:
    """Several cells for each value of an x axis with few of them: single dots would be stripes that
    are hard to point at.
    """
    if not picture.points.is_drawn:
        return _cells_per_bar(picture, columns)
    known = picture.points.x[np.isfinite(picture.points.x)]
    values = len(np.unique(known))
    if (
        len(known) < _PAIRS_PER_VALUE * values
    ):  # few pairs have few values on any axis: they are points
        return 1
    return max(1, columns // max(1, min(values, columns)))


def _cells_per_bar(picture: Picture, columns: int) -> int:
    """As many bars as the rule of Rice has for the number of values: with one in each column of a
    wide plot the outline is noise.
    """
    values = max((int(np.isfinite(bars.values).sum()) for bars in picture.bars), default=0)
    return max(1, round(columns / (2 * values ** (1 / 3)))) if values else 1


def _point_dots(picture: Picture, across: Axis, up: Axis, wide: int) -> Dots:
    dots = np.zeros((up.bins * DOWN, across.bins * (ACROSS if wide == 1 else 1)), dtype=bool)
    columns = _finer(across, ACROSS if wide == 1 else 1).places(picture.points.x)
    rows = _finer(up, DOWN).places(picture.points.y)
    inside = (columns >= 0) & (rows >= 0)
    dots[rows[inside], columns[inside]] = True
    return dots if wide == 1 else np.repeat(dots, wide * ACROSS, axis=1)


def _overlays(picture: Picture, across: Axis, up: Axis, wide: int) -> list[tuple[Dots, str]]:
    """The dots of bars and lines, from the lowest to the highest layer."""
    fine_x, fine_y = _finer(across, wide * ACROSS), _finer(up, DOWN)
    heights = [
        np.ceil(_counted(bar.values, across) / up.high * fine_y.bins).astype(np.intp)
        for bar in picture.bars
    ]
    outlines = [
        (step_dots(np.repeat(height, wide * ACROSS), fine_y.bins), bar.style)
        for bar, height in zip(picture.bars, heights, strict=True)
    ]
    # Faint lines below: they are marks to compare the others with.
    lines = sorted(picture.lines, key=lambda line: line.style != "faint")
    return [*outlines, *((line_dots(line.x, line.y, fine_x, fine_y), line.style) for line in lines)]


def _counted(values: NDArray[np.float64], across: Axis) -> Places:
    places = across.places(values)
    counts: Places = np.bincount(places[places >= 0], minlength=across.bins)
    return counts


def _finer(axis: Axis, times: int) -> Axis:
    return Axis(low=axis.low, high=axis.high, bins=axis.bins * times)
