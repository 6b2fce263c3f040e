"""The forest plot: the difference of a model from the reference on every slice, with its interval,
on one axis.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from embedlab.comparison.comparison import Comparison
from embedlab.tui.compare.slice_difference import (
    CURSOR,
    SliceDifference,
    difference_sign,
    difference_style,
    explained_signs,
    metric_name,
    plot_title,
    plotted_name,
    slice_difference,
)
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.axis import tick_line
from embedlab.tui.widgets.plain import plain

_SHORTEST_PLOT, _LONGEST_TITLE = 16, 34
_NUMBERS, _DELTA = (
    46,
    10,
)  # cells of all numbers of a row, and of the difference with its marks alone


@dataclass(frozen=True, kw_only=True)
class Forest:
    """The differences of MODEL from REFERENCE, a line a slice."""

    model: str
    reference: str
    rows: Sequence[SliceDifference]
    margin: float | None = None  # of equivalence, in points
    metric: str = "Spearman"
    by: str = ""
    head: int = 1

    @property
    def span(self) -> tuple[float, float]:
        """The range of all intervals, with zero and the margin in it."""
        ends = [end for row in self.rows for end in (row.delta, row.low, row.high) if end == end]
        ends += [0.0] if self.margin is None else [-self.margin, self.margin]
        return min(ends), max(ends)

    @property
    def size(self) -> tuple[int, int]:
        """Rows, and one column."""
        return len(self.rows), 1

    def at(self, row: int, column: int) -> SliceDifference | None:
        """Return the difference in ROW; None without any."""
        return self.rows[row] if self.rows else None

    def draw(self, width: int, cursor: tuple[int, int]) -> Content:
        """Return the plot in WIDTH cells, with the cursor in a row."""
        return draw_forest(self, width, cursor=cursor[0])


def forest(comparison: Comparison, model: str) -> Forest:
    """Return the differences of MODEL on every slice that has one."""
    differences = [
        (compared, compared.differences[model])
        for compared in comparison.slices
        if model in compared.differences
    ]
    rows = [
        slice_difference(compared, difference, model, comparison.reference)
        for compared, difference in differences
        if difference.delta == difference.delta
    ]
    margin = 100 * comparison.margin if comparison.margin is not None else None
    return Forest(
        model=model,
        reference=comparison.reference,
        rows=rows,
        margin=margin,
        metric=metric_name(comparison),
    )


def draw_forest(forest: Forest, width: int, *, cursor: int | None = None) -> Content:
    """The plot in WIDTH cells: a line a slice, the axis below, then what the signs mean."""
    title = plot_title(
        forest.model, forest.reference, f", {forest.metric} x 100, with 95% intervals"
    )
    if not forest.rows:
        return Content.assemble(title, (": no slice has a difference", "$text-faint"))
    label = min(max(len(row.title) for row in forest.rows), _LONGEST_TITLE, max(width // 3, 8))
    numbers = _NUMBERS if width - label - 2 - _NUMBERS >= _SHORTEST_PLOT else _DELTA
    cells = max(width - label - 2 - numbers, 8)
    lines = [title]
    for index, row in enumerate(forest.rows):
        name, sign = (
            f"{short_name(plain(row.title), label):<{label}}",
            (CURSOR, "bold") if index == cursor else (" ", ""),
        )
        lines.append(
            Content.assemble(
                (name, sign[1]), sign, *_whisker(row, forest, cells), " ", *_numbers(row, numbers)
            )
        )
    lines.append(Content.styled(f"{'':{label + 1}}{_axis(forest, cells)}", "$text-faint"))
    lines += [Content.styled(text, "$text-faint") for text in _explained(forest)]
    return Content("\n").join(lines)


def _place(value: float, forest: Forest, cells: int) -> int:
    low, high = forest.span
    return round((value - low) / ((high - low) or 1.0) * (cells - 1))


def _whisker(row: SliceDifference, forest: Forest, cells: int) -> Iterator[tuple[str, str]]:
    """├─●─┤ over the lines of zero and of the margin, ◆ for an average."""
    signs = {_place(0.0, forest, cells): "│"}
    if forest.margin is not None:
        signs |= {_place(end, forest, cells): "┊" for end in (-forest.margin, forest.margin)}
    drawn = {}
    if row.low == row.low:
        low, high = _place(row.low, forest, cells), _place(row.high, forest, cells)
        drawn = dict.fromkeys(range(low, high + 1), "─") | {low: "├", high: "┤"}
    drawn[_place(row.delta, forest, cells)] = "◆" if row.is_average else "●"
    for cell in range(cells):
        yield (
            (drawn[cell], model_colour(forest.model))
            if cell in drawn
            else (signs.get(cell, " "), "$text-faint")
        )


def _numbers(row: SliceDifference, width: int) -> Iterator[tuple[str, str]]:
    """The difference with its marks; with room its interval, the letters and the design effect."""
    marks = f"{difference_sign(row)}{row.reach}{'=' if row.is_equivalent else ' '}{row.topic}"
    yield f"{row.delta:+z6.1f}{marks:<4}", difference_style(row)
    if width >= _NUMBERS:
        interval = f"[{row.low:+z.1f}, {row.high:+z.1f}]" if row.low == row.low else ""
        effect = f"deff {row.design_effect:z.2f}" if row.design_effect == row.design_effect else ""
        yield f" {interval:<16} {row.letters:<7} {effect}", "$text-faint"


def _axis(forest: Forest, cells: int) -> str:
    """The round values of the axis."""
    low, high = forest.span
    return (
        tick_line(low, high, cells, text=lambda tick: f"{tick:+z.12g}" if tick else "0")
        if high > low
        else f"{low:z.1f}"
    )


def _explained(forest: Forest) -> Iterator[str]:
    both = f"{plotted_name(forest.model)}/{plotted_name(forest.reference)}"
    yield (
        f"▲ ▼ differs after Holm's correction at 5% · letters: {both}; with a shared one no "
        f"difference is found"
    )
    if forest.margin is None:
        yield (
            f"deff: variance against independent rows · press {shown_key('equivalence')} for "
            f"a margin of equivalence"
        )
    else:
        yield (
            f"deff: variance against independent rows · = smaller than ±{forest.margin:g} "
            f"(┊) by two one-sided tests, 5% after Holm"
        )
    yield from explained_signs(forest.rows)
