"""A corpus in one TOML file, called after it: the kind of its rows, its splits and their published
counts, its files, their reader; embedlab ships some.

A reader is a file of embedlab/data/readers with a class of its name. Definitions of words are split
by word: about eight tenths of the words are in train, one tenth each in dev and test.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import polars as pl
from annotated_types import Ge, MinLen

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_hint
from embedlab.core.paths import CORPORA_FOLDER
from embedlab.core.printable import count_text
from embedlab.core.schema import build, read_toml, table
from embedlab.data.dataset import (
    COLUMNS,
    Dataset,
    DatasetKind,
    Expected,
    FileLayout,
    HubSource,
    ParsedRows,
    Split,
)

WordSplit = Literal["train", "dev", "test"]
WORD_SPLITS = (*get_args(WordSplit), "all")
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


class Reader:
    """Reads files of a family of layouts; its fields are what a corpus declares about them."""

    kinds: ClassVar[tuple[DatasetKind, ...]] = ()  # of rows that it reads; empty: of any
    # files of a split, or of each of its classes, that it reads; None: any number
    file_count: ClassVar[int | None] = None

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the rows of a split; a fault is an error at its line."""
        raise NotImplementedError

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of each file, for rows that `data get` fetches."""
        raise NotImplementedError

    @staticmethod
    def named_columns(_kind: DatasetKind) -> Mapping[str, bool]:
        """Return the columns that its fields may name for a kind of rows, and whether they must."""
        return {}


def reader_names() -> list[str]:
    """Return the names of the readers, in alphabetical order."""
    return sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("[!_]*.py"))


def find_reader(name: str, kind: DatasetKind, *, where: str) -> Any:
    """Return the class of the reader called NAME, of rows of a KIND; what does not exist is a
    UsageError that says WHERE the name is written.
    """
    _refuse_unknown([name], reader_names(), where)
    module = import_module(f"embedlab.data.readers.{name.replace('-', '_')}")
    reader = getattr(module, name.title().replace("-", ""))
    if reader.kinds and kind not in reader.kinds:
        reads = f"{name!r} reads {', '.join(reader.kinds)}, not {kind}"
        raise UsageError(f"{where}: {reads}", hint=f"readers: {', '.join(reader_names())}")
    return reader


def word_split(word: str) -> WordSplit:
    """Return the split of a word by its hash: the same in every file, without any stored list.

    Case is ignored, as by an uncased encoder: no token is in two splits.
    """
    tenth = int.from_bytes(blake2b(word.casefold().encode(), digest_size=8).digest(), "big") % 10
    return "train" if tenth < 8 else "dev" if tenth == 8 else "test"


def rows_of_split(frame: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the rows of FRAME whose word is in SPLIT; "all" is every row."""
    if split == "all":
        return frame
    words = frame["word"].unique()
    return frame.filter(pl.col("word").is_in([word for word in words if word_split(word) == split]))


_PLACEHOLDER = re.compile(r"\{(.*?)\}")  # in the names of files
_PER_CLASS = "{class}"
_EXAMPLE = "docs/plugins.md shows a whole one"
# keys that are looked up in the files of the package alone
_OF_SHIPPED = (
    "mteb",
    "aliases",
    "sha256",
)

_Size = Annotated[int, Ge(1)]


@table
class _Split:
    """The published facts of a split; without rows and classes its counts are unknown."""

    rows: _Size | None = None  # absent: as many as in all classes
    # rows of each label, of STS of each source, in their order
    classes: dict[str, _Size] = field(default_factory=dict)
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
    """Files of a split, the folders in which they may be, in order, and their reader."""

    # {split} is the title of the split; all with {class} are there once for each class
    files: Annotated[tuple[str, ...], MinLen(1)]
    folders: tuple[str, ...] = ("",)
    splits: tuple[str, ...] = ()  # the splits that have this layout; empty: all
    reader: dict[str, Any]  # its name and its options
    written: bool = False  # by `data get`


@table
class _Corpus:
    kind: DatasetKind
    summary: str
    home: str
    splits: dict[str, _Split]
    layout: tuple[_Layout, ...]
    hub: HubSource | None = None
    gold_range: tuple[float, float] = (0.0, 5.0)
    folder: str | None = None  # of its files, relative to this file; absent: the data folder
    unit: _Size = 1  # consecutive rows that belong together
    mteb: str = ""  # the task of mteb that scores the same test pairs
    aliases: tuple[str, ...] = ()  # other names that people type
    # of published files, by their paths in a data folder
    sha256: dict[str, str] = field(default_factory=dict)


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
    location = str(path)
    corpus = build(_Corpus, read_toml(path), where=location, example=_EXAMPLE)
    shipped_keys = [key for key in _OF_SHIPPED if getattr(corpus, key)]
    if shipped_keys and CORPORA_FOLDER not in path.parents:
        raise UsageError(
            f"{location}: only shipped corpora may have {shipped_keys[0]!r}", hint="remove it"
        )
    _refuse_faults(corpus, location)
    splits = {}
    for split, split_section in corpus.splits.items():
        layouts = tuple(_layouts(corpus, split, location))
        if not layouts:
            raise UsageError(
                f"{location}: no layout has the split {split!r}",
                hint="add it to the splits of a layout",
            )
        hub = corpus.hub and replace(corpus.hub, split=split_section.hub or split)
        splits[split] = Split(layouts=layouts, expected=split_section.expected, hub=hub)
    return Dataset(
        name=name,
        kind=corpus.kind,
        summary=corpus.summary,
        home=corpus.home,
        splits=splits,
        gold_range=corpus.gold_range,
        folder=Path(os.path.normpath(path.parent / corpus.folder)) if corpus.folder else None,
        mteb=corpus.mteb,
        unit=corpus.unit,
    )


def _refuse_faults(corpus: _Corpus, location: str) -> None:
    """Refuse counts that contradict each other, and names of splits and columns that do not
    exist.
    """
    if not corpus.splits:
        raise UsageError(
            f"{location}: 'splits' is empty", hint=f"add a table [splits.NAME]; {_EXAMPLE}"
        )
    for name, split in corpus.splits.items():
        total = sum(split.classes.values())
        if total and split.rows not in {None, total}:
            raise UsageError(
                f"{location}: 'splits.{name}.rows' is {split.rows}, its classes have {total}",
                hint="correct one of them",
            )
    for number, layout in enumerate(corpus.layout):
        key = f"{location}: 'layout.{number}"
        _refuse_unknown(layout.splits, corpus.splits, f"{key}.splits'")
        placeholders = _PLACEHOLDER.findall(" ".join(layout.files))
        _refuse_unknown(placeholders, ("split", "class"), f"{key}.files'")
    if corpus.hub is not None:
        _refuse_unknown(corpus.hub.columns, COLUMNS[corpus.kind], f"{location}: 'hub.columns'")


def _refuse_unknown(names: Collection[str], known_names: Collection[str], location: str) -> None:
    for name in names:
        if name not in known_names:
            hint = nearest_hint(name, known_names, f"known: {', '.join(known_names)}")
            raise UsageError(f"{location}: unknown name {name!r}", hint=hint)


def _layouts(corpus: _Corpus, split: str, location: str) -> Iterator[FileLayout]:
    """Yield where the files of a SPLIT may be, each with what reads them."""
    split_section = corpus.splits[split]
    for number, layout in enumerate(corpus.layout):
        if layout.splits and split not in layout.splits:
            continue
        values = dict(layout.reader)
        key = f"layout.{number}.reader"
        reader_type = find_reader(
            str(values.pop("name", "")), corpus.kind, where=f"{location}: '{key}.name'"
        )
        reader: Reader = build(reader_type, values, where=location, prefix=key, example=_EXAMPLE)
        columns = reader_type.named_columns(corpus.kind)
        given_columns = getattr(reader, "columns", {})
        _refuse_unknown(given_columns, columns, f"{location}: '{key}.columns'")
        for name, is_needed in columns.items():
            if is_needed and name not in given_columns:
                raise UsageError(
                    f"{location}: '{key}.columns': {name!r} is missing",
                    hint=f"name the column that holds it; {_EXAMPLE}",
                )
        has_file_per_class = any(_PER_CLASS in file for file in layout.files)
        if has_file_per_class and not split_section.classes:
            raise UsageError(
                f"{location}: 'splits.{split}.classes' is missing",
                hint=f"list the classes: the layout has one file for each ({_PER_CLASS})",
            )
        read_split = ReadSplit(
            kind=corpus.kind,
            name=split,
            title=split_section.title or split,
            titles=tuple(other_split.title or name for name, other_split in corpus.splits.items()),
            classes=tuple(split_section.classes),
            has_file_per_class=has_file_per_class,
            gold_range=corpus.gold_range,
        )
        classes = split_section.classes if has_file_per_class else ("",)
        files = [
            file.replace("{split}", read_split.title).replace(_PER_CLASS, name)
            for name in classes
            for file in layout.files
        ]
        count = len(layout.files)
        if reader.file_count not in {None, count}:
            needed = count_text(reader.file_count, "files")
            raise UsageError(
                f"{location}: 'layout.{number}.files' lists {count_text(count, 'files')}",
                hint=f"this reader needs {needed} for each split or class",
            )
        is_written = layout.written and reader_type.write is not Reader.write
        for folder in layout.folders:
            yield FileLayout(
                files=tuple(f"{folder}/{file}" if folder else file for file in files),
                read=partial(reader.read, split=read_split),
                write=reader.write if is_written else None,
            )


def shipped_corpus(name: str) -> Dataset:
    """Return the shipped corpus called NAME, or the one of a suite, SUITE/NAME."""
    return read_corpus(CORPORA_FOLDER / f"{name}.toml", name)


def shipped_tasks(suite: str) -> Mapping[str, Dataset]:
    """Return the corpora of a SUITE by their names in it: none where no folder is called so."""
    return {
        path.stem: shipped_corpus(f"{suite}/{path.stem}")
        for path in sorted((CORPORA_FOLDER / suite).glob("*.toml"))
    }
