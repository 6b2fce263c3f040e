"""`embedlab runs ls`: every run with its state."""

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab runs ls", "embedlab runs ls --format json")
ALSO = ("list",)


@common("data", "runs", "output")
def ls(*, terminal: Terminal) -> None:
    """List runs with their state and latest numbers."""
    from embedlab.reports.runs import runs_table
    from embedlab.runs.store import find_runs, unreadable_folders

    folder = terminal.settings.runs
    terminal.show(runs_table(folder, find_runs(folder), unreadable_folders(folder)))
