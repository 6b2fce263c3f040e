"""Other names of the shipped corpora and hashes of their published files, as their files say,
without reading anything else of them.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from embedlab.core.paths import CORPORA_FOLDER
from embedlab.core.schema import TomlTable, read_toml


@cache
def shipped_aliases() -> Mapping[str, str]:
    """Return the other names under which people type corpora, written without signs between their
    parts: name → corpus.
    """
    return MappingProxyType(
        {alias: path.stem for path, values in _all_values() for alias in values.get("aliases", ())}
    )


@cache
def shipped_hashes() -> Mapping[str, str]:
    """Return the sha256 of each published file by its path in a data folder."""
    return MappingProxyType(
        {
            file: digest
            for _, values in _all_values()
            for file, digest in values.get("sha256", {}).items()
        }
    )


def _all_values() -> Iterator[tuple[Path, TomlTable]]:
    """Yield what each file says, unchecked: to read all of them is a matter of milliseconds, to
    check all is not.
    """
    for path in sorted(CORPORA_FOLDER.rglob("*.toml")):
        yield path, read_toml(path)
