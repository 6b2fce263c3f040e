"""What the commands about grids share: how a grid is typed, and the list of its cells before they run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.terminal import Terminal

if TYPE_CHECKING:
    from embedlab.workflows.grid.plan import PlannedGrid

GridName = Annotated[str, typer.Argument(metavar="GRID", help="A grid's name, or its TOML file.", autocompletion=completion.grids)]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the cells; run nothing.")]


def show_cells(planned: "Sequence[PlannedGrid]", terminal: Terminal) -> None:
    """Show the cells of every plan, which of them are done, and what the others would cost; nothing runs."""
    from embedlab.reports.grid_tables import cells_table
    from embedlab.workflows.grid.plan import entries_of_runs, estimate

    entries = [entries_of_runs(one.plan) for one in planned]
    terminal.show(*(cells_table(one.plan, own) for one, own in zip(planned, entries, strict=True)))
    for one, own in zip(planned, entries, strict=True):
        terminal.note(estimate(one, own).text)
