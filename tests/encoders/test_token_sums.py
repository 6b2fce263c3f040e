"""Token vectors whose sum is a sentence's vector: equal to the cosine of each kind of encoder that
has them, refused of the others.
"""

from pathlib import Path

import pytest

from embedlab.analysis.word_effects import token_pair_sum
from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.encoders.loading import scorer_for, token_vectors_of
from tests.encoders.opening import spec_of

SETTINGS = Settings(device="cpu")
PAIRS = [
    ("a dog runs in the park", "the zebra sleeps"),
    ("woman", "a man plays guitar a man plays the guitar"),
    ("!", "Über cat"),
]


@pytest.mark.parametrize(
    ("architecture", "options", "largest"),
    [
        ("bert", "?pooling=mean&dim=7", 2e-6),
        ("bert", "?pooling=mean-without-cls", 2e-6),
        ("bert", "?pooling=mean&dtype=bf16", 2e-2),
        ("roberta", "?pooling=mean-sqrt-length", 2e-6),
        ("distilbert", "?pooling=mean", 2e-6),
        ("modernbert", "?pooling=mean", 2e-6),
    ],
)
def test_the_sum_over_token_pairs_is_the_cosine(
    architectures: dict[str, Path], architecture: str, options: str, largest: float
) -> None:
    spec = spec_of(f"{architectures[architecture]}{options}")
    tokens_of, scorer = token_vectors_of(spec, SETTINGS), scorer_for(spec, SETTINGS)
    for first, second in PAIRS:
        total = token_pair_sum(tokens_of(first), tokens_of(second)).sum()
        expected = float(scorer.score([first], [second])[0])
        assert total == pytest.approx(expected, abs=largest)


def test_the_tokens_of_a_transformer_know_their_place(small_bert: Path) -> None:
    spec = spec_of(f"{small_bert}?pooling=mean&prompt=a man: ")
    tokens = token_vectors_of(spec, SETTINGS)("dog Zebra!")
    placed = [span for span in tokens.spans if span is not None]
    assert placed[0] == (0, 3)
    assert placed[-1] == (9, 10)
    # a word outside the vocabulary is spelled
    assert {start for start, _ in placed} == {0, *range(4, 9), 9}
    assert tokens.spans[0] is None


def test_word_vectors_add_up(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("dog 1 0 2\ncat 0.5 1 1\nruns -1 0 1\n")
    spec = spec_of(f"word-vectors:{tmp_path / 'words.txt'}")
    tokens_of, scorer = token_vectors_of(spec, SETTINGS), scorer_for(spec, SETTINGS)
    tokens = tokens_of("The Dog runs")
    assert tokens.spans == ((4, 7), (8, 12))
    expected = float(scorer.score(["The Dog runs"], ["cat dog"])[0])
    total = token_pair_sum(tokens, tokens_of("cat dog")).sum()
    assert total == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("options", ["?pooling=max", "?pooling=cls", "?pooling=mean+max"])
def test_a_pooling_that_adds_nothing_up_is_refused(small_bert: Path, options: str) -> None:
    with pytest.raises(UsageError, match="not sums of token vectors"):
        token_vectors_of(spec_of(f"{small_bert}{options}"), SETTINGS)("a dog")
