"""Dots in braille cells of two columns and four rows."""

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.binning import Axis, Values

ACROSS, DOWN = 2, 4  # dots of a cell
EMPTY = 0x2800  # the sign without dots
_BITS = np.array(
    [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.int64
)  # by row and column within a cell

Dots = NDArray[np.bool_]  # (rows, columns), the lowest row first


def cell_bits(dots: Dots) -> NDArray[np.int64]:
    """The braille bits of each cell, the highest row first; DOTS fill whole cells."""
    flipped = dots[::-1]
    blocks = flipped.reshape(dots.shape[0] // DOWN, DOWN, dots.shape[1] // ACROSS, ACROSS)
    bits: NDArray[np.int64] = np.einsum("rycx,yx->rc", blocks.astype(np.int64), _BITS)
    return bits


def line_dots(x: Values, y: Values, across: Axis, up: Axis) -> Dots:
    """The dots of a line through the points X, Y; parts outside the axes are not drawn."""
    dots = np.zeros((up.bins, across.bins), dtype=bool)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    for index in range(max(len(x) - 1, 0)):
        steps = 1 + int(
            max(
                abs(x[index + 1] - x[index]) / (across.high - across.low) * across.bins,
                abs(y[index + 1] - y[index]) / (up.high - up.low) * up.bins,
            )
        )
        shares = np.linspace(0.0, 1.0, min(steps, 4 * (across.bins + up.bins)) + 1)
        columns = across.places(x[index] + shares * (x[index + 1] - x[index]))
        rows = up.places(y[index] + shares * (y[index + 1] - y[index]))
        inside = (columns >= 0) & (rows >= 0)
        dots[rows[inside], columns[inside]] = True
    return dots


def step_dots(heights: NDArray[np.intp], rows: int) -> Dots:
    """The outline of columns of dots with these HEIGHTS, each joined to the column before it."""
    dots = np.zeros((rows, len(heights)), dtype=bool)
    before = 0
    for column, height in enumerate(heights.tolist()):
        low, high = sorted((before, height))
        dots[max(low - 1, 0) : high, column] = True
        if height:
            dots[height - 1, column] = True
        before = height
    return dots
