"""`embedlab why`: where two models differ, what the items have in common on which one alone is right, and how steady that is."""

from typing import Annotated

import typer

from embedlab.cli.evaluation_options import ClassifierSetting, SuiteNames, TaskNames, Where
from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.models import ModelName
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    "embedlab why dice minilm --data starter",
    "embedlab why sbert defsent --task sick-r --where 'negation:one'",
)


@common("data", "runs", "machine", "output", "latex")
def why(
    first: ModelName,
    second: ModelName,
    suite: SuiteNames = None,
    task: TaskNames = None,
    where: Where = "",
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="At most so many rows in a table; JSON and CSV have all.")] = 8,
    pairs: Annotated[int, typer.Option("--examples", metavar="N", min=0, help="How many typical items to show of each model.")] = 5,
    setting: ClassifierSetting = "literature",
    signature: Signed = False,
    figure: FigureNames = None,
    *,
    terminal: Terminal,
) -> None:
    """Say why two models differ: on which kinds of items, by every property, and what the items have in common that one alone gets right.

    The first table has the kinds of items on which the second model's lead is most unlike its lead on all others, the surest first.
    """
    from embedlab.reports.figure_subjects import ExplainedDifference
    from embedlab.workflows.why import WhyOptions, why_report

    options = WhyOptions(
        first=first, second=second, suites=suite or (), tasks=task or (), where=where, setting=setting, rows=rows, examples=pairs
    )
    figures = check_figures(figure, ExplainedDifference)
    report = why_report(options, terminal)
    show_report(report, terminal, is_signed=signature)
    write_figures(figures, report.figure_subject(), terminal)
    end(report)
