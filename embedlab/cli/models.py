"""From the model names that were typed to models that can work."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedlab.cli import completion
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError

if TYPE_CHECKING:
    from embedlab.encoders.encoder import PairScorer
    from embedlab.models.catalog import Model, ModelSpec

_HELP = "A run, run@seed, folder, hub id, catalog name, word-vectors:FILE, dice, or average:a,b."

ModelNames = Annotated[list[str], typer.Argument(metavar="MODEL...", help=_HELP, autocompletion=completion.models)]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help=_HELP, autocompletion=completion.models)]


def model_option(*, several: bool) -> Any:
    """`--model`, for the commands whose arguments are sentences."""
    text = f"{_HELP} Give it again for more." if several else _HELP
    return typer.Option("--model", "-m", metavar="MODEL", help=text, autocompletion=completion.models)


def title_of(name: str) -> str:
    """What a table's head calls a model: of a folder or a file only its last part, of any other name all."""
    from embedlab.models.grammar import WORD_VECTORS

    path = name.removeprefix(WORD_VECTORS)
    is_path = path != name or name.startswith((".", "/", "~"))
    return path.rstrip("/").rpartition("/")[2] if is_path else name


def resolve_model(name: str, terminal: Terminal) -> "Model":
    """What a typed name stands for, its notes told; a hub model is fetched where it is not at hand."""
    from embedlab.models.catalog import resolve
    from embedlab.models.hub import pinned

    found = resolve(name, terminal.settings.runs_folder)
    model = replace(found, members=tuple(pinned(spec, offline=terminal.settings.offline) for spec in found.members))
    for note in dict.fromkeys(spec.note for spec in model.members if spec.note):
        terminal.note(f"{name}: {note}")
    return model


def one_member(model: "Model") -> "ModelSpec":
    """The only member of a model; a run with several seeds is refused."""
    if len(model.members) > 1:
        raise UsageError(f"{model.name!r} has {len(model.members)} seeds", hint=f"name one: {model.members[0].name}")
    return model.members[0]


def load_members(model: "Model", terminal: Terminal, *, cached: bool) -> "list[PairScorer]":
    """The scorers of a model: several for a run with several seeds. CACHED keeps their vectors."""
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_scorer

    settings = terminal.settings
    computer, cache = machine(settings), settings.cache if cached else None
    return [load_scorer(spec, computer, cache=cache, cache_gib=settings.cache_gib, offline=settings.offline) for spec in model.members]
