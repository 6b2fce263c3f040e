"""The selection of pairs that every screen shows: what it is, what the models score on it, and the
way that led to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import sleep
from typing import Any, Protocol

from textual.app import App
from textual.signal import Signal
from textual.worker import Worker, get_current_worker

from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import EmbedlabError
from embedlab.tui.pair_table.numbers import SelectionNumbers, count_selection, score_selection
from embedlab.tui.pair_table.view import PairSelection, PairView
from embedlab.tui.state import Memory

REST_S = 0.12  # of the selection before it is scored: longer than the repeat interval of a key
LONGEST_PATH = 8


@dataclass(frozen=True, kw_only=True)
class Visit:
    """Where something was opened: what esc returns to."""

    mode: str
    title: str  # "Compare: sts12"
    selection: PairSelection
    opened: PairSelection  # what it became
    faced: tuple[str, ...]  # the two models face to face, or none
    shown_on: str = "pairs"  # the screen that was gone to


class SelectionHost(Protocol):
    """What the selection needs of the dashboard."""

    memory: Memory

    def reference(self, names: Sequence[str]) -> str | None:
        """The model that the others are compared with."""

    def face(self, pairing: Pairing | None) -> None:
        """Show two models alone on every screen, or all."""

    def face_names(self, names: tuple[str, ...]) -> None:
        """Show two models alone on every screen, or all."""

    def action_mode(self, mode: str) -> None:
        """Go to a screen."""

    def remember_view(self) -> None:
        """Remember what is selected."""


class SharedSelection:
    """Holds the view of the pairs, which a screen changes by `select` or `open`, and publishes what
    became of it.
    """

    def __init__(self, app: App[Any], host: SelectionHost) -> None:
        self._app, self._host = app, host
        self.view: PairView | None = None
        # in the filter line; the expression of the selection but for what cannot be read
        self.typed = ""
        self.error: EmbedlabError | None = None  # of what was typed
        self.changed: Signal[bool] = Signal(
            app, "selection-changed"
        )  # whether other pairs are selected than before
        self.counted: Signal[SelectionNumbers] = Signal(app, "selection-counted")
        self.counts: SelectionNumbers | None = None  # of the present selection, before it is scored
        self.numbers: SelectionNumbers | None = None
        self.path: list[Visit] = []
        self.why_from = "pairs"  # the screen that esc returns to from Why
        # whether Why was opened by its key, and not returned to: it begins with its first pane
        self.begins_why = False
        self.row: int | None = None  # that the cursor of Pairs goes to next

    # what is selected

    def show(self, view: PairView, selection: PairSelection) -> None:
        """Show new pairs or models with SELECTION and what was typed, if they can read that;
        otherwise all of them.
        """
        self.view, self.error = view, None
        try:
            view.select(replace(selection, expression=self.typed))
        except EmbedlabError as error:
            self.error = error
            view.selection = replace(selection, expression="")
        self._count()

    def select(self, selection: PairSelection) -> None:
        """Make SELECTION the one of every screen; an expression that cannot be read is a UsageError
        and changes nothing.
        """
        if self.view is not None:
            before = self.view.selection
            self.view.select(selection)
            self.typed, self.error = selection.expression, None
            is_other = (before.expression, before.dataset) != (
                selection.expression,
                selection.dataset,
            )
            self.changed_view(is_other=is_other or selection.within not in {None, before.within})

    def type(self, text: str) -> None:
        """Filter by the expression TEXT; while that cannot be read, the one before it selects, and
        the error says why.
        """
        self.typed = text
        if self.view is None:
            return
        try:
            self.select(replace(self.view.selection, expression=text))
        except EmbedlabError as error:
            self.error = error
            self.changed.publish(False)

    def changed_view(self, *, is_other: bool = False) -> None:
        """Show on every screen that the selection, or what is known of its pairs, changed;
        IS_OTHER: to other pairs than before.
        """
        if self.view is not None:
            self.changed.publish(is_other)
            self._count()
            self._host.remember_view()

    def _count(self) -> None:
        if self.view is not None:
            self.counts = self.numbers = count_selection(self.view)
            self.counted.publish(self.numbers)
            self._app.run_worker(
                self._score, thread=True, exclusive=True, group="selection", exit_on_error=False
            )

    def clear(self) -> None:
        """Select all pairs."""
        self.path.clear()
        self.select(PairSelection())

    # its numbers

    def _score(self) -> None:
        """Score the selection in a thread: the scores first, then their intervals."""
        worker, view, numbers = get_current_worker(), self.view, self.counts
        sleep(REST_S)
        if view is None or numbers is None or _is_over(worker):
            return
        names = [model.name for model in view.data.models]
        reference = self._host.reference(names)
        # The view goes on changing while this runs: what is scored is what was selected then.
        still = replace(view, _outcomes=view.outcomes, _orders={})
        for is_tested in (False, True):
            selection_numbers = score_selection(still, numbers, reference, is_tested=is_tested)
            if _is_over(worker):
                return
            self._app.call_from_thread(self._take_numbers, numbers, selection_numbers)

    def _take_numbers(self, of: SelectionNumbers, numbers: SelectionNumbers) -> None:
        """Show what was found unless another selection was made meanwhile."""
        if self.counts is of:
            self.numbers = numbers
            self.counted.publish(numbers)

    # the way to it

    def open(
        self,
        selection: PairSelection,
        title: str,
        *,
        pairing: Pairing | None = None,
        sorts_by_gap: bool = True,
        row: int | None = None,
    ) -> None:
        """Go to Pairs and show SELECTION with the cursor on ROW; `back` returns to where this
        began.

        Two models are face to face if PAIRING names them.
        """
        host, view = self._host, self.view
        if view is None:
            return
        before, self.row = view.selection, row
        view.select(selection)
        self.typed, self.error = selection.expression, None
        visit = Visit(
            mode=self._app.current_mode,
            title=title,
            selection=before,
            opened=view.selection,
            faced=host.memory.state.face_to_face,
        )
        self.path = [*self.path, visit][-LONGEST_PATH:]
        if sorts_by_gap and len(view.data.models) > 1:  # otherwise there is no gap
            view.sort, view.is_descending = "gap", True
        if pairing is not None:
            host.face(pairing)
        else:
            self.changed_view(is_other=True)
        host.action_mode("pairs")

    def compare_from(self, title: str) -> None:
        """Go to Compare with what is selected; `back` returns to where this began."""
        if self.view is not None:
            faced, selection = self._host.memory.state.face_to_face, self.view.selection
            visit = Visit(
                mode=self._app.current_mode,
                title=title,
                selection=selection,
                opened=selection,
                faced=faced,
                shown_on="compare",
            )
            self.path = [*self.path, visit][-LONGEST_PATH:]
            self.counted.publish(self.numbers or count_selection(self.view))  # with the way to it
            self._host.action_mode("compare")

    def taken_row(self, otherwise: int | None) -> int | None:
        """The row that the cursor goes to, which is taken once; OTHERWISE where none is wanted."""
        row, self.row = self.row, None
        return otherwise if row is None else row

    @property
    def steps(self) -> Sequence[str]:
        """The way to the selection, in words."""
        return [visit.title for visit in self.path]

    def is_as_opened(self, screen: str) -> bool:
        """Whether the selection is still what the last step opened on SCREEN."""
        is_last = bool(self.path) and self.path[-1].shown_on == screen
        return is_last and self.view is not None and self.view.selection == self.path[-1].opened

    def back(self) -> bool:
        """Return to where the selection was opened, with what was selected there; False where
        nothing was opened.
        """
        if not self.path or self.view is None:
            return False
        visit = self.path.pop()
        if visit.faced != self._host.memory.state.face_to_face:
            self._host.face_names(visit.faced)
        self.select(visit.selection)
        self._host.action_mode(visit.mode)
        return True


def _is_over(worker: Worker[None]) -> bool:
    """Return whether another selection replaced the one that WORKER scores."""
    return worker.is_cancelled
