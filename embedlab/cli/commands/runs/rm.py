"""`embedlab runs rm`: a run deleted."""

from embedlab.cli.confirmation import ConfirmOptions
from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import RunOptions

EXAMPLES = examples("embedlab runs rm snli-supcl@3", "embedlab runs rm snli-supcl --yes")


@common("data", "runs", "output")
@takes
def rm(options: RunOptions, confirm: ConfirmOptions, *, terminal: Terminal) -> None:
    """Delete a run, or one seed of it, with its checkpoints, model and scores."""
    from embedlab.runs.store import remove_runs, select_runs

    chosen = select_runs(terminal.settings.runs, options.run)
    names = ", ".join(folder.id for folder in chosen)
    confirm.require(f"delete {names}?", f"{names} not deleted", terminal)
    remove_runs(chosen)
    terminal.done(f"deleted {names}", deleted=[folder.id for folder in chosen])
