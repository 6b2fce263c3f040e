"""Stored test items with what a model predicted of them, so that two models are compared without
predicting again.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError
from embedlab.core.note import NoteKind, stored_kinds, with_kinds
from embedlab.core.schema import read_json
from embedlab.core.version import __version__
from embedlab.data.dataset import DatasetState
from embedlab.data.marks import data_marks
from embedlab.data.shared_text import NOTHING_SHARED, Overlap
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.parts import StoredPart
from embedlab.store.entries import EntryKind, Store
from embedlab.store.tables import StoredTable, TableFormat

ITEM_COLUMNS = {"item": pl.UInt32(), "gold": pl.String(), "predicted": pl.String()}
SCHEMA = 1
TEXT_COLUMNS = {
    "first_text": pl.UInt64(),
    "second_text": pl.UInt64(),
}  # absent from what older versions stored
_REMADE = "delete it: the next comparison makes it again"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Facts:
    """The facts stored with the items of outcomes."""

    task: str  # as in the evaluation's file name, including a setting other than the literature's
    dataset: str
    split: str  # "test", "cv" (test folds of a cross-validation) or a validation split
    model: str
    fingerprint: str
    data: tuple[StoredPart, ...]  # the state of every split that was read
    marks: tuple[str, ...]
    classes: tuple[
        str, ...
    ]  # every label in class order, which defines the second of two classes; empty for items with scores
    overlap: Overlap = NOTHING_SHARED  # with the model's training data
    notes: tuple[str, ...] = ()
    note_kinds: Mapping[str, NoteKind] = field(default_factory=dict)  # as in the evaluation
    embedlab: str = __version__
    earlier_fingerprint: str | None = None  # as in the evaluation


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredOutcomes(_Facts):
    """One member model's answer to every scored item of one dataset."""

    items: pl.DataFrame  # ITEM_COLUMNS; item: row among the dataset's splits, one after the other

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        *,
        dataset: str,
        split: str,
        states: Sequence[DatasetState],
        classes: Sequence[str],
        items: pl.DataFrame,
    ) -> Self:
        """Return the answers of the model of an EVALUATION to the ITEMS of a dataset, of which the
        splits of STATES were read.
        """
        return cls(
            task=evaluation.task,
            dataset=dataset,
            split=split,
            model=evaluation.model,
            fingerprint=evaluation.fingerprint,
            data=tuple(asdict(state) for state in states),
            marks=data_marks(states),
            classes=tuple(classes),
            items=items,
            embedlab=evaluation.embedlab,
            earlier_fingerprint=evaluation.earlier_fingerprint,
        )

    @property
    def texts(self) -> NDArray[np.uint64] | None:
        """Hashes of each item's sentences, (items, 2); None if they are not stored, so that items
        count as independent.
        """
        return (
            self.items.select(*TEXT_COLUMNS).to_numpy()
            if set(TEXT_COLUMNS) <= set(self.items.columns)
            else None
        )

    @property
    def name(self) -> str:
        """The dataset, with the split if several are scored."""
        return outcomes_name(self.dataset, self.split)

    def save(self, folder: Path) -> Path:
        """Write `<folder>/<task>/<dataset>.parquet` and return its path; a suite's own prefix of
        the dataset is left out.
        """
        name = self.name.rpartition("/")[2]
        return Store(folder / self.task).put(OUTCOMES, name, self)

    @classmethod
    def load(cls, path: Path) -> "StoredOutcomes":
        """Read what `save` wrote; an absent or damaged file is a MissingError."""
        return Store(path.parent).load(OUTCOMES, path.stem)


def _table(outcomes: StoredOutcomes) -> StoredTable:
    facts = {
        item.name: getattr(outcomes, item.name)
        for item in fields(outcomes)
        if item.name not in {"items", "overlap"}
    }
    facts |= {"overlap": asdict(outcomes.overlap), "note_kinds": stored_kinds(outcomes.notes)}
    return StoredTable(frame=outcomes.items, facts=json.dumps(facts, sort_keys=True, default=str))


def _outcomes(table: StoredTable, path: Path) -> StoredOutcomes:
    columns = {
        **ITEM_COLUMNS,
        **(TEXT_COLUMNS if set(TEXT_COLUMNS) <= set(table.frame.columns) else {}),
    }
    items = table.frame.select(pl.col(name).cast(kind) for name, kind in columns.items())
    facts = read_json(_Facts, table.facts, where=path, schema=SCHEMA, hint=_REMADE)
    return StoredOutcomes(
        **{**vars(facts), "notes": with_kinds(facts.notes, facts.note_kinds), "note_kinds": {}},
        items=items,
    )


OUTCOMES: EntryKind[StoredOutcomes] = EntryKind(
    format=TableFormat(facts="embedlab", to_table=_table, from_table=_outcomes), again=_REMADE
)


def outcomes_name(dataset: str, split: str) -> str:
    """Return the name of a DATASET's outcomes, with the SPLIT if several are scored."""
    return dataset if split in {"test", "cv", "dev"} else f"{dataset}:{split}"


def items_frame(
    rows: NDArray[Any],
    gold: Sequence[str] | NDArray[Any],
    predicted: Sequence[str] | NDArray[Any],
    texts: NDArray[np.uint64] | None = None,
) -> pl.DataFrame:
    """Return the frame of items: their row, gold and predicted label or score, and the hashes of
    their sentences.
    """
    columns = {"item": rows, "gold": list(gold), "predicted": list(predicted)}
    if texts is not None:
        columns |= {name: texts[:, side] for side, name in enumerate(TEXT_COLUMNS)}
    return pl.DataFrame(columns, schema_overrides=ITEM_COLUMNS).sort("item")


def stored_outcomes(
    folder: Path, task: str, unusable: Callable[[MissingError], None] = lambda _: None
) -> Iterator[StoredOutcomes]:
    """Yield the stored outcomes of a task from a member's folder of evaluations; UNUSABLE receives
    the error of each skipped file.
    """
    for path in sorted((folder / task).glob("*.parquet")):
        try:
            yield StoredOutcomes.load(path)
        except MissingError as error:
            unusable(error)


def values_of(outcomes: Sequence[StoredOutcomes]) -> list[NDArray[Any]]:
    """Return the gold value of each item, then what each of OUTCOMES, which are of the same items,
    predicted: class indices, or scores.
    """
    columns = [outcomes[0].items["gold"], *(outcome.items["predicted"] for outcome in outcomes)]
    if not outcomes[0].classes:
        return [column.cast(pl.Float64).to_numpy() for column in columns]
    index = {label: number for number, label in enumerate(outcomes[0].classes)}
    return [np.array([index[label] for label in column], dtype=np.int64) for column in columns]
