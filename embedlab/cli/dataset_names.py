"""The arguments by which datasets are typed."""

from typing import Annotated

import typer

from embedlab.cli import completion

DatasetNames = Annotated[
    list[str] | None, typer.Argument(metavar="[DATASET]...", help="All when absent.", autocompletion=completion.datasets)
]
