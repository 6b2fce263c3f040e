"""Similarities of a sentence to all sentences of a corpus: by cached vectors, by those that are
computed from cached ones (combinations, whitened models), or by static vectors; torch-free.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from embedlab.choices import Similarity
from embedlab.core.errors import MissingError
from embedlab.core.progress import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.encoders.combination import CombinedEncoder
from embedlab.encoders.encoder import Encoder, EncoderFacts, Vectors, score_by_vectors, similarities
from embedlab.encoders.stored_scores import ScorePlace
from embedlab.encoders.texts import Text, sentence_keys
from embedlab.encoders.transformed import TransformedEncoder
from embedlab.encoders.word_tokens import WordTokens
from embedlab.models.catalog import ModelSpec
from embedlab.models.folder_files import read_header
from embedlab.models.grammar import COMBINATION_NAMES
from embedlab.store.vectors import EMBEDDINGS, EmbeddingCache, adopt_vectors

Known = NDArray[np.bool_]
FindVectors = Callable[[Sequence[str]], tuple[Known, Vectors]]
"""Which sentences have a vector, and the vectors: (sentences,) and (sentences, dim)."""
BLOCK_ROWS = 8_192  # vectors compared at once: 25 MB at 768 dimensions
_STATIC_AT_ONCE = 2_048  # sentences: the vectors of their tokens take some 25 MB
_DTYPES = {"F16": np.float16, "F32": np.float32}


class VectorSearch:
    """A corpus by the vectors of its sentences, which lie in a file: those of several models and
    many sentences would fill the memory.
    """

    def __init__(
        self,
        sentences: Sequence[str],
        find: FindVectors,
        *,
        dim: int,
        similarity: Similarity = "cosine",
        has_changed: Callable[[], bool] = lambda: False,
    ) -> None:
        self._find, self._similarity, self._has_changed = find, similarity, has_changed
        self.is_known = np.zeros(len(sentences), np.bool_)
        with TemporaryFile() as file:
            for start in range(0, len(sentences), BLOCK_ROWS):
                block = slice(start, start + BLOCK_ROWS)
                self.is_known[block], vectors = find(sentences[block])
                file.write(np.ascontiguousarray(vectors, np.float32).data)
            file.flush()
            shape = (len(sentences), dim)
            self._vectors: Vectors = (
                np.memmap(file, np.float32, mode="r", shape=shape)
                if self.is_known.any()
                else np.zeros(shape, np.float32)
            )

    @property
    def is_current(self) -> bool:
        """Whether the vectors that it has read have not changed since it was opened."""
        return not self._has_changed()

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Similarities in float32 of each of QUERIES to each sentence of the corpus, (queries,
        corpus); nan without a vector.
        """
        known, vectors = self._find(queries)
        scores = np.empty((len(queries), len(self.is_known)), np.float32)
        for start in range(0, len(self.is_known), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            scores[:, block] = _compare_rows(vectors, self._vectors[block], self._similarity)
        scores[~known] = np.nan
        scores[:, ~self.is_known] = np.nan
        return scores

    def exact(self, query: str, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """Similarities of QUERY to the sentences with these NUMBERS, as the encoder scores a pair;
        nan without a vector.
        """
        known, vector = self._find([query])
        others = self._vectors[numbers]
        scores = similarities(np.repeat(vector, len(others), axis=0), others, self._similarity)
        return np.where(known[0] & self.is_known[numbers], scores, np.float32(np.nan))


def _compare_rows(first: Vectors, second: Vectors, similarity: Similarity) -> NDArray[np.float32]:
    """Return the similarity of each row of FIRST, which has few, with each row of SECOND."""
    if similarity == "manhattan":
        return np.stack([-np.abs(second - row).sum(axis=1) for row in first])
    # Not @: for so few queries it is no faster, and its threads wait for each other where
    # processors are busy.
    products: NDArray[np.float32] = np.einsum("nd,qd->qn", second, first)
    if similarity == "dot":
        return products
    squares = np.einsum("qd,qd->q", first, first)[:, None], np.einsum("nd,nd->n", second, second)
    if similarity == "euclidean":
        distances: NDArray[np.float32] = np.sqrt(
            np.maximum(squares[0] + squares[1] - 2 * products, 0)
        )
        return -distances
    lengths = np.sqrt(squares[0]) * np.sqrt(squares[1])
    cosines: NDArray[np.float32] = np.divide(
        products, lengths, out=np.zeros_like(products), where=lengths > 0
    )
    return cosines


def cached_search(
    folder: Path, fingerprint: str, sentences: Sequence[str], similarity: Similarity = "cosine"
) -> VectorSearch | None:
    """Return the search by the vectors cached under FINGERPRINT; None if there are none."""
    cache = EmbeddingCache.to_read(folder, fingerprint)
    return (
        VectorSearch(
            sentences,
            _finder(cache),
            dim=cache.dim,
            similarity=similarity,
            has_changed=_change_of([cache]),
        )
        if cache is not None
        else None
    )


def _finder(cache: EmbeddingCache) -> FindVectors:
    def find(sentences: Sequence[str]) -> tuple[Known, Vectors]:
        known, vectors, _ = cache.find(sentence_keys(sentences))
        vectors[~known] = 0
        return known, vectors

    return find


def _change_of(caches: Sequence[EmbeddingCache]) -> Callable[[], bool]:
    before = [cache.state for cache in caches]
    return lambda: [cache.state for cache in caches] != before


class _CachedVectors:
    """The cached vectors of a model as an encoder that computes nothing."""

    similarity: Similarity = "cosine"

    def __init__(self, *, spec: ModelSpec, cache: EmbeddingCache, fingerprint: str) -> None:
        self.name, self.fingerprint, self.dim = spec.name, fingerprint, cache.dim
        self.cache, self.facts = cache, EncoderFacts()

    def encode(
        self, sentences: Sequence[Text], progress: ProgressCallback | None = None
    ) -> Vectors:
        """One vector a sentence, in order."""
        known, vectors, _ = self.cache.find(sentence_keys(sentences))
        if not known.all():
            raise MissingError(
                f"{int((~known).sum())} vectors of {self.name!r} are not cached",
                hint=f"`embedlab evaluate {self.name}`",
            )
        return vectors

    def score(
        self, first: Sequence[str], second: Sequence[str], progress: ProgressCallback | None = None
    ) -> NDArray[np.float32]:
        """The cosine of each pair."""
        return score_by_vectors(self, first, second, progress)


def derived_search(
    spec: ModelSpec, sentences: Sequence[str], settings: Settings, similarity: Similarity
) -> VectorSearch | None:
    """Return the search of SPEC among SENTENCES by vectors that it computes from cached ones: only
    they are queries. None if the vectors that it is made of are not cached.
    """
    parts: list[_CachedVectors] = []
    encoder = _derived_encoder(spec, settings, similarity, parts)
    if encoder is None:
        return None
    keys = sentence_keys(sentences)
    known = np.logical_and.reduce([part.cache.knows(keys) for part in parts])
    places = {sentences[number]: number for number in np.flatnonzero(known).tolist()}
    if not places:
        return None
    # A whitened model is fitted on what it encodes first: all sentences that are known.
    fitted = encoder.encode(list(places)) if spec.is_fitted else None
    rows = {sentence: row for row, sentence in enumerate(places)}

    def find(wanted: Sequence[str]) -> tuple[Known, Vectors]:
        known = np.array([sentence in places for sentence in wanted], np.bool_)
        vectors = np.zeros((len(wanted), encoder.dim), np.float32)
        texts = [sentence for sentence in wanted if sentence in places]
        if texts:
            vectors[known] = (
                encoder.encode(texts)
                if fitted is None
                else fitted[[rows[sentence] for sentence in texts]]
            )
        return known, vectors

    return VectorSearch(
        sentences,
        find,
        dim=encoder.dim,
        similarity=similarity,
        has_changed=_change_of([part.cache for part in parts]),
    )


def _derived_encoder(
    spec: ModelSpec, settings: Settings, similarity: Similarity, parts: list[_CachedVectors]
) -> Encoder | None:
    """The encoder of SPEC by the cache, whose models are added to PARTS; None where one of them
    has no vectors there.
    """
    if spec.is_transformed:
        inner = _derived_encoder(spec.untransformed, settings, similarity, parts)
        return (
            TransformedEncoder(spec=spec, inner=inner, similarity=similarity)
            if inner is not None
            else None
        )
    if (kind := next((name for name in COMBINATION_NAMES if name == spec.kind), None)) is not None:
        encoders = [_derived_encoder(part, settings, similarity, parts) for part in spec.parts]
        whole = [encoder for encoder in encoders if encoder is not None]
        return (
            CombinedEncoder(name=spec.name, kind=kind, parts=whole)
            if len(whole) == len(spec.parts)
            else None
        )
    place, folder = ScorePlace.of(spec, settings), settings.cache / EMBEDDINGS
    adopt_vectors(folder, place.fingerprint, lambda: place.earlier)
    cache = EmbeddingCache.to_read(folder, place.fingerprint)
    if cache is None:
        return None
    parts.append(_CachedVectors(spec=spec, cache=cache, fingerprint=place.fingerprint))
    return parts[-1]


class StaticVectors:
    """The vector of each token, and the tokenizer, of one model."""

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        read = Tokenizer.from_file(str(tokenizer))
        read.no_padding()
        read.no_truncation()
        self._words = WordTokens(tokenizer=read)
        # The header is read here, for the package safetensors is not for light layers.
        begin, header = read_header(weights)
        table = header["embedding.weight"]
        shape = (int(table["shape"][0]), int(table["shape"][1]))
        offset, dtype = begin + int(table["data_offsets"][0]), _DTYPES[table["dtype"]]
        self._table = np.memmap(weights, dtype, mode="r", offset=offset, shape=shape)

    def search(self, sentences: Sequence[str], similarity: Similarity = "cosine") -> VectorSearch:
        """Return the search among SENTENCES by the mean vector of their tokens."""
        return VectorSearch(sentences, self.find, dim=self._table.shape[1], similarity=similarity)

    def find(self, sentences: Sequence[str]) -> tuple[Known, Vectors]:
        """Return which SENTENCES have a token, and the mean vector of each one's tokens."""
        vectors = np.zeros((len(sentences), self._table.shape[1]), np.float32)
        for start in range(0, len(sentences), _STATIC_AT_ONCE):
            tokens = self._words.tokens_of(sentences[start : start + _STATIC_AT_ONCE])
            rows = np.flatnonzero(tokens.lengths > 0)
            if len(rows):
                starts = (np.cumsum(tokens.lengths) - tokens.lengths)[rows]
                table = self._table[tokens.flat].astype(np.float32)
                sums = np.add.reduceat(table, starts, axis=0)
                vectors[start + rows] = sums / tokens.lengths[rows, None].astype(np.float32)
        return np.any(vectors != 0, axis=1), vectors
