"""`embedlab grid table`: the scores of a grid along its axes."""

from dataclasses import replace
from typing import Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.grid_options import GridName
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.names import DEFAULT_TASK

EXAMPLES = examples(
    "embedlab grid table snli-supcl-lambda --aggregate wmean",
    "embedlab grid table mine --rows optim.lr --columns encoder.pooling --score dev --latex",
    "embedlab grid table mine --score sts12-16 --figure mine.pdf",
)


@common("data", "runs", "output", "latex")
def table(
    grid: GridName,
    rows: Annotated[list[str] | None, typer.Option("--rows", metavar="AXIS", help="Group rows by this axis. [default: all axes]")] = None,
    columns: Annotated[str | None, typer.Option("--columns", metavar="AXIS", help="Group columns by this axis. [default: scores]")] = None,
    score: Annotated[str | None, typer.Option("--score", metavar="NAME", help="Only this score: dev, a dataset, an average.")] = None,
    where: Annotated[list[str] | None, typer.Option("--where", metavar="AXIS=VALUE", help="Only cells with this value.")] = None,
    task: Annotated[str, typer.Option("--task", metavar="NAME", help="Whose scores.", autocompletion=completion.tasks)] = DEFAULT_TASK,
    metric: Annotated[str | None, typer.Option("--metric", help="Which measure of the task. [default: spearman, or its first]")] = None,
    setting: Annotated[str | None, typer.Option("--aggregate", help="How the measure was taken. [default: all, or its first]")] = None,
    by: Annotated[list[str] | None, typer.Option("--by", help="Kinds of scores to show: dataset, average, source, dice.")] = None,
    signature: Signed = False,
    figure: FigureNames = None,
    *,
    terminal: Terminal,
) -> None:
    """Show the results of GRID: mean ± standard deviation over seeds.

    * is the best of its column (with --columns, of the table), = cannot be distinguished from it.
    """
    from embedlab.reports.figure_subjects import GridResults
    from embedlab.workflows.grid.table import ScoresOptions, grid_scores

    options = ScoresOptions(
        grid=grid,
        task=task,
        metric=metric,
        setting=setting,
        by=tuple(by or ("dataset", "average")),
        rows=tuple(rows) if rows is not None else None,
        columns=columns,
        score=score,
        where=tuple(where or ()),
    )
    figures = check_figures(figure, GridResults)
    found = grid_scores(options, terminal.settings)
    terminal.show(replace(found.table, is_signed=signature))
    write_figures(figures, found.subject, terminal)
