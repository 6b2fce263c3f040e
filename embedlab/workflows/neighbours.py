"""The sentences of a corpus that a model finds closest to given ones; torch-free, so that the
dashboard uses it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.word_search import WordSearch
from embedlab.choices import Similarity
from embedlab.core.settings import Settings
from embedlab.encoders.vector_search import (
    StaticVectors,
    VectorSearch,
    cached_search,
    derived_search,
)
from embedlab.models.encoder_kind import static_files
from embedlab.store.vectors import EMBEDDINGS

if TYPE_CHECKING:
    from embedlab.models.catalog import ModelSpec

_SPARE = 8  # candidates above the requested number: float32 may order the last ones differently


class Search(Protocol):
    """Compares sentences with a corpus; of a model with several seeds each seed has one."""

    is_known: NDArray[np.bool_]  # which sentences of the corpus it can compare

    @property
    def is_current(self) -> bool:
        """Whether what it reads from has not changed since it was opened."""

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Similarity of each of QUERIES to each sentence of the corpus, (queries, corpus); nan
        where it cannot be computed.
        """

    def exact(self, query: str, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """The similarity that the model gives QUERY and each of the sentences with these NUMBERS;
        nan where it has none.
        """


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """The sentences that are searched, each once."""

    sentences: Sequence[str]

    @classmethod
    def of(cls, *columns: Sequence[str]) -> "Corpus":
        """Return the distinct sentences of COLUMNS that are not blank, in their order."""
        return cls(
            sentences=[
                text
                for text in dict.fromkeys(text for column in columns for text in column)
                if text.strip()
            ]
        )

    @cached_property
    def words(self) -> WordSearch:
        """The search by word overlap."""
        return WordSearch(self.sentences)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each sentence."""
        return {sentence: number for number, sentence in enumerate(self.sentences)}

    def vectors(
        self, fingerprint: str, settings: Settings, similarity: Similarity = "cosine"
    ) -> VectorSearch | None:
        """The search in the vectors that are cached under FINGERPRINT; None if there are none."""
        folder = settings.cache / EMBEDDINGS
        return cached_search(folder, fingerprint, self.sentences, similarity)

    def derived_vectors(
        self, spec: "ModelSpec", settings: Settings, similarity: Similarity = "cosine"
    ) -> VectorSearch | None:
        """The search in vectors that SPEC computes from cached ones: combined, whitened or
        normalised; None if those are not cached.
        """
        return derived_search(spec, self.sentences, settings, similarity)

    def static_vectors(self, spec: "ModelSpec", similarity: Similarity = "cosine") -> Search | None:
        """The search by vectors that take no time to compute and are not stored; None for a model
        of another kind.
        """
        files = static_files(spec.kind, spec.location) if spec.is_prefixed else None
        return None if files is None else StaticVectors(*files).search(self.sentences, similarity)


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A sentence of the corpus and its similarity, the mean over the seeds of the model."""

    number: int  # in the corpus
    similarity: float


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The closest sentences to one query by one model."""

    found: tuple[Neighbour, ...]  # closest first
    searched: int  # sentences of the corpus that were compared
    rank: int | None = None  # of the sentence that the query was searched with: 1 is the closest


def find_neighbours(
    queries: Sequence[str],
    corpus: Corpus,
    members: Sequence[Search],
    top: int,
    *,
    itself: bool = True,
    partners: Sequence[str] = (),
) -> list[Neighbours]:
    """Return the TOP closest sentences of CORPUS to each of QUERIES by the mean similarity of the
    MEMBERS, ties in the corpus' order.

    ITSELF: whether a query that is in the corpus is one of its own neighbours. PARTNERS: of each
    query, a sentence whose rank is looked up. A sentence or query that a member cannot compare is
    not found.
    """
    approximate = sum(
        (member.approximate(queries) for member in members[1:]), members[0].approximate(queries)
    ) / np.float32(len(members))
    neighbours = []
    for index, (query, similarity) in enumerate(zip(queries, approximate, strict=True)):
        if not itself and query in corpus.numbers:
            similarity[corpus.numbers[query]] = np.nan
        partner = corpus.numbers.get(partners[index]) if partners else None
        searched = int(np.isfinite(similarity).sum())
        neighbours.append(
            Neighbours(
                found=_closest(query, similarity, members, top),
                searched=searched,
                rank=_rank(similarity, partner),
            ),
        )
    return neighbours


def _rank(similarity: NDArray[np.float32], number: int | None) -> int | None:
    """The rank of the sentence with this NUMBER, 1 for the closest; None where it was not
    compared.
    """
    if number is None or np.isnan(similarity[number]):
        return None
    return 1 + int((similarity > similarity[number]).sum())


def _closest(
    query: str, similarity: NDArray[np.float32], members: Sequence[Search], top: int
) -> tuple[Neighbour, ...]:
    """The TOP sentences with the largest SIMILARITY, in the order of the exact one."""
    candidates = np.sort(largest(similarity, top + _SPARE))
    if not len(candidates):
        return ()
    exact = np.mean([member.exact(query, candidates) for member in members], axis=0)
    order = np.argsort(-exact, kind="stable")[:top]
    return tuple(
        Neighbour(number=int(candidates[row]), similarity=float(exact[row])) for row in order
    )


def largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """The places of the COUNT largest VALUES in any order, fewer where fewer are finite."""
    finite = np.flatnonzero(~np.isnan(values))
    if len(finite) <= count:
        return finite
    return finite[np.argpartition(-values[finite], count - 1)[:count]]
