"""A file of rows behind the models: `why`, `power` and `pairs` take it as `compare` does."""

from pathlib import Path

import pytest

from tests.cli.conftest import Embedlab

ROWS = """sentence1,sentence2,score
A cat sleeps.,A cat is asleep.,4.8
A dog runs.,The sky is blue.,0.5
Two men play.,Two men are playing.,4.5
It rains.,The sun shines.,1.0
"""


@pytest.mark.parametrize("command", ["why", "power", "pairs"])
def test_a_file_behind_the_models_is_what_they_are_compared_on(
    command: str, embedlab: Embedlab
) -> None:
    pytest.importorskip("wordllama")
    Path("own.csv").write_text(ROWS)
    typed = embedlab(command, "dice", "wordllama", "own.csv", "--json")
    assert typed.code == 0
    assert typed.out == embedlab(command, "dice", "wordllama", "--task", "own.csv", "--json").out
    assert embedlab(command, "dice", "wordllama", "absent.csv").code == 3


@pytest.mark.parametrize("command", ["why", "power"])
def test_two_models_are_compared_on_a_file(command: str, embedlab: Embedlab) -> None:
    Path("own.csv").write_text(ROWS)
    answer = embedlab(command, "dice", "own.csv")
    assert answer.code == 2
    assert f"embedlab {command} dice MODEL FILE" in answer.err


@pytest.mark.parametrize("rows", [ROWS, ROWS.replace("sentence1,sentence2", "anchor,positive")])
def test_a_file_is_the_reference_of_an_explanation(rows: str, embedlab: Embedlab) -> None:
    """Pairs without a score too, which have similarities to be ranked among all the same."""
    lines = (line.rpartition(",")[0] for line in rows.splitlines())
    Path("own.csv").write_text("\n".join(lines if "anchor" in rows else rows.splitlines()))
    typed = ("explain", "A cat sleeps.", "A dog runs.", "-m", "dice", "--reference", "own.csv")
    answer = embedlab(*typed)
    assert answer.code == 0, answer.err
    assert "own.csv" in answer.out


def test_why_says_where_there_is_no_number_of_both(embedlab: Embedlab) -> None:
    pytest.importorskip("wordllama")
    rows = "".join(f"the cat {row} sat\ta dog {row % 7} ran\t3\n" for row in range(30))
    Path("equal.tsv").write_text(f"sentence1\tsentence2\tscore\n{rows}")
    ended = embedlab("why", "dice", "wordllama", "equal.tsv")
    assert ended.code == 2
    assert "no number of both 'dice' and 'wordllama'" in ended.err
