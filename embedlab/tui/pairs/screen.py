"""The Pairs screen: filter bar, table and details of the pair under the cursor."""

from asyncio import to_thread
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import polars as pl
from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Static

from embedlab.analysis.expressions import NOTE, TRAINED
from embedlab.core.errors import EmbedlabError, UnknownFieldError, UsageError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.dialogs import DIALOG, TextDialog
from embedlab.tui.face_to_face import described
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_chooser import ChooserLine
from embedlab.tui.pair_table.data import ANSWER, PairData
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.pairs.columns import OPTIONAL
from embedlab.tui.pairs.copies import copy_pair, copy_view, export_view
from embedlab.tui.pairs.model import (
    PairsModel,
    compared_pair,
    counts,
    emptiness,
    exported_columns,
    has_words,
    next_dataset,
    next_verdict,
    pair_words,
    shown_pair,
    sort_by,
)
from embedlab.tui.pairs.pair_detail import COLUMNS_FROM, PairDetail
from embedlab.tui.pairs.shown_pair import ShownPair
from embedlab.tui.pairs.what_if import WhatIf
from embedlab.tui.pairs.word_effects import next_view
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_lines import FrameColumn
from embedlab.tui.widgets.frame_table import FrameTable
from embedlab.tui.widgets.text import QuickText

if TYPE_CHECKING:
    from embedlab.tui.pairs.facts import FactFinder

DETAIL_CELLS = 60  # of the details beside the table
WORD_LINES = 4  # of the details with the effects of words
DETAIL_LINES = 8  # border, place, two sentences, one more where one wraps, a blank, gold and gap


class PairsScreen(DashboardScreen):
    """Browse, filter, sort, mark, copy and export pairs."""

    SCOPE: ClassVar[KeyScope] = "pairs"
    BINDINGS: ClassVar[list[BindingType]] = bindings("pairs")
    IS_OF_SELECTION = True

    def __init__(self) -> None:
        super().__init__()
        self.model = PairsModel()

    def compose_body(self) -> ComposeResult:
        """Yield the filter with its marks, and the table with the details."""
        with Horizontal(id="filter-line"):
            yield FilterBar()
            yield QuickText("reading pairs", id="pair-count", classes="status", markup=False)
        yield Static("", id="pair-marks", classes="status marks", markup=False)
        yield Static("", id="filter-hint", classes="status", markup=False)
        with Container(id="pairs-body"):
            yield FrameTable(id="pair-table")
            yield PairDetail(id="pair-detail", classes="pane")
            yield Static("", id="no-pairs", classes="empty", markup=False)

    def on_mount(self) -> None:
        """Follow the selection from now on."""
        for selector in ("#no-pairs", "#pair-marks", "#filter-hint"):
            self.query_one(selector).display = False
        self.dashboard.selected.changed.subscribe(self, self._selection_changed)
        self.query_one(PairDetail).scorer = self.dashboard.scorer_process
        self.set_focus(self.query_one(FrameTable))

    # data and view

    @property
    def view(self) -> PairView | None:
        """The selected pairs in their order, which all screens share."""
        return self.dashboard.selected.view

    def show_data(self, data: PairData) -> None:
        """Show new pairs or models with the present selection, order and marks."""
        row = self.model.take(data, self.query_one(FrameTable).current_row)
        self.query_one(PairDetail).find_trained(partial(self._fact_finder, data))
        self._fit_detail()
        self._show_emptiness(data)
        self._show_selection(stay_on=row)

    def _show_emptiness(self, data: PairData) -> None:
        empty = self.query_one("#no-pairs", Static)
        empty.display = bool(data.why_empty)
        empty.update(data.why_empty)
        for selector in ("#pair-table", "#pair-detail"):
            self.query_one(selector).display = not data.why_empty
        self.settle_focus(self.query_one(FrameTable))

    def _selection_changed(self, is_other: bool) -> None:
        self._show_selection(stay_on=None if is_other else self.query_one(FrameTable).current_row)

    def _show_selection(self, *, stay_on: int | None) -> None:
        """Show what is selected, and in the filter line by what; an expression with an error stays
        there to be corrected.
        """
        selected, bar = self.dashboard.selected, self.query_one(FilterBar)
        if bar.value != selected.typed:
            with self.prevent(FilterBar.Changed):
                bar.value = selected.typed
        bar.set_class(selected.error is not None, "-wrong")
        self._show_view(stay_on=stay_on)
        if selected.error is None:
            self._show_hint(self._faced)
            return
        error, expression = (
            selected.error,
            self.view.selection.expression if self.view is not None else "",
        )
        self._show_hint(error.hint if isinstance(error, UnknownFieldError) else self._faced)
        rows = f"rows of {expression!r}" if expression else "all rows"
        self._show_status([error.reason.splitlines()[0], rows], " · ")

    @property
    def _faced(self) -> str:
        """Two models face to face, and what is right and wrong."""
        pairing = self.view.data.pairing if self.view else None
        return described(pairing) if pairing is not None else ""

    def _show_hint(self, hint: str) -> None:
        """Show two models face to face, or the fields of the filter language below a filter that
        names another.
        """
        line = self.query_one("#filter-hint", Static)
        line.display = bool(hint)
        line.update(hint)

    def _show_view(self, *, stay_on: int | None = None) -> None:
        view = self.view
        if view is None:
            return
        if not view.data.table.is_empty() and not self.is_sortable(
            view.sort, self.exported_columns()
        ):
            view.sort, view.is_descending = None, False
        rows = view.rows()
        table = self.query_one(FrameTable)
        table.marks = view.marks
        table.show(
            view.data.table,
            rows,
            self._columns(view),
            sorted_by=view.sort,
            is_descending=view.is_descending,
            stay_on=self.dashboard.selected.taken_row(stay_on),
            emptiness=emptiness(view),
        )
        self._show_count(len(rows))

    def _columns(self, view: PairView) -> list[FrameColumn]:
        """The columns of the table: of one dataset without the origin, and with the sentences
        stacked where the numbers need the room.
        """
        room = (
            self.size.width - (DETAIL_CELLS if self.has_class("-wide") else 0) - 1
        )  # the scrollbar
        return self.model.columns(
            view, self._hidden, stacked=self.dashboard.memory.state.pairs.stacked, room=room
        )

    def exported_columns(self) -> list[FrameColumn]:
        """Every column that is not hidden."""
        return exported_columns(self.view, self._hidden) if self.view is not None else []

    @property
    def _hidden(self) -> Sequence[str]:
        return self.dashboard.memory.state.pairs.hidden

    def _show_count(self, shown: int) -> None:
        if self.view is not None:
            self._show_status(counts(self.view, shown))

    def _show_status(self, parts: Sequence[str], between: str = "  ") -> None:
        """Show PARTS beside the filter in at most half of its line, those without room there on a
        line of their own.
        """
        room = self.size.width // 2 - 2  # without the padding
        fitting = next(
            (
                count
                for count in range(len(parts), 0, -1)
                if cell_len(between.join(parts[:count])) <= room
            ),
            0,
        )
        rest = self.query_one("#pair-marks", Static)
        rest.display = fitting < len(parts)
        rest.update(" · ".join(parts[fitting:]))
        self.query_one("#pair-count", QuickText).change(between.join(parts[:fitting]))

    def on_resize(self) -> None:
        """Fit the details to the terminal."""
        self._fit_detail()
        if self.view is not None:
            self._show_count(len(self.query_one(FrameTable).rows))
        if self.view is not None and self.query_one(FrameTable).columns != tuple(
            self._columns(self.view)
        ):
            self._show_view(stay_on=self.query_one(FrameTable).current_row)

    def _fit_detail(self) -> None:
        """Give the details the lines of all models where they are below the table, but at most two
        fifths of the screen.

        Where they have columns, they have more to show than the models.
        """
        models, has_words = (
            len(self.view.data.models) if self.view else 0,
            self.model.word_view is not None,
        )
        most = max(9, self.size.height // 2 if has_words else self.size.height * 2 // 5)
        needs = DETAIL_LINES + models + (WORD_LINES if has_words else 0)
        lines = most if self.size.width >= COLUMNS_FROM else min(needs, most)
        if self.maximized is None:
            self.query_one(PairDetail).styles.height = "1fr" if self.has_class("-wide") else lines

    # details of the pair under the cursor

    def _fact_finder(self, data: PairData) -> "FactFinder":
        known = self.dashboard
        return self.model.finder(data, known.stored, known.settings, known.training_texts)

    def shown_pair(self, row: int | None) -> ShownPair | None:
        """The pair in ROW without the facts that take time."""
        if self.view is None or row is None or row >= self.view.data.table.height:
            return None
        data = self.view.data
        first, second = data.table["sentence1"][row], data.table["sentence2"][row]
        words = pair_words(data, row, self._compared(data), self.model.word_view)
        return shown_pair(data, row, note=self.dashboard.notes.text(first, second), words=words)

    def _compared(self, data: PairData) -> list[str]:
        names = [model.name for model in data.models]
        return compared_pair(names, self.dashboard.reference(names), self.model_under_cursor)

    def _pair_and_finder(self, row: int | None) -> "tuple[ShownPair, int, FactFinder] | None":
        if not self.query(
            FrameTable
        ):  # the dashboard is ending, and its widgets go one after the other
            return None
        shown, data = self.shown_pair(row), self.dashboard.data
        return (
            (shown, row, self._fact_finder(data))
            if shown is not None and row is not None and data is not None
            else None
        )

    def on_frame_table_row_reached(self, event: FrameTable.RowReached) -> None:
        """Show the details of the pair."""
        self.query_one(PairDetail).follow(partial(self._pair_and_finder, event.row))

    def on_pair_detail_trained_found(self, event: PairDetail.TrainedFound) -> None:
        """Add the column of who was trained on a pair, unless others were loaded meanwhile."""
        view = self.view
        if (
            view is not None
            and self.model.is_present(event.finder)
            and len(event.column) == view.data.table.height
        ):
            view.replace_columns(view.data.table.with_columns(event.column))
            self._columns_changed()

    def _columns_changed(self) -> None:
        """Show the notes and marks as they are now, in the table and below it; what the filter
        reads may have changed.
        """
        if self.view is None:
            return
        if {NOTE, TRAINED} & self.view.read:
            self.view.refine(self.view.selection.expression)
        self.dashboard.selected.changed_view()
        self._show_detail()

    def action_words(self) -> None:
        """Show what each word of the pair does: to the difference of two models, under A, under B,
        and no more.
        """
        if self.view is None or not has_words(self.view.data) or not self.view.data.models:
            self.dashboard.report(
                UsageError(
                    "words have effects on the similarity of two sentences",
                    hint="choose a model and pairs of sentences",
                ),
                severity="warning",
            )
            return
        detail, before = self.query_one(PairDetail), self.model.word_view
        self.model.word_view = view = next_view(before, len(self.view.data.models))
        self._fit_detail()
        if (
            before is not None
            and view is not None
            and detail.pair is not None
            and detail.pair.words is not None
        ):
            detail.show(replace(detail.pair, words=replace(detail.pair.words, view=view)))
        else:
            self._show_detail()

    def _show_detail(self) -> None:
        """Show the pair under the cursor anew."""
        row = self.query_one(FrameTable).current_row
        self.query_one(PairDetail).show_with_facts(partial(self._pair_and_finder, row))

    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Write a note on the pair under the cursor, or change or delete it."""
        shown = self.shown_pair(self.query_one(FrameTable).current_row)
        if shown is None:
            return
        dialog = TextDialog(
            "Note on this pair", value=shown.note, hint="an empty one is deleted.", allow_empty=True
        )
        text = await self.app.push_screen_wait(dialog)
        if text is None or text == shown.note:
            return
        try:
            await to_thread(
                self.dashboard.notes.change, shown.row["sentence1"], shown.row["sentence2"], text
            )
        except EmbedlabError as error:
            self.dashboard.report(error)
        else:
            if self.view is not None:
                self.view.replace_columns(self.dashboard.notes.joined(self.view.data.table))
            self._columns_changed()

    # messages of the widgets

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Filter after each key."""
        self.dashboard.selected.type(event.query)

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
        sort_by(view, event.key)
        self._show_view()
        self.dashboard.remember_view()

    def on_frame_table_mark_requested(self, event: FrameTable.MarkRequested) -> None:
        """Mark a pair or remove its mark."""
        if self.view is None:
            return
        self.view.toggle_mark(event.row)
        if self.view.selection.only_marked:
            self.dashboard.selected.changed_view()
            return
        table = self.query_one(FrameTable)
        table.show_marks(self.view.marks)
        self._show_count(len(table.rows))
        self.dashboard.remember_view()

    @property
    def model_under_cursor(self) -> str | None:
        """The model of the column under the cursor."""
        column = self.query_one(FrameTable).current_column
        return (
            column.key.removeprefix(ANSWER).removeprefix("error(").removesuffix(")")
            if column is not None
            else None
        )

    # keys

    def action_filter(self) -> None:
        """Focus the filter bar at once: the next keys must not act on the table."""
        self.set_focus(self.query_one(FilterBar))

    def action_back(self) -> None:
        """Leave the pane, undo the last narrowing, return to where the pairs were opened, or show
        all of them again.
        """
        bar, table, selected = (
            self.query_one(FilterBar),
            self.query_one(FrameTable),
            self.dashboard.selected,
        )
        selection = self.view.selection if self.view is not None else None
        if self.maximized is not None:
            self.minimize()
        elif self.focused is bar and bar.value:
            selected.type("")
        elif not table.has_focus:
            table.focus()
        elif selected.is_as_opened(self.SCOPE):
            selected.back()
        elif selected.path and selected.path[-1].shown_on == self.SCOPE:
            selected.select(selected.path[-1].opened)
        elif bar.value:
            selected.type("")
        elif selection is not None and selection.only_marked:
            self.action_only_marked()
        elif selection is not None and selection.within is not None:
            selected.select(replace(selection, within=None))
        elif self.view is not None and self.view.data.pairing is not None:
            self.dashboard.face(None)

    def action_dataset(self, by: int) -> None:
        """Go to the next dataset; all datasets together come before the first and after the
        last.
        """
        if (view := self.view) is None:
            return
        self.dashboard.selected.select(
            replace(view.selection, within=None, dataset=next_dataset(view, by))
        )

    def action_once(self) -> None:
        """Show a pair that several datasets share once, or each of its copies again."""
        if self.view is not None:
            self.dashboard.selected.select(
                replace(self.view.selection, once=not self.view.selection.once)
            )

    def action_verdict(self) -> None:
        """Filter by the pairs on which A is right and B wrong, then the other way round, both
        wrong, both right, and all.
        """
        if self.view is None or self.view.data.pairing is None:
            self.dashboard.report(
                UsageError(
                    "no two models are face to face",
                    hint=f"press {shown_key('face')} to choose them",
                ),
                severity="warning",
            )
            return
        self.dashboard.selected.type(next_verdict(self.view.selection.expression))

    def action_stack(self) -> None:
        """Show each pair on two lines with the differing words highlighted, or on one."""
        if self.view is None:
            return
        state = self.dashboard.memory.state
        is_stacked = any(column.below for column in self.query_one(FrameTable).columns)
        self.dashboard.remember(replace(state, pairs=replace(state.pairs, stacked=not is_stacked)))
        self._show_view(stay_on=self.query_one(FrameTable).current_row)

    def action_only_marked(self) -> None:
        """Show only the marked pairs, or all again."""
        if self.view is not None and (self.view.marks or self.view.selection.only_marked):
            self.dashboard.selected.select(
                replace(self.view.selection, only_marked=not self.view.selection.only_marked)
            )

    def action_next_mark(self, by: int) -> None:
        """Go to the next or previous marked pair."""
        table = self.query_one(FrameTable)
        marked = [index for index, row in enumerate(table.rows.tolist()) if row in table.marks]
        later = [index for index in marked if (index - table.cursor_row) * by > 0]
        if later:
            table.cursor_row = later[0] if by > 0 else later[-1]

    def action_clear_marks(self) -> None:
        """Remove all marks."""
        if self.view is not None:
            self.view.clear_marks()
            self.dashboard.selected.changed_view()

    def _shown_frame(self) -> pl.DataFrame:
        """The view as a frame with its columns, rows and order, also those that are folded away."""
        table = self.query_one(FrameTable)
        frame = table.frame.select(key for column in self.exported_columns() for key in column.keys)
        return frame[table.rows]

    def action_copy_pair(self) -> None:
        """Copy both sentences and all numbers of a pair."""
        if (shown := self.shown_pair(self.query_one(FrameTable).current_row)) is not None:
            copy_pair(self, shown.row)

    def action_copy_view(self) -> None:
        """Copy the table as shown."""
        copy_view(self, self._shown_frame())

    @work(group=DIALOG)
    async def action_export(self) -> None:
        """Write the view to a file."""
        await export_view(self, self._shown_frame())

    @work(group=DIALOG)
    async def action_columns(self) -> None:
        """Choose the models and the columns."""
        state = self.dashboard.memory.state.pairs
        columns = [ChooserLine(label=name, value=f"column:{name}") for name in OPTIONAL]
        present = [column.value for column in columns if column.label not in state.hidden]
        if (
            chosen := await self.dashboard.models_dialog("Models and columns", columns, present)
        ) is None:
            return
        hidden = tuple(name for name in OPTIONAL if f"column:{name}" not in chosen)
        self.dashboard.remember(
            replace(self.dashboard.memory.state, pairs=replace(state, hidden=hidden))
        )
        await self.dashboard.take_models(
            [value.removeprefix("model:") for value in chosen if value.startswith("model:")]
        )
        self._show_view(stay_on=self.query_one(FrameTable).current_row)

    @work(group=DIALOG)
    async def action_add_model(self) -> None:
        """Score the pairs with another model."""
        from embedlab.models.aliases import declared
        from embedlab.models.catalog import model_names, resolve

        runs = self.dashboard.settings.runs
        dialog = TextDialog(
            "Model to score the pairs with",
            hint="a run, folder (→ completes it), hub id, catalog name or average:a,b; NAME=MODEL "
            "names it.",
            suggestions=model_names(runs),
            check=lambda name: resolve(declared(name), runs),
        )
        if name := await self.app.push_screen_wait(dialog):
            self.dashboard.score_model(declared(name))

    def action_score_pair(self) -> None:
        """Open the dialog in which the pair under the cursor is edited, or two sentences typed."""
        from embedlab.tui.pairs.what_if_screen import WhatIfScreen

        pair = (
            WhatIf.of(self.view.data, self.query_one(FrameTable).current_row)
            if self.view
            else WhatIf()
        )
        self.query_one(PairDetail).end_words()
        self.app.push_screen(
            WhatIfScreen(pair),
            lambda _: self._show_detail() if self.model.word_view is not None else None,
        )
