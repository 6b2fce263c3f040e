"""Words of sentences as numbers, beside sets of Python."""

import polars as pl
import pytest

from embedlab.analysis import overlap as word_sets
from embedlab.analysis.overlap import WordSets
from embedlab.data.words import distinct_words

SENTENCES = [
    "A dog runs, a dog barks",
    "",
    "the dog of the café",
    "...",
    "Straße İstanbul",
    "a b c",
    "Dogs run run run",
    "naïve a",
    "THE DOG",
    "x_1 y2 _",
]


@pytest.fixture(params=[3, 50_000])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of three sentences, and all in one."""
    monkeypatch.setattr(word_sets, "_AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
def test_each_sentence_has_its_distinct_words_once_in_their_order() -> None:
    found = WordSets.of(pl.Series(SENTENCES))
    known: dict[int, str] = {}
    for place, sentence in enumerate(SENTENCES):
        own = found.numbers[found.starts[place] : found.starts[place + 1]].tolist()
        words = distinct_words(sentence)
        assert (len(own), own) == (len(words), sorted({*own}))
        for other in range(place):
            there = {*found.numbers[found.starts[other] : found.starts[other + 1]].tolist()}
            assert len(there & {*own}) == len(words & distinct_words(SENTENCES[other]))
        assert [word for word in own if word not in known] == list(
            range(len(known), len({*known, *own}))
        )  # as they first appear
        known |= dict.fromkeys(own, sentence)
    assert (
        found.distinct
        == len(known)
        == len({word for sentence in SENTENCES for word in distinct_words(sentence)})
    )
    assert found.sizes.tolist() == [len(distinct_words(sentence)) for sentence in SENTENCES]
