"""A corpus in one TOML file, called after it: the kind of its rows, its splits and their published
counts, its files, their reader.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, MinLen

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.paths import CORPORA_FOLDER
from embedlab.core.schema import build, read_toml, table
from embedlab.data.dataset import (
    COLUMNS,
    Dataset,
    DatasetKind,
    Expected,
    FileLayout,
    HubSource,
    Split,
)
from embedlab.data.reader import ReadSplit, find_reader

_PLACEHOLDERS = ("split", "class")  # in the names of files
_PLACEHOLDER = re.compile(r"\{(.*?)\}")
_PER_CLASS = "{class}"
_EXAMPLE = "docs/plugins.md shows a whole one"
_OF_SHIPPED = (
    "mteb",
    "aliases",
    "sha256",
)  # keys that are looked up in the files of the package alone

_Size = Annotated[int, Ge(1)]


@table
class _Split:
    """What is published of a split; without rows and classes no count is known."""

    rows: _Size | None = None  # absent: as many as in all classes
    classes: dict[str, _Size] = field(
        default_factory=dict
    )  # rows of each label, of STS of each source, in their order
    # rows with an empty sentence; unknown where no published file was at hand
    empty: int | Literal["unknown"] = 0
    # what the names of files, or a column in them, call it; absent: as we do
    title: str | None = None
    hub: str | None = None  # what the hub calls it; absent: as we do

    @property
    def expected(self) -> Expected | None:
        """The published counts."""
        if self.rows is None and not self.classes:
            return None
        empty = None if self.empty == "unknown" else self.empty
        return Expected(
            rows=self.rows or sum(self.classes.values()), classes=self.classes or None, empty=empty
        )


@table
class _Layout:
    """Files of a split, the folders of which are tried in order, and who reads them."""

    files: Annotated[
        tuple[str, ...], MinLen(1)
    ]  # {split} is the title of the split; all with {class} are there once for each class
    folders: tuple[str, ...] = ("",)
    splits: tuple[str, ...] = ()  # the splits that have this layout; empty: all
    reader: dict[str, Any]  # its name and its options
    written: bool = False  # by `data get`


@table
class _Hub:
    """The hub's copy."""

    repository: str
    revision: str
    columns: dict[str, str]  # ours → theirs
    labels: tuple[str, ...] = ()  # names of classes by their index
    config: str | None = None
    where: dict[str, str] = field(default_factory=dict)  # column → value of the rows that are read


@table
class _Corpus:
    kind: DatasetKind
    summary: str
    home: str
    splits: dict[str, _Split]
    layout: tuple[_Layout, ...]
    hub: _Hub | None = None
    gold_range: tuple[float, float] = (0.0, 5.0)
    folder: str | None = None  # of its files, relative to this file; absent: the data folder
    unit: _Size = 1  # consecutive rows that belong together
    mteb: str = ""  # the task of mteb that scores the same test pairs
    aliases: tuple[str, ...] = ()  # other names that people type
    sha256: dict[str, str] = field(
        default_factory=dict
    )  # of published files, by their paths in a data folder


def read_corpus(path: Path, name: str | None = None) -> Dataset:
    """Return the dataset that a file declares, under the file's NAME; a fault is an error with the
    file and the key.

    It is the same object as long as the file does not change.
    """
    status = path.stat()
    return _read(path, name or path.stem, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=512)  # more than there are
def _read(path: Path, name: str, size: int, modified_ns: int) -> Dataset:
    """Return the dataset of a file of that size, last modified at that time."""
    where = str(path)
    corpus = build(_Corpus, read_toml(path), where=where, example=_EXAMPLE)
    if CORPORA_FOLDER not in path.parents and (
        key := next((key for key in _OF_SHIPPED if getattr(corpus, key)), None)
    ):
        raise UsageError(f"{where}: only shipped corpora may have {key!r}", hint="remove it")
    _refuse_faults(corpus, where)
    layouts = {split: tuple(_layouts(corpus, split, where)) for split in corpus.splits}
    if absent := next((split for split, own in layouts.items() if not own), None):
        raise UsageError(
            f"{where}: no layout has the split {absent!r}", hint="add it to the splits of a layout"
        )
    return Dataset(
        name=name,
        kind=corpus.kind,
        summary=corpus.summary,
        home=corpus.home,
        splits={
            split: Split(
                layouts=layouts[split],
                expected=own.expected,
                hub=_hub_source(corpus.hub, own.hub or split),
            )
            for split, own in corpus.splits.items()
        },
        gold_range=corpus.gold_range,
        folder=None
        if corpus.folder is None
        else Path(os.path.normpath(path.parent / corpus.folder)),
        mteb=corpus.mteb,
        unit=corpus.unit,
    )


def _refuse_faults(corpus: _Corpus, where: str) -> None:
    """Refuse counts that contradict each other, and names of splits and columns that do not
    exist.
    """
    if not corpus.splits:
        raise UsageError(
            f"{where}: 'splits' is empty", hint=f"add a table [splits.NAME]; {_EXAMPLE}"
        )
    for name, split in corpus.splits.items():
        if split.rows is not None and split.classes and sum(split.classes.values()) != split.rows:
            total = sum(split.classes.values())
            raise UsageError(
                f"{where}: 'splits.{name}.rows' is {split.rows}, its classes have {total}",
                hint="correct one of them",
            )
    for number, layout in enumerate(corpus.layout):
        _refuse_unknown(layout.splits, corpus.splits, f"{where}: 'layout.{number}.splits'")
        for file in layout.files:
            _refuse_unknown(
                _PLACEHOLDER.findall(file), _PLACEHOLDERS, f"{where}: 'layout.{number}.files'"
            )
    if corpus.hub is not None:
        _refuse_unknown(corpus.hub.columns, COLUMNS[corpus.kind], f"{where}: 'hub.columns'")


def _refuse_unknown(
    names: Sequence[str] | Mapping[str, Any], known: Sequence[str] | Mapping[str, Any], where: str
) -> None:
    if wrong := next((name for name in names if name not in known), None):
        guess = nearest_name(wrong, known)
        raise UsageError(
            f"{where}: unknown name {wrong!r}",
            hint=f"did you mean {guess!r}?" if guess else f"known: {', '.join(known)}",
        )


def _refuse_wrong_columns(given: Mapping[str, Any], known: Mapping[str, bool], where: str) -> None:
    """Refuse columns that no row of the kind has, and one that is needed and not GIVEN."""
    _refuse_unknown(given, known, where)
    if absent := next(
        (name for name, is_needed in known.items() if is_needed and name not in given), None
    ):
        raise UsageError(
            f"{where}: {absent!r} is missing", hint=f"name the column that holds it; {_EXAMPLE}"
        )


def _layouts(corpus: _Corpus, split: str, where: str) -> Iterator[FileLayout]:
    """Yield where the files of a SPLIT may be, each with what reads them."""
    own = corpus.splits[split]
    for number, layout in enumerate(corpus.layout):
        if layout.splits and split not in layout.splits:
            continue
        values = dict(layout.reader)
        key = f"layout.{number}.reader"
        reader = find_reader(
            str(values.pop("name", "")), corpus.kind, where=f"{where}: '{key}.name'"
        )
        options: Any = build(reader.options, values, where=where, prefix=key, example=_EXAMPLE)
        _refuse_wrong_columns(
            getattr(options, "columns", {}),
            reader.columns(corpus.kind) if reader.columns else {},
            f"{where}: '{key}.columns'",
        )
        has_file_per_class = any(_PER_CLASS in file for file in layout.files)
        if has_file_per_class and not own.classes:
            raise UsageError(
                f"{where}: 'splits.{split}.classes' is missing",
                hint=f"list the classes: the layout has one file for each ({_PER_CLASS})",
            )
        read_split = ReadSplit(
            kind=corpus.kind,
            name=split,
            title=own.title or split,
            titles=tuple(other.title or name for name, other in corpus.splits.items()),
            classes=tuple(own.classes),
            has_file_per_class=has_file_per_class,
            gold_range=corpus.gold_range,
        )
        titled = [file.replace("{split}", read_split.title) for file in layout.files]
        files = (
            [file.replace(_PER_CLASS, name) for name in own.classes for file in titled]
            if has_file_per_class
            else titled
        )
        if (needed := reader.files(options, read_split)) not in {None, len(files)}:
            raise UsageError(
                f"{where}: 'layout.{number}.files' lists {len(files)} files for {split!r}",
                hint=f"this reader needs {needed} files for each split",
            )
        for folder in layout.folders:
            yield FileLayout(
                files=tuple(f"{folder}/{file}" if folder else file for file in files),
                read=partial(reader.read, options=options, split=read_split),
                write=partial(reader.write, options=options)
                if layout.written and reader.write is not None
                else None,
            )


def _hub_source(hub: _Hub | None, split: str) -> HubSource | None:
    if hub is None:
        return None
    return HubSource(
        repository=hub.repository,
        revision=hub.revision,
        split=split,
        columns=hub.columns,
        labels=hub.labels,
        config=hub.config,
        where=hub.where,
    )
