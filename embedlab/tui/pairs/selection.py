"""From a plot back to the pairs: a selection of points becomes the filter of the Pairs screen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from embedlab.analysis.filter_ranges import selecting_ranges
from embedlab.tui.pair_table.view import RowNumbers, ShownSlice

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard


def open_selection(dashboard: "Dashboard", rows: RowNumbers, fields: Sequence[str], *, within: ShownSlice | None = None) -> None:
    """Go to Pairs and filter it by the ranges of FIELDS over ROWS: within a slice, or within what Pairs shows."""
    from embedlab.tui.pairs.screen import PairsScreen

    if dashboard.data is None:
        return
    ranges = selecting_ranges(dashboard.data.table, rows, fields)
    is_all = within is None and dashboard.shown is None  # Pairs was never shown: its restored view is not what was plotted
    dashboard.action_mode("pairs")
    if isinstance(screen := dashboard.screen, PairsScreen):
        if within is None and not is_all:
            screen.call_after_refresh(screen.narrow, ranges)
        else:
            screen.call_after_refresh(screen.show_slice, within, ranges)


def open_slice(dashboard: "Dashboard", shown: ShownSlice) -> None:
    """Go to Pairs and show a slice."""
    from embedlab.tui.pairs.screen import PairsScreen

    dashboard.action_mode("pairs")
    if isinstance(screen := dashboard.screen, PairsScreen):
        screen.call_after_refresh(screen.show_slice, shown)
