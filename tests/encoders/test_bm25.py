"""The index of bm25s against the formula of Lucene's variant, written out; what has no words, and
what is refused.
"""

from importlib.metadata import PackageNotFoundError
from math import log
from pathlib import Path
from unittest.mock import Mock

import pytest

from embedlab.cli.app import main
from embedlab.core.errors import UsageError
from embedlab.encoders.kinds import bm25
from embedlab.encoders.kinds.bm25 import Bm25Index
from embedlab.scoring.training_text import is_text_unknown
from tests.encoders.opening import spec_of

DOCUMENTS = [
    "A dog barks at night, the dog.",
    "the fox barks too",
    "",
    "a bird sings at night to a bird",
    "of the",
]
WORDS = [
    ["dog", "barks", "night", "dog"],
    ["fox", "barks", "too"],
    [],
    ["bird", "sings", "night", "bird"],
    [],
]


def by_formula(query: list[str], document: list[str]) -> float:
    mean = sum(map(len, WORDS)) / len(WORDS)
    total = 0.0
    for word in query:
        having = sum(word in own for own in WORDS)
        count = document.count(word)
        weight = log(1 + (len(WORDS) - having + 0.5) / (having + 0.5))
        total += weight * count / (count + 1.5 * (0.25 + 0.75 * len(document) / mean))
    return total


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Does a dog bark?", ["dog"]),
        ("NIGHT barks", ["night", "barks"]),
        ("barks barks fox", ["barks", "barks", "fox"]),
        ("of the zebra", []),
    ],
)
def test_scores_are_those_of_the_formula(query: str, words: list[str]) -> None:
    found = Bm25Index(DOCUMENTS, "lucene").scores(query)
    assert found.tolist() == pytest.approx([by_formula(words, own) for own in WORDS], rel=1e-5)


def test_documents_without_a_word_have_no_score() -> None:
    assert Bm25Index(["", "the of"], "lucene").scores("a dog").tolist() == [0, 0]


def test_a_variant_has_scores_of_its_own_and_is_named() -> None:
    one, other = (
        Bm25Index(DOCUMENTS, variant).scores("dog barks").tolist()
        for variant in ("lucene", "bm25+")
    )
    assert one != other
    alone, named, plus = (spec_of(name) for name in ("bm25", "bm25:lucene", "bm25:bm25+"))
    assert alone.location == named.location != plus.location
    assert not is_text_unknown(alone)
    refused = {"bm25:lucen": "no variant of BM25 named 'lucen'", "bm25?dim=3": "takes no option"}
    for name, says in refused.items():
        with pytest.raises(UsageError, match=says):
            spec_of(name)


@pytest.mark.parametrize(
    "models", [["bm25"], ["rerank:dice,bm25,20"], ["bm25", "rerank:dice,bm25,20"]]
)
def test_without_the_package_a_command_ends_with_two_lines_that_name_the_extra(
    models: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bm25, "version", Mock(side_effect=PackageNotFoundError))
    monkeypatch.chdir(tmp_path)
    code = main(("compare", "dice", *models, "--data", "tiny", "--task", "retrieval-captions"))
    out, err = capsys.readouterr()
    assert (code, out) == (3, "")
    assert err.splitlines() == [
        "embedlab: error: the package bm25s is not installed",
        "hint: pip install 'embedlab[search]'",
    ]
