"""`embedlab grid cancel`: stop the processes of a grid."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.grid import OfGrid

EXAMPLES = examples(
    "embedlab grid cancel snli-supcl-lambda", "embedlab grid cancel mine --runs elsewhere"
)


@common("data", "runs", "output")
@takes
def cancel(options: OfGrid, *, terminal: Terminal) -> None:
    """Stop every process that works on GRID after it has saved its cell."""
    from embedlab.workflows.grid.plan import cancel_grid

    name = cancel_grid(options.grid, terminal.settings).name
    terminal.done(
        f"requested the workers of {name} to stop; the command that started it continues "
        f"from there",
        cancelled=name,
    )
