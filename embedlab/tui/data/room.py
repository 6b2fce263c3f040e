"""The Data room: histograms that filter, the table of items, and the details of one."""

import re
from collections.abc import Sequence
from pathlib import Path
from time import sleep
from typing import ClassVar

import polars as pl
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.disk import write_atomic
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.paths import typed_path
from embedlab.core.printable import without_formula
from embedlab.outcomes.property import property_names
from embedlab.tui.data.cards import item_cards
from embedlab.tui.data.histogram import Histogram
from embedlab.tui.data.model import (
    DICE,
    FILE,
    GAP,
    GOLD,
    Facts,
    View,
    bins_of,
    item_of,
    no_match_hint,
    sort_orders,
    view_of,
    with_range,
)
from embedlab.tui.data.table import ItemTable
from embedlab.tui.data.what_if import WhatIf
from embedlab.tui.plain import following
from embedlab.tui.questions import Ask
from embedlab.tui.room import PANE_KEYS, Room

HISTORY = 50  # filters that are remembered
CARD_AFTER_S = 0.04  # from then on the cursor rests: a held key moves it sooner


class FilterWords(Suggester):
    """Completes fields, datasets and models, and filters that were typed before."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.history: Sequence[str] = ()
        self.fields: Sequence[str] = ()

    async def get_suggestion(self, value: str) -> str | None:
        """The whole text that is offered for VALUE."""
        if not value.strip():
            return None
        if earlier := next(
            (filter_text for filter_text in self.history if filter_text.startswith(value)), None
        ):
            return earlier
        start = max(value.rfind(" "), value.rfind("-")) + 1
        prefix = value[start:]
        names = (name for name in self.fields if prefix and name.startswith(prefix))
        name = next(names, None)
        return value[:start] + name if name and name != prefix else None


class FilterField(Input):
    """The field of the filter: up and down go through what was typed before, tab completes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "history(1)", show=False),
        Binding("down", "history(-1)", show=False),
        Binding("tab", "cursor_right", show=False),
    ]

    def __init__(self) -> None:
        self.words = FilterWords()
        super().__init__(
            id="data-filter",
            compact=True,
            suggester=self.words,
            placeholder='filter: gold>4 dice<0.3 negation:one dataset:sick-r "a phrase" /regex/',
            max_length=4000,
        )

    def action_history(self, step: int) -> None:
        """Take a filter that was typed before."""
        lines = ["", *self.words.history]
        index = lines.index(self.value) + step if self.value in lines else step
        self.value = lines[max(0, min(index, len(lines) - 1))]
        self.cursor_position = len(self.value)


class DataRoom(Room):
    """Items of every task, with Dice and what each chosen model got on them."""

    TITLE = "Data"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "sort", "Sort", tooltip="gap, gold, Dice, model …"),
        Binding("S", "reverse", "Reverse", show=False, tooltip="the other end first"),
        Binding(
            "left_square_bracket",
            "dataset(-1)",
            "Dataset",
            show=False,
            tooltip="one dataset, or all",
        ),
        Binding("right_square_bracket", "dataset(1)", "Dataset", tooltip="one dataset, or all"),
        Binding("v", "what_if", "Vary", tooltip="edit the pair: what if"),
        Binding("space", "mark", "Mark", tooltip="mark, for export"),
        Binding("number_sign", "note", "Note", show=False, tooltip="a note on the item"),
        Binding("y", "copy", "Copy", show=False, tooltip="copy the sentences"),
        Binding("e", "export", "Export", show=False, tooltip="write the items as CSV"),
        *PANE_KEYS,
    ]
    DEFAULT_CSS = """
    DataRoom { layout: vertical; }
    DataRoom #histograms { height: 6; }
    DataRoom Histogram { width: 1fr; height: 6; }
    DataRoom #data-filter { height: 1; border: none; padding: 0 1; background: transparent; }
    DataRoom #filter-line { height: 1; }
    DataRoom #filter-sign { width: 3; padding: 0 1; text-style: bold; }
    DataRoom #filter-error { height: auto; max-height: 3; padding: 0 2; color: $text-error; display: none; }
    DataRoom #data-body { height: 1fr; layout: vertical; }
    DataRoom ItemTable { width: 1fr; height: 2fr; overflow-x: hidden; overflow-y: scroll; }
    DataRoom #item-card { width: 1fr; height: 1fr; min-height: 11; }
    DataRoom #item-card Static, DataRoom #item-card Horizontal { height: auto; }
    DataRoom #item-card #bars { width: auto; margin: 0 3 0 0; }
    DataRoom #item-card #facts { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    DataRoom.-details #item-card #facts { text-wrap: wrap; }
    DataRoom.-wide #item-card Horizontal, DataRoom.-short #item-card Horizontal { layout: vertical; }
    DataRoom.-wide #facts, DataRoom.-short #facts { margin: 1 0 0 0; width: 100%; }
    DataRoom.-wide #data-body { layout: horizontal; }
    DataRoom.-wide ItemTable { width: 2fr; }
    DataRoom.-wide #item-card { width: 1fr; max-width: 70; height: 1fr; }
    DataRoom.-wide ItemTable { height: 1fr; }
    DataRoom.-short #item-card, DataRoom.-short #histograms { display: none; }
    DataRoom.-details #item-card { display: block; width: 100%; max-width: 100%; height: 1fr; }
    DataRoom.-details ItemTable { display: none; }
    DataRoom.-what-if WhatIf { display: block; }
    DataRoom.-what-if #item-card, DataRoom.-short.-what-if ItemTable { display: none; }
    DataRoom #no-items { height: 1fr; padding: 2 4; display: none; }
    DataRoom.-empty #no-items { display: block; }
    DataRoom.-empty #data-body, DataRoom.-empty #histograms { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="data")
        self.facts: Facts | None = None
        self.view: View | None = None
        self.sort, self.is_descending = FILE, True
        self.dataset: str | None = None
        self._notes = PairNotes.load()

    def compose(self) -> ComposeResult:
        """Yield the histograms, the filter, the table and the card."""
        with Horizontal(id="histograms"):
            yield Histogram(GOLD, "$gold", id="gold-bins")
            yield Histogram(DICE, "$faint", id="dice-bins")
            yield Histogram(GAP, "$faint", id="gap-bins")
        with Horizontal(id="filter-line"):
            yield Static("/", id="filter-sign")
            yield FilterField()
        yield Static(id="filter-error", markup=False)
        yield Static(id="no-items", markup=False)
        with Horizontal(id="data-body"):
            yield ItemTable(id="items")
            with VerticalScroll(id="item-card", classes="panel") as card:
                card.border_title = "item"
                yield Static(id="sentences", markup=False)
                with Horizontal():
                    yield Static(id="bars", markup=False)
                    yield Static(id="facts", markup=False)
            yield WhatIf()

    def on_resize(self) -> None:
        """Leave out what has no room."""
        self.set_class(self.size.width >= 220, "-wide")
        self.set_class(self.size.height < 30, "-short")

    @property
    def line(self) -> FilterField:
        """The field of the filter."""
        return self.query_one(FilterField)

    @property
    def table(self) -> ItemTable:
        """The table."""
        return self.query_one(ItemTable)

    @property
    def crumbs(self) -> Sequence[str]:
        """The datasets, and the order."""
        names = self.dashboard.shown.datasets
        dataset_text = self.dataset or (
            f"{len(names)} datasets" if len(names) > 2 else ", ".join(names)
        )
        return dataset_text, f"by {self.sort}" if self.sort != FILE else ""

    def enter(self) -> None:
        """Go to the table."""
        self.screen.set_focus(self.table)

    def show(self) -> None:
        """Take the items that are shown now."""
        shown = self.dashboard.shown
        self.facts = Facts(shown) if shown.outcomes is not None else None
        memory = self.dashboard.memory
        if self.view is None:
            self.sort = memory.get("sort", FILE)
            with self.line.prevent(Input.Changed):
                self.line.value = memory.get(f"filter {self.dashboard.shown_task}", "")
        models = (f'"{name}"' if "@" in name else name for name in shown.models)
        fields = [GOLD, DICE, GAP, *models]
        fields += [f"{name}:" for name in (*property_names(), "dataset", "note")]
        self.line.words.history = memory.get("filters", [])
        self.line.words.fields = [*fields, *(f"dataset:{name}" for name in shown.datasets)]
        was_empty = self.has_class("-empty")
        self.set_class(self.facts is None, "-empty")
        if self.facts is None:
            self.say("#no-items", self.dashboard.why_empty)
            return
        self.select()
        if was_empty and self.screen.focused is not self.line and self.is_on_screen:
            self.enter()  # the focus left the table when it was hidden

    # what is shown

    @work(thread=True, exclusive=True, group="view", exit_on_error=False)
    def select(self) -> None:
        """Filter and sort in a thread."""
        facts, expression = self.facts, self.line.value
        if facts is None:
            return
        sort = self.sort if self.sort in sort_orders(facts) else FILE
        try:
            view = view_of(facts, expression, self.dataset, sort, is_descending=self.is_descending)
        except EmbedlabError as error:
            self.hand_over(self._refuse, error)
        except re.error as error:
            self.hand_over(self._refuse, EmbedlabError(f"not a pattern: {error}"))
        else:
            self.hand_over(self._take, view)
            for name in (GOLD, DICE, GAP):  # they take longer than the items
                histogram = self.query_one(f"#{name}-bins", Histogram)
                self.hand_over(histogram.show, bins_of(view, name))
        self.hand_over(self.dashboard.compare_all)

    def _refuse(self, error: EmbedlabError) -> None:
        line = self.query_one("#filter-error", Static)
        line.display = True
        line.update(f"{error.message}" + (f"  hint: {error.hint}" if error.hint else ""))

    def _take(self, view: View) -> None:
        if view.facts is not self.facts:
            return
        self.view = view
        self.query_one("#filter-error", Static).display = False
        self.table.show(view)
        if not len(view.rows):
            self._refuse(EmbedlabError("no item matches", hint=no_match_hint(view)))
        title = "items"
        if view.selection is not None:
            title += " · chosen by results" * view.selection.is_by_results
            if lacking := view.selection.datasets_without:
                title += f" · no such values: {', '.join(lacking[:3])}"
        self.table.border_title = Content(title)
        self.dashboard.remember(f"filter {self.dashboard.shown_task}", view.expression)
        self.dashboard.remember("sort", view.sort)
        self.dashboard.take_view(view)

    def on_item_table_reached(self) -> None:
        """Show the details of the item that was reached."""
        self._show_card()

    @work(thread=True, exclusive=True, group="card", exit_on_error=False)
    def _show_card(self) -> None:
        """Show the details of the item on which the cursor rests, in a thread."""
        sleep(CARD_AFTER_S)
        if get_current_worker().is_cancelled:
            return
        row, facts = self.table.row, self.facts
        card = self.query_one("#item-card")
        if row is None or facts is None:
            return
        item = item_of(facts, row)
        first_text, *other_texts = (*item.sentences, "")
        note = self._notes.text(first_text, other_texts[0]) if other_texts else ""
        width = max(card.size.width, 48) - 4
        if "vectors" not in vars(facts):  # they take a moment
            self.hand_over(self._take_card, item.title, *item_cards(item, note, width))
        nearest = facts.nearest(first_text)
        self.hand_over(self._take_card, item.title, *item_cards(item, note, width, nearest))

    def _take_card(self, title: str, *cards: Content) -> None:
        self.query_one("#item-card").border_title = Content(title)
        for name, card in zip(("sentences", "bars", "facts"), cards, strict=True):
            self.say(f"#{name}", card)

    def on_item_table_opened(self) -> None:
        """Show the details alone where they have no room beside the table."""
        self.toggle_class("-details")
        card = self.query_one("#item-card", VerticalScroll)
        self.screen.set_focus(card if self.has_class("-details") else self.table)

    # the filter

    def action_filter(self) -> None:
        """Go to the filter."""
        self.screen.set_focus(self.line)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while it is typed."""
        event.stop()
        self.select()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the table, and remember the filter."""
        event.stop()
        if event.value.strip():
            earlier_filters = self.dashboard.memory.get("filters", [])
            filters = [*dict.fromkeys([event.value, *earlier_filters])][:HISTORY]
            self.dashboard.remember("filters", filters)
            self.line.words.history = filters
        self.screen.set_focus(self.table)

    def on_histogram_brushed(self, event: Histogram.Brushed) -> None:
        """Filter by the range of a histogram."""
        line = self.line
        try:
            line.value = with_range(line.value, event.name, event.ends)
        except UsageError as error:  # what is typed there is no filter
            self._refuse(error)

    def action_back(self) -> None:
        """From the filter to the table, from the details too; then without a filter."""
        if self.has_class("-details"):
            self.remove_class("-details")
        elif self.screen.focused is self.table or self.screen.focused is self.line:
            self.line.value = ""
        self.screen.set_focus(self.table)

    # keys

    def action_sort(self) -> None:
        """Sort by the next order."""
        if self.facts is not None:
            self.sort_by(following(sort_orders(self.facts), self.sort))

    def sort_by(self, order: str) -> None:
        """Sort by ORDER, the largest first."""
        self.sort, self.is_descending = order, True
        self.select()

    def action_reverse(self) -> None:
        """Show the other end first."""
        self.is_descending = not self.is_descending
        self.select()

    def action_dataset(self, step: int) -> None:
        """Show the next dataset alone, or all."""
        names = [None, *self.dashboard.shown.datasets]
        self.show_dataset(following(names, self.dataset, step))

    def show_dataset(self, name: str | None) -> None:
        """Show the dataset called NAME alone, or all."""
        self.dataset = name
        self.select()

    @property
    def panes(self) -> Sequence[Widget]:
        """Table, card and histograms."""
        return [self.table, self.query_one("#item-card"), *self.query(Histogram)]

    def action_mark(self) -> None:
        """Mark the item under the cursor."""
        if (row := self.table.row) is not None:
            self.table.marked ^= {row}
            self.table.refresh()
            self.table.action_move(1)

    def _sentences(self, row: int) -> tuple[str, str]:
        assert self.facts is not None
        columns = (self.facts.outcomes.column(name) for name in ("sentence1", "sentence2"))
        first, second = (column[row] or "" for column in columns)
        return first, second

    def action_what_if(self) -> None:
        """Edit both sentences of the item."""
        row, facts = self.table.row, self.facts
        if row is None or facts is None:
            return
        pair = self._sentences(row)
        if not all(pair):
            self.app.notify("this item has one sentence")
            return
        self.add_class("-what-if")
        stored_scores = {name: float(values[row]) for name, values in facts.predictions.items()}
        places = {name: place for place, name in enumerate(facts.shown.models)}
        self.query_one(WhatIf).open(pair, stored_scores, places, self.dashboard.settings)

    def on_what_if_left(self) -> None:
        """Show the card again."""
        self.remove_class("-what-if")
        self.screen.set_focus(self.table)

    def action_copy(self) -> None:
        """Copy both sentences of the item."""
        if (row := self.table.row) is not None:
            self.app.copy_to_clipboard("\n".join(filter(None, self._sentences(row))))
            self.app.notify("copied")

    @work(group="note", exit_on_error=False)
    async def action_note(self) -> None:
        """Write a note on the item."""
        if (row := self.table.row) is None:
            return
        pair = self._sentences(row)
        note = await self.app.push_screen_wait(Ask("A note on this item", self._notes.text(*pair)))
        if note is None:
            return
        await self.do(lambda: self._notes.change(*pair, note), "noted")
        self._show_card()

    @work(group="export", exit_on_error=False)
    async def action_export(self) -> None:
        """Write the marked items, or all that are shown."""
        view = self.view
        if view is None:
            return
        rows = sorted(self.table.marked) or view.rows.tolist()
        question = f"Write {len(rows):,} items as CSV to"
        path = await self.app.push_screen_wait(Ask(question, "items.csv"))
        if not path:
            return
        message = f"wrote {len(rows):,} items to {path}"
        await self.do(lambda: write_items(typed_path(path), view.facts, rows), message)


def write_items(path: Path, facts: Facts, rows: Sequence[int]) -> None:
    """Write the items in ROWS as CSV, classes by their names; PATH must be new."""
    if path.exists():
        raise UsageError(f"{str(path)!r} exists already", hint="name another file")
    outcomes = facts.outcomes
    facts_of_items = ("dataset", "item", "sentence1", "sentence2")
    texts = pl.col(pl.String).map_elements(without_formula, return_dtype=pl.String)
    items = pl.DataFrame([outcomes.column(name) for name in facts_of_items]).with_columns(texts)
    for name in (GOLD, DICE, *facts.predictions):
        column = pl.Series(name, facts.numbers(name))
        classes = outcomes.class_names(column) if name != DICE else pl.Series()
        if classes.count():
            column = classes.fill_null(column.cast(pl.String))
        items = items.with_columns(column.alias(name))
    write_atomic(path, items[rows].write_csv())
