"""`embedlab grid cancel`: stop the processes of a grid."""

from embedlab.cli.grid_options import GridName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab grid cancel snli-supcl-lambda", "embedlab grid cancel mine --sample")


@common("data", "runs", "output")
def cancel(grid: GridName, *, terminal: Terminal) -> None:
    """Stop every process that works on GRID after it has saved its cell."""
    from embedlab.workflows.grid.plan import cancel_grid

    name = cancel_grid(grid, terminal.settings).name
    terminal.done(f"requested the workers of {name} to stop; the command that started it continues from there", cancelled=name)
