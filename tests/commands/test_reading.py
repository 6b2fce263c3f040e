"""What is compared is read once."""

from collections import Counter
from typing import Any

import pytest

from embedlab.api import NotebookSession
from embedlab.commands.compare import CompareOptions, compare
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.source import Source


def test_each_corpus_of_a_comparison_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wordllama")
    reading, read = Source.open_split, Counter[tuple[str, str | None]]()

    def counted(source: Source, chosen: Any, split: str | None = None) -> Any:
        read[chosen.name, split or chosen.default_split] += 1
        return reading(source, chosen, split)

    monkeypatch.setattr(Source, "open_split", counted)
    session = NotebookSession(settings=Settings(data=TINY_FOLDER))
    compare(CompareOptions(models=("dice", "wordllama"), tasks=("sts12", "stsb")), session)
    assert read["sts-benchmark", "test"] == 1
    assert {*read.values()} == {1}, read
