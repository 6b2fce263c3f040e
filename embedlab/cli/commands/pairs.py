"""`embedlab pairs`: single pairs, as people and models score them."""

from typing import Annotated

import typer

from embedlab.cli.evaluation_options import PairDatasets
from embedlab.cli.models import ModelNames
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    "embedlab pairs snli-ce snli-supcl --dataset sts12 --sort gap --limit 10 --data DIR",
    "embedlab pairs dice --where 'dice>0.8 gold<2 source:headlines' --sort 'error(dice)' --format csv",
)


@common("data", "runs", "machine", "output")
def pairs(
    models: ModelNames,
    dataset: PairDatasets = None,
    where: Annotated[str, typer.Option("--where", metavar="EXPR", help="Only pairs for which all of its terms hold.")] = "",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Call the pairs that fit @NAME in every filter from now on.")] = "",
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="KEY",
            help="gap (default; with one model: its error), dice, gold, a model or error(MODEL), largest first; -KEY: smallest first.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to show.")] = 20,
    *,
    terminal: Terminal,
) -> None:
    """Show single pairs with every MODEL's similarity and rank error, where they disagree most first.

    EXPR is for example: dice>0.7 gold<2 gap>30 source:headlines sbert>0.8 "free text" /regex/ -negated. A rank error is a model's
    percentile rank of a pair minus that of the gold score; the gap is the largest difference between the models' ranks.
    """
    from embedlab.workflows.pairs import PairsOptions, pairs_report

    report = pairs_report(PairsOptions(models=models, datasets=dataset, where=where, name=name, sort=sort, limit=limit), terminal)
    show_report(report, terminal)
    end(report)
