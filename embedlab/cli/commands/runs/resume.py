"""`embedlab runs resume`: unfinished seeds continued."""

from embedlab.cli.options import common, examples
from embedlab.cli.run_names import RunName
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab runs resume snli-supcl", "embedlab runs resume snli-supcl@2 --threads 2")


@common("data", "runs", "machine", "output")
def resume(run: RunName, *, terminal: Terminal) -> None:
    """Continue the unfinished seeds of a run from their newest checkpoints."""
    from embedlab.workflows.runs import unfinished_runs
    from embedlab.workflows.train.run import train_runs

    for unfinished in unfinished_runs(run, terminal.settings):
        train_runs(unfinished.recipe(), [unfinished], terminal)
