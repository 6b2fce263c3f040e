"""`embedlab grid status`: the cells of a grid, or all grids."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.grid import StatusOptions

EXAMPLES = examples("embedlab grid status", "embedlab grid status snli-supcl-lambda --json")


@common("data", "runs", "output")
@takes
def status(options: StatusOptions, *, terminal: Terminal) -> None:
    """Show how far GRID is, or list all grids."""
    from embedlab.workflows.grid.report import status_report

    show_report(status_report(options, terminal.settings), terminal)
