"""`embedlab grid status`: the cells of a grid, or all grids."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.grid import StatusOptions

EXAMPLES = examples("embedlab grid status", "embedlab grid status snli-supcl-lambda --json")


@common("data", "runs", "output")
@takes
def status(options: StatusOptions, *, terminal: Terminal) -> None:
    """Show how far GRID is, or list all grids."""
    from embedlab.grids.listing import list_grids
    from embedlab.reports.grid_tables import grids_table, status_table
    from embedlab.workflows.grid.run import look_at_grid

    settings = terminal.settings
    terminal.show(
        grids_table(list_grids(settings.runs_folder)) if options.grid is None else status_table(look_at_grid(options.grid, settings))
    )
