"""What a reader of corpora is: a file of embedlab/data/readers with a READER, which the files of
corpora name by its own name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_hint
from embedlab.data.dataset import DatasetKind, ParsedRows

_FOLDER = Path(__file__).with_name("readers")


@dataclass(frozen=True, kw_only=True)
class ReadSplit:
    """What a reader knows of the split whose files it reads."""

    kind: DatasetKind
    name: str
    title: str  # what the files call it
    titles: tuple[str, ...]  # those of all splits, for files that hold several
    classes: tuple[str, ...] = ()  # that it is expected to have; of STS its sources
    has_file_per_class: bool = False
    gold_range: tuple[float, float] = (0.0, 5.0)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Reads files of one family of layouts."""

    options: type  # a table of what a corpus says of its files
    read: Callable[..., ParsedRows]  # of their paths, `options` and `split`
    # the text of each file, of a frame and `options`: what `data get` fetches
    write: Callable[..., tuple[str, ...]] | None = None
    kinds: tuple[DatasetKind, ...] = ()  # of rows that it reads; empty: of any
    # those that its options may name, and whether they must
    columns: Callable[[DatasetKind], Mapping[str, bool]] | None = None
    files: Callable[[Any, ReadSplit], int | None] = lambda _options, _split: (
        None
    )  # how many of a split it reads; None: any number


def reader_names() -> list[str]:
    """Return the names of the readers, in alphabetical order."""
    return sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("[!_]*.py"))


def find_reader(name: str, kind: DatasetKind, *, where: str) -> Reader:
    """Return the reader called NAME, of rows of a KIND; what does not exist is a UsageError that
    says WHERE the name is written.
    """
    names = reader_names()
    readers = f"readers: {', '.join(names)}"
    if name not in names:
        hint = nearest_hint(name, names, readers)
        raise UsageError(f"{where}: no reader named {name!r}", hint=hint)
    found: Reader = import_module(f"embedlab.data.readers.{name.replace('-', '_')}").READER
    if found.kinds and kind not in found.kinds:
        reads = f"{name!r} reads {', '.join(found.kinds)}, not {kind}"
        raise UsageError(f"{where}: {reads}", hint=readers)
    return found
