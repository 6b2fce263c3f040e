"""The argument and the options of `embedlab train`."""

from typing import Annotated

import typer

from embedlab.cli import completion
from embedlab.workflows.options.models import with_aliases

Option = typer.Option


def _encoder_name(value: str | None) -> str | None:
    return None if value is None else with_aliases(value)


RecipeName = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE|FILE",
        help="A name from `embedlab recipes`, a TOML file, or your own rows in a .csv, .tsv, .jsonl, .parquet or .txt file.",
        autocompletion=completion.recipes,
    ),
]
Encoder = Annotated[
    str | None,
    Option("--encoder", metavar="MODEL", help="Start from this encoder.", autocompletion=completion.models, callback=_encoder_name),
]
Dev = Annotated[str | None, Option("--dev", metavar="FILE", help="Your own file, or a dataset, whose score is followed while training.")]
Seed = Annotated[int | None, Option("--seed", metavar="S", min=0, max=2**63 - 1, help="The one seed to train with. [default: 1]")]
Resume = Annotated[bool, Option("--resume", help="Go on with the newest unfinished run of this name; start it where there is none.")]
LENGTH = (
    "A training of N steps: stages in their order until N is reached, warm-up and schedule over the steps that a stage "
    "then has. Its scores are marked as shortened."
)
