"""The search by static vectors: the mean of the tokens' vectors, computed when it is opened, for
they are not stored; torch-free.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from embedlab.choices import Similarity
from embedlab.encoders.encoder import Vectors, similarities
from embedlab.encoders.word_tokens import WordTokens
from embedlab.models.folder_files import read_header

_DTYPES = {"F16": np.float16, "F32": np.float32}
_AT_ONCE = 2_048  # sentences: the vectors of their tokens take some 25 MB


class StaticVectors:
    """The vector of each token, and the tokenizer, of one model."""

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        read = Tokenizer.from_file(str(tokenizer))
        read.no_padding()
        read.no_truncation()
        self._words = WordTokens(tokenizer=read)
        begin, header = read_header(
            weights
        )  # not by safetensors, whose package is not for light layers
        table = header["embedding.weight"]
        shape = (int(table["shape"][0]), int(table["shape"][1]))
        index = begin + int(table["data_offsets"][0])
        self._table = np.memmap(
            weights, _DTYPES[table["dtype"]], mode="r", offset=index, shape=shape
        )

    def means(self, sentences: Sequence[str]) -> Vectors:
        """The mean vector of each sentence's tokens, zeros where it has none."""
        blocks = [
            self._block(sentences[start : start + _AT_ONCE])
            for start in range(0, len(sentences), _AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, self._table.shape[1]), np.float32), *blocks])

    def _block(self, sentences: Sequence[str]) -> Vectors:
        tokens = self._words.tokens_of(sentences)
        vectors = np.zeros((len(sentences), self._table.shape[1]), np.float32)
        has_some = tokens.lengths > 0
        if has_some.any():
            starts = (np.cumsum(tokens.lengths) - tokens.lengths)[has_some]
            sums = np.add.reduceat(self._table[tokens.flat].astype(np.float32), starts, axis=0)
            vectors[has_some] = sums / tokens.lengths[has_some, None].astype(np.float32)
        return vectors


class StaticSearch:
    """The sentences of a corpus, compared by static vectors."""

    def __init__(
        self, vectors: StaticVectors, sentences: Sequence[str], similarity: Similarity = "cosine"
    ) -> None:
        self._vectors, self._similarity = vectors, similarity
        self._corpus = vectors.means(sentences)
        self.is_known: NDArray[np.bool_] = np.any(self._corpus != 0, axis=1)

    @property
    def is_current(self) -> bool:
        """The files of a package do not change."""
        return True

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Similarities of each of QUERIES to each sentence of the corpus, (queries, corpus); nan
        where one has no token.
        """
        return np.stack(
            [
                self._compared(vector, self._corpus, self.is_known)
                for vector in self._vectors.means(queries)
            ]
        )

    def exact(self, query: str, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """The similarities of QUERY to the sentences with these NUMBERS."""
        return self._compared(
            self._vectors.means([query])[0], self._corpus[numbers], self.is_known[numbers]
        )

    def _compared(
        self, query: Vectors, others: Vectors, is_known: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        if not query.any():
            return np.full(len(others), np.nan, np.float32)
        scores = similarities(np.broadcast_to(query, others.shape), others, self._similarity)
        return np.where(is_known, scores, np.float32(np.nan))
