"""Comparisons in threads, remembered by what was requested."""

from collections.abc import Callable
from functools import partial

from textual.worker import get_current_worker

from embedlab.core.errors import EmbedlabError
from embedlab.outcomes.selection import ItemSelection
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.compare.model import ComparisonRequest, SlicedComparison, compare_slices
from embedlab.tui.pair_table.data import PairData

_MOST = 32  # results that are remembered


class _Stale(Exception):  # noqa: N818 - not an error: a newer request replaced it
    """The running comparison is no longer needed."""


class Comparer:
    """Compares the models of some pairs for a screen; another comparison of the same group replaces
    the one that runs.
    """

    def __init__(self, screen: DashboardScreen) -> None:
        self._screen = screen
        self._data: PairData | None = None
        self._results: dict[ComparisonRequest, SlicedComparison] = {}

    def take(self, data: PairData) -> None:
        """Compare the models of DATA from now on; a reload of the same scores compares nothing
        again.
        """
        before = self._data
        if before is None or data.models != before.models or not data.table.equals(before.table):
            self._results.clear()
        self._data = data

    def known(self, request: ComparisonRequest) -> SlicedComparison | None:
        """The result of a REQUEST, if it was made before."""
        return self._results.get(request)

    def compare(
        self,
        request: ComparisonRequest,
        selection: ItemSelection | None,
        take: Callable[[SlicedComparison], None],
        *,
        group: str,
        progress: Callable[[int, int], None] | None = None,
        preview: Callable[[SlicedComparison], None] | None = None,
    ) -> None:
        """Compare on a SELECTION in a thread; TAKE, PROGRESS and PREVIEW are called in that of the
        screen.
        """
        if self._data is not None:
            work = partial(self._work, self._data, request, selection, take, progress, preview)
            self._screen.run_worker(
                work, thread=True, exclusive=True, group=group, exit_on_error=False
            )

    def _work(
        self,
        data: PairData,
        request: ComparisonRequest,
        selection: ItemSelection | None,
        take: Callable[[SlicedComparison], None],
        progress: Callable[[int, int], None] | None,
        preview: Callable[[SlicedComparison], None] | None,
    ) -> None:
        worker, app = get_current_worker(), self._screen.app

        def show(call: Callable[..., None] | None, *values: object) -> None:
            if worker.is_cancelled:
                raise _Stale
            if call is not None:
                app.call_from_thread(call, *values)

        try:
            sliced = compare_slices(
                data,
                request,
                selection=selection,
                cache=self._screen.dashboard.settings.cache,
                progress=partial(show, progress),
                preview=None if preview is None else partial(show, preview),
            )
            show(self._take, data, request, sliced, take)
        except _Stale:
            return
        except EmbedlabError as error:
            app.call_from_thread(self._screen.dashboard.report, error)

    def _take(
        self,
        data: PairData,
        request: ComparisonRequest,
        sliced: SlicedComparison,
        take: Callable[[SlicedComparison], None],
    ) -> None:
        """Remember what was found, and pass it on, unless other pairs were loaded meanwhile."""
        if data is not self._data:
            return
        while len(self._results) >= _MOST:
            del self._results[next(iter(self._results))]
        self._results[request] = sliced
        take(sliced)
