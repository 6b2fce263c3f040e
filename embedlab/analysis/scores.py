"""The pair table of all comparisons, and the parquet files that store each model's scores of
pairs.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic_core import from_json

from embedlab.analysis.overlap import dice_of_rows
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.text_bytes import MISREAD_SIGNS, text_bytes
from embedlab.data.dataset import DatasetState, Part
from embedlab.store.entries import EntryKind, Store, unusable
from embedlab.store.tables import StoredTable, TableFormat

SCORE_COLUMNS = {"pair_key": pl.UInt64(), "similarity": pl.Float32()}
_KEYS_AT_ONCE = 50_000  # pairs
_COUNTS = (
    "max_tokens",
    "truncated",
    "zero_vectors",
    "unknown_texts",
)  # facts that are whole numbers


@dataclass(frozen=True, kw_only=True)
class ModelColumns:
    """A model in a pair table: one column a member (seed)."""

    name: str
    members: tuple[str, ...]
    seeds: tuple[int, ...] = ()  # of the members, where they have any
    runs: tuple[
        frozenset[str], ...
    ] = ()  # the runs behind each member: of a combination those of its parts
    # whether it is a checkpoint that others can name, or a rule: there is nothing else to draw
    is_published: bool = False

    @property
    def behind(self) -> tuple[frozenset[str], ...]:
        """The runs behind each member, or the member itself where none are named."""
        return (
            self.runs
            if len(self.runs) == len(self.members)
            else tuple(frozenset({member}) for member in self.members)
        )

    @property
    def is_recipe(self) -> bool:
        """Whether the members are draws of a recipe: a run by its name, not one seed of it, nor a
        model without seeds.
        """
        return bool(self.seeds) and self.members != (self.name,)


Reach = Literal["models", "checkpoints"]
"""How far a difference reaches: these recipes and published checkpoints, or nothing but the
weights at hand."""


def weakest(models: Sequence[ModelColumns]) -> Reach:
    """Return how far a statement about MODELS reaches: a run of one seed, and a model of unknown
    origin, are one draw of a recipe.
    """
    is_known = [
        (len(model.members) > 1 and model.is_recipe) or model.is_published for model in models
    ]
    return "models" if all(is_known) else "checkpoints"


def pair_table(parts: Sequence[Part]) -> pl.DataFrame:
    """Return one row per pair of all PARTS, which are STS data.

    dataset ("sts12"; a split that is not test is named: "sts-benchmark:dev") · source (null: none
    named) · pair (row in its dataset, from 0) · sentence1 · sentence2 · gold · dice (0–1) ·
    pair_key.
    """
    frames = [
        part.frame.select(
            dataset=pl.lit(_dataset(part.state)),
            source=pl.col("source").cast(pl.String),
            pair=pl.int_range(pl.len(), dtype=pl.UInt32),
            sentence1="sentence1",
            sentence2="sentence2",
            gold=pl.col("gold").cast(pl.Float64),
            dice=dice_of_rows(part.frame["sentence1"], part.frame["sentence2"]),
            pair_key=pair_keys(part.frame),
        )
        for part in parts
    ]
    return pl.concat(frames)


def pair_key(first: str, second: str) -> np.uint64:
    """Return the number that identifies the stored score of an ordered pair of sentences: 8 bytes
    of BLAKE2.
    """
    return np.uint64(_key(first, second))


def pair_keys(pairs: pl.DataFrame) -> pl.Series:
    """Return the key of each row's sentence1 and sentence2."""
    sides = pl.col("sentence1", "sentence2")
    keys = np.empty(len(pairs), np.uint64)
    for start in range(0, len(pairs), _KEYS_AT_ONCE):
        pair = pairs[start : start + _KEYS_AT_ONCE]
        contents = pair.select(pl.concat_str(sides, separator="\x1f").cast(pl.Binary)).to_series()
        digests = b"".join([_digest(content) for content in contents.to_list()])
        keys[start : start + len(pair)] = np.frombuffer(digests, "<u8")
        # The few texts whose bytes are others, by what all of those contain.
        for row in (
            pair.select(pl.any_horizontal(sides.str.contains_any(list(MISREAD_SIGNS))))
            .to_series()
            .arg_true()
            .to_list()
        ):
            keys[start + row] = _key(pair["sentence1"][row], pair["sentence2"][row])
    return pl.Series("pair_key", keys)


@dataclass(frozen=True, kw_only=True)
class ScoreFile:
    """The scores of one member model, and the facts of their computation."""

    scores: pl.DataFrame  # SCORE_COLUMNS, each key once
    facts: Mapping[str, str]  # fingerprint, earlier_fingerprint, model, precision, pooling …

    @classmethod
    def read(cls, path: Path) -> "ScoreFile":
        """Read the score file at PATH; an absent or damaged file is a MissingError."""
        score_file = Store(path.parent).get(SCORES, path.stem)
        if score_file is None:
            raise _absent(path)
        return score_file

    @staticmethod
    def read_facts(path: Path) -> Mapping[str, str]:
        """Return the facts of the score file at PATH, with its model's name among them; errors are
        those of `read`.
        """
        try:
            facts = _facts(_TABLE.read_facts(path, hint=SCORES.again))
            return {**facts, "model": facts["model"]}
        except FileNotFoundError as error:
            raise _absent(path) from error
        except (OSError, KeyError, ValueError, TypeError) as error:
            raise unusable(SCORES, path, error) from error

    def write(self, path: Path) -> None:
        """Replace the file at PATH in one step."""
        Store(path.parent).put(SCORES, path.stem, self)

    def merged(self, newer: Self) -> Self:
        """Return the rows of both files, NEWER winning where both scored a pair; rows of another
        model are dropped.
        """
        if self.facts.get("fingerprint") not in fingerprints_of(newer.facts):
            return newer
        scores = pl.concat([self.scores, newer.scores]).unique(
            "pair_key", keep="last", maintain_order=True
        )
        return type(self)(scores=scores, facts=newer.facts)


def fingerprints_of(facts: Mapping[str, str]) -> set[str | None]:
    """Return the fingerprints under which scores with these FACTS count: today's, and that by the
    earlier rule if it covers every file.
    """
    return {
        facts.get("fingerprint"),
        *([facts["earlier_fingerprint"]] if "earlier_fingerprint" in facts else []),
    }


def _facts(text: str) -> dict[str, str]:
    facts = from_json(text)
    if not isinstance(facts, dict) or not all(isinstance(value, str) for value in facts.values()):
        raise TypeError("not a table of text")
    if not all(facts[key].isdecimal() for key in _COUNTS if key in facts):
        raise ValueError("not a count")
    return facts


def _table(file: ScoreFile) -> StoredTable:
    return StoredTable(frame=file.scores, facts=json.dumps(dict(file.facts), sort_keys=True))


def _score_file(table: StoredTable, _path: Path) -> ScoreFile:
    scores = table.frame.select(pl.col(name).cast(kind) for name, kind in SCORE_COLUMNS.items())
    return ScoreFile(scores=scores, facts=_facts(table.facts))


_TABLE = TableFormat(facts="embedlab", to_table=_table, from_table=_score_file)
SCORES: EntryKind[ScoreFile] = EntryKind(
    format=_TABLE, title="score file", again="delete it; `embedlab evaluate MODEL` makes it again"
)


def _absent(path: Path) -> MissingError:
    return MissingError(f"no score file {str(path)!r}", hint="`embedlab evaluate MODEL` makes it")


def merge_scores(path: Path, newer: ScoreFile) -> ScoreFile:
    """Add NEWER to the score file at PATH, which may be absent, and return the result; concurrent
    merges wait for each other.
    """
    return Store(path.parent).change(
        SCORES, path.stem, lambda stored: newer if stored is None else stored.merged(newer)
    )


def with_scores(table: pl.DataFrame, members: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The pair table with one Float64 column a member, named as in MEMBERS; null where a pair is
    not scored.

    The model "dice" is the table's own column.
    """
    keys, columns, places = table["pair_key"].to_numpy(), [], None
    for name, scores in members.items():
        if name == "dice":
            continue
        if name in table.columns:
            raise UsageError(
                f"a model cannot be called {name!r}: the pair table has that column",
                hint="rename its run: `embedlab runs rename`",
            )
        # Models that scored the same pairs store them in the same order: the positions of the last
        # one are reused.
        if places is None or not np.array_equal(places.scored, scores["pair_key"].to_numpy()):
            places = _Places.of(keys, scores["pair_key"].to_numpy())
        columns.append(places.values(scores["similarity"]).fill_nan(None).alias(name))
    return table.with_columns(columns)


def lacking_rows(table: pl.DataFrame, scores: pl.DataFrame) -> NDArray[np.intp]:
    """Return the rows of the pairs of TABLE that SCORES lack, one of each key, in the order of the
    keys.
    """
    keys, rows = np.unique(table["pair_key"].to_numpy(), return_index=True)
    found: NDArray[np.intp] = rows[~_Places.of(keys, scores["pair_key"].to_numpy()).is_found]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class _Places:
    """Positions of a table's pairs among scored ones; for a key that was scored twice, the last."""

    scored: NDArray[np.uint64]  # the keys
    rows: NDArray[np.intp]  # of each pair of the table; arbitrary where it was not scored
    is_found: NDArray[np.bool_]  # whether it was

    @classmethod
    def of(cls, keys: NDArray[np.uint64], scored: NDArray[np.uint64]) -> Self:
        """Return the positions of pairs with these KEYS."""
        if not len(scored):
            return cls(
                scored=scored,
                rows=np.zeros(len(keys), dtype=np.intp),
                is_found=np.zeros(len(keys), dtype=bool),
            )
        order = np.argsort(scored, kind="stable")
        # A key smaller than all others is sought at -1, the end: its row holds another key, and so
        # it is not found.
        rows = order[np.searchsorted(scored, keys, side="right", sorter=order) - 1]
        return cls(scored=scored, rows=rows, is_found=scored[rows] == keys)

    def values(self, similarities: pl.Series) -> pl.Series:
        """Return the similarity of each pair of the table; null where it was not scored."""
        values = np.zeros(len(self.rows))
        values[self.is_found] = similarities.to_numpy()[self.rows[self.is_found]]
        column = pl.Series(values)
        return column if self.is_found.all() else column.set(pl.Series(~self.is_found), None)


def _dataset(state: DatasetState) -> str:
    # A user's own file has one split, "all".
    return state.name if state.split in {"test", "all"} else f"{state.name}:{state.split}"


def _key(first: str, second: str) -> int:
    return int.from_bytes(_digest(b"\x1f".join((text_bytes(first), text_bytes(second)))), "little")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()
