"""The corpora that embedlab ships: a TOML file each in embedlab/data/corpora, and those of a suite of tasks in a folder of its name."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from embedlab.core.paths import CORPORA_FOLDER
from embedlab.core.schema import TomlTable, read_toml
from embedlab.data.corpus_file import read_corpus
from embedlab.data.dataset import Dataset


def shipped(name: str) -> Dataset:
    """Return the shipped corpus called NAME, or the one of a suite, SUITE/NAME."""
    return read_corpus(CORPORA_FOLDER / f"{name}.toml", name)


def shipped_tasks(suite: str) -> Mapping[str, Dataset]:
    """Return the corpora of a SUITE by their names in it: none where no folder is called so."""
    return {path.stem: shipped(f"{suite}/{path.stem}") for path in sorted((CORPORA_FOLDER / suite).glob("*.toml"))}


@cache
def shipped_aliases() -> Mapping[str, str]:
    """Return the other names under which people type corpora, written without signs between their parts: name → corpus."""
    return MappingProxyType({alias: path.stem for path, values in _all_values() for alias in values.get("aliases", ())})


@cache
def shipped_hashes() -> Mapping[str, str]:
    """Return the sha256 of each published file by its path in a data folder."""
    return MappingProxyType({file: digest for _, values in _all_values() for file, digest in values.get("sha256", {}).items()})


def _all_values() -> Iterator[tuple[Path, TomlTable]]:
    """What each file says, unchecked: reading all of them is a matter of milliseconds, checking all is not."""
    for path in sorted(CORPORA_FOLDER.rglob("*.toml")):
        yield path, read_toml(path)
