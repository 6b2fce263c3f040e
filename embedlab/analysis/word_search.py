"""Word overlap of a sentence with all sentences of a corpus, by an index of the words."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.overlap import dice_column
from embedlab.data.words import distinct_words


class WordSearch:
    """The sentences of a corpus by their words; the index is built at the first query."""

    def __init__(self, corpus: Sequence[str]) -> None:
        self.is_known = np.ones(len(corpus), np.bool_)
        self.is_current = True
        self._corpus = corpus

    def approximate(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """The Dice coefficient of each of QUERIES with each sentence of the corpus, (queries,
        corpus).
        """
        places, sizes = self._index
        scores = np.zeros((len(queries), len(self._corpus)), np.float32)
        for shared, query in zip(scores, queries, strict=True):
            words = distinct_words(query)
            for word in words:
                shared[places.get(word, [])] += 1
            total = sizes + len(words)
            np.divide(2 * shared, total, out=shared, where=total > 0)
        return scores

    def exact(self, query: str, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """The Dice coefficient of QUERY with the sentences that have these NUMBERS."""
        return dice_column(
            [query] * len(numbers), [self._corpus[number] for number in numbers]
        ).astype(np.float32)

    @cached_property
    def _index(self) -> tuple[dict[str, list[int]], NDArray[np.float32]]:
        """The numbers of the sentences with each word, and how many distinct words each sentence
        has.
        """
        places: dict[str, list[int]] = {}
        sizes = np.empty(len(self._corpus), np.float32)
        for number, sentence in enumerate(self._corpus):
            words = distinct_words(sentence)
            sizes[number] = len(words)
            for word in words:
                places.setdefault(word, []).append(number)
        return places, sizes
