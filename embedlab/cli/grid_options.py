"""The list of a grid's cells before they run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

if TYPE_CHECKING:
    from embedlab.workflows.grid.plan import PlannedGrid


@dataclass(frozen=True, kw_only=True)
class CellsOptions:
    """Whether cells are shown alone."""

    dry_run: Annotated[bool, Flag(names=("--dry-run",), help="Print the cells; run nothing.")] = (
        False
    )


def show_cells(
    planned: "Sequence[PlannedGrid]", terminal: Terminal, *, cell: int | None = None
) -> None:
    """Show the cells of every plan, which of them are done, what the others would cost, and which
    rows lack data; nothing runs.

    With the number of a CELL that one is shown alone.
    """
    from embedlab.reports.grids import cells_table
    from embedlab.workflows.grid.plan import absent_trainings, entries_of_runs, estimate

    entries = [entries_of_runs(each.plan, cell) for each in planned]
    estimates = [estimate(plan, own) for plan, own in zip(planned, entries, strict=True)]
    terminal.show(
        *(
            cells_table(each.plan, own, estimated.seconds, each.notes)
            for each, own, estimated in zip(planned, entries, estimates, strict=True)
        )
    )
    for plan, estimated in zip(planned, estimates, strict=True):
        terminal.note(estimated.text)
        for error in absent_trainings(plan):
            terminal.report(error)
