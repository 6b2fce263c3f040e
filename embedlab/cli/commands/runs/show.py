"""`embedlab runs show`: what one run is."""

from embedlab.cli.options import common, examples
from embedlab.cli.run_names import RunName
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab runs show snli-supcl", "embedlab runs show snli-supcl@2 --json")


@common("data", "runs", "output")
def show(run: RunName, *, terminal: Terminal) -> None:
    """Show what a run is, what it ran on and how far it is."""
    from embedlab.reports.run_tables import run_table
    from embedlab.runs.store import select_runs

    terminal.show(*(run_table(found) for found in select_runs(terminal.settings.runs_folder, run)))
