"""What the card of a model states is found in the data folder, and what is not there is said."""

import random
from pathlib import Path

import polars as pl
import pytest

from embedlab.data.source import Source
from embedlab.data.stated_corpora import (
    StatedCorpus,
    card_corpora,
    known_text,
    nearly_known,
    open_stated,
)
from embedlab.data.words import normalise


@pytest.mark.parametrize(
    ("card", "stated"),
    [
        ("---\ndatasets:\n- snli\n- a/b\n- snli\n---\n# M\n", ("snli", "a/b")),
        ("---\ndatasets: snli\n---\n", ("snli",)),
        ("---\nlicense: mit\n---\n", None),
        ("# No front matter\n", None),
        ("---\ndatasets: {a: [\n---\n", None),  # not YAML
        (None, None),
    ],
)
def test_the_corpora_of_a_card(
    card: str | None, stated: tuple[str, ...] | None, tmp_path: Path
) -> None:
    if card is not None:
        (tmp_path / "README.md").write_text(card)
    assert card_corpora(tmp_path) == stated


def test_a_corpus_is_at_hand_in_part_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "SNLI").mkdir()
    rows = '{"gold_label": "neutral", "sentence1": "A man runs.", "sentence2": "He is late."}\n'
    (tmp_path / "SNLI/snli_1.0_train.jsonl").write_text(rows * 3)
    source = Source(folder=tmp_path, offline=True, allow_partial=True)
    snli, other, unknown = open_stated(["stanfordnlp/snli", "multi_nli", "eli5"], source)
    assert (snli.is_at_hand, snli.rows) == (True, 3)
    assert snli.title == "stanfordnlp/snli (3 of 549,367 rows)"
    assert not other.is_at_hand
    assert not unknown.is_at_hand
    tested = pl.DataFrame({"sentence1": ["a man RUNS", "x y"], "sentence2": ["He is late", "z"]})
    overlap = known_text([snli, other, unknown]).overlap(tested)
    assert (overlap.shared_sentences, overlap.shared_pairs) == (2, 1)


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
    corpus = StatedCorpus(name="c", rows=60, frames=(pl.DataFrame({"sentence": read}),))
    slow = [
        any(edit_distance(normalise(a).split(), normalise(b).split()) <= 1 for b in read)
        for a in tested
    ]
    found = nearly_known(tested, [corpus]).tolist()
    assert found == slow
    assert 0 < sum(slow) < 60
