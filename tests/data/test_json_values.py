"""Texts of JSON lines are texts: a number or a list is refused by file, line and key instead of
becoming another text.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.errors import MissingError
from embedlab.core.recipe import DataSection
from embedlab.data.own_files import RowShape, open_own_rows, open_pair_file, sentences
from embedlab.encoders.kinds.brought import open_scores, read_items
from tests.data.conftest import read_as

VALUES = {
    "5.10": "5.1",
    "true": "True",
    '["a", "b"]': r"\['a', 'b'\]",
    '{"a": 1}': r"\{'a': 1\}",
}
PAIR = {"sentence1": "a man", "sentence2": "a woman", "score": 1.5}
NLI = {"sentence1": "a man", "sentence2": "a woman", "gold_label": "neutral"}
READERS: dict[str, tuple[dict[str, Any], str, Callable[[Path], Any]]] = {
    "pairs": (PAIR, "sentence2", open_pair_file),
    "scores": (PAIR, "sentence1", lambda path: open_scores(f"{path}#score")),
    "items": (
        {"dataset": "mr", "item": 1, "prediction": "1"},
        "dataset",
        lambda path: read_items(str(path)),
    ),
    "nli": (NLI, "sentence1", lambda path: read_as("snli", [path])),
    "own rows": (
        NLI,
        "sentence2",
        lambda path: open_own_rows(path, RowShape(texts=("premise", "hypothesis")), DataSection()),
    ),
    "sentences": ({"sentence": "a man"}, "sentence", lambda path: list(sentences(path))),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", VALUES)
def test_what_is_not_a_text_is_refused_by_file_line_and_key(
    tmp_path: Path, reader: str, value: str
) -> None:
    row, key, read = READERS[reader]
    path, wrong = tmp_path / "mine.jsonl", json.dumps(row).replace(json.dumps(row[key]), value, 1)
    path.write_text("\n".join([json.dumps(row), "", wrong]))
    with pytest.raises(MissingError, match=rf"l, line 3: '{key}' is {VALUES[value]}, not a text"):
        read(path)
