"""`embedlab runs rename`: another name for a run."""

from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.run_names import RunName
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab runs rename snli-supcl snli-supcl-old", "embedlab runs rename sbert sbert-cased --runs /data/runs")


@common("data", "runs", "output")
def rename(
    run: RunName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new name.")],
    *,
    terminal: Terminal,
) -> None:
    """Give a run with all its seeds another name."""
    from embedlab.runs.store import rename_runs

    rename_runs(terminal.settings.runs_folder, run, new)
    terminal.done(f"{run} is now {new}", run=run, new=new)
