"""What a reader of corpora is: a file of embedlab/data/readers with a class of its name, which the
files of corpora name; and the splits of dictionary definitions by word: about eight tenths of the
words are in train, one tenth each in dev and test.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import polars as pl

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_hint
from embedlab.data.dataset import DatasetKind, ParsedRows

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
    """Reads files of one family of layouts: a table whose fields are what a corpus says of them."""

    kinds: ClassVar[tuple[DatasetKind, ...]] = ()  # of rows that it reads; empty: of any

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

    def files(self, _split: ReadSplit) -> int | None:
        """Return how many files of a split it reads; None: any number."""
        return None


def reader_names() -> list[str]:
    """Return the names of the readers, in alphabetical order."""
    return sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("[!_]*.py"))


def find_reader(name: str, kind: DatasetKind, *, where: str) -> Any:
    """Return the class of the reader called NAME, of rows of a KIND; what does not exist is a
    UsageError that says WHERE the name is written.
    """
    names = reader_names()
    readers = f"readers: {', '.join(names)}"
    if name not in names:
        hint = nearest_hint(name, names, readers)
        raise UsageError(f"{where}: no reader named {name!r}", hint=hint)
    module = import_module(f"embedlab.data.readers.{name.replace('-', '_')}")
    found = getattr(module, name.title().replace("-", ""))
    if found.kinds and kind not in found.kinds:
        reads = f"{name!r} reads {', '.join(found.kinds)}, not {kind}"
        raise UsageError(f"{where}: {reads}", hint=readers)
    return found


def split_of(word: str) -> WordSplit:
    """Return the split of a word by its hash: the same in every file, without any stored list.

    Case is ignored, as by an uncased encoder: no token is in two splits.
    """
    tenth = int.from_bytes(blake2b(word.casefold().encode(), digest_size=8).digest(), "big") % 10
    return "train" if tenth < 8 else "dev" if tenth == 8 else "test"


def of_split(frame: pl.DataFrame, split: str) -> pl.DataFrame:
    """Return the rows of FRAME whose word is in SPLIT; "all" is every row."""
    if split == "all":
        return frame
    words = frame["word"].unique()
    return frame.filter(pl.col("word").is_in([word for word in words if split_of(word) == split]))
