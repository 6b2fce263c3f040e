"""`embedlab grid table`: the scores of a grid along its axes."""

from dataclasses import replace

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import ShownOptions, write_figures
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.grid import ScoresOptions

EXAMPLES = examples(
    "embedlab grid table snli-supcl-lambda --aggregate wmean",
    "embedlab grid table mine --rows optim.lr --columns encoder.pooling --score dev --latex",
    "embedlab grid table mine --score sts12-16 --figure mine.pdf",
)


@common("data", "runs", "output", "latex")
@takes
def table(options: ScoresOptions, shown: ShownOptions, *, terminal: Terminal) -> None:
    """Show the results of GRID: mean ± standard deviation over seeds.

    * is the best of its column (with --columns, of the table), = cannot be distinguished from it.
    """
    from embedlab.reports.grids import for_paper
    from embedlab.workflows.grid.table import grid_scores

    figures = shown.checked("grid")
    is_read_by_people = terminal.settings.format not in {"json", "csv"}
    scores = grid_scores(options, terminal.settings, is_crossed=is_read_by_people)
    found = replace(scores.table, is_signed=shown.signature)
    is_latex = terminal.settings.format == "latex"
    terminal.show(for_paper(found, [*scores.plan.axes]) if is_latex else found)
    write_figures(figures, scores.drawn, terminal)
