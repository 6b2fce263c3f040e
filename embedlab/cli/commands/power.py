"""`embedlab power`: which difference between two models these pairs and seeds can detect, and how many seeds a wanted one needs."""

from dataclasses import replace
from typing import Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.evaluation_options import CommonPairs
from embedlab.cli.models import ModelName
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

EXAMPLES = examples(
    "embedlab power snli-ce snli-supcl --data DIR",
    "embedlab power snli-ce snli-supcl --dataset sts12 --detect 1 --seeds 5",
)


@common("data", "runs", "machine", "output")
def power(
    first: ModelName,
    second: ModelName,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset", metavar="NAME", help="An STS dataset or file of pairs; again for more. [all]", autocompletion=completion.datasets
        ),
    ] = None,
    detect: Annotated[float | None, typer.Option("--detect", metavar="POINTS", help="How many seeds a difference of POINTS needs.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", help="What N seeds of each recipe would detect.")] = None,
    common_pairs: CommonPairs = False,
    signature: Signed = False,
    *,
    terminal: Terminal,
) -> None:
    """Print which difference between two models can be detected: at 5%, with 80% power, on each dataset and on the usual averages.

    Effective pairs are as many independent pairs as would give the same variance: pairs of one topic say less.
    """
    from embedlab.workflows.power import PowerOptions, power_report

    found = power_report(
        PowerOptions(first=first, second=second, datasets=dataset, detect=detect, seeds=seeds, common=common_pairs), terminal
    )
    terminal.show(replace(found.table, is_signed=signature))
    if not found.is_whole:
        raise typer.Exit(ExitCode.MISSING)
