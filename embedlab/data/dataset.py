"""Datasets: their columns, their splits, the sources of their rows, and the result of opening
one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

import polars as pl

from embedlab.core.paths import file_hash
from embedlab.core.schema import table

DatasetKind = Literal[
    "nli",
    "sts",
    "definitions",
    "paraphrases",
    "sentiment",
    "sentences",
    "triplets",
    "classification",
    "pair-classification",
]
DatasetOrigin = Literal["folder", "starter", "hub", "tiny", "file"]

NLI_LABELS = ("entailment", "neutral", "contradiction")

_TEXT, _SCORE, _CLASS = pl.String(), pl.Float64(), pl.Int8()
COLUMNS: Mapping[DatasetKind, Mapping[str, pl.DataType]] = {
    "nli": {"premise": _TEXT, "hypothesis": _TEXT, "label": _TEXT},  # label: one of NLI_LABELS
    # source: null where it is unknown
    "sts": {"sentence1": _TEXT, "sentence2": _TEXT, "gold": _SCORE, "source": _TEXT},
    "definitions": {"word": _TEXT, "definition": _TEXT},
    "paraphrases": {"sentence1": _TEXT, "sentence2": _TEXT, "is_duplicate": _CLASS},
    "sentiment": {"sentence": _TEXT, "label": _CLASS},  # 0 very negative … 4 very positive
    "sentences": {"sentence": _TEXT},
    "triplets": {"anchor": _TEXT, "positive": _TEXT, "negative": _TEXT},
    "classification": {"sentence": _TEXT, "label": _TEXT},
    "pair-classification": {"sentence1": _TEXT, "sentence2": _TEXT, "label": _TEXT},
}


def rows_of_kind(rows: pl.DataFrame, kind: DatasetKind) -> pl.DataFrame:
    """Return the columns of a KIND in their order; a column that ROWS lack is null."""
    return rows.select(
        pl.col(name).cast(dtype) if name in rows.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in COLUMNS[kind].items()
    )


SIDES = ("sentence1", "sentence2")  # columns of the sentences of pairs
LABELS = ("label", "source")  # text columns that are not sentences
CLASS_COLUMN: Mapping[DatasetKind, str] = {
    "nli": "label",
    "sts": "source",
    "paraphrases": "is_duplicate",
    "sentiment": "label",
    "classification": "label",
    "pair-classification": "label",
}


@dataclass(frozen=True, kw_only=True)
class ParsedRows:
    """The result of reading files: a frame with the columns of its kind, and the number of skipped
    rows by reason.
    """

    frame: pl.DataFrame
    skipped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FileLayout:
    """One file layout of a split in a data folder: all FILES (relative to it) must exist."""

    files: tuple[str, ...]
    read: Callable[[Sequence[Path]], ParsedRows]
    # returns the text of each file, for the layout that `data get` writes
    write: Callable[[pl.DataFrame], tuple[str, ...]] | None = None


@table
class HubSource:
    """A split on the Hugging Face hub at a pinned revision."""

    repository: str
    revision: str
    split: str = ""
    columns: Mapping[str, str]  # our column → theirs; a column missing there is null
    # class names by their index; another index, such as −1, means unlabelled
    labels: tuple[str, ...] = ()
    config: str | None = None  # of a repository with several sets of rows
    # column → the value of the rows that are read
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The size of the full corpus; CLASSES counts labels, or sources for STS, and EMPTY the rows
    with an empty sentence.
    """

    rows: int
    classes: Mapping[str, int] | None = None
    empty: int | None = 0  # None: unknown, no published file was available


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split of a dataset: the layouts to try in this order, then the hub."""

    layouts: tuple[FileLayout, ...]
    expected: Expected | None  # None: no published count is known
    hub: HubSource | None = None


# hashed by identity, as its mappings cannot be hashed: there is one object per corpus
@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A corpus under the name that a user types."""

    name: str
    kind: DatasetKind
    summary: str
    home: str  # the page where its owners publish it
    splits: Mapping[str, Split]
    gold_range: tuple[float, float] = (0.0, 5.0)  # of an STS dataset
    folder: Path | None = None  # where its files are; absent: in the data folder
    mteb: str = ""  # the task of mteb that scores the same test pairs
    unit: int = 1  # number of consecutive rows that belong together: 2 for the sentences of pairs

    @property
    def default_split(self) -> str:
        """Return the split used when none is named: test for STS, otherwise train."""
        usual_split = "test" if self.kind == "sts" else "train"
        return usual_split if usual_split in self.splits else next(iter(self.splits))


@dataclass(frozen=True, kw_only=True)
class DatasetState:
    """The origin of rows and what every number made from them must mention."""

    name: str
    split: str = "all"
    rows: int
    expected_rows: int | None = None
    origin: DatasetOrigin
    # other rows than the full corpus, allowed by the user or of the starter set
    partial: bool = False
    # "repository@revision" of rows from the hub, or of files that `data get` made of it
    revision: str | None = None
    sha256: Mapping[str, str] = field(default_factory=dict)  # file → hash
    skipped: Mapping[str, int] = field(default_factory=dict)  # reason → skipped rows
    empty: int = 0  # rows with an empty sentence
    # what is odd in its rows, with their places, and how it is read
    notes: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ListedSplit:
    """A split of a dataset, and where it would come from."""

    dataset: str
    split: str
    kind: str  # a DatasetKind, or "pairs" of a user's own anchors and positives
    expected: int | None  # rows of the published corpus
    origin: str  # "folder", "starter", "hub", "tiny", "file" or "missing"
    summary: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """The rows of one split and their state."""

    frame: pl.DataFrame
    state: DatasetState

    @classmethod
    def of_file(
        cls,
        path: Path,
        rows: ParsedRows,
        *,
        name: str,
        split: str = "all",
        notes: Sequence[str] = (),
    ) -> Self:
        """Return the ROWS of a user's own file as a split of a dataset called NAME."""
        state = DatasetState(
            name=name,
            split=split,
            rows=len(rows.frame),
            origin="file",
            sha256={name: file_hash(path)},
            skipped=rows.skipped,
            notes=notes,
        )
        return cls(frame=rows.frame, state=state)
