"""The map: the difference of a model from the reference by dataset and fifth of word overlap, as
shades and numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from embedlab.analysis.slices import FIFTHS
from embedlab.comparison.comparison import Comparison
from embedlab.tui.compare.slice_difference import (
    CURSOR,
    SliceDifference,
    difference_sign,
    difference_style,
    explained_signs,
    metric_name,
    plot_title,
    slice_difference,
)
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.plain import plain

_CELL, _INTERVAL = 11, 18  # of the map, and behind it where there is room
_SHADES = "░▒▓█"


@dataclass(frozen=True, kw_only=True)
class FifthsMap:
    """The differences of MODEL from REFERENCE on the Dice fifths of each dataset."""

    model: str
    reference: str
    rows: Sequence[
        tuple[str, Sequence[SliceDifference | None]]
    ]  # a dataset with its fifths, from the least overlap; None: none
    metric: str = "Spearman"
    by: str = "dice"
    head: int = 2

    @property
    def largest(self) -> float:
        """The largest difference of either sign."""
        return max(
            (abs(cell.delta) for _, cells in self.rows for cell in cells if cell is not None),
            default=0.0,
        )

    @property
    def size(self) -> tuple[int, int]:
        """Datasets and fifths."""
        return len(self.rows), FIFTHS

    def at(self, row: int, column: int) -> SliceDifference | None:
        """Return the difference of a dataset on a fifth; None where it has none."""
        return self.rows[row][1][column] if self.rows else None

    def draw(self, width: int, cursor: tuple[int, int]) -> Content:
        """Return the map in WIDTH cells, with the cursor on a cell."""
        return draw_map(self, width, cursor=cursor)


def fifths_map(comparison: Comparison, model: str) -> FifthsMap:
    """Return the cells of a comparison by Dice; a slice is "DATASET/fifth-N" there."""
    rows: dict[str, list[SliceDifference | None]] = {}
    for compared in comparison.slices:
        dataset, _, fifth = compared.key.rpartition("/fifth-")
        cells = rows.setdefault(dataset, [None] * FIFTHS)
        difference = compared.differences.get(model)
        if difference is not None and difference.delta == difference.delta:
            cells[int(fifth) - 1] = slice_difference(
                compared, difference, model, comparison.reference
            )
    known = [
        (dataset, cells)
        for dataset, cells in rows.items()
        if any(cell is not None for cell in cells)
    ]
    return FifthsMap(
        model=model, reference=comparison.reference, rows=known, metric=metric_name(comparison)
    )


def draw_map(shown: FifthsMap, width: int, *, cursor: tuple[int, int] | None = None) -> Content:
    """The map: a shade and a signed number in each cell; grey where the difference is not
    significant.
    """
    label = min(
        max((len(name) for name, _ in shown.rows), default=4), max(width - 5 * _CELL - 1, 8)
    )
    room = _INTERVAL if width - label >= 5 * (_CELL + _INTERVAL) else 0
    heads = "".join(f"{f'fifth {number}':>{_CELL}}{'':{room}}" for number in range(1, 6))
    lines = [
        plot_title(shown.model, shown.reference, f", {shown.metric} x 100, by fifth of Dice"),
        Content.styled(f"{'':{label}}{heads}", "$text-faint"),
    ]
    for row, (name, cells) in enumerate(shown.rows):
        texts = [
            _cell(cell, shown.largest, is_under=(row, column) == cursor)
            for column, cell in enumerate(cells)
        ]
        drawn = [
            piece
            for text, cell in zip(texts, cells, strict=True)
            for piece in (text, _interval(cell, room))
        ]
        lines.append(Content.assemble(f"{short_name(plain(name), label):<{label}}", *drawn))
    lines.append(
        Content.styled(
            "fifth 1: least word overlap · ▲ ▼ differs after Holm's correction at 5%", "$text-faint"
        )
    )
    lines += [
        Content.styled(text, "$text-faint")
        for text in explained_signs([cell for _, cells in shown.rows for cell in cells])
    ]
    steps = [
        f"{shade} to {shown.largest * index / len(_SHADES):z.1f}"
        for index, shade in enumerate(_SHADES, start=1)
    ]
    lines.append(Content.styled(f"size of the difference: {'  '.join(steps)}", "$text-faint"))
    return Content("\n").join(lines)


def _cell(cell: SliceDifference | None, largest: float, *, is_under: bool) -> tuple[str, str]:
    sign, bold = (CURSOR, " bold") if is_under else (" ", "")
    if cell is None:
        return f"{sign}{'·':>{_CELL - 1}}", f"$text-faint{bold}"
    share = abs(cell.delta) / largest if largest else 0.0
    shade = _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)]
    text = (
        f"{sign}{shade}{cell.delta:+z6.1f}{difference_sign(cell)}{f'{cell.reach}{cell.topic}':<2}"
    )
    return text, f"{difference_style(cell) or '$text-faint'}{bold}"


def _interval(cell: SliceDifference | None, room: int) -> tuple[str, str]:
    known = room and cell is not None and cell.low == cell.low
    return (
        f"{f' [{cell.low:+z.1f}, {cell.high:+z.1f}]' if known and cell is not None else '':<{room}}",
        "$text-faint",
    )
