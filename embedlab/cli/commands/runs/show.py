"""`embedlab runs show`: what one run is."""

import json

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import FigureOptions, write_figures
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.runs import RunOptions

EXAMPLES = examples(
    "embedlab runs show snli-supcl",
    "embedlab runs show snli-supcl@2 --json",
    "embedlab runs show snli-supcl --figure curves.pdf",
)


@common("data", "runs", "output")
@takes
def show(options: RunOptions, shown: FigureOptions, *, terminal: Terminal) -> None:
    """Show what a run is, what it ran on and how far it is; --figure draws its loss and dev score,
    a line for each seed.

    With --json one object: the facts of the run, or of several seeds {"runs": [facts, …]}.
    """
    from embedlab.reports.runs import run_facts, run_table
    from embedlab.runs.store import select_runs

    figures = shown.checked("runs")
    chosen = select_runs(terminal.settings.runs, options.run)
    if terminal.settings.format == "json":
        facts = [run_facts(folder) for folder in chosen]
        terminal.write_json(
            json.dumps(
                facts[0] if len(facts) == 1 else {"runs": facts},
                ensure_ascii=False,
                allow_nan=False,
                indent=2,
            )
        )
    else:
        terminal.show(*map(run_table, chosen))
    write_figures(figures, {"runs": chosen}, terminal)
