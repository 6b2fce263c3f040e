"""The arguments and options by which models are typed."""

from typing import Annotated, Any

import typer

from embedlab.cli import completion
from embedlab.workflows.options.models import with_aliases

_HELP = (
    "A run, run@seed, folder, hub id, catalog name, dice, average:a,b, or word-vectors:FILE, scores:FILE, vectors:FILE, wordllama:NAME, "
    "http://HOST/v1#MODEL; NAME=MODEL calls it NAME from then on; "
    "options follow it, joined by &: ?pooling=, ?prompt=, ?role=, ?dim=, ?layer=, ?whiten=, ?normalise, ?adapter=, "
    "?code=native, ?revision=."
)


ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=_HELP, autocompletion=completion.models, callback=with_aliases)]


def model_option(*, several: bool) -> Any:
    """`--model`, for the commands whose arguments are sentences."""
    text = f"{_HELP} Give it again for more." if several else _HELP
    return typer.Option("--model", "-m", metavar="MODEL", help=text, autocompletion=completion.models, callback=with_aliases)
