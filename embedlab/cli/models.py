"""The arguments and options by which models are typed."""

from typing import Annotated, Any

import typer

from embedlab.cli import completion

_HELP = (
    "A run, run@seed, folder, hub id, catalog name, dice, average:a,b, or word-vectors:FILE, scores:FILE, vectors:FILE, wordllama:NAME, "
    "http://HOST/v1#MODEL; options follow it, joined by &: ?pooling=, ?prompt=, ?role=, ?dim=, ?layer=, ?whiten=, ?normalise, ?adapter=, "
    "?code=native, ?revision=."
)

ModelNames = Annotated[list[str], typer.Argument(metavar="MODEL...", help=_HELP, autocompletion=completion.models)]
ModelsAndFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL... [FILE...]",
        help=f"{_HELP} A .csv, .tsv, .jsonl or .parquet file of your own is what they are evaluated on.",
        autocompletion=completion.models,
    ),
]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=_HELP, autocompletion=completion.models)]


def model_option(*, several: bool) -> Any:
    """`--model`, for the commands whose arguments are sentences."""
    text = f"{_HELP} Give it again for more." if several else _HELP
    return typer.Option("--model", "-m", metavar="MODEL", help=text, autocompletion=completion.models)
