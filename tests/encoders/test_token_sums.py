"""Token vectors whose sum is a sentence's vector: equal to the cosine of each kind of encoder that
has them, refused of the others.
"""

from pathlib import Path

import pytest

from embedlab.analysis.word_effects import token_pair_sum
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.loading import scorer_for, token_vectors_of
from embedlab.models.catalog import resolve

PAIRS = [
    ("a dog runs in the park", "the zebra sleeps"),
    ("woman", "a man plays guitar a man plays the guitar"),
    ("!", "Über cat"),
]


@pytest.mark.parametrize(
    "options",
    [
        "?pooling=mean",
        "?pooling=mean-without-cls",
        "?pooling=mean-sqrt-length",
        "?pooling=mean&dim=7",
    ],
)
@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert", "modernbert"])
def test_the_sum_over_token_pairs_is_the_cosine(
    architectures: dict[str, Path], architecture: str, options: str
) -> None:
    spec = resolve(f"{architectures[architecture]}{options}", Path("none")).members[0]
    settings = Settings(device="cpu")
    tokens_of, scorer = token_vectors_of(spec, settings), scorer_for(spec, settings)
    for first, second in PAIRS:
        parts = token_pair_sum(tokens_of(first), tokens_of(second))
        assert parts.sum() == pytest.approx(float(scorer.score([first], [second])[0]), abs=2e-6)


def test_the_tokens_of_a_transformer_know_their_place(small_bert: Path) -> None:
    spec = resolve(f"{small_bert}?pooling=mean&prompt=a man: ", Path("none")).members[0]
    tokens = token_vectors_of(spec, Settings(device="cpu"))("dog Zebra!")
    placed = [span for span in tokens.spans if span is not None]
    assert placed[0] == (0, 3)
    assert placed[-1] == (9, 10)
    assert {start for start, _ in placed} == {
        0,
        *range(4, 9),
        9,
    }  # a word outside the vocabulary is spelled
    assert tokens.spans[0] is None


def test_word_vectors_add_up(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("dog 1 0 2\ncat 0.5 1 1\nruns -1 0 1\n")
    spec = resolve(f"word-vectors:{file}", tmp_path).members[0]
    tokens_of = token_vectors_of(spec, Settings(device="cpu"))
    tokens = tokens_of("The Dog runs")
    assert tokens.spans == ((4, 7), (8, 12))
    expected = scorer_for(spec, Settings(device="cpu")).score(["The Dog runs"], ["cat dog"])[0]
    assert token_pair_sum(tokens, tokens_of("cat dog")).sum() == pytest.approx(
        float(expected), abs=1e-6
    )


@pytest.mark.parametrize("options", ["?pooling=max", "?pooling=cls", "?pooling=mean+max"])
def test_a_pooling_that_adds_nothing_up_is_refused(small_bert: Path, options: str) -> None:
    spec = resolve(f"{small_bert}{options}", Path("none")).members[0]
    with pytest.raises(UsageError, match="not sums of token vectors"):
        token_vectors_of(spec, Settings(device="cpu"))("a dog")
