import csv

import pytest

from embedlab.analysis.overlap import dice, dice_column
from embedlab.core.paths import PACKAGE
from embedlab.data.words import distinct_words, normalise


def test_words_are_a_lower_cased_set() -> None:
    assert distinct_words("The cat -- the CAT's hat, café_1!") == {"the", "cat", "s", "hat", "café_1"}


def test_dice_gives_the_five_published_values() -> None:
    with (PACKAGE / "papers/reference/tsukagoshi_signals/table2_example_pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [f"{dice(row['sentence1'], row['sentence2']):.3f}" for row in rows] == [row["dice"] for row in rows]
    assert len(rows) == 5


@pytest.mark.parametrize(("first", "second", "value"), [("", "", 0.0), ("?!", "...", 0.0), ("", "a", 0.0), ("A b", "b a.", 1.0)])
def test_dice_at_its_edges(first: str, second: str, value: float) -> None:
    assert dice(first, second) == value


def test_dice_column_equals_dice_pair_by_pair() -> None:
    first, second = ["a b c", "a b c", "", "x"], ["a b d", "c", "", "x x"]
    assert dice_column(first, second).tolist() == [dice(a, b) for a, b in zip(first, second, strict=True)]
    assert dice_column([], []).shape == (0,)


def test_normalise_ignores_case_blanks_and_punctuation() -> None:
    assert normalise("  A man -- is PLAYING, a guitar. ") == normalise("a Man is playing a guitar") == "a man is playing a guitar"
    assert normalise("Straße") == normalise("STRASSE")
