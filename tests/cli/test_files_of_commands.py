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
