"""The Compare room: the verdict, the forest plot of every slice, panes with why and a scatter."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import ClassVar

import numpy as np
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from embedlab.analysis.expressions import with_terms
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import WHOLE, Comparison
from embedlab.core.errors import EmbedlabError
from embedlab.outcomes.selection import ItemSelection
from embedlab.tui.compare.model import (
    BY,
    ForestLine,
    WhyLine,
    axis_labels,
    compare_shown,
    ends_of,
    explain_shown,
    forest_bar,
    forest_lines,
    verdict,
    why_lines,
)
from embedlab.tui.data.histogram import joined_runs
from embedlab.tui.data.model import GOLD, View
from embedlab.tui.plain import faint, following, shorten_middle
from embedlab.tui.room import PANE_KEYS, Lines, Panel, Room
from embedlab.tui.runs.curves import braille, dot_lines
from embedlab.tui.theme import model_colour, model_sign

_TITLE, _NUMBERS = 40, 36  # cells of the title at most, and of the numbers
_LEAST_BAR = 13
_LEGEND = "■ clear (Holm over all rows)  □ not distinguished  ─ 95%"
_SLIM, _LOW = 140, 34  # cells and lines, below which the panes have no room beside the rows


class Scatter(Widget, can_focus=True):
    """Similarities of two models, a dot an item."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.show(np.empty(0), np.empty(0), "scatter")

    def show(self, x: np.ndarray, y: np.ndarray, title: str) -> None:
        """Draw the points X, Y."""
        self._points = x, y
        self.border_title = Content(title)
        self.refresh()

    def render(self) -> Content:
        """The dots; the more items in a cell, the brighter it is."""
        width, height = self.content_size
        x, y = self._points
        is_finite = np.isfinite(x) & np.isfinite(y)
        x, y = x[is_finite], y[is_finite]
        if min(width, 2 * height) < 8 or len(x) < 2 or not np.ptp(x) or not np.ptp(y):
            return faint("no item has both")
        across = ((x - x.min()) / np.ptp(x) * (2 * width - 1)).round().astype(int)
        down = ((y.max() - y) / np.ptp(y) * (4 * height - 1)).round().astype(int)
        counts = np.zeros((4 * height, 2 * width), dtype=int)
        np.add.at(counts, (down, across), 1)
        bits = braille(counts > 0)
        many = counts.reshape(height, 4, width, 2).sum(axis=(1, 3))
        dense = np.quantile(many[many > 0], 0.8)
        styles = np.where(many > dense, "bold", "$faint")
        return Content("\n").join(map(joined_runs, dot_lines(bits, styles)))


class CompareRoom(Room):
    """All chosen models beside the reference."""

    TITLE = "Compare"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "rows_by", "Rows by", tooltip="rows by source, Dice …"),
        Binding("w", "why", "Why", tooltip="why the model differs"),
        Binding("p", "plot", "Plot", tooltip="dots: the other, or gold"),
        Binding("s", "sort", "Sort", tooltip="by size of difference"),
        Binding("A", "aggregate", "Mean", show=False, tooltip="mean over sources"),
        Binding("C", "common", "Common", show=False, tooltip="items that all scored"),
        *PANE_KEYS,
    ]
    DEFAULT_CSS = """
    CompareRoom { layout: vertical; }
    CompareRoom #verdict { height: auto; max-height: 8; padding: 0 2; margin: 0 0 1 0; }
    CompareRoom #compare-body { height: 1fr; }
    CompareRoom #forest-side { width: 3fr; }
    CompareRoom #forest-head { height: 1; text-wrap: nowrap; }
    CompareRoom #forest { height: 1fr; text-wrap: nowrap; }
    CompareRoom #compare-panes { width: 2fr; min-width: 44; max-width: 90; }
    CompareRoom #why { height: 3fr; width: 1fr; }
    CompareRoom #why Static { height: auto; }
    CompareRoom Scatter { height: 2fr; width: 1fr; }
    CompareRoom.-stacked #compare-body { layout: vertical; }
    CompareRoom.-stacked #forest-side { height: auto; max-height: 72%; width: 100%; }
    CompareRoom.-stacked.-why #forest-side { max-height: 50%; }
    CompareRoom.-stacked #forest { height: auto; }
    CompareRoom.-stacked #compare-panes { layout: horizontal; width: 100%; max-width: 100%; height: 1fr; }
    CompareRoom.-stacked #why, CompareRoom.-stacked Scatter { height: 100%; }
    CompareRoom.-stacked #why { width: 3fr; }
    CompareRoom.-stacked Scatter { width: 2fr; }
    CompareRoom.-narrow #compare-panes { display: none; }
    CompareRoom.-narrow.-why #compare-body { layout: vertical; }
    CompareRoom.-narrow.-why #forest-side { width: 100%; height: auto; max-height: 50%; }
    CompareRoom.-narrow.-why #forest { height: auto; }
    CompareRoom.-narrow.-why #compare-panes { display: block; width: 100%; max-width: 100%; height: 1fr; }
    CompareRoom.-narrow.-why #why { height: 1fr; }
    CompareRoom.-narrow.-why Scatter { display: none; height: 1fr; }
    CompareRoom.-narrow.-plot Scatter { display: block; }
    CompareRoom.-narrow.-plot #why { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="compare")
        self.slicing = WHOLE
        self.is_sorted = False
        self.is_with_gold = False
        self.view: View | None = None
        self.comparison: Comparison | None = None
        self._is_stale = False  # something changed while another room was shown
        self._lines: Sequence[ForestLine] = ()
        self._title_width = _TITLE
        self._explained: dict[tuple[str, str], Content] = {}

    def compose(self) -> ComposeResult:
        """Yield the verdict, the plot and the panes."""
        yield Static(id="verdict", markup=False)
        with Horizontal(id="compare-body"):
            with Panel(id="forest-side", classes="panel"):
                yield Static(id="forest-head", markup=False)
                yield Lines(id="forest")
            with Vertical(id="compare-panes"):
                with VerticalScroll(id="why", classes="panel") as why_pane:
                    why_pane.border_title = "why"
                    yield Static(markup=False)
                yield Scatter(id="scatter")

    def on_resize(self) -> None:
        """Leave out what has no room."""
        is_low = self.size.height < _LOW
        self.set_class(not is_low, "-stacked")
        self.set_class(is_low and self.size.width < _SLIM, "-narrow")

    @property
    def crumbs(self) -> Sequence[str]:
        """What the rows are, and which items are compared."""
        return f"by {self.slicing.by}", self.view.expression if self.view is not None else ""

    def enter(self) -> None:
        """Go to the rows."""
        self.screen.set_focus(self.query_one("#forest"))
        if self._is_stale:
            self.renew()

    def show(self) -> None:
        """Forget what was compared before."""
        has_items = self.dashboard.shown.outcomes is not None
        self._forget("comparing …" if has_items else self.dashboard.why_empty)

    def _forget(self, why: str) -> None:
        """Show no comparison, and WHY."""
        self.comparison, self._lines = None, ()
        self._explained = {}
        self.say("#verdict", why)
        self._draw()

    def take_view(self, view: View) -> None:
        """Compare on the items that the Data room shows."""
        previous, self.view = self.view, view
        if (
            previous is not None
            and previous.facts is view.facts
            and (previous.expression, previous.dataset) == (view.expression, view.dataset)
        ):
            return
        self._explained = {}
        self.renew()

    def take_whole(self) -> None:
        """Show the comparison of all items where all are shown."""
        if self._is_whole:
            self.renew()

    def renew(self) -> None:
        """Show the comparison of what is chosen; while another room is shown, that waits."""
        self._is_stale = self.dashboard.room is not self
        if self._is_stale:
            return
        if self._is_whole and self.dashboard.comparison is not None:
            self._take(self.dashboard.comparison)
            return
        self.say("#verdict", "comparing …")
        if not self._is_whole:
            self.compare()

    @property
    def selection(self) -> ItemSelection | None:
        """The items that are compared; None: all."""
        return self.view.selection if self.view is not None else None

    @property
    def _is_whole(self) -> bool:
        return self.selection is None and self.slicing == WHOLE

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def compare(self) -> None:
        """Compare by what is chosen, in a thread."""
        shown = self.dashboard.shown
        if shown.outcomes is None or not shown.columns:
            return
        if self.view and not len(self.view.rows):
            self.hand_over(
                self._forget, "No item matches the filter: esc in the Data room clears it."
            )
            return
        try:
            comparison = compare_shown(shown, self.slicing, self.selection)
        except EmbedlabError as error:
            self.hand_over(self.dashboard.report, error)
        else:
            self.hand_over(self._take, comparison)

    def _take(self, comparison: Comparison) -> None:
        self.comparison = comparison
        lines = list(forest_lines(comparison, self.dashboard.shown.models))
        if self.is_sorted:
            lines.sort(key=lambda line: -abs(line.delta) if isfinite(line.delta) else 0.0)
        self._lines = lines
        headline, *details = verdict(comparison)
        texts = [Content.styled(headline, "bold"), *map(Content, details)]
        self.say("#verdict", Content("\n").join(texts))
        self._draw()
        self.dashboard.refresh_header()

    # drawing

    def _draw(self) -> None:
        forest = self.query_one("#forest", Lines)
        width = max(forest.scrollable_content_region.width, 40)
        longest = max((len(line.title) for line in self._lines), default=_TITLE)
        self._title_width = max(12, min(_TITLE, longest, width - _NUMBERS - _LEAST_BAR))
        bar = max(width - self._title_width - _NUMBERS - 1, 6)
        if self.comparison is None:
            forest.clear_options()
            for part in ("#forest-head", "#why Static"):
                self.say(part, "")
            self.query_one(Scatter).show(np.empty(0), np.empty(0), "scatter")
            return
        panel = self.query_one("#forest-side")
        is_alone = len(self.comparison.models) == 1
        reference = f"difference from {self.comparison.names[0]} in points"
        panel.border_title = Content("scores" if is_alone else reference)
        panel.border_subtitle = "─ 95%" if is_alone else _LEGEND
        low, high = ends_of(self._lines)
        title_cells = self._title_width
        texts = []
        previous_title = ""
        for line in self._lines:
            is_new = line.title != previous_title
            title = shorten_middle(line.title, title_cells) if is_new else ""
            reference_text = "" if is_alone else _number(line.reference)
            item_text = f"{line.items:>6,} {reference_text:>6}" if is_new else " " * 13
            previous_title = line.title
            colour = model_colour(line.place)
            style = "bold" if line.is_average else ""
            delta = "" if is_alone else _number(line.delta, "+")
            is_clear = line.sign in {"▲", "▼"}
            texts.append(
                Content.assemble(
                    (f"{title:<{title_cells}} ", style),
                    (item_text, "$faint"),
                    (f"  {model_sign(line.place)}{_number(line.score):>6} ", colour),
                    (f"{delta:>7} {line.sign or ' '}  ", "bold" if is_clear else "$faint"),
                    _bar(line, low, high, bar, colour if is_clear else "$faint"),
                )
            )
        forest.fill(texts)
        sign = model_sign(self.dashboard.shown.models.index(self.comparison.names[0]))
        reference_text, diff = ("", "") if is_alone else (f"{sign} ref", "diff")
        title = f"{self.slicing.by:<{title_cells}} {'items':>6} {reference_text:>6} {'score':>8}"
        head = f"{title} {diff:>7}    {axis_labels(low, high, bar)}"
        self.say("#forest-head", Content.styled(head, "bold $faint"))
        self.on_option_list_option_highlighted()  # it may be the same row, of other items

    on_lines_resized = _draw

    def on_option_list_option_highlighted(self) -> None:
        """Show what is known of the row, and its models' scatter."""
        line, view = self.line, self.view
        if line is None or view is None or self.comparison is None:
            return
        reference = self.comparison.names[0]
        x_name = GOLD if self.is_with_gold or line.model == reference else reference
        x, y = (view.facts.numbers(name)[view.rows] for name in (x_name, line.model))
        self.query_one(Scatter).show(x, y, f"{line.model} ↑ against {x_name} →")
        self._show_why()

    def _show_why(self) -> None:
        """Show what is known of why the row's model differs, else how to find out."""
        line = self.line
        if line is None or self.comparison is None:
            return
        reference = self.comparison.names[0]
        hint = f"w explains {line.model}: on what it gains or loses, what it alone gets right"
        if line.model == reference:
            hint = "c chooses another model to compare with"
        explanation = self._explained.get((reference, line.model))
        self.query_one("#why").border_title = Content(f"why · {line.model}")
        self.say("#why Static", explanation or faint("\n".join(line.notes) or hint))

    @property
    def line(self) -> ForestLine | None:
        """The row under the cursor."""
        return self.query_one("#forest", Lines).under_cursor(self._lines)

    # keys

    def on_option_list_option_selected(self) -> None:
        """Show the items of the row."""
        line = self.line
        if line is not None and not (line.terms or line.is_average):
            self.app.notify("no filter picks the items of this row")
        elif line is not None:
            expression = self.view.expression if self.view is not None else ""
            self.dashboard.show_items(with_terms(expression, line.terms))

    def action_rows_by(self) -> None:
        """Take the next property for the rows."""
        self.rows_by(following(BY, self.slicing.by))

    def rows_by(self, name: str) -> None:
        """Take the property called NAME for the rows."""
        aggregate = "all" if name == "dice" else self.slicing.aggregate
        self.slicing = replace(self.slicing, by=name, aggregate=aggregate)
        self.renew()

    def action_aggregate(self) -> None:
        """Take all pairs at once, or the mean over sources."""
        orders: tuple[Aggregate, ...] = ("all", "mean", "wmean")
        aggregate = following(orders, self.slicing.aggregate)
        self.slicing = replace(self.slicing, aggregate=aggregate)
        self.rows_by(self.slicing.by)

    def action_common(self) -> None:
        """Compare on the items that all models score, or each row on its own."""
        self.slicing = replace(self.slicing, common=not self.slicing.common)
        self.renew()

    def action_plot(self) -> None:
        """Draw the model against gold, or against the reference; first show where that is."""
        if self.has_class("-narrow") and not self.has_class("-plot"):
            self.add_class("-why", "-plot")
            return
        self.is_with_gold = not self.is_with_gold
        self.on_option_list_option_highlighted()

    def action_sort(self) -> None:
        """Sort by the size of the difference, or as in the data."""
        self.is_sorted = not self.is_sorted
        if self.comparison is not None:
            self._take(self.comparison)

    @property
    def panes(self) -> Sequence[Widget]:
        """Rows, why and scatter."""
        return [self.query_one(f"#{name}") for name in ("forest", "why", "scatter")]

    def action_filter(self) -> None:
        """Filter in the Data room, whose items are compared."""
        self.dashboard.action_room("data")
        self.dashboard.room.action_filter()

    def action_back(self) -> None:
        """From the panes to the rows."""
        self.remove_class("-why", "-plot")
        self.screen.set_focus(self.query_one("#forest"))

    def action_why(self) -> None:
        """Explain the difference of the row's model from the reference."""
        line = self.line
        if line is None or self.comparison is None or line.model == self.comparison.names[0]:
            self.app.notify("choose two models first: c")
            return
        self.screen.minimize()
        self.remove_class("-plot")
        self.add_class("-why")
        if self.has_class("-narrow"):
            self.screen.set_focus(self.query_one("#why"))
        models = self.comparison.names[0], line.model
        if models not in self._explained:
            self._explain(models)

    @work(thread=True, exclusive=True, group="why", exit_on_error=False)
    def _explain(self, models: tuple[str, str]) -> None:
        worker, explained = get_current_worker(), self._explained

        def say(text: Content) -> None:
            explained[models] = text
            self.hand_over(self._show_why)

        def progress(label: str) -> Callable[[int, int], None]:
            def tick(done: int, total: int) -> None:
                if worker.is_cancelled or explained is not self._explained:
                    raise _Stale
                say(faint(f"{label}: {done} of {total}"))

            return tick

        say(faint("looking …"))
        try:
            explanation = explain_shown(self.dashboard.shown, models[1], self.selection, progress)
        except EmbedlabError as error:
            say(Content(f"{error.message}\n{error.hint}"))
        except _Stale:
            del explained[models]
        else:
            say(self._why_text(why_lines(explanation)))

    def _why_text(self, lines: Sequence[WhyLine]) -> Content:
        """The LINES of an explanation; numbers of kinds of items below their names."""
        kinds = [line for line in lines if isfinite(line.delta)]
        width = max(self.query_one("#why").scrollable_content_region.width - 2, 50)
        title = min(max((len(line.text) for line in kinds), default=0), width - 33)
        texts = []
        for line in lines:
            if not isfinite(line.delta):
                texts.append(Content.styled(line.text, line.style))
                continue
            interval = f"[{line.low:+z.1f}, {line.high:+z.1f}]"
            texts.append(
                Content.assemble(
                    f"{shorten_middle(line.text, title):<{title}} ",
                    (f"{line.delta:>+z7.1f}", "bold"),
                    (f"  {interval:<15}{line.items:>7,}", "$faint"),
                )
            )
        if kinds:
            head = f"{'points':>{title + 8}}  {'95%':<15}{'items':>7}"
            texts.insert(1, faint(head))
        return Content("\n").join(texts)


class _Stale(Exception):  # noqa: N818 - not an error: it is not needed any more
    """The explanation is no longer needed."""


def _number(value: float, sign: str = "") -> str:
    return f"{value:{sign}z.1f}" if isfinite(value) else "·"


def _bar(line: ForestLine, low: float, high: float, width: int, style: str) -> Content:
    """The interval of a line; the rule of 0 has the colour of rules."""
    text = forest_bar(line, low, high, width)
    content = Content.styled(text, style)
    rule = text.find("│")
    return content.stylize("$rule", rule, rule + 1) if rule >= 0 else content
