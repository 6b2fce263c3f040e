"""The panes of Compare that show one model's differences over all slices, and the margin within which models are equivalent."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from textual import work
from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.compare.differences import fifths_map, forest
from embedlab.tui.compare.forest_plot import DifferencePane
from embedlab.tui.compare.model import ComparisonRequest, SlicedComparison, compare_slices
from embedlab.tui.dialogs import DIALOG, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.data import PairData

FOREST, FIFTHS_MAP = "forest", "map"  # panels
_SOON_S = 0.05


class _Stale(Exception):  # noqa: N818 - not an error: a newer request replaced it
    """The running comparison is no longer needed."""


class DifferencePanes(DashboardScreen):
    """The forest plot and the map of Dice fifths of a screen with a comparison."""

    data: PairData | None = None
    result: SlicedComparison | None = None
    is_preview = False  # `result` lacks differences and letters
    _panel = ""
    _results: dict[ComparisonRequest, SlicedComparison]

    @property
    def requested(self) -> ComparisonRequest:
        """The request of the present settings."""
        raise NotImplementedError

    def _request(self) -> None:
        """Show the comparison of the present settings."""
        raise NotImplementedError

    def compare_in_worker(
        self,
        data: PairData,
        request: ComparisonRequest,
        *,
        progress: Callable[[int, int], None] | None = None,
        preview: Callable[[SlicedComparison], None] | None = None,
    ) -> SlicedComparison | None:
        """Return a comparison, in a worker's thread; None where a newer request replaced it, or after its error was reported.

        PROGRESS and PREVIEW are called in the thread of the screen.
        """
        worker = get_current_worker()

        def show(call: Callable[..., None] | None, *values: object) -> None:
            if worker.is_cancelled:
                raise _Stale
            if call is not None:
                self.app.call_from_thread(call, *values)

        try:
            found = compare_slices(
                data,
                request,
                cache=self.dashboard.settings.cache,
                progress=partial(show, progress),
                preview=None if preview is None else partial(show, preview),
            )
        except _Stale:
            return None
        except EmbedlabError as error:
            self.app.call_from_thread(self.dashboard.report, error)
            return None
        return None if worker.is_cancelled else found

    def show_differences(self) -> None:
        """Draw the differences of the model under the cursor, or of the first that is not the reference."""
        pane, found = self.query_one(DifferencePane), self.result
        if found is None or self._panel not in {FOREST, FIFTHS_MAP}:
            return
        model = self._compared_model(found)
        if model is None:
            pane.show(f"one model has no differences: press {shown_key('models')} to choose another")
        elif self._panel == FOREST and self.is_preview:
            pane.show("comparing the slices: their differences follow")
        elif self._panel == FOREST:
            pane.show(forest(found.comparison, model))
        else:
            self._show_fifths(pane, model)

    def _compared_model(self, found: SlicedComparison) -> str | None:
        comparison, under = found.comparison, self.model_under_cursor
        others = [name for name in comparison.models if name != comparison.reference]
        return under if under in others else next(iter(others), None)

    def _show_fifths(self, pane: DifferencePane, model: str) -> None:
        request = replace(self.requested, by="dice", aggregate="all")
        known = self._results.get(request)
        if known is not None:
            pane.show(fifths_map(known.comparison, model))
        elif self.data is not None and not self.is_working("fifths"):
            pane.show("comparing the fifths of each dataset")
            self._compute_fifths(self.data, request)

    @work(thread=True, group="fifths", exit_on_error=False)
    def _compute_fifths(self, data: PairData, request: ComparisonRequest) -> None:
        if (found := self.compare_in_worker(data, request)) is not None:
            self.app.call_from_thread(self._take_fifths, data, request, found)

    def _take_fifths(self, data: PairData, request: ComparisonRequest, found: SlicedComparison) -> None:
        if data is self.data:
            self._results[request] = found
        self.set_timer(_SOON_S, self.show_differences)  # once the worker has ended

    @work(group=DIALOG)
    async def action_margin(self) -> None:
        """Choose the margin of equivalence, or remove it."""
        present = self.requested.margin
        dialog = TextDialog(
            "Differences smaller than this many points are equivalent",
            value="" if present is None else f"{present:g}",
            hint="for example 0.5; 0 for no test of equivalence.",
            check=_margin,
        )
        text = await self.app.push_screen_wait(dialog)
        if text is not None:
            state = self.dashboard.memory.state
            self.dashboard.remember(replace(state, compare=replace(state.compare, margin=_margin(text) or None)))
            self._request()


def _margin(text: str) -> float:
    try:
        margin = float(text)
    except ValueError:
        margin = -1.0
    if not 0 <= margin < 100:
        raise UsageError(f"{text!r} is not a margin", hint="give points above 0 and below 100, for example 0.5, or 0 for none")
    return margin
