"""`embedlab runs cancel`: a running run stopped."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import CancelOptions

EXAMPLES = examples("embedlab runs cancel snli-supcl", "embedlab runs cancel snli-supcl@2 --force")


@common("data", "runs", "output")
@takes
def cancel(options: CancelOptions, *, terminal: Terminal) -> None:
    """Stop a running run after it has saved a checkpoint."""
    from embedlab.workflows.runs import cancel_runs

    cancelled = cancel_runs(options.run, terminal.settings, force=options.force)
    shown = [f"{each.run.id} (process {each.pid})" for each in cancelled]
    terminal.done(
        f"requested the stop of {', '.join(shown)}", cancelled=[each.run.id for each in cancelled]
    )
