"""Curves in braille dots: connected lines, the range of the seeds, and panels with an axis of their
own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from textual.content import Content

from embedlab.analysis.curves import SeedRange, over_seeds, smoothed
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.axis import log_ticks, placed, round_ticks, tick_line, tick_text
from embedlab.tui.widgets.braille import ACROSS, DOWN, EMPTY, Dots, cell_bits
from embedlab.tui.widgets.plain import plain

LEFT = 8  # cells of the labels of the y axis
_LEAST = 5  # lines of a panel: title, two rows, x axis, names
_MOST_PANELS = 3
_POINT = ord("●") - EMPTY  # instead of the dots of a cell: a curve of one value

Values = NDArray[np.float64]
Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveLine:
    """The curve of one seed."""

    title: str
    x: Values
    y: Values


@dataclass(frozen=True, kw_only=True)
class CurveSeries:
    """The curves of all seeds of a run, drawn in one colour."""

    title: str
    colour: str
    seeds: Sequence[CurveLine]
    # series of another axis have a panel of their own: their values cannot be compared
    axis: str = ""


@dataclass(frozen=True, kw_only=True)
class CurveOptions:
    """How curves are drawn."""

    is_log: bool = False  # the y axis; values that are not positive are absent
    smoothing: float = 0.0  # the weight of the value before, 0 for none
    shows_seeds: bool = False  # each seed's points as dots


@dataclass(frozen=True, kw_only=True, eq=False)
class _Prepared:
    """A series in the units of the axes."""

    series: CurveSeries
    lines: Sequence[tuple[Values, Values]]  # of each seed
    spread: SeedRange = field(repr=False)


def draw_curves(
    title: str,
    series: Sequence[CurveSeries],
    width: int,
    height: int,
    options: CurveOptions | None = None,
    cursor: float | None = None,
) -> Content:
    """The plot in WIDTH x HEIGHT cells, axes and names included; CURSOR is the x whose values are
    named, from 0 to 1 of the axis.
    """
    options = options or CurveOptions()
    known = [prepared for each in series if len((prepared := _prepared(each, options)).spread.x)]
    columns = width - LEFT - 1
    if not known or columns < 8 or height < _LEAST:
        return Content.styled(f"{title}: no events yet" if not known else title, "$text-faint")
    every_axis = list(dict.fromkeys(prepared.series.axis for prepared in known))
    axes = every_axis[: max(1, min(_MOST_PANELS, height // _LEAST))]
    x_range = _span(np.concatenate([prepared.spread.x for prepared in known]))
    at = None if cursor is None else x_range[0] + cursor * (x_range[1] - x_range[0])
    lines: list[Content] = []
    for number, axis in enumerate(axes):
        on_axis = [prepared for prepared in known if prepared.series.axis == axis]
        rows = height // len(axes) + (number < height % len(axes)) - 3
        name = f"{title} · {plain(axis)}" if len(every_axis) > 1 else title
        if number == len(axes) - 1 and (rest := every_axis[len(axes) :]):
            name += f" · {shown_key('zoom')} shows {', '.join(map(plain, rest))} too"
        lines += _panel(_titled(name, options), on_axis, x_range, (columns, rows), options, at)
    return Content("\n").join(lines)


def _titled(name: str, options: CurveOptions) -> str:
    notes = [
        *(["log"] if options.is_log else []),
        *([f"smoothed {options.smoothing:g}"] if options.smoothing else []),
    ]
    return f"{name} ({', '.join(notes)})" if notes else name


def _prepared(series: CurveSeries, options: CurveOptions) -> _Prepared:
    lines = []
    for line in series.seeds:
        known = np.isfinite(line.x) & np.isfinite(line.y) & ((line.y > 0) | (not options.is_log))
        y = smoothed(line.y[known], options.smoothing)
        lines.append((line.x[known], np.log10(y) if options.is_log else y))
    return _Prepared(
        series=series, lines=lines, spread=over_seeds([line for line in lines if len(line[0])])
    )


def _panel(
    title: str,
    known: Sequence[_Prepared],
    x_range: Span,
    size: tuple[int, int],
    options: CurveOptions,
    at: float | None,
) -> Iterator[Content]:
    """Title, rows, x axis and names of the series of one axis."""
    columns, rows = size
    y_range = _span(
        np.concatenate(
            [values for prepared in known for values in (prepared.spread.low, prepared.spread.high)]
        )
    )
    bits, owner = _cells(known, x_range, y_range, size, options)
    ticks = _ticks(y_range, rows, options)
    marked = (
        None
        if at is None
        else min(columns - 1, int((at - x_range[0]) / (x_range[1] - x_range[0]) * columns))
    )
    yield Content.styled(title, "bold")
    for row in range(rows):
        value = ticks.get(row)
        text = (
            f"{_number(10**value if options.is_log else value):>{LEFT - 1}} "
            if value is not None
            else " " * LEFT
        )
        yield Content.assemble(
            (f"{text}│", "$text-faint"), *_coloured(bits[row], owner[row], known, marked)
        )
    yield Content.styled(
        f"{'step' if at is None else '':>{LEFT - 1}}  {_steps(x_range, columns, at, marked)}",
        "$text-faint",
    )
    yield _names(known, columns, options, at)


def _ticks(y_range: Span, rows: int, options: CurveOptions) -> dict[int, float]:
    """The round values on the y axis by their rows, more of them in a tall panel."""
    most, last = (3 if rows < 9 else 4 if rows < 24 else 6), max(rows - 1, 1)
    ticks = (log_ticks if options.is_log else round_ticks)(*y_range, most)
    return {round((y_range[1] - tick) / (y_range[1] - y_range[0]) * last): tick for tick in ticks}


def _steps(x_range: Span, columns: int, at: float | None, marked: int | None) -> str:
    """The x axis: round steps, or the one under the cursor alone."""
    if at is not None and marked is not None:
        return placed([(marked, f"step {at:z.0f}")], columns)
    low, high = x_range
    if high - low < 2:  # no two whole steps have a place
        return placed([((columns - 1) // 2, tick_text(round((low + high) / 2)))], columns)
    return tick_line(low, high, columns, most=min(max(2, columns // 9), int(high - low) + 1))


def _cells(
    known: Sequence[_Prepared],
    x_range: Span,
    y_range: Span,
    size: tuple[int, int],
    options: CurveOptions,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The braille bits of each cell, and what it shows: the line of a series by its number, its
    range by that and the number of series.
    """
    columns, rows = size
    bits, owner = np.zeros((rows, columns), dtype=np.int64), np.full((rows, columns), -1)
    places = _Places(x_range=x_range, y_range=y_range, width=columns * ACROSS, height=rows * DOWN)
    count = len(known)
    layers = [
        (number + count, places.range_dots(prepared.spread))
        for number, prepared in enumerate(known)
        if len(prepared.lines) > 1
    ]
    if options.shows_seeds:
        layers += [
            (number, places.point_dots(*line))
            for number, prepared in enumerate(known)
            for line in prepared.lines
        ]
    is_alone = [len(prepared.lines) == 1 for prepared in known]
    layers += [
        (
            number,
            places.line_dots(
                *(prepared.lines[0] if alone else (prepared.spread.x, prepared.spread.mean))
            ),
        )
        for number, (prepared, alone) in enumerate(zip(known, is_alone, strict=True))
    ]
    for layer, dots in layers:
        mine = cell_bits(dots)
        bits[mine > 0], owner[mine > 0] = mine[mine > 0], layer
    for number, prepared in enumerate(known):
        if len(prepared.spread.x) == 1:  # a single dot is hardly seen
            row, column = (
                int(coordinates[0])
                for coordinates in (
                    places.levels(prepared.spread.mean),
                    places.columns(prepared.spread.x),
                )
            )
            (
                bits[rows - 1 - row // DOWN, column // ACROSS],
                owner[rows - 1 - row // DOWN, column // ACROSS],
            ) = _POINT, number
    return bits, owner


@dataclass(frozen=True, kw_only=True)
class _Places:
    """Dots of a panel, the lowest row first."""

    x_range: Span
    y_range: Span
    width: int
    height: int

    def columns(self, x: Values) -> NDArray[np.intp]:
        low, high = self.x_range
        return np.clip(
            ((x - low) / (high - low) * (self.width - 1)).round().astype(np.intp), 0, self.width - 1
        )

    def levels(self, y: Values) -> NDArray[np.intp]:
        low, high = self.y_range
        return np.clip(
            ((y - low) / (high - low) * (self.height - 1)).round().astype(np.intp),
            0,
            self.height - 1,
        )

    def line_dots(self, x: Values, y: Values) -> Dots:
        """A connected line: each column from its smallest to its largest value, joined to the
        column before.
        """
        column, level = self.columns(x), self.levels(y)
        low, high = np.full(self.width, self.height), np.full(self.width, -1)
        np.minimum.at(low, column, level)
        np.maximum.at(high, column, level)
        seen = np.flatnonzero(high >= 0)
        between = np.arange(seen[0], seen[-1] + 1)
        low = np.interp(between, seen, low[seen]).round().astype(np.intp)
        high = np.interp(between, seen, high[seen]).round().astype(np.intp)
        # A column that lies above the one before begins right above it, one below ends right below
        # it.
        joined_low = np.minimum(
            low, np.concatenate([low[:1], high[:-1] + 1]).clip(max=self.height - 1)
        )
        joined_high = np.maximum(high, np.concatenate([high[:1], low[:-1] - 1]).clip(min=0))
        return self._filled(between, joined_low, joined_high)

    def range_dots(self, spread: SeedRange) -> Dots:
        """The range of the seeds as every second dot."""
        first, last = self.columns(spread.x[[0, -1]])
        between = np.arange(first, last + 1)
        x = self.x_range[0] + between / (self.width - 1) * (self.x_range[1] - self.x_range[0])
        low, high = (
            self.levels(np.interp(x, spread.x, values)) for values in (spread.low, spread.high)
        )
        filled = self._filled(between, low, high)
        row, column = np.indices(filled.shape)
        shaded: Dots = filled & ((row + column) % 2 == 0)
        return shaded

    def point_dots(self, x: Values, y: Values) -> Dots:
        """A dot for each point."""
        dots = np.zeros((self.height, self.width), dtype=bool)
        dots[self.levels(y), self.columns(x)] = True
        return dots

    def _filled(
        self, columns: NDArray[np.intp], low: NDArray[np.intp], high: NDArray[np.intp]
    ) -> Dots:
        dots = np.zeros((self.height, self.width), dtype=bool)
        rows = np.arange(self.height)[:, None]
        dots[:, columns] = (rows >= low) & (rows <= high)
        return dots


def _names(
    known: Sequence[_Prepared], columns: int, options: CurveOptions, at: float | None
) -> Content:
    """The name of each series with its last value or that under the cursor, and the range of its
    seeds.
    """
    values = [_values(prepared, options, at, has_range=True) for prepared in known]
    if sum(len(text) + 14 for text in values) > columns:
        values = [_values(prepared, options, at, has_range=False) for prepared in known]
    room = max(8, (columns - sum(len(text) + 6 for text in values)) // len(known))
    names = [short_name(plain(prepared.series.title), room) for prepared in known]
    parts = [
        (f"━ {name} {text}   ", prepared.series.colour)
        for prepared, name, text in zip(known, names, values, strict=True)
    ]
    return Content.assemble(" " * (LEFT + 1), *parts)


def _values(
    prepared: _Prepared, options: CurveOptions, at: float | None, *, has_range: bool
) -> str:
    """The number of seeds, their mean and, with HAS_RANGE, their range at the x AT, or of the last
    value of each.
    """
    spread, seeds = prepared.spread, len(prepared.lines)
    if at is not None and not spread.x[0] <= at <= spread.x[-1]:
        return f"×{seeds} ·" if seeds > 1 else "·"
    if at is None:
        ends = np.array(
            [y[-1] for _, y in prepared.lines if len(y)]
        )  # seeds of one recipe may end at different steps
        known, shown = len(ends), [float(ends.mean()), float(ends.min()), float(ends.max())]
    else:
        index = int(np.abs(spread.x - at).argmin())
        known = sum(len(x) > 0 and x[0] <= spread.x[index] <= x[-1] for x, _ in prepared.lines)
        shown = [float(column[index]) for column in (spread.mean, spread.low, spread.high)]
    count = f"×{known} " if seeds > 1 else ""
    mean, low, high = (10**value if options.is_log else value for value in shown)
    return f"{count}{mean:.4g}" + (f" [{low:.4g}, {high:.4g}]" if seeds > 1 and has_range else "")


def _span(values: Values) -> Span:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _number(value: float) -> str:
    """The value with as many digits as fit left of the axis."""
    texts = [tick_text(value), *(f"{value:.{digits}g}" for digits in (6, 4, 3, 2, 1))]
    return next((text for text in texts if len(text) < LEFT), texts[-1])


def _coloured(
    bits: NDArray[np.int64],
    owner: NDArray[np.int64],
    known: Sequence[_Prepared],
    marked: int | None,
) -> list[tuple[str, str]]:
    """A row of cells as runs of one colour each; the column under the cursor is a line where
    nothing is drawn.
    """
    signs = [chr(EMPTY + bit) if bit else " " for bit in bits.tolist()]
    styles = [
        *(prepared.series.colour for prepared in known),
        *(f"{prepared.series.colour} dim" for prepared in known),
        "$text-faint",
    ]
    colours = [styles[number] for number in owner.tolist()]  # -1: nothing is drawn
    if marked is not None:
        signs[marked] = "│" if signs[marked] == " " else signs[marked]
        colours[marked] += " reverse" if bits[marked] else ""
    edges = [
        0,
        *(index for index in range(1, len(colours)) if colours[index] != colours[index - 1]),
        len(colours),
    ]
    return [("".join(signs[start:end]), colours[start]) for start, end in pairwise(edges)]
