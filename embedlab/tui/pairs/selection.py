"""From a number to its pairs: a cell, a line, a box or the score of a run becomes the selection of
all screens, and Pairs shows it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embedlab.analysis.filter_ranges import narrowed, selecting_ranges
from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import UsageError
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.view import PairSelection, RowNumbers, ShownSlice

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard


def open_box(
    dashboard: "Dashboard",
    rows: RowNumbers,
    fields: Sequence[str],
    *,
    title: str,
    within: ShownSlice | None = None,
) -> None:
    """Go to Pairs and show those of ROWS: the ranges of FIELDS over them, within a slice or within
    what is selected.
    """
    data, view = dashboard.data, dashboard.selected.view
    if data is None or view is None:
        return
    ranges = selecting_ranges(data.table, rows, fields)
    opened = (
        PairSelection(expression=view.selection.expression, within=within)
        if within is not None
        else view.selection
    )
    dashboard.selected.open(
        replace(opened, expression=narrowed(opened.expression, ranges)),
        title,
        sorts_by_gap=within is not None,
    )


def open_slice(
    dashboard: "Dashboard",
    shown: ShownSlice,
    *,
    title: str,
    pairing: Pairing | None = None,
    row: int | None = None,
) -> None:
    """Go to Pairs and show a slice of what is selected, with two models face to face if PAIRING
    names them, and the cursor on ROW.
    """
    if (view := dashboard.selected.view) is not None:
        opened = PairSelection(
            expression=view.selection.expression,
            within=shown,
            only_marked=view.selection.only_marked,
        )
        dashboard.selected.open(opened, title, pairing=pairing, row=row)


async def open_model(dashboard: "Dashboard", name: str, *, title: str, dataset: str = "") -> bool:
    """Go to Pairs and show a model beside the reference, on DATASET where it is among the pairs;
    False, with the reason, without scores.
    """
    data = dashboard.data
    if data is None or dashboard.memory.state.task:
        error = UsageError(
            "items of a task are shown, not pairs",
            hint=f"press {shown_key('tasks')} to show the pairs of STS datasets",
        )
    elif not await dashboard.scored([name]):
        error = UsageError(
            f"{name!r} has no scores of the pairs",
            hint=f"press {shown_key('add_model')} on Runs to score them",
        )
    else:
        reference = dashboard.reference(dashboard.chosen)
        await dashboard.take_models(
            [*dashboard.chosen, *([name] if name not in dashboard.chosen else [])]
        )
        pairing = (
            Pairing(reference=reference, other=name) if reference not in {None, name} else None
        )
        dashboard.selected.open(
            PairSelection(dataset=dataset if dataset in data.datasets else None),
            title,
            pairing=pairing,
        )
        return True
    dashboard.report(error, severity="warning")
    return False
