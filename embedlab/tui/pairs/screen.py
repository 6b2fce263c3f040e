"""The Pairs screen: filter bar, table and details of the pair under the cursor."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Static

from embedlab.analysis.expressions import NOTE, TRAINED
from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import EmbedlabError, UnknownFieldError
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, TextDialog
from embedlab.tui.model_chooser import ChooserLine
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.view import PairView, ShownPairs
from embedlab.tui.pairs.columns import OPTIONAL, longest_origin, numbers_fit, pair_columns
from embedlab.tui.pairs.details import PairDetails
from embedlab.tui.pairs.narrowing import PairNarrowing
from embedlab.tui.pairs.pair_detail import COLUMNS_FROM, PairDetail
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_lines import FrameColumn
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.text import QuickText

MARK_LIMIT = 2_000
DETAIL_CELLS = 60  # of the details beside the table
DETAIL_LINES = 8  # border, place, two sentences, one more where one wraps, a blank, gold and gap


class PairsScreen(PairDetails, PairNarrowing):
    """Browse, filter, sort, mark, copy and export pairs."""

    SCOPE: ClassVar[KeyScope] = "pairs"
    BINDINGS: ClassVar[list[BindingType]] = bindings("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.view: PairView | None = None
        self._origin_needs = 0  # cells of the longest dataset, source and pair

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="filter-line"):
            yield FilterBar()
            yield QuickText("reading pairs", id="pair-count", classes="status", markup=False)
        yield Static("", id="pair-marks", classes="status", markup=False)
        yield Static("", id="filter-hint", classes="status", markup=False)
        with Container(id="pairs-body"):
            yield FrameTable(id="pair-table")
            yield PairDetail(id="pair-detail", classes="pane")
            yield Static("", id="no-pairs", classes="empty", markup=False)

    def on_mount(self) -> None:
        for part in ("#no-pairs", "#pair-marks", "#filter-hint"):
            self.query_one(part).display = False
        self.set_focus(self.query_one(FrameTable))

    # data and view

    def show_data(self, data: PairData) -> None:
        """Show new pairs or models with the present filter, order and marks."""
        data = self.with_notes(data)
        state = self.dashboard.memory.state.pairs
        old = self.view
        dataset = old.dataset if old else state.dataset
        sort = old.sort if old else state.sort
        self.view = PairView(
            data=data,
            dataset=dataset,
            sort=sort,
            is_descending=old.is_descending if old else state.is_descending,
            only_marked=old.only_marked if old else False,
            once=old.once if old else False,
            within=old.within if old and data.table["pair_key"].equals(old.data.table["pair_key"]) else None,  # it holds row numbers
        )
        if old and data.table["pair_key"].equals(old.data.table["pair_key"]):
            self.view.marks, self.view.absent_marks = old.marks, old.absent_marks  # by row: two equal pairs have one key
        else:
            self.view.mark_keys(old.marked_keys if old else state.marks)
        bar = self.query_one(FilterBar)
        if old is None and state.filter and not bar.value and self.dashboard.place_of_data == state.filter_of:
            with self.prevent(FilterBar.Changed):
                bar.value = state.filter
        self._origin_needs = longest_origin(data.table)
        self._fit_detail()
        self._show_emptiness(data)
        self._refine(bar.value, keeps_row=old is not None)

    def _show_emptiness(self, data: PairData) -> None:
        empty = self.query_one("#no-pairs", Static)
        empty.display = is_empty = data.table.is_empty()
        for part in ("#pair-table", "#pair-detail"):
            self.query_one(part).display = not is_empty
        self.settle_focus(self.query_one(FrameTable))
        if is_empty:
            why = "\n".join(list(dict.fromkeys(data.missing))[:3])
            empty.update(f"no pairs available\n\n{why}\n\nstart again with --data DIR, --sample, or --pairs FILE for your own")

    def _refine(self, query: str, *, keeps_row: bool = False) -> None:
        if self.view is None:
            return
        bar = self.query_one(FilterBar)
        try:
            self.view.refine(query)
        except EmbedlabError as error:
            bar.add_class("-wrong")
            if self.query_one(FrameTable).frame is not self.view.data.table:  # the filter was valid for the previous pairs
                self._last_filter = ""
                self._show_view(keeps_row=keeps_row)
            self._show_hint(error.hint if isinstance(error, UnknownFieldError) else self._faced)
            what = error.reason.splitlines()[0]
            rows = f"rows of {self._last_filter!r}" if self._last_filter else "all rows"
            self._show_status([what, rows], " · ")
            return
        bar.remove_class("-wrong")
        self._show_hint(self._faced)
        self._last_filter = query
        self._show_view(keeps_row=keeps_row)

    def _show_hint(self, hint: str) -> None:
        """Show two models face to face, or the fields of the filter language below a filter that names another."""
        line = self.query_one("#filter-hint", Static)
        line.display = bool(hint)
        line.update(hint)

    def _show_view(self, *, keeps_row: bool = False) -> None:
        view = self.view
        if view is None:
            return
        if not view.data.table.is_empty() and not self.is_sortable(view.sort, self.exported_columns()):
            view.sort, view.is_descending = None, False
        rows = view.rows()
        title = " · ".join(part for part in (self._place, self._last_filter) if part)
        self.dashboard.shown = ShownPairs(data=self.published or view.data, rows=rows, title=title)
        table = self.query_one(FrameTable)
        table.marks = view.marks
        table.show(
            view.data.table,
            rows,
            self._columns(view),
            sorted_by=view.sort,
            is_descending=view.is_descending,
            stay_on=table.current_row if keeps_row else None,
            emptiness=self._emptiness,
        )
        self._show_count(len(rows))
        self._remember()

    def _columns(self, view: PairView) -> list[FrameColumn]:
        """The columns of the table: of one dataset without the origin, and with the sentences stacked where the numbers need the room."""
        is_one = view.shown_dataset is not None or len(view.data.datasets) == 1
        needs = None if is_one else self._origin_needs
        beside = pair_columns(*self._chosen_columns(view), added=_added(view), origin_needs=needs)
        stacked = self.dashboard.memory.state.pairs.stacked
        room = self.size.width - (DETAIL_CELLS if self.has_class("-wide") else 0) - 1  # the scrollbar
        if not (stacked if stacked is not None else not numbers_fit(beside, room)):
            return beside
        return pair_columns(*self._chosen_columns(view), added=_added(view), origin_needs=needs, is_stacked=True)

    def exported_columns(self) -> list[FrameColumn]:
        """Every column that is not hidden."""
        return pair_columns(*self._chosen_columns(self.view), added=_added(self.view)) if self.view is not None else []

    def _chosen_columns(self, view: PairView) -> tuple[list[str], Sequence[str], Pairing | None]:
        return [model.name for model in view.data.models], self.dashboard.memory.state.pairs.hidden, view.data.pairing

    def _show_count(self, shown: int) -> None:
        view = self.view
        if view is None:
            return
        total = view.data.table.height
        count = f"{shown:,} pairs" if shown == total else f"{shown:,} of {total:,} pairs"
        marks = f"● {len(view.marks)}" if view.marks else ""
        once = "each once" if view.once else ""
        self._show_status([part for part in (self._place, count, once, marks, *view.data.marks) if part])

    def _show_status(self, parts: Sequence[str], between: str = "  ") -> None:
        """Show PARTS beside the filter in at most half of its line, those without room there on a line of their own."""
        room = self.size.width // 2 - 2  # without the padding
        fitting = next((count for count in range(len(parts), 0, -1) if cell_len(between.join(parts[:count])) <= room), 0)
        rest = self.query_one("#pair-marks", Static)
        rest.display = fitting < len(parts)
        rest.update(" · ".join(parts[fitting:]))
        self.query_one("#pair-count", QuickText).change(between.join(parts[:fitting]))

    @property
    def _emptiness(self) -> str:
        """What leaves no pairs in the table, where there are none."""
        view = self.view
        if view is None:
            return ""
        causes = [
            f"the filter {self._last_filter!r}" if self._last_filter else "",
            f"dataset {view.shown_dataset}" if view.shown_dataset else "",
        ]
        causes += [f"the pairs of {view.within.title}" if view.within else "", "marked pairs alone" if view.only_marked else ""]
        return f"no pair is left by {' and '.join(cause for cause in causes if cause)} · esc goes back"

    @property
    def _place(self) -> str:
        """The slice or dataset of the view."""
        view = self.view
        return "" if view is None else view.within.title if view.within else view.shown_dataset or ""

    def _remember(self) -> None:
        view, state = self.view, self.dashboard.memory.state
        if view is None or view.data.table.is_empty() or self.dashboard.pair_file is not None:  # not the view to restore
            return
        pairs = replace(
            state.pairs,
            filter=self.query_one(FilterBar).value,
            filter_of=self.dashboard.place_of_data,
            dataset=view.dataset,
            sort=view.sort,
            is_descending=view.is_descending,
            marks=tuple(view.marked_keys[:MARK_LIMIT]),
        )
        self.dashboard.remember(replace(state, pairs=pairs))

    def on_resize(self) -> None:
        """Fit the details to the terminal."""
        self._fit_detail()
        if self.view is not None:
            self._show_count(len(self.query_one(FrameTable).rows))
        if self.view is not None and self.query_one(FrameTable).columns != tuple(self._columns(self.view)):
            self._show_view(keeps_row=True)

    def _fit_detail(self) -> None:
        """Give the details the lines of all models where they are below the table, but at most two fifths of the screen.

        Where they have columns, they have more to show than the models.
        """
        models = len(self.view.data.models) if self.view else 0
        most = max(9, self.size.height * 2 // 5)
        lines = most if self.size.width >= COLUMNS_FROM else min(DETAIL_LINES + models, most)
        if self.maximized is None:
            self.query_one(PairDetail).styles.height = "1fr" if self.has_class("-wide") else lines

    # messages of the widgets

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Filter after each key."""
        self._refine(event.query)

    def on_filter_bar_left(self) -> None:
        """Go from the filter to the table."""
        self.set_focus(self.query_one(FrameTable))

    def on_frame_table_row_opened(self) -> None:
        """Focus the details, so that a long pair can be scrolled."""
        self.query_one(PairDetail).focus()

    def on_frame_table_sort_requested(self, event: FrameTable.SortRequested) -> None:
        """Sort by a column, numbers largest first; the same column again reverses the order."""
        view = self.view
        if view is None:
            return
        if event.key is None:
            view.is_descending = not view.is_descending
        elif event.key != view.sort:
            view.sort, view.is_descending = event.key, view.data.table[event.key].dtype.is_numeric()
        else:
            view.is_descending = not view.is_descending
        self._show_view()

    def on_frame_table_mark_requested(self, event: FrameTable.MarkRequested) -> None:
        """Mark a pair or remove its mark."""
        if self.view is not None:
            self.view.toggle_mark(event.row)
            self._marks_changed()

    def columns_changed(self) -> None:
        """Show the notes and marks as they are now, in the table and below it."""
        if self.view is not None:
            self._refine(self.query_one(FilterBar).value, keeps_row=True)
            self._show_pair(self.query_one(FrameTable).current_row)

    def _marks_changed(self) -> None:
        if self.view is None:
            return
        if self.view.only_marked:
            self._show_view(keeps_row=True)
            return
        table = self.query_one(FrameTable)
        table.show_marks(self.view.marks)
        self._show_count(len(table.rows))
        self._remember()

    # keys

    def action_filter(self) -> None:
        """Focus the filter bar at once: the next keys must not act on the table."""
        self.set_focus(self.query_one(FilterBar))

    def action_back(self) -> None:
        """Clear the filter or go to the table; from there show all pairs again."""
        bar, table = self.query_one(FilterBar), self.query_one(FrameTable)
        if self.maximized is not None:
            self.minimize()
        elif bar.value and (self.focused is bar or table.has_focus):
            bar.value = ""
        elif not table.has_focus:
            table.focus()
        elif self.view is not None and self.view.only_marked:
            self.action_only_marked()
        elif self.view is not None and self.view.within is not None:
            self.view.within = None
            self._show_view(keeps_row=True)
        elif self.view is not None and self.view.data.pairing is not None:
            self.dashboard.face(None)

    def action_dataset(self, by: int) -> None:
        """Go to the next dataset; all datasets together come before the first and after the last."""
        if self.view is None:
            return
        choices: Sequence[str | None] = [None, *self.view.data.datasets]
        self.view.within = None
        self.view.dataset = choices[(choices.index(self.view.shown_dataset) + by) % len(choices)]
        self._show_view()

    def action_once(self) -> None:
        """Show a pair that several datasets share once, or each of its copies again."""
        if self.view is not None:
            self.view.once = not self.view.once
            self._show_view(keeps_row=True)

    def action_stack(self) -> None:
        """Show each pair on two lines with the differing words highlighted, or on one."""
        if self.view is None:
            return
        state = self.dashboard.memory.state
        is_stacked = any(column.below for column in self.query_one(FrameTable).columns)
        self.dashboard.remember(replace(state, pairs=replace(state.pairs, stacked=not is_stacked)))
        self._show_view(keeps_row=True)

    def action_only_marked(self) -> None:
        """Show only the marked pairs, or all again."""
        if self.view is not None and (self.view.marks or self.view.only_marked):
            self.view.only_marked = not self.view.only_marked
            self._show_view(keeps_row=True)

    def action_next_mark(self, by: int) -> None:
        """Go to the next or previous marked pair."""
        table = self.query_one(FrameTable)
        places = [place for place, row in enumerate(table.rows.tolist()) if row in table.marks]
        later = [place for place in places if (place - table.cursor_row) * by > 0]
        if later:
            table.cursor_row = later[0] if by > 0 else later[-1]

    def action_clear_marks(self) -> None:
        """Remove all marks."""
        if self.view is not None:
            self.view.clear_marks()
            self._show_view(keeps_row=True)

    @work(group=DIALOG)
    async def action_columns(self) -> None:
        """Choose the models and the columns."""
        state = self.dashboard.memory.state.pairs
        columns = [ChooserLine(label=name, value=f"column:{name}") for name in OPTIONAL]
        present = [one.value for one in columns if one.label not in state.hidden]
        if (chosen := await self.dashboard.models_dialog("Models and columns", columns, present)) is None:
            return
        hidden = tuple(name for name in OPTIONAL if f"column:{name}" not in chosen)
        self.dashboard.remember(replace(self.dashboard.memory.state, pairs=replace(state, hidden=hidden)))
        await self.dashboard.take_models([value.removeprefix("model:") for value in chosen if value.startswith("model:")])
        self._show_view(keeps_row=True)

    @work(group=DIALOG)
    async def action_add_model(self) -> None:
        """Score the pairs with another model."""
        from embedlab.models.aliases import declared
        from embedlab.models.catalog import model_names, resolve

        runs = self.dashboard.settings.runs_folder
        dialog = TextDialog(
            "Model to score the pairs with",
            hint="a run, folder, hub id, catalog name or average:a,b; NAME=MODEL names it.",
            suggestions=model_names(runs),
            check=lambda name: resolve(declared(name), runs),
        )
        if name := await self.app.push_screen_wait(dialog):
            self.dashboard.score_model(declared(name))

    def action_score_pair(self) -> None:
        """Open the dialog in which the pair under the cursor is edited, or two sentences typed."""
        from embedlab.tui.pairs.what_if import WhatIf
        from embedlab.tui.pairs.what_if_screen import WhatIfScreen

        pair = WhatIf.of(self.view.data, self.query_one(FrameTable).current_row) if self.view else WhatIf()
        self.app.push_screen(WhatIfScreen(pair))


def _added(view: PairView) -> list[str]:
    """The columns that were found or written while the pairs are shown."""
    return [name for name in (TRAINED, NOTE) if name in view.data.table.columns]
