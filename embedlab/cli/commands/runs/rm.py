"""`embedlab runs rm`: a run deleted."""

from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.run_names import RunName
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError

EXAMPLES = examples("embedlab runs rm snli-supcl@3", "embedlab runs rm snli-supcl --yes")


@common("data", "runs", "output")
def rm(
    run: RunName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without confirmation.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Delete a run, or one seed of it, with its checkpoints, model and scores."""
    from embedlab.runs.store import remove_runs, select_runs

    chosen = select_runs(terminal.settings.runs_folder, run)
    names = ", ".join(found.id for found in chosen)
    if not yes and not terminal.confirm(f"delete {names}?"):
        raise UsageError(f"{names} not deleted: not confirmed", hint="add --yes")
    remove_runs(chosen)
    terminal.done(f"deleted {names}", deleted=[found.id for found in chosen])
