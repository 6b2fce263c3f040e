"""The models that packages bring: listed, and one that is spread over several packages put
together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.nearest import unknown
from embedlab.core.network import OFFLINE, ONLINE
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
    for name, full in PREFIXED.items():
        place = _located(full)
        state = "installed" if place is not None else "missing"
        yield ListedModel(
            name=name,
            model=full,
            state=state,
            get=f"pip install 'embedlab[{name}]'",
            licence="MIT",
            place=place,
        )


def _located(name: str) -> str | None:
    try:
        return resolve(name, Path()).members[0].location.partition("#")[0]
    except EmbedlabError:
        return None


def get_model(name: str, session: Session) -> Path:
    """Return the folder of the model called NAME, put together from its packages where it is not
    there yet.
    """
    entry = packaged(name)
    if entry is None and name not in PREFIXED:
        raise unknown(
            "model of packages",
            name,
            [*NAMES, *(known.repository.partition("/")[2] for known in PACKAGED.values())],
        )
    if entry is None or isinstance(entry.source, InPackage):
        extra = (
            entry.source.extra
            if entry is not None and isinstance(entry.source, InPackage)
            else name
        )
        raise UsageError(
            f"{name!r} comes with an extra of embedlab", hint=f"pip install 'embedlab[{extra}]'"
        )
    if (path := entry.source.place) is not None:
        session.note(f"{entry.name} is there already")
        return path
    if session.settings.offline:
        raise MissingError(f"{name!r} is not fetched: {OFFLINE}", hint=ONLINE)
    from embedlab.models.assembled import assemble

    session.note(
        f"getting {len(entry.source.packages)} packages of {entry.repository}, "
        f"{entry.source.mib} MiB together"
    )
    with session.progress(entry.name) as progress:
        return assemble(entry, entry.source, progress)
