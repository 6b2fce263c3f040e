"""The arguments by which runs are typed."""

from typing import Annotated

import typer

from embedlab.cli import completion

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run, or one seed of it as name@seed.", autocompletion=completion.runs)]

RunNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN]...", help="Runs, or single seeds as name@seed. [default: all]", autocompletion=completion.runs),
]
