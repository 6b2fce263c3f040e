"""`embedlab runs resume`: unfinished seeds continued and evaluated."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import RunOptions

EXAMPLES = examples(
    "embedlab runs resume snli-supcl", "embedlab runs resume snli-supcl@2 --threads 2"
)


@common("data", "runs", "machine", "output")
@takes
def resume(options: RunOptions, *, terminal: Terminal) -> None:
    """Continue the unfinished seeds of a run from their newest checkpoints, then evaluate them on
    the tasks of their recipe.
    """
    from embedlab.workflows.runs import unfinished_runs
    from embedlab.workflows.train.run import continue_training

    if (
        report := continue_training(unfinished_runs(options.run, terminal.settings), terminal)
    ) is not None:
        show_report(report, terminal)
        end(report)
