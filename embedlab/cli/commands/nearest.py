"""`embedlab nearest`: the sentences of a file, or of the datasets, that a model finds closest to one."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    'embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5',
    'embedlab nearest "A dog runs." --model snli-supcl --model dice',
    'embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --model sbert --json',
)


@common("data", "runs", "machine", "output")
def nearest(
    sentence: Annotated[str, typer.Argument(metavar="SENTENCE", help="The sentence to compare with.")],
    model: Annotated[list[str], model_option(several=True)],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Text with one sentence a line, or a .tsv, .csv or .jsonl file. [default: the STS datasets]",
            readable=False,
        ),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    top: Annotated[int, typer.Option("--top", metavar="K", min=1, help="How many to show.")] = 10,
    *,
    terminal: Terminal,
) -> None:
    """Print the sentences closest to SENTENCE, each different one once, for each model; seeds of a run are averaged.

    Without FILE the sentences of the available STS datasets are searched by the vectors that evaluations have cached.
    """
    from embedlab.workflows.nearest import NearestOptions, nearest_table

    terminal.show(nearest_table(NearestOptions(sentence=sentence, models=model, file=file, column=column, top=top), terminal))
