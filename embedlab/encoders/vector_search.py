"""Similarities of a sentence to all sentences of a corpus by cached vectors, read from the
memory-mapped files in blocks; torch-free.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.encoders.encoder import Vectors, similarities
from embedlab.encoders.texts import sentence_keys
from embedlab.store.vectors import (
    EmbeddingCache,
    Segment,
    TextKeys,
    VectorPositions,
    find_rows,
    located,
)

BLOCK_ROWS = 8_192  # vectors compared at once: 25 MB at 768 dimensions
# of a block: where fewer rows are wanted, they are copied instead of comparing the whole block
_SPARSE = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class _Share:
    """The sentences of the corpus that one segment holds."""

    segment: Segment
    places: VectorPositions  # rows of the segment, ascending
    numbers: VectorPositions  # of these sentences in the corpus

    def blocks(self) -> Iterator[tuple[slice, Vectors, VectorPositions | slice]]:
        """Yield a slice of the share, vectors of the file, and which of those rows belong to the
        slice.
        """
        for start in range(0, len(self.segment.vectors), BLOCK_ROWS):
            first, last = np.searchsorted(self.places, [start, start + BLOCK_ROWS])
            if first == last:
                continue
            vectors = np.asarray(self.segment.vectors[start : start + BLOCK_ROWS])
            wanted = self.places[first:last] - start
            if last - first < _SPARSE * len(vectors):
                yield slice(first, last), vectors[wanted], slice(None)
            else:
                yield slice(first, last), vectors, wanted

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """The length of each vector of the share."""
        norms = np.empty(len(self.places), np.float32)
        for rows, vectors, wanted in self.blocks():
            norms[rows] = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))[wanted]
        return norms


class VectorSearch:
    """The sentences of a corpus whose vectors one encoder has cached; nothing is loaded but the
    rows that are compared.
    """

    def __init__(
        self,
        segments: Sequence[
            Segment
        ],  # opened once: to open the files again takes longer than a search
        corpus: TextKeys,
        *,
        dim: int,
        similarity: Similarity = "cosine",
        has_changed: Callable[[], bool],
    ) -> None:
        self.is_known = np.zeros(len(corpus), np.bool_)
        self._segments, self._dim, self._similarity = segments, dim, similarity
        self._has_changed = has_changed
        self._shares: list[_Share] = []
        self._share_of, self._place_of = np.full(len(corpus), -1), np.zeros(len(corpus), np.intp)
        for numbers, places, segment in located(corpus, self.is_known, segments):
            order = np.argsort(places)
            self._share_of[numbers], self._place_of[numbers] = len(self._shares), places
            self._shares.append(
                _Share(segment=segment, places=places[order], numbers=numbers[order])
            )

    @classmethod
    def open(
        cls, folder: Path, fingerprint: str, corpus: TextKeys, similarity: Similarity = "cosine"
    ) -> Self | None:
        """Return the search in the vectors that are cached under FINGERPRINT; None if there are
        none.
        """
        cache = EmbeddingCache.to_read(folder, fingerprint)
        if cache is None:
            return None
        before = cache.state
        return cls(
            list(cache.segments()),
            corpus,
            dim=cache.dim,
            similarity=similarity,
            has_changed=lambda: cache.state != before,
        )

    @property
    def is_current(self) -> bool:
        """Whether the vectors that it reads have not changed since it was opened."""
        return not self._has_changed()

    def vectors_of(self, sentences: Sequence[str]) -> tuple[NDArray[np.bool_], Vectors]:
        """Return which SENTENCES have a cached vector, and their vectors."""
        known, vectors, _ = find_rows(sentence_keys(sentences), self._dim, self._segments)
        vectors[~known] = 0
        return known, vectors

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Similarities in float32 of each of QUERIES to each sentence of the corpus, (queries,
        corpus); nan without a vector.
        """
        known, vectors = self.vectors_of(queries)
        scores = np.full((len(queries), len(self.is_known)), np.nan, np.float32)
        for share in self._shares:
            products = np.empty((len(queries), len(share.places)), np.float32)
            for rows, block, wanted in share.blocks():
                products[:, rows] = _compared(vectors, block, self._similarity)[:, wanted]
            scores[:, share.numbers] = _scaled(products, vectors, share, self._similarity)
        scores[~known] = np.nan
        return scores

    def exact(self, query: str, numbers: VectorPositions) -> NDArray[np.float32]:
        """Similarities of QUERY to the sentences with these NUMBERS, as the encoder scores a pair;
        nan where a stored row is damaged.
        """
        known, vectors = self.vectors_of([query])
        values = np.full(len(numbers), np.nan, np.float32)
        for number, share in enumerate(self._shares if known[0] else ()):
            rows = np.flatnonzero(self._share_of[numbers] == number)
            stored, _, is_intact = share.segment.read(self._place_of[numbers[rows]])
            scores = similarities(np.repeat(vectors, len(rows), axis=0), stored, self._similarity)
            values[rows] = np.where(is_intact, scores, np.nan)
        return values


def _compared(queries: Vectors, block: Vectors, similarity: Similarity) -> NDArray[np.float32]:
    """Dot products of QUERIES with the rows of BLOCK, or their negative Manhattan distances."""
    if similarity == "manhattan":
        return np.stack([-np.abs(block - query).sum(axis=1) for query in queries])
    # Not @: for so few queries it is no faster, and its threads wait for each other where
    # processors are busy.
    products: NDArray[np.float32] = np.einsum("nd,qd->qn", block, queries)
    return products


def _scaled(
    products: NDArray[np.float32], queries: Vectors, share: _Share, similarity: Similarity
) -> NDArray[np.float32]:
    """Similarities from dot products and the lengths of the vectors."""
    if similarity in {"dot", "manhattan"}:
        return products
    query_lengths = np.sqrt(np.einsum("qd,qd->q", queries, queries))[:, None]
    if similarity == "euclidean":
        distances: NDArray[np.float32] = np.sqrt(
            np.maximum(query_lengths**2 + share.lengths**2 - 2 * products, 0)
        )
        return -distances
    lengths = query_lengths * share.lengths
    cosines: NDArray[np.float32] = np.divide(
        products, lengths, out=np.zeros_like(products), where=lengths > 0
    )
    return cosines
