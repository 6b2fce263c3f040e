"""`embedlab export`: a model as a folder that transformers and sentence-transformers load."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.models import ModelName
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab export snli-supcl@1 my-model", "embedlab export bert-base-uncased?pooling=mean bert-mean")


@common("data", "runs", "output")
def export(
    model: ModelName,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet or is empty.", readable=False)],
    *,
    terminal: Terminal,
) -> None:
    """Write MODEL into DIR with its tokenizer, pooling and card."""
    from embedlab.workflows.export import export_model

    pooling = export_model(model, folder, terminal)
    terminal.done(f"{model} with pooling {pooling} is in {folder}", folder=str(folder), model=model, pooling=pooling)
