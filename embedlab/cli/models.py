"""The arguments and options by which models are typed."""

from typing import Annotated, Any

import typer

from embedlab.cli import completion

_HELP = (
    "A run, run@seed, folder, hub id, catalog name, dice, average:a,b, or word-vectors:FILE, scores:FILE, vectors:FILE, wordllama:NAME, "
    "http://HOST/v1#MODEL; NAME=MODEL calls it NAME from then on; "
    "options follow it, joined by &: ?pooling=, ?prompt=, ?role=, ?dim=, ?layer=, ?whiten=, ?normalise, ?adapter=, "
    "?code=native, ?revision=."
)


def with_aliases(value: "str | list[str] | None") -> "str | list[str] | None":
    """Store the aliases among typed models, and give their names."""
    from embedlab.models.aliases import declared

    return [declared(one) for one in value] if isinstance(value, list) else declared(value) if value is not None else None


ModelNames = Annotated[list[str], typer.Argument(metavar="MODEL...", help=_HELP, autocompletion=completion.models, callback=with_aliases)]
ModelsAndFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL... [FILE...]",
        help=f"{_HELP} A .csv, .tsv, .jsonl or .parquet file of your own is what they are evaluated on.",
        autocompletion=completion.models,
        callback=with_aliases,
    ),
]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=_HELP, autocompletion=completion.models, callback=with_aliases)]


def model_option(*, several: bool) -> Any:
    """`--model`, for the commands whose arguments are sentences."""
    text = f"{_HELP} Give it again for more." if several else _HELP
    return typer.Option("--model", "-m", metavar="MODEL", help=text, autocompletion=completion.models, callback=with_aliases)
