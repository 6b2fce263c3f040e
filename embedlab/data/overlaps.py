"""Text that sets or rows share: overlaps between training sets and evaluation sets, so that no
report hides them, and topics, the rows that a chain of shared sentences connects.

A part of a user's own rows is held out by topics: a random part would hold sentences of the others,
and a score on it would be too high.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.disk import as_reading_errors
from embedlab.core.errors import Hint, UsageError
from embedlab.core.frame_files import read_table, write_table
from embedlab.data.dataset import Part
from embedlab.data.marks import Overlap
from embedlab.data.words import normalise

SortedKeys = NDArray[np.uint64]  # sorted, each once

_COLUMN = "text_key"
_AGAIN = "delete it: the next evaluation makes it again"
# odd, 2⁶⁴ over the golden ratio: spreads the lower of two keys over all bits
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownText:
    """The sentences and pairs of a training set as hashes: 8 bytes each, the same on every
    machine.
    """

    sentences: SortedKeys
    pairs: SortedKeys

    @classmethod
    def of(cls, frames: Iterable[pl.DataFrame]) -> Self:
        """Return the text of all rows of FRAMES."""
        keys = [_keys(frame) for frame in frames]
        # Of a triplet, anchor and positive are a pair, and so are anchor and negative.
        pairs = [_pair_keys(key[:, 0], column) for key in keys for column in key.T[1:]]
        return cls(sentences=_distinct([key.ravel() for key in keys]), pairs=_distinct(pairs))

    @classmethod
    def union(cls, texts: Sequence[Self]) -> Self | None:
        """Return the text of all TEXTS; None if there are none."""
        if len(texts) < 2:
            return texts[0] if texts else None
        return cls(
            sentences=_distinct([text.sentences for text in texts]),
            pairs=_distinct([text.pairs for text in texts]),
        )

    def overlap(self, frame: pl.DataFrame) -> Overlap:
        """Return the overlap of an evaluation set's rows with this text."""
        keys = _keys(frame)
        distinct = _distinct([keys[_has_words(keys)]])
        pairs = keys if keys.shape[1] == 2 else keys[:0]
        complete_pairs = pairs[_has_words(pairs).all(axis=1)]
        pair_keys = _pair_keys(complete_pairs[:, 0], complete_pairs[:, -1])
        return Overlap(
            sentences=len(distinct),
            shared_sentences=int(_is_in(distinct, self.sentences).sum()),
            pairs=len(pairs),
            shared_pairs=int(_is_in(pair_keys, self.pairs).sum()),
        )

    def has_any(self, frame: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.bool_]:
        """Return which rows of FRAME have a sentence of COLUMNS that is in this text; (rows,)."""
        keys = _keys(frame.select(columns))
        is_shared = _is_in(keys, self.sentences) & _has_words(keys)
        has_shared: NDArray[np.bool_] = np.any(is_shared, axis=1)
        return has_shared

    def row_overlaps(self, frame: pl.DataFrame) -> list[Overlap]:
        """Return the overlap of each row of a frame of pairs, or of pairs and a third sentence."""
        keys = _keys(frame)
        first, second = keys[:, 0], keys[:, 1]
        has_words = _has_words(keys)
        is_pair = has_words[:, 0] & has_words[:, 1]
        is_shared_pair = _is_in(_pair_keys(first, second), self.pairs) & is_pair
        for side in range(1, keys.shape[1]):  # a sentence that is there twice counts once
            has_words[:, side] &= (keys[:, :side] != keys[:, [side]]).all(axis=1)
        is_shared = _is_in(keys, self.sentences) & has_words
        counts = np.stack([has_words.sum(1), is_shared.sum(1), is_shared_pair], axis=1)
        return [
            Overlap(sentences=sentences, shared_sentences=shared, pairs=1, shared_pairs=shared_pair)
            for sentences, shared, shared_pair in counts.tolist()
        ]

    def write(self, path: Path) -> None:
        """Replace the file at PATH: parquet, columns key and is_pair."""
        write_table(path, self.frame)

    @classmethod
    def read(cls, path: Path) -> "KnownText":
        """Read what `write` wrote; an absent or damaged file is a MissingError."""
        with as_reading_errors(path, hint=_AGAIN):
            return cls.of_frame(read_table(path, hint=_AGAIN)[0])

    @property
    def frame(self) -> pl.DataFrame:
        """The text as it is stored."""
        sizes = [len(self.sentences), len(self.pairs)]
        keys = np.concatenate([self.sentences, self.pairs])
        return pl.DataFrame({"key": keys, "is_pair": np.repeat([False, True], sizes)})

    @classmethod
    def of_frame(cls, frame: pl.DataFrame) -> "KnownText":
        """Return the text that is stored in FRAME."""
        keys = frame["key"].cast(pl.UInt64)
        is_pair = frame["is_pair"]
        return cls(
            sentences=keys.filter(~is_pair).to_numpy(), pairs=keys.filter(is_pair).to_numpy()
        )


def find_overlaps(training: Sequence[Part], evaluations: Sequence[Part]) -> pl.DataFrame:
    """Return the overlap of every training set with every evaluation set.

    Columns: training, evaluation (each "name:split"), sentences, shared_sentences, pairs,
    shared_pairs.
    """
    rows = []
    for part in training:
        training_text = KnownText.of([part.frame])
        for evaluation in evaluations:
            names = {"training": _label(part), "evaluation": _label(evaluation)}
            rows.append({**names, **vars(training_text.overlap(evaluation.frame))})
    return pl.DataFrame(rows)


def sentence_columns(frame: pl.DataFrame) -> list[str]:
    """Return the columns of sentences, in order."""
    names = "premise hypothesis sentence1 sentence2 sentence definition anchor positive negative"
    return [name for name in names.split() if name in frame.columns]


def text_keys(frame: pl.DataFrame) -> SortedKeys:
    """Return the hashes of each row's first and last sentence, which may be the same sentence;
    (rows, 2), the same on every machine.
    """
    return _keys(frame)[:, [0, -1]]


def with_text_keys(frame: pl.DataFrame) -> pl.DataFrame:
    """Return FRAME with its sentences' hashes in columns text_key0, text_key1, so that subsets need
    not be hashed again.
    """
    columns = enumerate(_keys(frame).T)
    return frame.with_columns(pl.Series(f"{_COLUMN}{side}", column) for side, column in columns)


def _keys(frame: pl.DataFrame) -> SortedKeys:
    """Return the hashes of the sentence columns, (rows, columns); each distinct sentence is
    normalised once.
    """
    if f"{_COLUMN}0" in frame.columns:
        return frame.select(f"^{_COLUMN}[0-9]$").to_numpy()
    texts = [frame[name].to_list() for name in sentence_columns(frame)]
    key_of_text = {text: _key(text) for text in set().union(*texts)}
    if not texts:
        return np.empty((0, 1), np.uint64)
    columns = [[key_of_text[text] for text in column] for column in texts]
    return np.array(columns, np.uint64).T.copy()


def _has_words(keys: SortedKeys) -> NDArray[np.bool_]:
    """Return which KEYS belong to sentences with a word; all others share one key, whose presence
    in a stored text means nothing.
    """
    has_words: NDArray[np.bool_] = keys != np.uint64(_key(""))
    return has_words


def _key(text: str) -> int:
    digest = hashlib.blake2b(normalise(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _pair_keys(first: SortedKeys, second: SortedKeys) -> SortedKeys:
    """Return one hash for each unordered pair."""
    return np.minimum(first, second) * _MIX + np.maximum(first, second)


def _is_in(keys: SortedKeys, sorted_keys: SortedKeys) -> NDArray[np.bool_]:
    """Return whether each of KEYS is among the SORTED KEYS, which may be a million."""
    if not len(sorted_keys):
        return np.zeros(keys.shape, dtype=bool)
    positions = np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)
    is_known: NDArray[np.bool_] = sorted_keys[positions] == keys
    return is_known


def _distinct(keys: Sequence[SortedKeys]) -> SortedKeys:
    """Return the different KEYS in order; a stable sort joins sorted arrays a hundred times as fast
    as np.unique.
    """
    all_keys = np.sort(np.concatenate([np.empty(0, np.uint64), *keys]), kind="stable")
    is_last = np.append(all_keys[:-1] != all_keys[1:], True)[: len(all_keys)]
    distinct: SortedKeys = all_keys[is_last]
    return distinct


def _label(part: Part) -> str:
    return f"{part.state.name}:{part.state.split}"


SEED = 1  # of the order in which topics are drawn: the same rows for every run
FEWEST = 10  # held-out rows; fewer say nothing
# times the rows that are wanted: a topic that makes the part larger stays out of it
_LARGEST_SHARE = 1.5
_MOST = 0.25  # of all rows
LEAST_ROWS = round(FEWEST / _MOST)  # that give a part


def topics_of(rows: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.intp]:
    """Return the number of each row's topic by first appearance, (rows,): rows that texts of
    COLUMNS with equal words connect.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    texts = [rows[name].cast(pl.String).fill_null("").to_list() for name in columns]
    keys = [
        [numbers.setdefault(normalise(text) or text, len(numbers)) for text in column]
        for column in texts
    ]
    first_keys = np.tile(np.array(keys[0], dtype=np.intp), len(keys))
    links = coo_matrix(
        (np.ones(first_keys.size, np.int32), (first_keys, np.array(keys).ravel())),
        shape=(len(numbers), len(numbers)),
    )
    _, components = connected_components(links, directed=False)
    _, first_rows, topics = np.unique(components[keys[0]], return_index=True, return_inverse=True)
    numbers_of_topics: NDArray[np.intp] = np.argsort(np.argsort(first_rows))
    return numbers_of_topics[topics]


def is_held_out(rows: pl.DataFrame, columns: Sequence[str], share: float) -> NDArray[np.bool_]:
    """Return which rows are held out: topics drawn by SEED until they have this SHARE of the rows,
    at least FEWEST; (rows,).

    No row is held out if whole topics give fewer than FEWEST rows, or more than a quarter of all.
    """
    topics = topics_of(rows, columns)
    sizes = np.bincount(topics)
    target = max(round(share * len(topics)), FEWEST)
    limit = min(_LARGEST_SHARE * target, _MOST * len(topics))
    taken_rows = 0
    is_drawn = np.zeros(len(sizes), bool)
    for topic in np.random.default_rng(SEED).permutation(len(sizes)):
        if taken_rows < target and taken_rows + sizes[topic] <= limit:
            is_drawn[topic] = True
            taken_rows += sizes[topic]
    return is_drawn[topics] & (taken_rows >= FEWEST)


def held_out_rows(
    path: Path, rows: pl.DataFrame, columns: Sequence[str], share: float, *, hint: str | Hint
) -> NDArray[np.bool_]:
    """Return which ROWS of the file at PATH are held out; a share that no whole topics give is
    refused.
    """
    is_part = is_held_out(rows, columns, share)
    if not is_part.any():
        least = f": it takes {LEAST_ROWS} rows" if rows.height < LEAST_ROWS else ""
        raise UsageError(
            f"{path}: cannot hold out {100 * share:g}% of its {rows.height} rows without "
            f"separating rows that share a sentence{least}",
            hint=hint,
        )
    return is_part
