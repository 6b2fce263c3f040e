import csv
import re

import polars as pl
import pytest

from embedlab.analysis import overlap as word_sets
from embedlab.analysis.overlap import dice, dice_of_rows, dice_table
from embedlab.data.words import normalise
from embedlab.experiments.paper_file import paper_folder


def test_dice_gives_the_five_published_values() -> None:
    with (paper_folder("tsukagoshi") / "table2_example_pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [f"{dice(row['sentence1'], row['sentence2']):.3f}" for row in rows] == [
        row["dice"] for row in rows
    ]
    assert len(rows) == 5


ODD = [
    "A cat's hat_1, the CAT",
    "Café İstanbul ﬁ",
    "",
    "?!",
    "日本 語 a",
    "٣ x² ß SS",
    "a\u0301 b B",
    "snake_case 12 12",
]


@pytest.mark.parametrize("at_once", [1, 3, 50_000])
def test_dice_of_rows_is_that_of_each_pair(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_sets, "_AT_ONCE", at_once)
    first, second = [text for text in ODD for _ in ODD], ODD * len(ODD)
    words = {text: {*re.findall(r"\w+", text.lower())} for text in ODD}
    sets = [(words[a], words[b]) for a, b in zip(first, second, strict=True)]
    slow = [2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0 for a, b in sets]
    assert dice_of_rows(pl.Series(first), second).to_list() == slow
    assert [dice(a, b) for a, b in zip(first, second, strict=True)] == slow
    assert dice_table(ODD, ODD).ravel().tolist() == slow
    assert dice_of_rows([], []).len() == dice_table([], []).size == 0


def test_normalise_ignores_case_blanks_and_punctuation() -> None:
    assert (
        normalise("  A man -- is PLAYING, a guitar. ")
        == normalise("a Man is playing a guitar")
        == "a man is playing a guitar"
    )
    assert normalise("Straße") == normalise("STRASSE")
