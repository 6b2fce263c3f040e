"""What the card of a model states is found in the data folder, and what is not there is said."""

import random
from pathlib import Path

import polars as pl
import pytest

from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source
from embedlab.data.stated_corpora import (
    card_corpora,
    nearly_known,
    open_stated,
    stated_sentences,
)
from embedlab.data.words import normalise


@pytest.mark.parametrize(
    ("card", "stated"),
    [
        ("---\ndatasets:\n- snli\n- a/b\n- snli\n---\n# M\n", ("snli", "a/b")),
        ("---\ndatasets: snli\n---\n", ("snli",)),
        ("---\nlicense: mit\n---\n", ()),
        ("# No front matter\n", ()),
        ("---\ndatasets: {a: [\n---\n", ()),  # not YAML
        (None, ()),
    ],
)
def test_the_corpora_of_a_card(card: str | None, stated: tuple[str, ...], tmp_path: Path) -> None:
    if card is not None:
        (tmp_path / "README.md").write_text(card)
    assert card_corpora(tmp_path) == stated


def test_a_corpus_is_at_hand_in_part_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "SNLI").mkdir()
    rows = '{"gold_label": "neutral", "sentence1": "A man runs.", "sentence2": "He is late."}\n'
    (tmp_path / "SNLI/snli_1.0_train.jsonl").write_text(rows * 3)
    source = Source(folder=tmp_path)
    for _ in range(2):  # the second time from the cache
        names = ["stanfordnlp/snli", "multi_nli", "eli5"]
        snli, other, unknown = open_stated(names, source, tmp_path / "cache")
        assert snli.rows == 3
        assert snli.title == "stanfordnlp/snli (3 of 549,367 rows)"
        assert other.text is None
        assert unknown.text is None
        tested = pl.DataFrame({"sentence1": ["a man RUNS", "x"], "sentence2": ["He is late", "z"]})
        assert snli.text is not None
        overlap = snli.text.overlap(tested)
        assert (overlap.shared_sentences, overlap.shared_pairs) == (2, 1)
    assert sorted(stated_sentences([snli, other], source)) == ["A man runs.", "He is late."]
    tiny = Source(folder=TINY_FOLDER)
    assert open_stated(["snli"], tiny, tmp_path / "cache")[0].text is None


def edit_distance(first: list[str], second: list[str]) -> int:
    """The least number of words to leave out, put in or replace, slowly."""
    row = list(range(len(second) + 1))
    for i, word in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


def test_nearly_known_is_one_word_of_difference() -> None:
    drawn = random.Random(0)
    texts = [" ".join(drawn.choice("abc") for _ in range(drawn.randint(5, 7))) for _ in range(120)]
    tested, read = texts[:60], texts[60:]
    slow = [
        any(edit_distance(normalise(a).split(), normalise(b).split()) <= 1 for b in read)
        for a in tested
    ]
    found = nearly_known(tested, read).tolist()
    assert found == slow
    assert 0 < sum(slow) < 60
    # a word of a short sentence says too much
    assert not nearly_known(["a b", "a b c d"], ["d e", "a b c d", "a b c d e"]).any()
