import numpy as np
import pytest

from embedlab.analysis.overlap import dice
from embedlab.analysis.word_search import WordSearch


def test_the_index_gives_the_word_overlap_of_each_pair() -> None:
    corpus = ["A dog runs.", "a DOG runs fast", "...", "the stock fell", "runs runs runs"]
    queries = ["a dog", "stock", "!", "unknown words"]
    search = WordSearch(corpus)
    found = search.approximate(queries)
    for query, row in zip(queries, found, strict=True):
        assert row.tolist() == pytest.approx([dice(query, text) for text in corpus])
        assert search.exact(query, np.array([3, 0])).tolist() == pytest.approx(
            [dice(query, corpus[3]), dice(query, corpus[0])]
        )
