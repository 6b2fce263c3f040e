"""From a number to its pairs: a cell, a line or a box of a plot becomes the selection of all screens, and Pairs shows it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embedlab.analysis.filter_ranges import narrowed, selecting_ranges
from embedlab.analysis.pairing import Pairing
from embedlab.tui.pair_table.view import PairSelection, RowNumbers, ShownSlice

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard


def open_box(dashboard: "Dashboard", rows: RowNumbers, fields: Sequence[str], *, title: str, within: ShownSlice | None = None) -> None:
    """Go to Pairs and show those of ROWS: the ranges of FIELDS over them, within a slice or within what is selected."""
    data, view = dashboard.data, dashboard.selected.view
    if data is None or view is None:
        return
    ranges = selecting_ranges(data.table, rows, fields)
    opened = PairSelection(expression=view.selection.expression, within=within) if within is not None else view.selection
    dashboard.selected.open(replace(opened, expression=narrowed(opened.expression, ranges)), title, sorts_by_gap=within is not None)


def open_slice(dashboard: "Dashboard", shown: ShownSlice, *, title: str, pairing: Pairing | None = None, row: int | None = None) -> None:
    """Go to Pairs and show a slice of what is selected, with two models face to face if PAIRING names them, and the cursor on ROW."""
    if (view := dashboard.selected.view) is not None:
        opened = PairSelection(expression=view.selection.expression, within=shown, only_marked=view.selection.only_marked)
        dashboard.selected.open(opened, title, pairing=pairing, row=row)
