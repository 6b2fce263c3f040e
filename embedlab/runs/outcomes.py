"""What a model got on every item of one dataset, in one parquet file with the items' sentences: of
pairs, classified sentences, queries and contrasts alike.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from embedlab.core.disk import as_reading_errors
from embedlab.core.errors import MissingError
from embedlab.core.frame_files import read_facts, read_table, write_table
from embedlab.core.note import NoteKind, stored_kinds, with_kinds
from embedlab.core.schema import read_json
from embedlab.core.version import __version__
from embedlab.data.marks import NOTHING_SHARED, Overlap
from embedlab.runs.environment import StoredPart

SCHEMA = 2
SENTENCES = ("sentence1", "sentence2")
# the third sentence of a contrast, which other items lack
CONTRADICTED = "contradicted"
TEXT_IDS = ("first_text", "second_text")
ITEMS = {
    "item": pl.UInt32(),  # the row among the splits of its dataset, one after the other
    "gold": pl.Float64(),  # a score (null: not scored by people), a class's index or a query
    "source": pl.String(),  # null: none named
    "sentence1": pl.String(),  # null: the text is unknown
    "sentence2": pl.String(),  # null: a single sentence
}
_MORE = {CONTRADICTED: pl.String(), **dict.fromkeys(TEXT_IDS, pl.UInt64())}
PREDICTED = "predicted"  # a similarity, a class's index, a rank or a margin; null: none
_AGAIN = "delete it: the next comparison makes it again"
_KEY = "embedlab"  # of the facts, in the metadata of a file
_PLAIN = re.compile(r"[\w.:-]{1,80}")


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeFacts:
    """What is the same for all items of a file."""

    task: str  # as in the evaluation's file name, with a setting other than the literature's
    dataset: str
    split: str  # "test", "cv" (test folds of a cross-validation) or a validation split
    model: str
    fingerprint: str
    data: tuple[StoredPart, ...]  # the state of every split that was read
    marks: tuple[str, ...]
    # every label in the order of its index, which defines the second of two; none where items have
    # scores
    classes: tuple[str, ...]
    measures: tuple[str, ...] = ()  # the first enters averages
    base_task: str = ""  # the task whose set, or setting, `task` names
    overlap: Overlap = NOTHING_SHARED  # with the model's training data
    notes: tuple[str, ...] = ()
    note_kinds: Mapping[str, NoteKind] = field(default_factory=dict)  # as in the evaluation
    embedlab: str = __version__

    @property
    def name(self) -> str:
        """The dataset, with the split if several are scored."""
        return outcomes_name(self.dataset, self.split)


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredOutcomes(OutcomeFacts):
    """One member model's outcome on every scored item of one dataset."""

    items: pl.DataFrame  # ITEMS, of some tasks more columns, and PREDICTED

    def save(self, folder: Path) -> Path:
        """Write `<folder>/<task>/<dataset>.parquet` and return its path; a suite's own prefix of
        the dataset is left out.
        """
        path = folder / self.task / f"{_file_name(self.name)}.parquet"
        metadata = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in {"items", "overlap"}
        }
        metadata |= {
            "overlap": asdict(self.overlap),
            "note_kinds": stored_kinds(self.notes),
            "schema": SCHEMA,
        }
        write_table(path, self.items, {_KEY: json.dumps(metadata, sort_keys=True, default=str)})
        return path

    @classmethod
    def load(cls, path: Path) -> "StoredOutcomes":
        """Read what `save` wrote; an absent or damaged file is a MissingError."""
        with as_reading_errors(path, hint=_AGAIN):
            frame, metadata = read_table(path, hint=_AGAIN)
            outcome_facts = _facts(metadata[_KEY], path)
            columns = {**ITEMS, **{key: _MORE[key] for key in _MORE if key in frame.columns}}
            expressions = [pl.col(key).cast(kind) for key, kind in columns.items()]
            try:
                return cls(**vars(outcome_facts), items=frame.select(*expressions, PREDICTED))
            except pl.exceptions.PolarsError as error:
                raise ValueError(str(error)) from error


def _file_name(dataset: str) -> str:
    """Return the name of a dataset's file: of a path its last part and a hash of the whole."""
    base_name = dataset.rpartition("/")[2]
    if _PLAIN.fullmatch(base_name) and not Path(dataset).is_absolute():
        return base_name
    safe = re.sub(r"[^\w.-]", "_", base_name)[:60]
    return f"{safe}-{sha256(dataset.encode()).hexdigest()[:8]}"


def _facts(text: str, path: Path) -> OutcomeFacts:
    values = json.loads(text)
    if values.pop("schema", 1) != SCHEMA:
        raise MissingError(
            f"{path} was stored in the form of an earlier version: its scores are computed again",
            hint=_AGAIN,
        )
    facts = read_json(OutcomeFacts, json.dumps(values), where=path, schema=SCHEMA, hint=_AGAIN)
    field_values = vars(facts) | {
        "notes": with_kinds(facts.notes, facts.note_kinds),
        "note_kinds": {},
    }
    return OutcomeFacts(**field_values)


def outcomes_name(dataset: str, split: str) -> str:
    """Return the name of a DATASET's outcomes, with the SPLIT if several are scored."""
    return dataset if split in {"test", "cv", "dev", "all"} else f"{dataset}:{split}"


def items_frame(
    rows: ArrayLike,
    gold: ArrayLike,
    predicted: ArrayLike | pl.Series,
    texts: pl.DataFrame | None = None,
    *,
    text_ids: ArrayLike | None = None,
) -> pl.DataFrame:
    """Return the frame of items, in the order of their ROWS: gold and predicted numbers, and the
    sentences and sources of TEXTS, whatever its columns of sentences are called.

    text_ids: (items, 2), what identifies texts that are unknown.
    """
    from embedlab.data.overlaps import sentence_columns

    texts = pl.DataFrame() if texts is None else texts
    names = sentence_columns(texts)
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(np.asarray(rows)))
    columns: dict[str, Any] = {
        "item": rows,
        "gold": gold,
        "source": texts["source"] if "source" in texts.columns else nothing,
        "sentence1": texts[names[0]] if names else nothing,
        "sentence2": texts[names[-1]] if len(names) > 1 else nothing,
    }
    if CONTRADICTED in texts.columns:
        columns[CONTRADICTED] = texts[CONTRADICTED]
    if text_ids is not None:
        columns |= dict(zip(TEXT_IDS, np.asarray(text_ids, np.uint64).T, strict=True))
    frame = pl.DataFrame(columns, schema_overrides=ITEMS | _MORE, strict=False)
    values = predicted if isinstance(predicted, pl.Series) else np.asarray(predicted)
    frame = frame.with_columns(pl.Series(PREDICTED, values))
    return frame if frame["item"].is_sorted() else frame.sort("item", maintain_order=True)


def class_indices(labels: Sequence[object], classes: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return the index of each of LABELS among CLASSES, as outcomes store it."""
    index = {label: number for number, label in enumerate(classes)}
    return np.array([index[str(label)] for label in labels], dtype=np.float64)


def stored_outcomes(
    folder: Path,
    task: str,
    unusable: Callable[[MissingError], None] = lambda _: None,
    *,
    names: Collection[str] | None = None,
) -> Iterator[StoredOutcomes]:
    """Yield the stored outcomes of a task from a member's folder of evaluations, those NAMES alone
    and in their order where they are given; UNUSABLE receives the error of each skipped file.
    """
    paths = sorted((folder / task).glob("*.parquet"))
    if names is not None:
        wanted_paths = (folder / task / f"{_file_name(name)}.parquet" for name in names)
        paths = [path for path in wanted_paths if path in paths]
    for path in paths:
        try:
            yield StoredOutcomes.load(path)
        except MissingError as error:
            unusable(error)


def stored_facts(folder: Path) -> Iterator[OutcomeFacts]:
    """Yield what is known of each file in a member's folder of evaluations, without its items;
    damaged files, and those of earlier versions, are left out.
    """
    for path in sorted(folder.rglob("*.parquet")):
        try:
            yield _facts(read_facts(path, hint=_AGAIN)[_KEY], path)
        except (MissingError, OSError, KeyError, ValueError, TypeError):
            continue
