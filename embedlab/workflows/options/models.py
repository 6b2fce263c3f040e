"""The fields by which models are typed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from embedlab.workflows.options.flag import Flag

Typed = TypeVar("Typed", str, list[str])

_HELP = (
    "A run, run@seed, folder, hub id, catalog name, dice, average:a,b, or word-vectors:FILE, "
    "scores:FILE, vectors:FILE, wordllama:NAME, "
    "http://HOST/v1#MODEL; NAME=MODEL calls it NAME from then on; "
    "options follow it: @pooling=, @prompt=, @role=, @dim=, @layer=, @whiten=, "
    "@normalise, @bits=, @adapter=, "
    "@code=native, @revision=, @max_tokens=, @case=, @special=, @padding=, @dtype=."
)


def with_aliases(value: Typed) -> Typed:
    """Store the aliases among typed models, and give their names."""
    from embedlab.models.aliases import declared

    return [declared(name) for name in value] if isinstance(value, list) else declared(value)


MODEL = Flag(metavar="MODEL", help=_HELP, completes="models", reads=with_aliases)
MODELS = Flag(metavar="MODEL...", help=_HELP, completes="models", reads=with_aliases)
MODELS_AND_FILES = Flag(
    metavar="MODEL... [FILE...]",
    help=f"{_HELP} A .csv, .tsv, .jsonl or .parquet file of your own is what they are "
    f"evaluated on.",
    completes="models",
    reads=with_aliases,
)
NAMED_MODELS = Flag(  # of the commands whose arguments are sentences
    names=("--model", "-m"),
    metavar="MODEL",
    help=f"{_HELP} Give it again for more.",
    completes="models",
    reads=with_aliases,
)


@dataclass(frozen=True, kw_only=True)
class OfModelsAndFiles:
    """Models, among which a user may name files to evaluate them on."""

    models: Annotated[Sequence[str], MODELS_AND_FILES]


@dataclass(frozen=True, kw_only=True)
class OfFile:
    """A file to compare two models on, typed behind them."""

    file: Annotated[
        str | None, Flag(metavar="FILE", help="Your own rows, in place of --task FILE.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class OfTwoModels:
    """Two models that are compared."""

    first: Annotated[str, MODEL]
    second: Annotated[str, MODEL]
