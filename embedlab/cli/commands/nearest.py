"""`embedlab nearest`: the sentences of a file that a model finds closest to one."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import model_option
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    'embedlab nearest "A dog runs." captions.txt --model snli-supcl --top 5',
    'embedlab nearest "A dog runs." pairs.tsv --column sentence1 --model dice --model sbert --json',
)


@common("data", "runs", "machine", "output")
def nearest(
    sentence: Annotated[str, typer.Argument(help="The sentence to compare with.")],
    file: Annotated[Path, typer.Argument(help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.", readable=False)],
    model: Annotated[list[str], model_option(several=True)],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    top: Annotated[int, typer.Option("--top", metavar="K", min=1, help="How many to show.")] = 10,
    *,
    terminal: Terminal,
) -> None:
    """Print the sentences of FILE closest to SENTENCE, each different one once, for each model; seeds of a run are averaged."""
    from embedlab.workflows.sentences import NearestOptions, nearest_table

    terminal.show(nearest_table(NearestOptions(sentence=sentence, file=file, models=model, column=column, top=top), terminal))
