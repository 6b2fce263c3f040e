"""`embedlab encode`: a file of sentences becomes a file of vectors, chunk by chunk, so that a kill costs one chunk."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import ModelName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples(
    "embedlab encode snli-supcl sentences.txt -o vectors.npy",
    "embedlab encode sbert pairs.tsv --column sentence1 -o vectors.parquet",
)


@common("data", "runs", "machine", "output")
def encode(
    model: ModelName,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Text with one sentence a line, or a .tsv, .csv or .jsonl file.", readable=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write: .npy, or .parquet with sentence and vector.", readable=False)
    ],
    column: Annotated[str | None, typer.Option("--column", help="Column of a .tsv, .csv or .jsonl file. [default: sentence]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Write one vector for each sentence of FILE, in order.

    After an interruption the same command continues from the last chunk that it saved.
    """
    from embedlab.workflows.encode import EncodeOptions, encode_file

    made = encode_file(EncodeOptions(model=model, file=file, out=out, column=column, is_replaced=force), terminal)
    message = f"{made.rows} vectors of {made.dim} numbers in {out}"
    terminal.done(message, file=str(out), rows=made.rows, dim=made.dim, model=model, **made.facts)
