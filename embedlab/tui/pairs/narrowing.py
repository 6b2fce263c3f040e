"""What other screens and single keys select on Pairs: a slice, a box of a plot, and verdicts on two models face to face."""

from collections.abc import Sequence

from embedlab.analysis.filter_ranges import FieldRange, narrowed, with_name
from embedlab.core.errors import UsageError
from embedlab.tui.face_to_face import VERDICTS, described
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.view import ShownSlice
from embedlab.tui.pairs.copies import PairCopies
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable


class PairNarrowing(PairCopies):
    """The selections of a screen with a filter bar and a pair table."""

    _last_filter = ""  # without an error: its rows are shown while the present one has an error

    def _refine(self, query: str, *, keeps_row: bool = False) -> None:
        """Filter the pairs by QUERY."""
        raise NotImplementedError

    def show_slice(self, shown: ShownSlice | None, ranges: Sequence[FieldRange] = ()) -> None:
        """Show the pairs of a slice, or of RANGES in it, sorted by the gap between models; without a slice, those of all pairs."""
        if self.view is None:
            return
        self.view.within, self.view.dataset, self.view.only_marked = shown, None, False
        if len(self.view.data.models) > 1:  # otherwise there is no gap
            self.view.sort, self.view.is_descending = "gap", True
        self._set_filter(narrowed("", ranges))

    def narrow(self, ranges: Sequence[FieldRange]) -> None:
        """Show those of the shown pairs that lie within RANGES."""
        self._set_filter(narrowed(self._last_filter, ranges))

    def _set_filter(self, text: str) -> None:
        with self.prevent(FilterBar.Changed):
            self.query_one(FilterBar).value = text
        self._refine(text)
        self.set_focus(self.query_one(FrameTable))

    @property
    def _faced(self) -> str:
        """Two models face to face, and what is right and wrong."""
        pairing = self.view.data.pairing if self.view else None
        return described(pairing) if pairing is not None else ""

    def action_verdict(self) -> None:
        """Filter by the pairs on which A is right and B wrong, then the other way round, both wrong, both right, and all."""
        if self.view is None or self.view.data.pairing is None:
            self.dashboard.report(
                UsageError("no two models are face to face", hint=f"press {shown_key('face')} to choose them"), severity="warning"
            )
            return
        bar = self.query_one(FilterBar)
        present = next((name for name in VERDICTS if f"right:{name}".lower() in bar.value.lower().split()), "")
        choices = [*VERDICTS, ""]
        bar.value = with_name(self._last_filter, "right", choices[(choices.index(present) + 1) % len(choices)])

    @property
    def model_under_cursor(self) -> str | None:
        """The model of the column under the cursor."""
        column = self.query_one(FrameTable).current_column
        return column.key.removeprefix("error(").removesuffix(")") if column is not None else None
