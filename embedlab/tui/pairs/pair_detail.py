"""The details of one pair in sections, in as many columns as the pane has room for; they follow the
cursor, facts arrive from a thread.
"""

from asyncio import TimerHandle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
from textual import work
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError
from embedlab.tui.pair_table.scorer import ScorerProcess
from embedlab.tui.pairs.sections import SECTIONS, DetailSection
from embedlab.tui.pairs.shown_pair import ShownPair
from embedlab.tui.pairs.word_effects import PairWords
from embedlab.tui.terminal.delay import after
from embedlab.tui.widgets.text import QuickText

if TYPE_CHECKING:
    from embedlab.tui.pairs.facts import FactFinder

# the pairs are drawn first: what reads training text takes longer to import than they do
TRAINED_AFTER_S = 0.3
REST_S = 0.1  # of the cursor before the details follow: longer than the repeat interval of a key

COLUMNS_FROM, _THREE = 110, 160  # cells of the pane from which it has two and three columns
_GAP = 2  # cells between columns


class PairDetail(VerticalScroll):
    """The pair under the cursor."""

    pair: ShownPair | None = None
    scorer: ScorerProcess | None = None  # that scores a pair without each of its words
    _resting: TimerHandle | None = None

    @dataclass
    class TrainedFound(Message):
        """Which models were trained on which pairs."""

        finder: "FactFinder"
        column: pl.Series

    def find_trained(self, finder: "Callable[[], FactFinder]") -> None:
        """Look up in a moment which models were trained on which pairs; FINDER is made then.
        Nothing waits for it.
        """
        after(TRAINED_AFTER_S, self, lambda: self._find_trained(finder()))

    @work(thread=True, exclusive=True, group="trained", exit_on_error=False)
    def _find_trained(self, finder: "FactFinder") -> None:
        column = finder.trained()
        if column is not None and not get_current_worker().is_cancelled:
            self.post_message(self.TrainedFound(finder, column))

    def follow(self, shown: Callable[[], "tuple[ShownPair, int, FactFinder] | None"]) -> None:
        """Show the pair that SHOWN gives once the cursor rests: details change the layout, which is
        too expensive while a key is held.
        """
        if self._resting is not None:
            self._resting.cancel()
        self._resting = after(REST_S, self, partial(self.show_with_facts, shown))

    def show_with_facts(
        self, shown: Callable[[], "tuple[ShownPair, int, FactFinder] | None"]
    ) -> None:
        """Show a pair at once, and what takes time to find as it is found."""
        current, known = shown(), self.pair.words if self.pair is not None else None
        wanted = current[0].words if current is not None else None
        is_known = wanted is not None and known is not None and wanted.is_about(known)
        if not is_known:
            self.end_words()
        if current is not None and wanted is not None and known is not None and is_known:
            current = (replace(current[0], words=replace(known, view=wanted.view)), *current[1:])
        self.show(current[0] if current is not None else None)
        if current is not None:
            self._find_facts(current[2], current[1], current[0])
        if wanted is not None and not is_known and self.scorer is not None:
            self._find_words(wanted, self.scorer)

    @work(thread=True, exclusive=True, group="facts", exit_on_error=False)
    def _find_facts(self, finder: "FactFinder", row: int, shown: ShownPair) -> None:
        worker = get_current_worker()
        for facts in finder.find(row):
            if worker.is_cancelled:  # the cursor is on another pair
                return
            self.app.call_from_thread(self._show_facts, replace(shown, facts=facts))

    def _show_facts(self, shown: ShownPair) -> None:
        """Add what was found, unless another pair is shown by now."""
        if self.pair is not None and self.pair.row is shown.row:
            self.show(replace(shown, words=self.pair.words))

    def end_words(self) -> None:
        """Wait no longer for what the words do: another reader follows."""
        self.workers.cancel_group(self, "words")
        if (
            self.pair is not None
            and self.pair.words is not None
            and not self.pair.words.is_complete
        ):
            self.pair = replace(self.pair, words=None)  # it is requested again

    @work(exclusive=True, group="words")
    async def _find_words(self, words: PairWords, scorer: ScorerProcess) -> None:
        """Add what each word does as the models answer, unless another pair is shown by then."""
        names = [model.name for model in words.models]
        try:
            async for score in scorer.answers(words.variants, names):
                trouble = f"{score.error}  {score.hint}".rstrip()
                change = (
                    words.with_trouble(score.model, trouble)
                    if trouble
                    else words.with_similarities(score.model, score.similarities)
                )
                words = self._with_words(change)
        except EmbedlabError as error:
            for name in names:
                words = words.with_trouble(name, f"{error.message}: {error.hint}")
            self._with_words(words)

    def _with_words(self, words: PairWords) -> PairWords:
        """Show WORDS in the view that was chosen meanwhile."""
        if self.pair is not None and self.pair.words is not None:
            words = replace(words, view=self.pair.words.view)
            self.show(replace(self.pair, words=words))
        return words

    def compose(self) -> ComposeResult:
        """Yield one text a section, in three columns that a narrow pane stacks."""
        with Container(id="detail-columns"):
            with Vertical(classes="detail-column"):
                yield from _texts(0)
            with Container(id="detail-more"):
                for column in (1, 2):
                    with Vertical(classes="detail-column"):
                        yield from _texts(column)

    def show(self, pair: ShownPair | None) -> None:
        """Show a pair, or that there is none; sections that stay the same are not drawn again."""
        self.pair = pair
        drawn = replace(pair, is_whole=self.screen.maximized is self) if pair is not None else None
        for number, section in enumerate(SECTIONS):
            nothing = Content("no pair") if number == 0 else None
            content = section.draw(drawn, self._width(section)) if drawn is not None else nothing
            text = self.query_one(f"#pair-{section.name}", QuickText)
            text.display = content is not None
            shown = content if content is not None else Content("")
            if not (isinstance(text.content, Content) and text.content.is_same(shown)):
                text.change(shown)

    def on_resize(self) -> None:
        """Fit the columns and the bars to the width."""
        self.set_class(self._columns >= 2, "-two")
        self.set_class(self._columns == 3, "-three")
        if self.pair is not None:
            self.show(self.pair)

    @property
    def _columns(self) -> int:
        width = self.outer_size.width
        return 3 if width >= _THREE else 2 if width >= COLUMNS_FROM else 1

    def _width(self, section: DetailSection) -> int:
        """The cells of a line of SECTION."""
        return (self.scrollable_content_region.width - _GAP * (self._columns - 1)) // self._columns


def _texts(column: int) -> ComposeResult:
    for section in SECTIONS:
        if section.column == column:
            yield QuickText(id=f"pair-{section.name}", classes="detail-section")
