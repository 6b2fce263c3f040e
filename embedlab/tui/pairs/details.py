"""The detail pane of the Pairs screen: it follows the cursor, facts arrive from a thread, and notes are written."""

from asyncio import to_thread
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
from textual import work
from textual.timer import Timer
from textual.worker import get_current_worker

from embedlab.analysis.pair_notes import PairNotes
from embedlab.core.errors import EmbedlabError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.dialogs import DIALOG, TextDialog
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.pairs.pair_detail import PairDetail
from embedlab.tui.pairs.sections import ShownPair
from embedlab.tui.widgets.frame_table import FrameTable

if TYPE_CHECKING:
    from embedlab.tui.pairs.facts import FactFinder

TRAINED_AFTER_S = 0.3  # the pairs are drawn first: what reads training text takes longer to import than they do
REST_S = 0.1  # of the cursor before the details follow: longer than the repeat interval of a key


class PairDetails(DashboardScreen):
    """The details of the pair under the cursor of a screen with a pair table."""

    view: PairView | None = None
    published: PairData | None = None  # that all screens have: the view's own has the notes too
    _finder: "FactFinder | None" = None
    _finder_before: "FactFinder | None" = None  # of the pairs shown before
    _resting: Timer | None = None

    def __init__(self) -> None:
        super().__init__()
        self.notes = PairNotes.load()

    def with_notes(self, data: PairData) -> PairData:
        """DATA with the user's notes; facts are found among its pairs from now on."""
        self.published = data
        self._finder, self._finder_before = None, self._finder or self._finder_before
        if self.notes.trouble is not None:
            self.dashboard.report_once([self.notes.trouble])
        self.set_timer(TRAINED_AFTER_S, lambda: self._find_trained(self._fact_finder()))
        return replace(data, table=self.notes.joined(data.table))

    def _fact_finder(self) -> "FactFinder":
        """What finds facts among the pairs shown at present; imported when it is first used, after the first paint."""
        from embedlab.tui.pairs.facts import FactFinder

        if self._finder is None:
            assert self.published is not None  # a fact is wanted of a pair that is shown
            known, before = self.dashboard, self._finder_before
            self._finder = FactFinder(self.published, known.stored, known.settings, before=before, texts=known.training_texts)
        return self._finder

    @work(thread=True, exclusive=True, group="trained", exit_on_error=False)
    def _find_trained(self, finder: "FactFinder") -> None:
        """Look up which models were trained on which pairs; nothing waits for it."""
        found = finder.trained()
        if found is not None and not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._take_trained, finder, found)

    def _take_trained(self, finder: "FactFinder", found: pl.Series) -> None:
        """Add the column to the pairs, unless others were loaded meanwhile."""
        if self.view is not None and finder is self._finder and len(found) == self.view.data.table.height:
            self.view.replace_columns(self.view.data.table.with_columns(found))
            self.columns_changed()

    def on_frame_table_row_reached(self, event: FrameTable.RowReached) -> None:
        """Show the details once the cursor rests: they change the layout, which is too expensive while a key is held."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST_S, partial(self._show_pair, event.row))

    def _show_pair(self, row: int | None) -> None:
        shown = None if row is None else self.shown_pair(row)
        self.query_one(PairDetail).show(shown)
        if row is not None and shown is not None:
            self._find_facts(self._fact_finder(), row, shown)

    def shown_pair(self, row: int) -> ShownPair | None:
        """The pair in ROW without the facts that take time."""
        if self.view is None or row >= self.view.data.table.height:
            return None
        data = self.view.data
        facts = data.table.row(row, named=True)
        return ShownPair(
            row=facts,
            models=[model.name for model in data.models],
            gold_range=data.gold_ranges[facts["dataset"]],
            note=self.notes.text(facts["sentence1"], facts["sentence2"]),
            table=data.table,
        )

    @work(thread=True, exclusive=True, group="facts", exit_on_error=False)
    def _find_facts(self, finder: "FactFinder", row: int, shown: ShownPair) -> None:
        worker = get_current_worker()
        for facts in finder.find(row):
            if worker.is_cancelled:  # the cursor is on another pair
                return
            self.app.call_from_thread(self._show_facts, replace(shown, facts=facts))

    def _show_facts(self, shown: ShownPair) -> None:
        """Add what was found, unless another pair is shown by now."""
        detail = self.query_one(PairDetail)
        if detail.pair is not None and detail.pair.row is shown.row:
            detail.show(shown)

    @work(group=DIALOG)
    async def action_note(self) -> None:
        """Write a note on the pair under the cursor, or change or delete it."""
        row = self.query_one(FrameTable).current_row
        shown = self.shown_pair(row) if row is not None else None
        if shown is None:
            return
        dialog = TextDialog("Note on this pair", value=shown.note, hint="an empty one is deleted.", allow_empty=True)
        text = await self.app.push_screen_wait(dialog)
        if text is None or text == shown.note:
            return
        try:
            await to_thread(self.notes.change, shown.row["sentence1"], shown.row["sentence2"], text)
        except EmbedlabError as error:
            self.dashboard.report(error)
        else:
            if self.view is not None:
                self.view.replace_columns(self.notes.joined(self.view.data.table))
            self.columns_changed()

    def columns_changed(self) -> None:
        """Show the notes and marks as they are now."""
