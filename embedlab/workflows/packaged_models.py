"""The models that packages bring: listed, and one that is spread over several packages put together."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.nearest import unknown
from embedlab.models.catalog import resolve
from embedlab.models.packaged import NAMES, PACKAGED, PREFIXED, InPackage, packaged
from embedlab.workflows.session import Session


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
    for one in PACKAGED.values():
        path = one.source.place
        yield ListedModel(
            name=one.name,
            model=one.repository,
            state=one.state,
            get=one.source.way,
            licence=one.licence,
            place=str(path) if path is not None else None,
        )
    for name, full in PREFIXED.items():
        place = _located(full)
        state = "installed" if place is not None else "missing"
        yield ListedModel(name=name, model=full, state=state, get=f"pip install 'embedlab[{name}]'", licence="MIT", place=place)


def _located(name: str) -> str | None:
    try:
        return resolve(name, Path()).members[0].location.partition("#")[0]
    except EmbedlabError:
        return None


def get_model(name: str, session: Session) -> Path:
    """Return the folder of the model called NAME, put together from its packages where it is not there yet."""
    found = packaged(name)
    if found is None and name not in PREFIXED:
        raise unknown("model of packages", name, [*NAMES, *(one.repository.partition("/")[2] for one in PACKAGED.values())])
    if found is None or isinstance(found.source, InPackage):
        extra = found.source.extra if found is not None and isinstance(found.source, InPackage) else name
        raise UsageError(f"{name!r} comes with an extra of embedlab", hint=f"pip install 'embedlab[{extra}]'")
    if (path := found.source.place) is not None:
        session.note(f"{found.name} is there already")
        return path
    if session.settings.offline:
        raise MissingError(f"--offline forbids fetching {name!r}", hint="remove --offline")
    from embedlab.models.assembled import assemble

    session.note(f"getting {len(found.source.packages)} packages of {found.repository}, {found.source.mib} MiB together")
    with session.progress(found.name) as progress:
        return assemble(found, found.source, progress)
