"""`embedlab data overlaps`: sentences and pairs that corpora share."""

from typing import Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab data overlaps snli sts12 --data DIR", "embedlab data overlaps sts-benchmark:train sts12 sts13 sts14 --json")


@common("data", "output")
def overlaps(
    training: Annotated[str, typer.Argument(metavar="TRAINING", help="A dataset, or dataset:split.", autocompletion=completion.datasets)],
    evaluations: Annotated[
        list[str], typer.Argument(metavar="EVALUATION...", help="Datasets, or dataset:split.", autocompletion=completion.datasets)
    ],
    *,
    terminal: Terminal,
) -> None:
    """Count the sentences and pairs of evaluation sets that a training set holds too, whatever their case and punctuation."""
    from embedlab.reports.notes import with_marks
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.data import overlaps_of

    found = overlaps_of(training, evaluations, terminal.settings)
    titles = ("training", "evaluation", "sentences", "shared_sentences", "pairs", "shared_pairs")
    columns = tuple(Column(key=key, title=key.replace("_", " ")) for key in titles)
    terminal.show(Table(title=with_marks("Overlaps", found.marks), columns=columns, rows=found.frame.to_dicts(), notes=found.notes))
