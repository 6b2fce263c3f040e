"""`embedlab runs cancel`: a running run stopped."""

from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.run_names import RunName
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab runs cancel snli-supcl", "embedlab runs cancel snli-supcl@2 --force")


@common("data", "runs", "output")
def cancel(
    run: RunName,
    force: Annotated[bool, typer.Option("--force", help="End the process at once, without a checkpoint.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Stop a running run after it has saved a checkpoint."""
    from embedlab.workflows.runs import cancel_runs

    cancelled = cancel_runs(run, terminal.settings, force=force)
    shown = [f"{one.run.id} (process {one.pid})" for one in cancelled]
    terminal.done(f"requested the stop of {', '.join(shown)}", cancelled=[one.run.id for one in cancelled])
