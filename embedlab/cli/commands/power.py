"""`embedlab power`: which difference between two models these pairs and seeds can detect, and how many seeds a wanted one needs."""

from typing import Annotated

import typer

from embedlab.cli.evaluation_options import ClassifierSetting, CommonPairs, SuiteNames, TaskNames, Where
from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.models import ModelName
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    "embedlab power snli-ce snli-supcl --data DIR",
    "embedlab power snli-ce snli-supcl --task sts12 --detect 1 --seeds 5",
    "embedlab power snli-ce snli-supcl --suite transfer",
)


@common("data", "runs", "machine", "output", "latex")
def power(
    first: ModelName,
    second: ModelName,
    suite: SuiteNames = None,
    task: TaskNames = None,
    where: Where = "",
    detect: Annotated[float | None, typer.Option("--detect", metavar="POINTS", help="How many seeds a difference of POINTS needs.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", help="What N seeds of each recipe would detect.")] = None,
    setting: ClassifierSetting = "literature",
    common_pairs: CommonPairs = False,
    signature: Signed = False,
    figure: FigureNames = None,
    *,
    terminal: Terminal,
) -> None:
    """Print which difference between two models can be detected: at 5%, with 80% power, on each dataset and on the usual averages.

    Effective items are as many independent items as would give the same variance: items of one topic say less.
    """
    from embedlab.reports.figure_subjects import DetectableDifferences
    from embedlab.workflows.power import PowerOptions, power_report

    options = PowerOptions(
        first=first,
        second=second,
        suites=suite or (),
        tasks=task or (),
        where=where,
        detect=detect,
        seeds=seeds,
        setting=setting,
        common=common_pairs,
    )
    figures = check_figures(figure, DetectableDifferences)
    report = power_report(options, terminal)
    show_report(report, terminal, is_signed=signature)
    write_figures(figures, report.figure_subject(), terminal)
    end(report)
