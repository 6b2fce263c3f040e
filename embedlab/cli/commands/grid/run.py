"""`embedlab grid run`: the cells of a grid, each in a process of its own."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.grid_options import DryRun, GridName, show_cells
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

if TYPE_CHECKING:
    from embedlab.workflows.grid.plan import PlannedGrid

EXAMPLES = examples("embedlab grid run snli-supcl-lambda --data DIR --workers 2", "embedlab grid run mine.toml --dry-run --sample")


@common("data", "runs", "machine", "output")
def run(
    grid: GridName,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, max=4096, help="Number of parallel cells. [default: GPUs, or CPUs]")
    ] = None,
    cell: Annotated[int | None, typer.Option("--cell", metavar="K", help="Only the cell of this number, for a job array.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of every cell.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Each of the seeds 1 to N.")] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="MODEL", help="Start every cell from this encoder.", autocompletion=completion.models)
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", metavar="F", help="Stop hopeless cells early: take about this share of the full time.")
    ] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="ADDRESS", help="Run the cells on this Ray cluster.")] = None,
    dry_run: DryRun = False,
    *,
    terminal: Terminal,
) -> None:
    """Run the cells of GRID that are not done yet, each in a process of its own.

    It can be interrupted at any time: the same command continues, and several of them share the cells. A cell that fails is tried once
    more and stops no other. With --threads each cell takes that many processor threads, instead of the number in the grid file.
    """
    from embedlab.workflows.grid.plan import GridOptions, Hands
    from embedlab.workflows.grid.run import planned_grid, run_one_cell

    hands = Hands(workers=workers, cluster=cluster)
    options = GridOptions(grid=grid, overrides=tuple(set_ or ()), seeds=seeds, encoder=encoder, budget=budget, hands=hands)
    planned = planned_grid(options, terminal.settings)
    if dry_run:
        show_cells([planned], terminal)
    elif cell is not None:
        run_one_cell(planned, cell, terminal)
    else:
        _run_all(planned, terminal)


def _run_all(planned: "PlannedGrid", terminal: Terminal) -> None:
    from embedlab.cli.grid_board import board
    from embedlab.reports.grid_tables import summary_table
    from embedlab.workflows.grid.run import run_grid

    result = run_grid(planned, terminal, partial(board, terminal=terminal))
    terminal.show(summary_table(result.plan, result.entries))
    if result.has_failed:
        raise typer.Exit(ExitCode.FAILED)
