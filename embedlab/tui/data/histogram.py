"""A histogram of one number of the items, by which they are filtered: a brush in a few lines."""

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from embedlab.tui.data.model import Bins
from embedlab.tui.plain import faint

_EIGHTHS = " ▁▂▃▄▅▆▇█"


class Histogram(Widget, can_focus=True):
    """Bars of the shown items before the shape of all, each as high as the plot; enter begins a
    range, enter again ends it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1)", show=False),
        Binding("right,l", "move(1)", show=False),
        Binding("enter,space", "brush", "Brush", tooltip="start and end a range"),
        Binding("backspace", "clear", "All", tooltip="remove the range"),
    ]
    place = reactive(0)
    begun: reactive[int | None] = reactive(None)

    class Brushed(Message):
        """A range was chosen; without ends it was taken away."""

        def __init__(self, name: str, ends: tuple[float, float] | None = None) -> None:
            super().__init__()
            self.name, self.ends = name, ends

    def __init__(self, name: str, colour: str, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.border_title = name
        self._field = name
        self._colour = colour
        self.bins: Bins | None = None

    def show(self, bins: Bins | None) -> None:
        """Draw BINS from now on."""
        if bins != self.bins:
            self.bins = bins
            self.refresh()

    def render(self) -> Content:
        """The bars, and below them the ends of the axis or the bin under the cursor."""
        bins = self.bins
        width, height = self.content_size
        if bins is None or width < 4:
            return faint("none here")
        rows = max(height - 1, 1)
        places_of = [cell * len(bins.whole) // width for cell in range(width)]
        heights = [_heights(counts, rows) for counts in (bins.shown, bins.whole)]
        lines = []
        brushed = self._chosen()
        for line in range(rows):
            styled_cells: list[tuple[str, str]] = []
            for bin_index in places_of:
                shown_eighths, whole_eighths = (
                    max(0, min(height[bin_index] - (rows - 1 - line) * 8, 8)) for height in heights
                )
                block = _EIGHTHS[shown_eighths or whole_eighths]
                style = self._colour if shown_eighths else "$rule"
                if 0 < shown_eighths < whole_eighths == 8:
                    style += " on $rule"
                if self.has_focus and bin_index in brushed:
                    style = f"{self._colour} on $panel-lighten-2 bold"
                styled_cells.append((block, style))
            lines.append(joined_runs(styled_cells))
        low, high = f"{round(bins.low, 1):g}", f"{round(bins.high, 1):g}"
        if self.has_focus:
            first_bin, last_bin = min(brushed), max(brushed)
            caption = f"{bins.edge(first_bin):.3g}–{bins.edge(last_bin + 1):.3g}: "
            caption += f"{sum(bins.shown[first_bin : last_bin + 1]):,}"
        else:
            caption = f"{low}{high:>{max(width - len(low), 1)}}"
        return Content("\n").join([*lines, faint(caption)])

    def _chosen(self) -> range:
        range_start = self.place if self.begun is None else self.begun
        return range(min(range_start, self.place), max(range_start, self.place) + 1)

    def action_move(self, step: int) -> None:
        """Move the cursor over the bins."""
        if self.bins is not None:
            self.place = max(0, min(self.place + step, len(self.bins.whole) - 1))

    def action_brush(self) -> None:
        """Begin a range, or end it."""
        if self.bins is None:
            return
        if self.begun is None:
            self.begun = self.place
            return
        brushed = self._chosen()
        ends = self.bins.edge(brushed[0]), self.bins.edge(brushed[-1] + 1)
        self.begun = None
        self.post_message(self.Brushed(self._field, ends))

    def action_clear(self) -> None:
        """Take the range away."""
        self.begun = None
        if self.bins is not None:
            self.post_message(self.Brushed(self._field))


def _heights(counts: Sequence[int], rows: int) -> list[int]:
    """The height of each bar in eighths of a line; a bar of anything is seen."""
    largest = max(counts) or 1
    return [max(round(count / largest * rows * 8), 1 if count else 0) for count in counts]


def joined_runs(parts: Sequence[tuple[str, str]]) -> Content:
    """PARTS of a line, with neighbours of one style as one."""
    runs = groupby(parts, key=lambda styled: styled[1])
    return Content.assemble(*(("".join(text for text, _ in run), style) for style, run in runs))
