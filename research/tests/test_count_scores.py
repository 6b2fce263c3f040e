"""Similarities by a count of each sentence: fewer differences are closer, each pair once."""

import polars as pl
from count_scores import COUNTS, count_scores

TRIPLES = pl.DataFrame(
    {
        "sentence1": ["A man plays.", "A man plays."],
        "sentence2": ["A man is playing.", "A man is playing."],
        "contradicted": ["There is no man who isn't playing", "Nobody sleeps"],
    }
)


def scores(counted: str) -> dict[str, int]:
    found = count_scores(TRIPLES, COUNTS[counted])
    assert found.height == 3
    return dict(zip(found["sentence2"], found["score"], strict=True))


def test_pairs_are_as_close_as_their_numbers_of_words() -> None:
    assert scores("words") == {
        "A man is playing.": -1,
        "There is no man who isn't playing": -4,
        "Nobody sleeps": -1,
    }


def test_pairs_are_as_close_as_their_numbers_of_negating_words() -> None:
    assert scores("negations") == {
        "A man is playing.": 0,
        "There is no man who isn't playing": -2,
        "Nobody sleeps": -1,
    }
