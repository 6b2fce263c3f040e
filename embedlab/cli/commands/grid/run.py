"""`embedlab grid run`: the cells of a grid, each in a process of its own."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.grid_options import CellsOptions, show_cells
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.grid import GridOptions

if TYPE_CHECKING:
    from embedlab.workflows.grid.plan import PlannedGrid

EXAMPLES = examples(
    "embedlab grid run snli-supcl-lambda --data DIR --workers 2",
    "embedlab grid run mine.toml --dry-run --data tiny",
)


@dataclass(frozen=True, kw_only=True)
class CellOptions(CellsOptions):
    """Which of the cells run here."""

    cell: Annotated[
        int | None,
        Flag(names=("--cell",), metavar="K", help="Only the cell of this number, for a job array."),
    ] = None


@common("data", "runs", "machine", "output")
@takes
def run(options: GridOptions, cells: CellOptions, *, terminal: Terminal) -> None:
    """Run the cells of GRID that are not done yet, each in a process of its own.

    It can be interrupted at any time: the same command continues, and several of them share the
    cells. A cell that fails is tried once more and stops no other. With --threads each cell takes
    that many processor threads, instead of the number in the grid file.
    """
    from embedlab.workflows.grid.run import planned_grid, run_one_cell

    planned = planned_grid(options, terminal.settings)
    if cells.dry_run:
        show_cells([planned], terminal, cell=cells.cell)
    elif cells.cell is not None:
        run_one_cell(planned, cells.cell, terminal)
    else:
        _run_all(planned, terminal)


def _run_all(planned: "PlannedGrid", terminal: Terminal) -> None:
    from embedlab.cli.grid_board import board
    from embedlab.reports.grids import summary_table
    from embedlab.workflows.grid.run import run_grid

    result = run_grid(planned, terminal, partial(board, terminal=terminal))
    terminal.show(summary_table(result.plan, result.entries))
    if result.has_failed:
        raise typer.Exit(ExitCode.FAILED)
