"""The index of bm25s against the formula of Lucene's variant, written out; what has no words, and
what is refused.
"""

from importlib.metadata import PackageNotFoundError
from math import log
from pathlib import Path

import pytest

from embedlab.cli.app import main
from embedlab.core.errors import UsageError
from embedlab.encoders.kinds import bm25
from embedlab.encoders.kinds.bm25 import Bm25Index
from embedlab.models.catalog import resolve
from embedlab.scoring.training_text import is_text_unknown

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
        total += (
            log(1 + (len(WORDS) - having + 0.5) / (having + 0.5))
            * count
            / (count + 1.5 * (0.25 + 0.75 * len(document) / mean))
        )
    return total


@pytest.mark.parametrize(
    "query", ["Does a dog bark?", "NIGHT barks", "barks barks fox", "birds of the", "zebra", ""]
)
def test_scores_are_those_of_the_formula(query: str) -> None:
    words = [
        word
        for word in query.lower().replace("?", "").split()
        if word in {"dog", "barks", "night", "fox"}
    ]
    found = Bm25Index(DOCUMENTS, "lucene").scores(query)
    assert found.tolist() == pytest.approx([by_formula(words, own) for own in WORDS], rel=1e-5)


def test_documents_without_a_word_have_no_score() -> None:
    assert Bm25Index(["", "the of"], "lucene").scores("a dog").tolist() == [0, 0]


def test_a_variant_has_scores_of_its_own_and_is_named(tmp_path: Path) -> None:
    one, other = (
        Bm25Index(DOCUMENTS, variant).scores("dog barks").tolist()
        for variant in ("lucene", "bm25+")
    )
    assert one != other
    (alone,), (named,), (plus,) = (
        resolve(name, tmp_path).members for name in ("bm25", "bm25:lucene", "bm25:bm25+")
    )
    assert alone.location == named.location != plus.location
    assert not is_text_unknown(alone)
    with pytest.raises(UsageError, match="no variant of BM25 named 'lucen'"):
        resolve("bm25:lucen", tmp_path)
    with pytest.raises(UsageError, match="takes no option 'dim'"):
        resolve("bm25?dim=3", tmp_path)


@pytest.mark.parametrize("model", ["bm25", "bm25:bm25+", "rerank:dice,bm25,20"])
def test_without_the_package_a_command_ends_with_two_lines_that_name_the_extra(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(bm25, "version", absent)
    monkeypatch.chdir(tmp_path)
    code = main(("compare", "dice", model, "--data", "tiny", "--task", "retrieval-captions"))
    out, err = capsys.readouterr()
    assert (code, out) == (3, "")
    assert err.splitlines() == [
        "embedlab: error: the package bm25s is not installed",
        "hint: pip install 'embedlab[search]'",
    ]
