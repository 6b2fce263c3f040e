"""What installed packages add to embedlab: the entry points of its groups, found without importing
any of the packages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.core.paths import file_hash

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint


@dataclass(frozen=True, kw_only=True)
class PackageEntry:
    """One name that an installed package adds."""

    name: str
    module: str
    attribute: str  # empty: the module itself
    package: str  # its name and version
    identity: str  # the same with the hash of the module's file, where that is found


@cache
def package_entries(group: str, path: tuple[str, ...]) -> tuple[PackageEntry, ...]:
    """The entry points of GROUP among the packages on PATH, in the order of the packages' names."""
    if not _may_declare(f"[{group}]", path):
        return ()
    from importlib.metadata import distributions

    first: dict[str, Distribution] = {}  # of two versions of a package the first one is imported
    for distribution in distributions(path=list(path)):
        first.setdefault(distribution.name.lower().replace("_", "-"), distribution)
    entries = [
        entry
        for distribution in first.values()
        for entry in distribution.entry_points
        if entry.group == group
    ]
    return tuple(
        _entry(entry)
        for entry in sorted(
            entries, key=lambda point: (point.dist.name if point.dist else "", point.name)
        )
    )


def _may_declare(section: str, path: tuple[str, ...]) -> bool:
    """Return whether a package on PATH may have a SECTION of entry points.

    Most have none, which takes 4 ms to see; importlib.metadata, which also parses every package's
    file, takes 200 ms.
    """
    return any(section in text for text in _declarations(path)) or any(
        Path(folder).is_file() for folder in path
    )  # an archive


@cache
def _declarations(path: tuple[str, ...]) -> tuple[str, ...]:
    """The text of every file of entry points on PATH."""
    return tuple(
        file.read_text(encoding="utf-8", errors="replace")
        for folder in path
        for file in _entry_files(Path(folder))
    )


def _entry_files(path: Path) -> Iterator[Path]:
    yield from path.glob("*.dist-info/entry_points.txt")
    yield from path.glob("*.egg-info/entry_points.txt")
    yield from path.glob("EGG-INFO/entry_points.txt")


def _entry(entry: "EntryPoint") -> PackageEntry:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.module
    return PackageEntry(
        name=entry.name,
        module=entry.module,
        attribute=entry.attr,
        package=package,
        identity=_identity(entry, package),
    )


def _identity(entry: "EntryPoint", package: str) -> str:
    if entry.dist is None:
        return package
    module_path = entry.module.replace(".", "/")
    for ending in (".py", "/__init__.py"):
        if (file := Path(str(entry.dist.locate_file(f"{module_path}{ending}")))).is_file():
            return f"{package} {file_hash(file)}"
    return package
